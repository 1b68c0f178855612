"""Which trial runs when. Pure: the same suite, engines, rounds and seed give the same plan."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from dbbench.suite import Suite


@dataclass(frozen=True)
class Trial:
    """One scenario on one engine in one round. `id` names its directory."""

    id: str
    scenario: str
    engine: str
    round: int


def plan(suite: Suite, engines: Sequence[str], *, rounds: int, seed: int) -> list[Trial]:
    """All trials in order. Each round visits every engine once, in an order of its own drawn from the seed.

    So a slow drift of the machine hits all engines alike (interleaved rounds, as in asv).
    """
    order = random.Random(seed)
    trials: list[Trial] = []
    width = max(3, len(str(rounds * len(suite.scenarios) * len(engines))))  # so that names sort in order
    for number in range(1, rounds + 1):
        for scenario in suite.scenarios:
            shuffled = sorted(engines)
            order.shuffle(shuffled)
            for engine in shuffled:
                identity = f"{len(trials) + 1:0{width}d}-round{number}-{scenario.name}-{engine}"
                trials.append(Trial(identity, scenario.name, engine, number))
    return trials
