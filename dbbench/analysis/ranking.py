"""Places with ties: engines that the data can't tell apart share one.

Two engines are told apart by an exact two-sided Mann-Whitney test on their blocks (Mann & Whitney 1947),
corrected for the number of pairs in the step (Holm 1979), and only if their medians are at least 2 %
apart: less than that is nothing to choose a database by, however sure.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import median

from dbbench.plan import SIGNIFICANCE, fewest_rounds

#: Medians closer than this share are equal for any use.
BAND = 0.02


@dataclass(frozen=True)
class Place:
    """A place from 1; `shared` with the engine before or after."""

    number: int
    shared: bool

    def __str__(self) -> str:
        return f"{self.number}{'=' if self.shared else ''}"


def places(blocks: Mapping[str, Sequence[float]], *, exact: bool = False) -> dict[str, Place]:
    """The place of each engine, best first, by blocks of which less is better; none if there are too few.

    A place is 1 plus the number of engines that are proven better; along the order of medians it never
    falls, so that an engine with noisy blocks can't stand before one with a better median. `exact` says
    that the values are no measurements (sizes): they are told apart by the 2 % alone.
    """
    order = sorted(blocks, key=lambda engine: (median(blocks[engine]), engine))
    if not exact and (len(order) < 2 or min(map(len, blocks.values())) < fewest_rounds(len(order))):
        return {}
    apart = {pair for pair in combinations(order, 2) if _gap(blocks, pair) >= BAND}
    if not exact:
        apart &= _separated(blocks, list(combinations(order, 2)))
    numbers: list[int] = []
    for index, engine in enumerate(order):
        better = sum((other, engine) in apart for other in order[:index])
        # Behind k proven better ones the place is the k-th's next; equal medians keep their order.
        numbers.append(max(better + 1, numbers[-1] if numbers else 1))
    return {engine: Place(number, numbers.count(number) > 1) for engine, number in zip(order, numbers, strict=True)}


def _gap(blocks: Mapping[str, Sequence[float]], pair: tuple[str, str]) -> float:
    """How much greater the second's median is, as a share of the first's."""
    first, second = (median(blocks[engine]) for engine in pair)
    return (second - first) / first if first else math.inf if second else 0.0


def _separated(blocks: Mapping[str, Sequence[float]], pairs: Sequence[tuple[str, str]]) -> set[tuple[str, str]]:
    """The pairs that the test tells apart, after Holm's correction."""
    return separated({(first, second): chance(blocks[first], blocks[second]) for first, second in pairs})


def separated(chances: Mapping[tuple[str, str], float]) -> set[tuple[str, str]]:
    """Those of some tests that succeed, by their p values, after Holm's correction for their number."""
    found = set()
    for index, (value, key) in enumerate(sorted((value, key) for key, value in chances.items())):
        if value > SIGNIFICANCE / (len(chances) - index):
            break
        found.add(key)
    return found


def chance(first: Sequence[float], second: Sequence[float]) -> float:
    """The two-sided p value of the Mann-Whitney test; 1 if all values are the same."""
    from scipy.stats import mannwhitneyu  # half a second to import, and a quick run needs no test

    if len({*first, *second}) == 1:
        return 1.0
    found = float(mannwhitneyu(first, second, alternative="two-sided", method="auto").pvalue)
    # With ties "auto" takes the normal approximation, which can promise more than there are arrangements.
    return max(found, 2 / math.comb(len(first) + len(second), len(first)))
