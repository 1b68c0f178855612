"""Which trial runs when. Pure: the same suite, engines, rounds and seed give the same plan."""

from __future__ import annotations

import math
import random
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence

from dbbench.results.trial import Trial
from dbbench.suite.model import Suite

#: Rounds by default, if the number of engines doesn't need more.
DEFAULT_ROUNDS = 5
#: The chance at which two engines count as different, over all pairs of a step together.
SIGNIFICANCE = 0.05
#: The fewest rounds that give ranks, and the most engines that they rank, then those for one more round each.
LEAST_ROUNDS = 5
_MOST_ENGINES = (4, 7, 12, 22, 40, 71, 127, 227, 408)


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


def fewest_rounds(engines: int) -> int:
    """The fewest rounds that rank this many engines.

    With them two engines that are 10 % apart, each with 2 % of noise of its own, are told apart in nine of ten
    runs, by the test of `ranking` at Holm's first hurdle. Fewer than five are too few for a t test of anything.
    """
    return LEAST_ROUNDS + bisect_left(_MOST_ENGINES, engines)


def too_few_rounds(engines: int, rounds: int) -> str:
    """That this many rounds give no ranks, and how many do; empty if they are enough."""
    needed = fewest_rounds(engines)
    if engines < 2 or rounds >= needed:
        return ""
    return (
        f"{rounds} round{'s are' if rounds > 1 else ' is'} too few to tell {engines} engines apart: times get no ranks; "
        f"for ranks use --rounds {needed} or more"
    )


def fewest_blocks(tests: int) -> int:
    """The fewest blocks on each side with which the first of `tests` tests can succeed.

    With n blocks each, the smallest p value of an exact two-sided Mann-Whitney test is 2 / C(2n, n);
    Holm's correction asks the first of the tests to stay under SIGNIFICANCE / tests.
    """
    return next(n for n in range(2, 100) if 2 / math.comb(2 * n, n) <= SIGNIFICANCE / max(1, tests))
