"""The verdict on each step and engine that two runs share: the ratio with its interval, and what is shown by it.

The blocks of both runs are tested against each other as engines are within a run (see `ranking`). Each
engine is a question of its own, so Holm's correction counts the timed steps of that engine. A verdict of
"the same" needs more than a test that found nothing: the whole interval must lie close to 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from dbbench.analysis.ranking import BAND, chance, separated
from dbbench.analysis.statistics import Estimate, ratio_estimate
from dbbench.analysis.summary import Row
from dbbench.outcome import Outcome
from dbbench.plan import SIGNIFICANCE, fewest_blocks

#: How far the interval of two equal results may reach from 1, if no gate is set that is narrower.
MARGIN = 0.05

Key = tuple[str, str]


class Verdict(StrEnum):
    """The new result against the old one, in the order to read them."""

    BROKE = "broke"
    SLOWER = "slower"
    LARGER = "larger"
    MENDED = "mended"
    FASTER = "faster"
    SMALLER = "smaller"
    UNSURE = "can't tell"
    SAME = "the same"
    NEITHER = "no figure"


@dataclass(frozen=True)
class Pair:
    """One step of one engine in both runs. `ratio` is how many times the old run's cost: above 1 is worse."""

    scenario: str
    step: str
    engine: str
    verdict: Verdict
    unit: str = ""
    old: float | None = None
    new: float | None = None
    ratio: Estimate | None = None
    detail: str = ""
    #: How many rounds both runs would need for a verdict, where they have too few.
    needed: int | None = None

    @property
    def timed(self) -> bool:
        """Whether it is a comparison of measurements: sizes are none, and a step that isn't ok has none."""
        sure = (Verdict.SLOWER, Verdict.FASTER, Verdict.UNSURE)
        return self.verdict in sure or (self.verdict is Verdict.SAME and self.unit != "B")


def compare_rows(old: Sequence[Row], new: Sequence[Row], margin: float = MARGIN) -> list[Pair]:
    """Each step of each engine that both have, in the order of the verdicts, and of the ratios within one."""
    theirs = {(row.scenario, row.step, row.engine): row for row in new}
    both = [(row, theirs[key]) for row in old if (key := (row.scenario, row.step, row.engine)) in theirs]
    pairs: list[Pair] = []
    for engine in dict.fromkeys(row.engine for row, _ in both):
        mine = [(ours, other) for ours, other in both if ours.engine == engine]
        timed = [(ours, other) for ours, other in mine if _measured(ours, other)]
        apart = separated({row_key(ours): chance(ours.blocks, other.blocks) for ours, other in timed})
        for ours, other in mine:
            if _measured(ours, other):
                pairs.append(_timed(ours, other, apart=row_key(ours) in apart, tests=len(timed), margin=margin))
            elif ours.value is not None and other.value is not None:
                pairs.append(_size(ours, other))
            else:
                pairs.append(_without_figure(ours, other))
    order = list(Verdict)
    return sorted(pairs, key=lambda pair: (order.index(pair.verdict), -weight(pair)))


def row_key(row: Row) -> Key:
    """What a row is of, within one engine."""
    return row.scenario, row.step


def _measured(old: Row, new: Row) -> bool:
    """Whether both have blocks to test: sizes are no measurements, and are told apart by the 2 % alone."""
    return old.value is not None and new.value is not None and "B" not in (old.unit, new.unit)


def _timed(old: Row, new: Row, *, apart: bool, tests: int, margin: float) -> Pair:
    def pair(verdict: Verdict, ratio: Estimate | None, detail: str = "", needed: int | None = None) -> Pair:
        return Pair(
            old.scenario, old.step, old.engine, verdict, old.unit, old.value, new.value, ratio, detail, needed
        )  # fmt: skip

    if _measure(old) != _measure(new):
        detail = f"not the same measure: was {_measure(old)}; now {_measure(new)}"
        return Pair(old.scenario, old.step, old.engine, Verdict.UNSURE, detail=detail)
    costs = (old.blocks, new.blocks) if old.direction == "higher" else (new.blocks, old.blocks)
    if min(costs[1]) <= 0:
        return pair(Verdict.UNSURE, None, "a block that is not above zero")
    ratio = ratio_estimate(*costs)
    if apart and max(ratio.value, 1 / ratio.value if ratio.value else math.inf) >= 1 + BAND:
        return pair(Verdict.SLOWER if ratio.value > 1 else Verdict.FASTER, ratio)
    # With too few blocks no test can succeed, and an interval of them is too narrow to be trusted.
    counts = len(old.blocks), len(new.blocks)
    if not apart and 2 / math.comb(sum(counts), counts[0]) > SIGNIFICANCE / tests:
        return pair(Verdict.UNSURE, ratio, _too_few(counts, tests), fewest_blocks(tests))
    close = ratio.low is not None and ratio.high is not None and 1 / (1 + margin) <= ratio.low
    if close and ratio.high is not None and ratio.high <= 1 + margin:
        return pair(Verdict.SAME, ratio)
    return pair(Verdict.UNSURE, ratio)


def _measure(row: Row) -> str:
    """What a figure is of: the same step may have been lukewarm in one run, or have given rows in another form."""
    forms = [str(facts[key]) for facts in row.rounds for key in ("gives", "cache") if facts.get(key)]
    return ", ".join([f"{row.metric} in {row.unit}", f"{row.direction} is better", *sorted(set(forms))])


def _too_few(counts: tuple[int, int], tests: int) -> str:
    rounds = f"{counts[0]} rounds each" if counts[0] == counts[1] else f"{counts[0]} and {counts[1]} rounds"
    return f"{rounds} can't decide {tests} step{'s' if tests > 1 else ''}"


def _size(old: Row, new: Row) -> Pair:
    """Sizes follow from the data, so that no test is needed."""
    assert old.value is not None
    assert new.value is not None
    ratio = new.value / old.value if old.value else math.inf if new.value else 1.0
    verdict = Verdict.SAME
    if max(ratio, 1 / ratio if ratio else math.inf) >= 1 + BAND:
        verdict = Verdict.LARGER if ratio > 1 else Verdict.SMALLER
    return Pair(
        old.scenario, old.step, old.engine, verdict, old.unit, old.value, new.value, Estimate(ratio, None, None)
    )  # fmt: skip


def _without_figure(old: Row, new: Row) -> Pair:
    """At least one of them is not ok."""
    start = (old.scenario, old.step, old.engine)
    then, now = (f"{row.outcome}{f': {row.detail}' if row.detail else ''}" for row in (old, new))
    if old.outcome is Outcome.OK:
        return Pair(*start, Verdict.BROKE, old.unit, old.value, None, None, f"was ok, now {now}")
    if new.outcome is Outcome.OK:
        return Pair(*start, Verdict.MENDED, new.unit, None, new.value, None, f"is ok, was {then}")
    return Pair(*start, Verdict.NEITHER, detail=now if old.outcome is new.outcome else f"was {then}; now {now}")


def weight(pair: Pair) -> float:
    """How far the ratio is from 1, either way."""
    if pair.ratio is None:
        return math.inf
    return abs(math.log(pair.ratio.value)) if 0 < pair.ratio.value < math.inf else math.inf
