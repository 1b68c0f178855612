"""The order of trials. Pure: the same suite, engines, rounds and seed give the same plan."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence

from dbbench.results.trial import Trial
from dbbench.suite.model import Suite

#: Rounds by default, if the number of engines doesn't need more.
DEFAULT_ROUNDS = 5


def plan(
    suite: Suite,
    engines: Sequence[str],
    *,
    rounds: int,
    seed: int,
    beside: Mapping[str, str] | None = None,
    digits: int | None = None,
) -> list[Trial]:
    """All trials in order. Each round visits every engine once, in an order of its own drawn from the seed.

    So a slow drift of the machine hits all engines alike (interleaved rounds, as in asv). `beside`: variant -> its
    engine. The variants of an engine stand next to each other in every round: what disturbs one hits the other too.
    `digits` of the trials' numbers: as many as the last one has, if not given.
    """
    groups: dict[str, list[str]] = {}
    for engine in sorted(engines):
        groups.setdefault((beside or {}).get(engine, engine), []).append(engine)
    order = random.Random(seed)
    trials: list[Trial] = []
    # So that names sort in order.
    width = digits or max(3, len(str(rounds * len(suite.scenarios) * len(engines))))
    for number in range(1, rounds + 1):
        for scenario in suite.scenarios:
            for engine in _shuffled(groups, order):
                identity = f"{len(trials) + 1:0{width}d}-round{number}-{scenario.name}-{engine}"
                trials.append(Trial(identity, scenario.name, engine, number))
    return trials


def _shuffled(groups: Mapping[str, Sequence[str]], order: random.Random) -> Iterator[str]:
    """The groups in a drawn order, each with its members in one."""
    names = sorted(groups)
    order.shuffle(names)
    for name in names:
        members = list(groups[name])
        order.shuffle(members)  # of one it draws nothing
        yield from members
