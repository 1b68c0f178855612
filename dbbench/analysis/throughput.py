"""Calls or operations per second of a step whose figure is another."""

from __future__ import annotations

from collections.abc import Sequence

from dbbench.analysis.statistics import Estimate, estimate
from dbbench.results.facts import StepFacts


def throughput(rounds: Sequence[StepFacts]) -> Estimate | None:
    """Of the calls in each round; None if nothing is known."""
    rates = [facts["per_second"] for facts in rounds if "per_second" in facts]
    return estimate(rates) if rates else None
