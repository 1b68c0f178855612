"""The durability tier of a scenario, with what is known of it: what a crash check found, or only what plugins declare."""

from collections.abc import Mapping, Sequence
from typing import Any

from dbbench.results.run_directory import Manifest
from dbbench.results.trial import TrialResult
from dbbench.suite.model import Scenario, Tier

_DECLARED = "declared"
#: Tier -> what it promises of a commit.
_PROMISES = {
    Tier.MEMORY: "commits are lost when the process ends",
    Tier.PROCESS: "commits survive a crash of the process",
    Tier.POWER: "commits survive power loss",
}


def durability(scenario: Scenario, manifest: Manifest, results: Sequence[TrialResult]) -> str:
    """Like `power; crash check passed (20 kills, 22 Nov 2026): SQLite (sqlite3); declared: DuckDB (rows)`.

    Each engine is named unless all are only declared. One whose trials differ, as by its versions, is declared.
    """
    found: dict[str, list[str]] = {}
    for name, title in manifest.titles(results).items():
        mine = [each.engine for each in results if (each.scenario_name, each.engine_name) == (scenario.name, name)]
        if manifest.ranked(name) and any(mine):
            words = {_words(settings) for settings in mine if settings}
            found.setdefault(words.pop() if len(words) == 1 else _DECLARED, []).append(title)
    if found.keys() <= {_DECLARED}:
        return f"{scenario.durability} ({_DECLARED})"
    declared = found.pop(_DECLARED, [])
    if declared:
        found[_DECLARED] = declared  # last
    return "; ".join([scenario.durability, *(f"{words}: {', '.join(names)}" for words, names in found.items())])


def promised(tier: Tier, known: str) -> str:
    """What `durability` gives, in a sentence where nothing was tried."""
    if known != f"{tier} ({_DECLARED})":
        return known
    return f"{_PROMISES[tier]}, as the vendors document (not crash-tested here)"


def _words(settings: Mapping[str, Any]) -> str:
    check = settings.get("crash_check")
    if not check:
        return _DECLARED
    kills = f"{check['kills']:,} kill{'s' if check['kills'] != 1 else ''}"
    return f"crash check {'passed' if check['passed'] else 'failed'} ({kills}, {check['day']:%-d %b %Y})"
