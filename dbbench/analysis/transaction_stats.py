"""What came of the transactions of a mix, from the facts that a step's rounds recorded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from dbbench.results.facts import StepFacts


@dataclass(frozen=True)
class TransactionStats:
    """One engine's transactions, each by its name."""

    #: Commits per second: the median of the rounds'.
    per_second: Mapping[str, float]
    #: (why, which) -> how many were made again, of all rounds together.
    retries: Mapping[tuple[str, str], int]
    #: How many were rolled back as the suite wants it, of all rounds together.
    rolled_back: Mapping[str, int]


def transaction_stats(rounds: Sequence[StepFacts], names: Collection[str]) -> TransactionStats | None:
    """Of the rounds that recorded all of these transactions; None if none did."""
    mine = [facts for facts in rounds if {*names} <= {*facts.get("by_transaction", ())}]
    if not mine:
        return None
    retries: Counter[tuple[str, str]] = Counter()
    rolled_back: Counter[str] = Counter()
    for facts in mine:
        for name, counts in facts["by_transaction"].items():
            rolled_back[name] += counts["rolled_back"]
            for reason, count in counts["retries"].items():
                retries[reason, name] += count
    per_second = {name: median(_rate(facts, name) for facts in mine) for name in names}
    return TransactionStats(per_second, retries, rolled_back)


def _rate(facts: StepFacts, name: str) -> float:
    """Commits of a transaction per second: its share of all calls."""
    every = sum(each["committed"] + each["rolled_back"] for each in facts["by_transaction"].values())
    return float(facts["by_transaction"][name]["committed"] * facts["per_second"] / max(every, 1))
