"""Calls or operations in a second, whatever a step's own figure is."""

from __future__ import annotations

from dbbench.analysis.row import Row
from dbbench.analysis.statistics import Estimate, estimate


def throughput(row: Row) -> Estimate | None:
    """A row's figure if that is one in a second, else of the calls in each round; None if nothing is known or shown."""
    if row.value is None:
        return None
    if row.unit == "1/s":
        return Estimate(row.value, row.low, row.high)
    rates = [facts["per_second"] for facts in row.rounds if "per_second" in facts]
    return estimate(rates) if rates else None
