"""The search for the highest rate that keeps a limit: bracket by doubling, then halve the bracket on a log scale.

As a network device's throughput is found by RFC 2544 (section 26.1): the rate goes down after a trial that fails, and
up after one that passes.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from math import sqrt


@dataclass(frozen=True)
class Bracket:
    """The highest rate that passed, and the lowest above it that failed; either is None if no trial did so."""

    passed: float | None
    failed: float | None


class NoTime(Exception):
    """There is no time for a further trial."""


def search(passes: Callable[[float], bool], start: float, *, least: float, most: float, resolution: float) -> Bracket:
    """The bracket around the highest rate that passes, at most 1 + `resolution` wide, between `least` and `most`.

    A rate fails if two trials of it fail, so that one stall of the machine doesn't decide. `passes` may raise NoTime: the
    bracket so far is returned then.
    """

    def good(rate: float) -> bool:
        return passes(rate) or passes(rate)

    passed: float | None = None
    failed: float | None = None
    rate = min(max(start, least), most)
    with suppress(NoTime):
        while passed is None or failed is None:
            if good(rate):
                passed = rate
                if rate >= most:
                    break
                rate = min(rate * 2, most)
            else:
                failed = rate
                if rate <= least:
                    break
                rate = max(rate / 2, least)
        while passed is not None and failed is not None and failed / passed > 1 + resolution:
            rate = sqrt(passed * failed)
            if good(rate):
                passed = rate
            else:
                failed = rate
    return Bracket(passed, failed)
