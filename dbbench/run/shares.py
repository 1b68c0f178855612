"""The memory that engines may take for their caches: one rule for all of them."""

from dbbench.engine.options import Shares
from dbbench.results.run_directory import Run

_MIB = 2**20
#: The part of a trial's memory that caches may fill, and the part for an engine that has one limit for cache and work.
_CACHE, _MEMORY = 4, 2
#: A cache is not larger than data can fill: tables with their indexes and changes take up to this many times the text,
#: or this many MiB if there is little of it.
_TIMES, _LEAST = 8, 64


def shares_of(run: Run) -> Shares:
    """What an engine gets in each trial of a run.

    A cache has a quarter of the memory that a trial may use, but not more than the largest dataset can fill. Where each
    client has a cache of its own, the quarter is shared by all clients of the largest step.
    """
    manifest = run.manifest
    memory = int(min(manifest.limits["memory"], manifest.memory_limit or manifest.limits["memory"])) // _MIB
    text = max((int(facts["csv_bytes"]) for facts in manifest.datasets.values()), default=0) // _MIB
    filled = max(_LEAST, _TIMES * text)
    clients = max(step.concurrent_clients.count for scenario in run.suite.scenarios for step in scenario.steps)
    return Shares(
        cache=max(1, min(memory // _CACHE, filled)),
        client_cache=max(1, min(memory // _CACHE // clients, filled)),
        memory=memory // _MEMORY,
    )
