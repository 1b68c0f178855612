"""The verdict on each step and engine that two sides share: the ratio with its interval, and what is shown by it.

A side is one run or several. How their figures are compared is in `contrast`. Each engine is a question of
its own, so Holm's correction counts the timed steps of that engine. A verdict of "the same" needs more than
a test that found nothing: the whole interval must lie close to 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, StrEnum, auto
from statistics import geometric_mean
from typing import NamedTuple

from dbbench.analysis.contrast import ALLOWANCE, Contrast, contrast
from dbbench.analysis.ranking import BAND, SIGNIFICANCE, fewest_blocks, separated
from dbbench.analysis.row import Row
from dbbench.analysis.statistics import Estimate
from dbbench.host.metric import PACES
from dbbench.results.facts import StepFacts
from dbbench.results.outcome import Outcome

#: How far the interval of two equal results may reach from 1, if no gate is set that is narrower.
MARGIN = 0.05
#: Figures below this, or above its reciprocal, have no ratio.
_LEAST = 1e-150

Key = tuple[str, str, str]


class ComparisonVerdict(StrEnum):
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

    @property
    def worse(self) -> bool:
        """Whether the new result is the worse one."""
        return self in (self.BROKE, self.SLOWER, self.LARGER)

    @property
    def better(self) -> bool:
        """Whether the new result is the better one."""
        return self in (self.MENDED, self.FASTER, self.SMALLER)


class NoRatio(Enum):
    """Reasons why two figures have no ratio."""

    OTHER_MEASURE = auto()
    NOT_ABOVE_ZERO = auto()
    #: Of two engines of one run: it is either of these.
    NO_COMMON_ROUNDS = auto()


@dataclass(frozen=True)
class Pair:
    """One step of one engine on both sides. `ratio` is how many times the old cost: above 1 is worse."""

    scenario: str
    step: str
    engine: str
    verdict: ComparisonVerdict
    unit: str = ""
    old: float | None = None
    new: float | None = None
    ratio: Estimate | None = None
    no_ratio: NoRatio | None = None
    #: What the figures are of, and the rows that came to the most harm: of the old side and of the new one.
    measures: tuple[Measure, ...] = ()
    worst: tuple[Row, ...] = ()
    #: How many rounds both runs would need for a verdict, where `rounds`, those of each, are too few for all `tests`.
    needed: int | None = None
    rounds: tuple[int, ...] = ()
    tests: int = 0
    #: The smallest ratio that such runs find in four of five cases; None where they find none.
    visible: float | None = None
    #: By how much the runs of a side differ: a standard deviation as a share. None for one run a side.
    between: float | None = None
    #: Whether the work was checked in every round of every run. If not, nothing shows that both did it.
    verified: bool = True

    @property
    def timed(self) -> bool:
        """Whether it is a comparison of measurements: sizes are none, and a step that isn't ok has none."""
        without = (ComparisonVerdict.BROKE, ComparisonVerdict.MENDED, ComparisonVerdict.NEITHER)
        return self.unit != "B" and self.verdict not in without


@dataclass(frozen=True)
class Alone:
    """What `runs` have and not every run has: an engine, a scenario, a step of one, or an engine in a step."""

    runs: tuple[str, ...]
    engine: str = ""
    scenario: str = ""
    step: str = ""


class Measure(NamedTuple):
    """The kind of a figure: a step may have been lukewarm in one run, or have returned rows in another form."""

    metric: str
    unit: str
    direction: str
    forms: tuple[str, ...]


@dataclass(frozen=True)
class _Figures:
    """One step of one engine in all runs of a side."""

    rows: tuple[Row, ...]

    @property
    def value(self) -> float | None:
        """The run's median; of several runs their geometric mean. None if a run has no figure."""
        values = [row.value for row in self.rows if row.value is not None]
        if len(values) < len(self.rows):
            return None
        return values[0] if len(values) == 1 or min(values) <= 0 else geometric_mean(values)

    @property
    def worst(self) -> Row:
        """The row that came to the most harm."""
        return max(self.rows, key=lambda row: row.outcome.badness)

    @property
    def verified(self) -> bool:
        return all(row.verified for row in self.rows)

    @property
    def is_size(self) -> bool:
        return any(row.unit == "B" for row in self.rows)

    @property
    def runs(self) -> list[tuple[float, ...]]:
        """The trial means of each run's rounds."""
        return [row.trial_means for row in self.rows]

    @property
    def measure(self) -> Measure:
        return measure(self.rows)


