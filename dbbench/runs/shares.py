"""The memory that engines may take for their caches: one rule for all of them."""

from collections.abc import Mapping

from dbbench.engine.options import Shares
from dbbench.errors import UserError
from dbbench.results.run_directory import Run
from dbbench.suite.model import Suite

_MIB = 2**20
#: The part of a trial's memory that caches may fill, and the part for an engine that has one limit for cache and work.
_CACHE, _MEMORY = 4, 2
#: MiB beside an engine with one limit: the harness, and what a JVM has outside its heap. The engine has at least the
#: other part of the memory.
_BESIDE, _LITTLE = 512, 4
#: A cache is not larger than data can fill: tables with their indexes and changes take up to this many times the text,
#: or this many MiB if there is little of it.
_TIMES, _LEAST = 8, 64
#: Share -> its key among the limits that a run keeps.
_KEYS = {"cache": "cache", "client_cache": "client_cache", "memory": "engine_memory"}


def shares_of(suite: Suite, limits: Mapping[str, float], text_bytes: int) -> Shares:
    """What an engine gets in each trial of a run whose largest dataset has `text_bytes` as text.

    A cache has a quarter of the memory that a trial may use, but not more than the largest dataset can fill. Where each
    session has a cache of its own, the quarter is shared by all sessions of the step with the most.
    """
    memory = int(min(limits["memory"], limits.get("memory_limit", limits["memory"]))) // _MIB
    filled = max(_LEAST, _TIMES * (text_bytes // _MIB))
    sessions = max(step.sessions for scenario in suite.scenarios for step in scenario.steps)
    return Shares(
        cache=max(1, min(memory // _CACHE, filled)),
        client_cache=max(1, min(memory // _CACHE // sessions, filled)),
        memory=max(1, min(memory // _MEMORY, max(memory - _BESIDE, memory // _LITTLE))),
    )


def to_keep(suite: Suite, limits: Mapping[str, float], text_bytes: int) -> dict[str, float]:
    """The shares in MiB as a run keeps them among its limits, so that all its trials have the same."""
    shares = shares_of(suite, limits, text_bytes)
    return {key: getattr(shares, share) for share, key in _KEYS.items()}


def kept(run: Run) -> Shares:
    """The shares that a run keeps."""
    return Shares(**{share: int(run.manifest.limits[key]) for share, key in _KEYS.items()})


def keep(run: Run) -> bool:
    """Let a run that keeps no shares have them, and tell whether it had none; nothing is saved.

    Raises UserError if trials of it are finished: their caches are of another rule, or of none.
    """
    manifest = run.manifest
    if manifest.limits.keys() >= {*_KEYS.values()}:
        return False
    if run.results():
        raise UserError(
            f"the run at {run.path} can't be continued or explained: its caches follow an older rule; start a new run"
        )
    text = max((int(facts["csv_bytes"]) for facts in manifest.datasets.values()), default=0)
    run.manifest = manifest.model_copy(
        update={"limits": {**manifest.limits, **to_keep(run.suite, manifest.limits, text)}}
    )
    return True
