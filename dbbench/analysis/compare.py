"""Two runs side by side: for each step and engine the ratio with its interval, and a verdict.

The blocks of both runs are tested against each other as engines are within a run (see `ranking`). Each
engine is a question of its own, so Holm's correction counts the timed steps of that engine. A verdict of
"the same" needs more than a test that found nothing: the whole interval must lie close to 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from dbbench.analysis.environment import disturbances
from dbbench.analysis.likeness import Difference, Side, Weight, check_alike
from dbbench.analysis.publication import forbidden
from dbbench.analysis.ranking import BAND, chance, separated
from dbbench.analysis.statistics import Estimate, ratio_estimate
from dbbench.analysis.summary import Row, summarise
from dbbench.errors import UserError
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


@dataclass(frozen=True)
class Comparison:
    """All that there is to say of two runs. `pairs` come regressions first, the greatest of each kind first."""

    old: Side
    new: Side
    pairs: tuple[Pair, ...]
    #: How far from 1 an interval may reach for "the same".
    margin: float
    #: Engines, scenarios and steps that only one of the runs has, in words.
    alone: tuple[str, ...]
    differences: tuple[Difference, ...]
    #: What makes the figures themselves doubtful, in words.
    warnings: tuple[str, ...]
    #: Engines that are left out because their licences forbid to publish what was found: (engine, clause).
    withheld: tuple[tuple[str, str], ...] = ()

    def of(self, verdict: Verdict) -> list[Pair]:
        """The pairs with one verdict."""
        return [pair for pair in self.pairs if pair.verdict is verdict]

    @property
    def machines(self) -> list[Difference]:
        """What differs between the machines: with any of these the result carries a stamp."""
        return [item for item in self.differences if item.weight is Weight.MACHINE]

    @property
    def causes(self) -> list[Difference]:
        """Versions, settings and limits that differ."""
        return [item for item in self.differences if item.weight is Weight.CAUSE]


def compare(
    old: Side, new: Side, *, gate: float | None = None, across_machines: bool = False, publish: bool = False
) -> Comparison:
    """Compare two runs. Raises UserError if they are not alike or have nothing in common, or for too small a gate.

    `publish` leaves out the engines whose licences forbid to publish their figures, with all that follows from them.
    """
    if gate is not None and gate < BAND:
        raise UserError(
            f"a gate of {gate * 100:g} % is too small: medians less than {BAND * 100:g} % apart are the same"
        )
    if old.manifest.created == new.manifest.created:
        raise UserError(f"{old.name} and {new.name} are one and the same run; compare two")
    found = check_alike(old, new, across_machines=across_machines)
    for side in (old, new):
        if not side.results:
            raise UserError(f"{side.name} has no finished trial; `dbbench suite --resume {side.name}` runs them")
    held: dict[str, str] = {}
    if publish:
        held = forbidden(old.manifest, old.results) | forbidden(new.manifest, new.results)
        old, new = (side.without(held) for side in (old, new))
    ours, theirs = (summarise(side.suite, side.manifest, side.results) for side in (old, new))
    margin = MARGIN if gate is None else min(MARGIN, gate)
    pairs = compare_rows(_part(ours, ranked=True), _part(theirs, ranked=True), margin)
    if not pairs and held:
        raise UserError(f"nothing is left to compare for publication: withheld are {', '.join(held)}")
    if not pairs:
        engines = [", ".join(sorted({row.engine for row in rows if row.ranked})) for rows in (ours, theirs)]
        raise UserError(
            f"{old.name} and {new.name} have no step of an engine in common ({engines[0]} in the one, "
            f"{engines[1]} in the other); run both with the same --engine"
        )
    nulls = compare_rows(_part(ours, ranked=False), _part(theirs, ranked=False), margin)
    return Comparison(
        old=old,
        new=new,
        pairs=tuple(pairs),
        margin=margin,
        alone=(*_alone(ours, theirs, old.name), *_alone(theirs, ours, new.name)),
        differences=tuple(found),
        warnings=(*_doubts(old), *_doubts(new), *_drift(nulls)),
        withheld=tuple(held.items()),
    )


def compare_rows(old: Sequence[Row], new: Sequence[Row], margin: float = MARGIN) -> list[Pair]:
    """Each step of each engine that both have, in the order of the verdicts, and of the ratios within one."""
    theirs = {(row.scenario, row.step, row.engine): row for row in new}
    both = [(row, theirs[key]) for row in old if (key := (row.scenario, row.step, row.engine)) in theirs]
    pairs: list[Pair] = []
    for engine in dict.fromkeys(row.engine for row, _ in both):
        mine = [(ours, other) for ours, other in both if ours.engine == engine]
        timed = [(ours, other) for ours, other in mine if _measured(ours, other)]
        apart = separated({_key(ours): chance(ours.blocks, other.blocks) for ours, other in timed})
        for ours, other in mine:
            if _measured(ours, other):
                pairs.append(_timed(ours, other, apart=_key(ours) in apart, tests=len(timed), margin=margin))
            elif ours.value is not None and other.value is not None:
                pairs.append(_size(ours, other))
            else:
                pairs.append(_without_figure(ours, other))
    order = list(Verdict)
    return sorted(pairs, key=lambda pair: (order.index(pair.verdict), -_weight(pair)))


def beyond(pairs: Sequence[Pair], gate: float) -> list[Pair]:
    """The pairs that a gate holds up: what broke, and what is proven worse with a ratio above 1 + `gate`.

    An interval that reaches down to 1 is no proof, whatever the test says.
    """
    return [pair for pair in pairs if pair.verdict is Verdict.BROKE or _worse_by(pair, gate)]


def _worse_by(pair: Pair, gate: float) -> bool:
    if pair.verdict not in (Verdict.SLOWER, Verdict.LARGER) or pair.ratio is None:
        return False
    return pair.ratio.value > 1 + gate and (pair.ratio.low is None or pair.ratio.low > 1)


def _part(rows: Sequence[Row], *, ranked: bool) -> list[Row]:
    """Those of the engines, or those of the null engines."""
    return [row for row in rows if row.ranked is ranked]


def _key(row: Row) -> Key:
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


def _weight(pair: Pair) -> float:
    """How far the ratio is from 1, either way."""
    if pair.ratio is None:
        return math.inf
    return abs(math.log(pair.ratio.value)) if 0 < pair.ratio.value < math.inf else math.inf


def _alone(rows: Sequence[Row], others: Sequence[Row], name: str) -> Iterator[str]:
    """What only the rows of the run called `name` have: whole engines and scenarios first, then steps."""
    engines = {row.engine for row in others}
    scenarios = {row.scenario for row in others}
    steps = {_key(row) for row in others}
    cells = {(*_key(row), row.engine) for row in others}
    told = []
    for row in rows:
        if row.engine not in engines:
            told.append(f"engine {row.engine}")
        elif row.scenario not in scenarios:
            told.append(f"scenario {row.scenario}")
        elif _key(row) not in steps:
            told.append(f"step {row.step} of {row.scenario}")
        elif (*_key(row), row.engine) not in cells:
            told.append(f"{row.engine} in step {row.step} of {row.scenario}")
    return (f"only in {name}: {what}" for what in dict.fromkeys(told))


def _doubts(side: Side) -> Iterator[str]:
    """What makes one run's figures worth less."""
    yield from (f"{side.name}: {text}" for text in disturbances(side.manifest, side.results))
    wanted = len(side.manifest.usable) * side.manifest.rounds * len(side.suite.scenarios)
    missing = wanted - len(side.results)
    if missing > 0:
        yield (
            f"{missing} of {wanted} trials of {side.name} have not been run: "
            f"`dbbench suite --resume {side.name}` does them"
        )


def _drift(nulls: Sequence[Pair]) -> Iterator[str]:
    """The null engines do dbbench's own work alone: where they changed, it wasn't the engines."""
    changed = [pair for pair in nulls if pair.verdict in (Verdict.SLOWER, Verdict.FASTER) and _weight(pair) >= MARGIN]
    if changed:
        steps = ", ".join(f"{pair.engine} in {pair.step} ×{pair.ratio.value:.2f}" for pair in changed if pair.ratio)
        yield (
            f"the null engine, which does no work of its own, has changed too ({steps}): "
            "the machine or dbbench itself is not as it was"
        )