def measure(rows: Sequence[Row]) -> Measure:
    """What the figure of an engine's rows of a step is of: one row, or one of each run of a side."""
    first = rows[0]
    found = forms(facts for row in rows for facts in row.rounds)
    counted = {"counted by the server" if row.at_url else "files" for row in rows if row.unit == "B"}
    found |= counted if counted != {"files"} else set()
    return Measure(first.metric, first.unit, first.direction, tuple(sorted(found)))


def forms(rounds: Iterable[StepFacts]) -> set[str]:
    """How the rounds' rows came, and what their caches held."""
    found = {str(facts[key]) for facts in rounds for key in ("gives", "cache") if facts.get(key)}
    return {"rows" if form == "columns" else form for form in found}  # ranked with each other


def compare_rows(
    old: Sequence[Sequence[Row]], new: Sequence[Sequence[Row]], margin: float = MARGIN, allowance: float = ALLOWANCE
) -> list[Pair]:
    """Each step of each engine that all runs have, in the order of the verdicts, and of the ratios within one.

    `old` and `new` are the rows of each run of a side. `allowance`: see `contrast`.
    """
    common = shared([*old, *new])
    before, after = ({key: _figures(side, key) for key in common} for side in (old, new))
    pairs: list[Pair] = []
    for engine in dict.fromkeys(key[2] for key in common):
        mine = [key for key in common if key[2] == engine]
        timed = {
            key: _contrast(before[key], after[key], allowance) for key in mine if _measured(before[key], after[key])
        }
        found = {(scenario, step): one.chance for (scenario, step, _), one in timed.items() if one is not None}
        apart = separated(found)
        for key in mine:
            if key in timed:
                pair = _timed(key, before[key], after[key], timed[key], len(timed), margin, apart=key[:2] in apart)
            else:
                pair = _untimed(key, before[key], after[key])
            pairs.append(pair)
    order = list(ComparisonVerdict)
    return sorted(pairs, key=lambda pair: (order.index(pair.verdict), -weight(pair)))


def have_ratios(figures: Iterable[float]) -> bool:
    """Whether figures are above zero, and neither too small nor too large to be measured."""
    return all(_LEAST <= figure <= 1 / _LEAST for figure in figures)


def row_key(row: Row) -> Key:
    """What a row is of."""
    return row.scenario, row.step, row.engine


def shared(runs: Sequence[Sequence[Row]]) -> list[Key]:
    """What all runs have a row of, in the order of the first."""
    others = [{row_key(row) for row in rows} for rows in runs[1:]]
    return [key for row in runs[0] if all((key := row_key(row)) in rows for rows in others)]


def _figures(side: Sequence[Sequence[Row]], key: Key) -> _Figures:
    return _Figures(tuple(row for rows in side for row in rows if row_key(row) == key))


def _measured(old: _Figures, new: _Figures) -> bool:
    """Whether both have trial means to test: sizes are no measurements, and are told apart by the 2 % alone."""
    return old.value is not None and new.value is not None and not old.is_size and not new.is_size


def _contrast(old: _Figures, new: _Figures, allowance: float) -> Contrast | None:
    """None where there is no ratio: other measures, or a figure not above zero, or too large to be measured."""
    if old.measure != new.measure or not have_ratios(value for run in (*old.runs, *new.runs) for value in run):
        return None
    above, below = (old, new) if new.rows[0].direction == "higher" else (new, old)
    return contrast(above.runs, below.runs, allowance=allowance)


