"""Two engines of one run as pairs: in each round they stood next to each other, so each round gives one ratio.

What disturbs the machine for a while hits both sides of a round and cancels in its ratio. So the round is the unit, and
the paired t test on the logarithms of the ratios tells the engines apart, as it does for ranks (ADR 15). Holm's
correction counts the timed steps.
"""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, median, stdev

from packaging.version import Version

from dbbench.analysis.contrast import Contrast
from dbbench.analysis.gate import Gate, gated
from dbbench.analysis.queryplans import plan_changed, plans_of
from dbbench.analysis.ranking import LEAST_ROUNDS, paired_chance, separated
from dbbench.analysis.row import Row
from dbbench.analysis.statistics import CONFIDENCE, Estimate, exponential, student_quantile
from dbbench.analysis.summary import summarise
from dbbench.analysis.verdicts import (
    MARGIN,
    ComparisonVerdict,
    Pair,
    forms,
    have_ratios,
    shown_by,
    untimed_pair,
    weight,
)
from dbbench.host.interference import MOST_OTHERS
from dbbench.host.metric import Metric
from dbbench.results.chosen_run import figures_of, lacking
from dbbench.results.facts import StepFacts
from dbbench.results.run_directory import Manifest, Run
from dbbench.results.trial import TrialResult

Key = tuple[str, str]


def paired(rows: Sequence[Row], new: str, old: str, margin: float = MARGIN) -> list[Pair]:
    """Each step that both engines have, in the order of the verdicts; its name is the new engine's.

    A ratio is new to old in cost: above 1 is worse, also where more is better. It is the geometric mean of the rounds'
    ratios, with the interval of the test. `margin`: how far the interval may reach from 1 for "the same".
    """
    sides = [{(row.scenario, row.step): row for row in rows if row.engine == name} for name in (new, old)]
    both = [key for key in sides[0] if key in sides[1]]
    found = {key: means for key in both if (means := _means(sides[0][key], sides[1][key])) is not None}
    depends = {key: sides[0][key].dependence for key in found}
    apart = separated(
        {
            key: paired_chance(*means, depends[key].pairs)
            for key, means in found.items()
            if len(means[0]) >= LEAST_ROUNDS and depends[key].ranks
        }
    )
    pairs = []
    for key in both:
        mine, theirs = sides[0][key], sides[1][key]
        if key in found:
            pairs.append(_timed(mine, theirs, *found[key], len(found), margin, apart=key in apart))
        else:
            pairs.append(untimed_pair((*key, new), theirs, mine))
    order = list(ComparisonVerdict)
    return sorted(pairs, key=lambda pair: (order.index(pair.verdict), -weight(pair)))


@dataclass(frozen=True)
class Control:
    """An engine, and the same once more: what tells them apart is the machine, or chance."""

    name: str
    repeats: str
    #: Timed steps of both.
    pairs: tuple[Pair, ...]

    @property
    def apart(self) -> tuple[Pair, ...]:
        """The steps where the two are told apart."""
        return tuple(
            pair for pair in self.pairs if pair.verdict not in (ComparisonVerdict.UNSURE, ComparisonVerdict.SAME)
        )


def control(manifest: Manifest, rows: Sequence[Row]) -> Control | None:
    """The run's control, if it has one."""
    for name, variant in manifest.variants.items():
        if variant.repeats and {name, variant.repeats} <= manifest.engines.keys():
            pairs = (pair for pair in paired(rows, name, variant.repeats) if pair.timed and pair.ratio)
            return Control(name, variant.repeats, tuple(pairs))
    return None


@dataclass(frozen=True)
class GatedPairs:
    """Two engines of a run in pairs, by what their figures are compared, and what a gate says of them."""

    new: str
    old: str
    pairs: Sequence[Pair]
    gate: Gate
    metric: Metric
    #: The one step that it is of; empty for all.
    step: str = ""
    #: The share of the machine that other processes used in the median trial, if the metric was chosen for it.
    others: float | None = None
    control: Control | None = None
    #: Scenario and step -> the plans of the new engine and of the old one, where they differ.
    plans: Mapping[Key, tuple[str, str]] = field(default_factory=dict)


