"""The engines of a run: what to call each, and which take part."""

from collections.abc import Sequence

from dbbench.results.run_directory import Manifest
from dbbench.results.trial import TrialResult


def titles(manifest: Manifest, results: Sequence[TrialResult]) -> dict[str, str]:
    """What to call each engine: after the server that answered, else as its plugin does, with the user's own name."""
    answered = {result.engine_name: str(result.engine["title"]) for result in results if result.engine.get("title")}
    found = {}
    for name, probed in manifest.engines.items():
        title = answered.get(name) or probed.get("title")
        own = f" [{name.partition('@')[2] or name}]" if manifest.plugin(name) != name else ""
        found[name] = f"{title}{own}" if title else name
    return found


def ranked(manifest: Manifest, engine: str) -> bool:
    """Whether an engine takes part, which the null engine doesn't."""
    return engine not in manifest.engines or manifest.engines[engine].get("ranked", True)
