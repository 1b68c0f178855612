"""The search for the least effort that reaches a recall: doubled until it does, then halved between the last two."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

#: The efforts that reach a recall and don't are closer than this share of them in the end, or follow one another.
_CLOSE = 50


@dataclass(frozen=True)
class Tried:
    """Result of an effort: the recall of each query, searches in a second, and what is wrong with the answers."""

    recalls: NDArray[np.float64]
    per_second: float
    fault: str

    @property
    def recall(self) -> float:
        """The mean of the queries."""
        return float(self.recalls.mean())

    def same(self, other: Tried) -> bool:
        """Whether another effort has found as much of each query's neighbours."""
        both = min(len(self.recalls), len(other.recalls))
        return bool((self.recalls[:both] == other.recalls[:both]).all())


def least_effort(recall: Callable[[int], float], target: float, least: int, most: int) -> int | None:
    """The least effort from `least` to `most` whose recall is the target or more; None if that of the most isn't."""
    failed, effort = least - 1, least
    while recall(effort) < target:
        if effort == most:
            return None
        failed, effort = effort, min(2 * effort, most)
    while effort - failed > max(1, effort // _CLOSE):
        middle = (failed + effort) // 2
        if recall(middle) < target:
            failed = middle
        else:
            effort = middle
    return effort