def pair_gate(
    run: Run,
    results: Sequence[TrialResult],
    names: tuple[str, str],
    share: float,
    metric: Metric | None = None,
    *,
    strict: bool = False,
    step: str = "",
    beside: Collection[str] = (),
) -> GatedPairs:
    """The pairs of two engines (new, old), and what a gate of `share` (0.1 is 10 %) says of them, or of one `step`.

    `beside` are the steps of these engines' other gates: they count as tests, too, and a gate of all leaves them to
    those.

    Without a metric it is the undelayed time where other processes disturbed the median trial and each timed step has
    one, and each step's own figure elsewhere (ADR 17). `strict`: what can't be told fails too. Where a control is told
    apart from what it repeats, nothing is shown. Without any figures of the metric the gate is undecided.
    """
    others = None
    if metric is None:
        mine = [result for result in results if result.engine_name in names]
        others = _others(mine)
        metric = Metric.WALL if others is None or lacking(mine, Metric.UNDELAYED) else Metric.UNDELAYED
    rows = summarise(run.suite, run.manifest, figures_of(results, metric))
    if step and "" not in beside:
        rows = [row for row in rows if _is_one(row, {step, *beside})]
    pairs = paired(rows, *names, min(MARGIN, share))
    pairs = [pair for pair in pairs if (_is_one(pair, {step}) if step else not _is_one(pair, beside))]
    known = control(run.manifest, rows)
    doubted = {(pair.scenario, pair.step) for pair in known.apart} if known else ()
    chosen = others if metric is Metric.UNDELAYED else None
    gate = gated(pairs, share, strict=strict, doubted=doubted)
    # Plans of two databases are never alike.
    one_database = len({run.manifest.engines[name].get("dialect") for name in names}) == 1
    plans = {
        (pair.scenario, pair.step): (ours[0], theirs[0])
        for pair in pairs
        for ours, theirs in [[plans_of(run, results, pair.scenario, pair.step, name) for name in names]]
        if one_database and plan_changed(ours, theirs)
    }
    return GatedPairs(*names, pairs, gate, metric, step, chosen, known, plans)


def _is_one(of: Row | Pair, names: Collection[str]) -> bool:
    """Whether a step is among names, STEP or SCENARIO/STEP."""
    return of.step in names or f"{of.scenario}/{of.step}" in names


def _others(results: Sequence[TrialResult]) -> float | None:
    """The share of the machine that other processes used in the median trial, if that disturbed it."""
    shares = [share for result in results if (share := result.noise.get("others")) is not None]
    middle = median(shares) if shares else 0.0
    return middle if middle > MOST_OTHERS else None


def _means(mine: Row, theirs: Row) -> tuple[list[float], list[float]] | None:
    """Numerator and denominator of each round's ratio; None if the two can't be compared."""
    kinds = [(row.metric, row.unit, row.direction) for row in (mine, theirs)]
    if mine.value is None or theirs.value is None or mine.unit == "B" or kinds[0] != kinds[1]:
        return None
    ours, others = _by_round(mine), _by_round(theirs)
    rounds = sorted(ours.keys() & others.keys())
    above, below = (others, ours) if mine.direction == "higher" else (ours, others)
    found = [above[number] for number in rounds], [below[number] for number in rounds]
    return found if rounds and have_ratios([*found[0], *found[1]]) else None


def _by_round(row: Row) -> dict[tuple[int, tuple[str, ...]], float]:
    """The mean of each round, by its number and its forms: one that was lukewarm for one of two engines is no pair."""
    facts: Sequence[StepFacts] = row.rounds or [StepFacts()] * len(row.of_rounds)
    rounds = zip(row.of_rounds, row.trial_means, facts, strict=False)
    return {(number, tuple(sorted(forms([of])))): mean for number, mean, of in rounds}


