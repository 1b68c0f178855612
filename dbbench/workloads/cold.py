"""A cold start: the engine opened anew, and none of its files in memory. Off the clock."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dbbench import filecache
from dbbench.errors import Unsupported
from dbbench.filecache import Dropped
from dbbench.workloads.bench import Bench


def start_cold(bench: Bench) -> Dropped:
    """Restart the engine while none of its files is in memory. Raises Unsupported if it has none."""
    directory = bench.engine.directory
    if not bench.engine.ranked:
        return Dropped(0.0)  # the null engine has nothing that could be warm
    dropped = Dropped(0.0)
    if filecache.present(directory):
        dropped = bench.restart(lambda: filecache.drop(directory))
    if not dropped.bytes:
        raise Unsupported(f"{bench.engine.name} keeps no file in its directory, so there is none to be read anew")
    return dropped


def facts(drops: Sequence[Dropped]) -> dict[str, Any]:
    """How cold the warmest of some starts was; why, if it was not."""
    warmest = max(drops, key=lambda drop: (not drop.cold, drop.resident or 0), default=None)
    if warmest is None:
        return {}
    return {"resident": warmest.resident} | ({} if warmest.cold else {"cache": "lukewarm", "why": warmest.why})
