"""More rounds for a run: `--resume RUN --rounds N`. They count as if the run had been planned with them from the start."""

from __future__ import annotations

from collections.abc import Iterator

import dbbench
from dbbench.engine.probe import probe
from dbbench.errors import UserError
from dbbench.host import machine
from dbbench.results.run_directory import Run
from dbbench.run.releases import found_again


def extend(run: Run, rounds: int) -> None:
    """Give a run `rounds` rounds in all. It is then unfinished, whatever precision or time limit it had; nothing is saved.

    Raises UserError if it has as many, or if rounds of today would be of another machine, dbbench or engine.
    """
    manifest = run.manifest
    if rounds <= manifest.rounds:
        have = f"{manifest.rounds} round{'s' if manifest.rounds > 1 else ''}"
        raise UserError(f"the run at {run.path} has {have}; --rounds is how many it is to have in all, so name more")
    if changed := list(_changed(run)):
        what = "\n".join(f"  {word}: {then} then, {now} now" for word, then, now in changed)
        raise UserError(
            f"more rounds of the run at {run.path} would not be like those it has:\n{what}\nstart a new run"
        )
    run.manifest = manifest.model_copy(
        update={"rounds": rounds, "precision": None, "time_limit": None, "stopped": "", "finished": None}
    )


def _changed(run: Run) -> Iterator[tuple[str, str, str]]:
    """What differs from the day of the run: (what, then, now)."""
    manifest = run.manifest
    if manifest.dbbench != dbbench.__version__:
        yield "dbbench", manifest.dbbench, dbbench.__version__
    yield from machine.differences(manifest.machine, machine.describe(run.path))
    # A server at a URL is asked by its trials only.
    local = [name for name in manifest.usable if "url" not in manifest.engines[name]]
    for name, found in probe(local, manifest.options, {}, found_again(manifest.variants)).items():
        then, now = manifest.engines[name].get("versions", {}), found.versions
        if found.status != "available":
            yield name, "available", f"{found.status} ({found.detail})"
        elif then != now:
            yield name, _pairs(then), _pairs(now)


def _pairs(versions: dict[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in versions.items()) or "no version"
