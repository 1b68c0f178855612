"""How clients that got into each other's way fared, from the facts that a step's rounds recorded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from dbbench.results.facts import StepFacts


@dataclass(frozen=True)
class ClientStats:
    """One engine's clients. Seconds and Jain's index are medians of the rounds'; retries are of all rounds together."""

    processes: int
    threads: int
    fastest: float
    slowest: float
    jain: float
    retries: dict[str, int]
    #: What the system itself counted in the last round, by name; empty if it counts nothing.
    counted: dict[str, int]


def client_stats(rounds: Sequence[StepFacts]) -> ClientStats | None:
    """None for a step without fairness in its facts."""
    if not rounds or not all("fairness" in facts for facts in rounds):
        return None
    last = rounds[-1]
    times = {name: median(facts["fairness"][name] for facts in rounds) for name in ("fastest", "slowest", "jain")}
    retries: Counter[str] = Counter()
    for facts in rounds:
        retries.update(facts["retries"])
    clients = last["clients"]
    return ClientStats(
        clients["processes"], clients["threads"], **times, retries=dict(retries), counted=last["counted"]
    )
