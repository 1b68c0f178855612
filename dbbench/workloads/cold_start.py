"""A cold start: the engine opened anew, and none of its files in memory. Off the clock."""

from __future__ import annotations

from collections.abc import Sequence

from dbbench.errors import Unsupported
from dbbench.host import page_cache
from dbbench.host.page_cache import Dropped
from dbbench.results.facts import StepFacts
from dbbench.workloads.context import StepContext


def start_cold(context: StepContext) -> Dropped:
    """Restart the engine while none of its files is in memory. Raises Unsupported if it has none."""
    directory = context.engine.directory
    dropped = Dropped(0.0)
    if page_cache.present(directory):
        dropped = context.restart(lambda: page_cache.drop(directory))
    if context.does_work and not dropped.bytes:
        raise Unsupported(f"{context.engine.name} keeps no file in its directory, so there is none to be read anew")
    return dropped


def facts(drops: Sequence[Dropped]) -> StepFacts:
    """How cold the warmest of some starts was; why, if it was not."""
    warmest = max(drops, key=lambda drop: (not drop.cold, drop.resident or 0), default=None)
    if warmest is None:
        return {}
    if warmest.cold:
        return {"resident": warmest.resident}
    return {"resident": warmest.resident, "cache": "lukewarm", "why": warmest.why}