def _timed(
    key: Key, old: _Figures, new: _Figures, found: Contrast | None, tests: int, margin: float, *, apart: bool
) -> Pair:
    if old.measure != new.measure:
        return _of_other_measures(key, old, new)
    start = (old.rows[0].unit, old.value, new.value)
    if found is None:
        return Pair(*key, ComparisonVerdict.UNSURE, *start, no_ratio=NoRatio.NOT_ABOVE_ZERO)
    ratio = found.ratio
    # With too few rounds in one run a side no test can succeed, and an interval of them is too narrow to be trusted.
    counts = tuple(len(side.runs[0]) for side in (old, new)) if found.between is None else ()
    needed = fewest_blocks(tests) if counts and 2 / math.comb(sum(counts), counts[0]) > SIGNIFICANCE / tests else None
    verdict = shown_by(ratio, old.rows[0].unit, margin, apart=apart, enough=needed is None)
    needed = needed if verdict is ComparisonVerdict.UNSURE else None
    return Pair(
        *key, verdict, *start, ratio,
        needed=needed, rounds=counts, tests=tests,
        visible=None if needed is not None else found.visible(tests),
        between=found.between,
        verified=old.verified and new.verified,
    )  # fmt: skip


def shown_by(ratio: Estimate, unit: str, margin: float, *, apart: bool, enough: bool) -> ComparisonVerdict:
    """The verdict on a ratio of times. `apart`: what the test says; `enough`: whether the interval can be trusted."""
    if apart and max(ratio.value, 1 / ratio.value) >= 1 + BAND:
        return changed(ratio.value, unit)
    known = enough and ratio.low is not None and ratio.high is not None
    within = known and 1 / (1 + margin) <= (ratio.low or 0) <= (ratio.high or 0) <= 1 + margin
    return ComparisonVerdict.SAME if within else ComparisonVerdict.UNSURE


def changed(ratio: float, unit: str) -> ComparisonVerdict:
    """The verdict on a figure that differs: how many times the old cost it is."""
    if unit in PACES:
        return ComparisonVerdict.SLOWER if ratio > 1 else ComparisonVerdict.FASTER
    return ComparisonVerdict.LARGER if ratio > 1 else ComparisonVerdict.SMALLER


def _of_other_measures(key: Key, old: _Figures, new: _Figures) -> Pair:
    measures = (old.measure, new.measure)
    unit = "B" if old.is_size and new.is_size else ""
    return Pair(*key, ComparisonVerdict.UNSURE, unit, no_ratio=NoRatio.OTHER_MEASURE, measures=measures)


def _untimed(key: Key, old: _Figures, new: _Figures) -> Pair:
    """A pair without a test: sizes, which follow from the data, or what can't be compared."""
    if old.value is None or new.value is None:
        return _without_figure(key, old, new)
    if old.measure != new.measure:
        return _of_other_measures(key, old, new)
    if not old.is_size:
        return Pair(*key, ComparisonVerdict.UNSURE, no_ratio=NoRatio.NO_COMMON_ROUNDS)
    ratio = new.value / old.value if old.value else math.inf if new.value else 1.0
    verdict = ComparisonVerdict.SAME
    if max(ratio, 1 / ratio if ratio else math.inf) >= 1 + BAND:
        verdict = changed(ratio, old.rows[0].unit)
    return Pair(*key, verdict, old.rows[0].unit, old.value, new.value, Estimate(ratio, None, None))


def _without_figure(key: Key, old: _Figures, new: _Figures) -> Pair:
    """Verdict where at least one of them is not ok."""
    worst = (old.worst, new.worst)
    outcomes = {row.outcome for row in worst}
    if Outcome.NOT_COUNTED in outcomes and len(outcomes) > 1:  # it may be as it was
        unit = (new if old.value is None else old).rows[0].unit
        return Pair(*key, ComparisonVerdict.UNSURE, unit, old.value, new.value, worst=worst)
    if old.value is not None:
        return Pair(*key, ComparisonVerdict.BROKE, old.rows[0].unit, old.value, worst=worst)
    if new.value is not None:
        return Pair(*key, ComparisonVerdict.MENDED, new.rows[0].unit, new=new.value, worst=worst)
    return Pair(*key, ComparisonVerdict.NEITHER, worst=worst)


def untimed_pair(key: Key, old: Row, new: Row) -> Pair:
    """Two rows of one run without a test: sizes, told apart by the 2 % alone, or what can't be compared."""
    return _untimed(key, _Figures((old,)), _Figures((new,)))


def weight(pair: Pair) -> float:
    """How far the ratio is from 1, either way."""
    if pair.ratio is None:
        return math.inf
    return abs(math.log(pair.ratio.value)) if 0 < pair.ratio.value < math.inf else math.inf