def _timed(
    mine: Row, theirs: Row, ours: Sequence[float], others: Sequence[float], tests: int, margin: float, *, apart: bool
) -> Pair:
    found = _contrast(ours, others, mine.dependence.pairs)
    ratio = found.ratio
    needed = LEAST_ROUNDS if len(ours) < LEAST_ROUNDS else None
    verdict = shown_by(ratio, mine.unit, margin, apart=apart, enough=needed is None and mine.dependence.ranks)
    return Pair(
        mine.scenario, mine.step, mine.engine, verdict, mine.unit, theirs.value, mine.value, ratio,
        needed=needed, rounds=(len(ours),), tests=tests,
        visible=None if needed is not None else found.visible(tests),
        verified=mine.verified and theirs.verified,
    )  # fmt: skip


def _contrast(ours: Sequence[float], others: Sequence[float], inflation: float) -> Contrast:
    """The mean of the rounds' logarithms, and its interval by Student's distribution."""
    gaps = [math.log(one) - math.log(other) for one, other in zip(ours, others, strict=True)]
    middle = fmean(gaps)
    if len(gaps) < 2:
        return Contrast(Estimate(exponential(middle), None, None), 1.0, None)
    error = stdev(gaps) * inflation / math.sqrt(len(gaps))
    reach = student_quantile((1 + CONFIDENCE) / 2, len(gaps) - 1) * error
    ratio = Estimate(*(exponential(middle + part) for part in (0, -reach, reach)))
    return Contrast(ratio, paired_chance(ours, others, inflation), error, len(gaps) - 1)


@dataclass(frozen=True)
class Point:
    """A position on the axis and its variant."""

    label: str
    engine: str


@dataclass(frozen=True)
class Series:
    """Two or more variants of an engine, in the order of the axis."""

    engine: str
    #: What the axis shows: "release", or an option's name.
    axis: str
    points: tuple[Point, ...]

    @property
    def name(self) -> str:
        """Part of a file's name."""
        return f"{self.engine}-{self.axis}".replace("+", "-")


def series(manifest: Manifest) -> tuple[Series, ...]:
    """All series of a run; none if its variants differ in nothing that has an order."""
    return tuple(each for each in (*_releases(manifest), *_sweeps(manifest)) if len(each.points) > 1)


def changes(rows: Sequence[Row], found: Series) -> dict[tuple[str, str, str], ComparisonVerdict]:
    """Scenario, step and engine of each point that is shown to differ from the one before it."""
    marked: dict[tuple[str, str, str], ComparisonVerdict] = {}
    for before, after in zip(found.points, found.points[1:], strict=False):
        for pair in paired(rows, after.engine, before.engine):
            if pair.timed and pair.verdict not in (ComparisonVerdict.UNSURE, ComparisonVerdict.SAME):
                marked[pair.scenario, pair.step, after.engine] = pair.verdict
    return marked


def _releases(manifest: Manifest) -> Iterator[Series]:
    by_engine: dict[str, list[tuple[Version, Point]]] = {}
    for name, variant in manifest.variants.items():
        if variant.release and not (variant.repeats or variant.build):  # builds have no order
            point = Point(variant.release, name)
            by_engine.setdefault(variant.engine, []).append((Version(variant.release), point))
    for engine, found in by_engine.items():
        ordered = sorted(found, key=lambda one: (one[0], one[1].engine))
        yield Series(engine, "release", tuple(point for _, point in ordered))


def _sweeps(manifest: Manifest) -> Iterator[Series]:
    by_option: dict[tuple[str, str], list[Point]] = {}
    for name, variant in manifest.variants.items():
        if variant.sweep:
            value = str(manifest.options.get(name, {}).get(variant.sweep, ""))
            by_option.setdefault((variant.engine, variant.sweep), []).append(Point(value, name))
    for (engine, option), points in by_option.items():
        yield Series(engine, option, tuple(sorted(points, key=lambda point: _in_order(point.label))))


def _in_order(value: str) -> tuple[int, float, str]:
    """Numbers by their size, then texts."""
    try:
        return 0, float(value), value
    except ValueError:
        return 1, 0.0, value
