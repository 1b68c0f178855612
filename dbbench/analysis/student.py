"""Student's distribution and Kendall's test, for the few values that a report needs.

Importing them from scipy takes from 0.2 to 1.6 seconds, which is more than all else that a report works out. The tests compare
them with scipy's.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from itertools import accumulate, combinations
from statistics import NormalDist

#: The most values for which all orders are counted; for more the normal approximation is as good.
_MOST_EXACT = 33


def student_cdf(value: float, freedom: float) -> float:
    """The chance of a value below `value`. It is exact to some 14 digits, however small it is."""
    square = value * value
    tail = _beta(freedom / (freedom + square), square / (freedom + square), freedom / 2, 0.5) / 2
    return tail if value < 0 else 1 - tail


def student_quantile(share: float, freedom: float) -> float:
    """The value that a share of 0 < `share` < 1 lies below."""
    if share > 0.5:
        return -student_quantile(1 - share, freedom)
    low = -1.0
    while student_cdf(low, freedom) > share:
        low *= 2
    high = 0.0
    while low < (middle := (low + high) / 2) < high:
        if student_cdf(middle, freedom) < share:
            low = middle
        else:
            high = middle
    return high


def _beta(share: float, rest: float, first: float, second: float) -> float:
    """The regularized incomplete beta function of `share`, which is 1 - `rest`, by its series of positive terms."""
    if share > (first + 1) / (first + second + 2):
        return 1 - _beta(rest, share, second, first)
    if share == 0:
        return 0.0
    total = term = 1.0
    place = 0
    while term > total * sys.float_info.epsilon / 4:
        term *= share * (first + second + place) / (first + 1 + place)
        total += term
        place += 1
    constant = math.lgamma(first + second) - math.lgamma(first) - math.lgamma(second)
    return math.exp(constant + first * math.log(share) + second * math.log(rest)) * total / first


def trend_chance(values: Sequence[float]) -> float:
    """The two-sided p value of Kendall's test (1938) of values that don't rise or fall with their places.

    Exact up to 33 values of which no two are the same, and by the normal approximation for others.
    """
    count = len(values)
    pairs = math.comb(count, 2)
    signs = [int(later > earlier) - int(later < earlier) for earlier, later in combinations(values, 2)]
    tied = [number for value in {*values} if (number := [*values].count(value)) > 1]
    if not tied and count <= _MOST_EXACT:
        return min(2 * _orders(count, min(signs.count(1), signs.count(-1))) / math.factorial(count), 1.0)
    if sum(number * (number - 1) // 2 for number in tied) == pairs:
        return 1.0
    squares = count * (count - 1) * (2 * count + 5) - sum(n * (n - 1) * (2 * n + 5) for n in tied)
    return 2 * NormalDist().cdf(-abs(sum(signs)) / math.sqrt(squares / 18))


def _orders(count: int, most: int) -> int:
    """How many orders of `count` values have at most `most` pairs the wrong way round."""
    ways = [1] + [0] * most
    for size in range(2, count + 1):
        sums = list(accumulate(ways))
        ways = [total - (sums[place - size] if place >= size else 0) for place, total in enumerate(sums)]
    return sum(ways)
