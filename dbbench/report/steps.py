"""A step as all reports show it: every figure worded once, so that no two formats can differ."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace

from dbbench.analysis.footprint import Footprint, footprint
from dbbench.analysis.queryplans import QueryPlan
from dbbench.analysis.spread import SHOWN, Spread, spread
from dbbench.analysis.summary import Row
from dbbench.analysis.units import Unit, fitting
from dbbench.store import TrialResult
from dbbench.suite import AnyStep, QueryStep, Scenario, SqlStep, StatementStep

#: A harness's share of a result above which it is told, and above which the result is the harness's.
NOTABLE_SHARE, BOUND_SHARE = 0.05, 0.20
#: From so many rounds on an interval is one of 95 %; fewer give the range of the rounds.
SURE_BLOCKS = 6
#: The further figures of a size.
SIZES = ("allocated", "before flush", "per row", "of CSV", "written")
#: Beyond this ratio of worst to best a scale is logarithmic, where the suite doesn't say.
WIDE_RANGE = 100
#: The most characters of a clause in the place of a figure; the whole stands under the chart.
CLAUSE = 48


@dataclass(frozen=True)
class Line:
    """One engine in one step. `mark` is the number of its footnote."""

    row: Row
    rank: str
    value: str
    interval: str
    ratio: str
    mark: str = ""
    #: The ratio's interval, the harness's share, and the figure by the original's method; each may be empty.
    ratio_interval: str = ""
    share: str = ""
    original: str = ""
    #: Further figures, in the order of the step's own `details`.
    details: tuple[str, ...] = ()

    @property
    def withheld(self) -> bool:
        """Whether `value` says why there is no figure, in the place where it would be."""
        return self.row.value is None

    @property
    def arrow(self) -> bool:
        """Whether the rows of its query came as Arrow batches."""
        return (self.row.facts or {}).get("gives") == "batches"


@dataclass(frozen=True)
class StepView:
    """One step, best to worst. `failed` have no figure; `harness` words the null engine's time."""

    scenario: Scenario
    step: AnyStep
    unit: Unit
    blocks: int
    lines: tuple[Line, ...]
    failed: tuple[Line, ...]
    harness: str
    footnotes: tuple[str, ...]
    #: What the lines' further figures are; empty if they have none.
    details: tuple[str, ...] = ()
    #: The engines' plans of the query, best engine first.
    plans: tuple[QueryPlan, ...] = ()

    @property
    def wide(self) -> bool:
        """Whether the figures lie so far apart that on a linear scale the small ones can't be told apart."""
        known = [value for line in self.lines for value in (line.row.value, line.row.high) if value]
        return bool(known) and max(known) / min(known) > WIDE_RANGE

    @property
    def mixed(self) -> bool:
        """Whether some engines give Arrow batches, and others rows."""
        return len({(line.row.facts or {}).get("gives", "rows") for line in self.lines}) > 1

    @property
    def measure(self) -> str:
        """What the figures are, for a subtitle."""
        better = "more" if any(line.row.direction == "higher" for line in self.lines) else "less"
        if self.step.kind == "size":
            return f"{self.unit.symbol}, {better} is better"
        rounds = f"median of {self.blocks} rounds with {self.interval}" if self.blocks > 1 else "one round, no interval"
        per = " per call" if self.step.kind == "statement" else ""
        cold = "; cold caches" if self.cold else ""
        driven = f"; {self.driven}" if self.driven else ""
        return f"{self.unit.symbol}{per}, {better} is better; {rounds}{cold}{driven}"

    @property
    def interval(self) -> str:
        """What the interval is: with fewer than six rounds it can't cover the truth in 95 of 100 cases."""
        return "95 % interval" if self.blocks >= SURE_BLOCKS else "the least and greatest"

    @property
    def conditions(self) -> str:
        """How much was read or called for a figure, and what the figures don't say."""
        step, facts = self.step, [line.row.facts or {} for line in self.lines]
        words = []
        if isinstance(step, QueryStep) and facts:
            calls = f"{step.iterations} calls" if step.iterations > 1 else "one call"
            warm = f" after {step.warm_up} to warm up" if step.warm_up and not self.cold else ""
            words.append(f"{facts[0].get('rows', 0):,} rows; a round is the mean of {calls}{warm}, by one client.")
            if self.mixed:
                arrow = sorted(line.row.title for line in self.lines if line.arrow)
                words.append(
                    f"Arrow batches, whose values are not turned into Python objects: {_and(arrow)}; "
                    "the others give rows of Python values."
                )
        if isinstance(step, StatementStep):
            if step.rate is None:
                words.append(f"A round is the mean of {step.iterations} calls after {step.warm_up} to warm up.")
            if step.adds is None and step.check is None:
                words.append("The suite says nothing to check its effect by: not verified.")
        if any(line.withheld for line in self.lines):
            words.append("Ratios are to the best figure that is shown.")
        return " ".join(words)

    @property
    def details_note(self) -> str:
        """What the further figures are."""
        if self.step.kind == "size":
            return (
                "Written: bytes that the process wrote since the size before, for each byte that it was given as CSV."
            )
        what = f"Percentiles in {self.unit.symbol}, medians of the rounds', where a round has ten calls above them"
        if isinstance(self.step, StatementStep) and self.step.rate:
            return f"{what}. Service: mean from a call's start to its end. Late: more than 1 ms after its moment."
        return f"{what}."

    @property
    def driven(self) -> str:
        """At which rate and by how many clients, where that isn't one call after another by one."""
        if not isinstance(self.step, StatementStep):
            return ""
        rate, clients = self.step.rate, self.step.clients
        words = [f"{rate.per_second:,g} calls a second ({rate.arrivals}), from when they were due"] if rate else []
        return "; ".join([*words, *([f"{clients} at once"] if clients.count > 1 else [])])

    @property
    def cold(self) -> bool:
        """Whether each call starts with cold caches; a line where that failed says so in its footnote."""
        return isinstance(self.step, QueryStep) and self.step.cache == "cold"

    @property
    def original(self) -> str:
        """The method of the benchmark that is reproduced, if some line has a figure by it."""
        return str(self.scenario.worst_of_last) if any(line.original for line in self.lines) else ""

    @property
    def sql(self) -> str:
        """The statement as the suite has it, in one line."""
        return " ".join(self.step.sql.split()) if isinstance(self.step, SqlStep) else ""


def step_view(
    scenario: Scenario,
    step: AnyStep,
    rows: Sequence[Row],
    results: Sequence[TrialResult],
    csv_bytes: int | None,
    plans: Sequence[QueryPlan],
) -> StepView:
    """A step in words. `rows` are the step's own, in their order."""
    good = [row for row in rows if row.value is not None and row.ranked]
    unit = fitting("B" if step.kind == "size" else "s", [row.value for row in good if row.value])
    footnotes: list[str] = []
    lines: list[Line] = []
    failed: list[Line] = []
    for row in rows:
        if not row.ranked:
            continue
        mark = ""
        if row.detail and not (row.withheld and row.measured):  # its clause stands in its line
            footnotes.append(f"{row.title}: {row.detail}")
            mark = str(len(footnotes))
        (lines if row.measured else failed).append(_line(row, unit, mark))
    blocks = max((len(row.blocks) for row in good), default=0)
    words = _harness(good, [row for row in rows if not row.ranked]) if step.kind != "size" else ""
    order = [line.row.engine for line in (*lines, *failed)]
    found = StepView(
        scenario, step, unit, blocks, tuple(lines), tuple(failed), words, tuple(footnotes), plans=_plans(plans, order)
    )
    if isinstance(step, StatementStep):
        return _with_percentiles(found, step)
    return detailed(found, results, csv_bytes) if step.kind == "size" else found


def _with_percentiles(view: StepView, step: StatementStep) -> StepView:
    """A step of many calls with how they were spread, where that says more than the mean."""
    found = {line.row.engine: known for line in view.lines if (known := spread(line.row.rounds)) is not None}
    several = step.rate is not None or step.clients.count > 1
    if not several and not any(any(each.percentiles[1:]) for each in found.values()):
        return view
    columns = (*SHOWN, "max", "calls/s", *(("service", "late") if step.rate else ()))
    lines = tuple(
        replace(line, details=_spread(known, view.unit)) if (known := found.get(line.row.engine)) else line
        for line in view.lines
    )
    return replace(view, lines=lines, details=columns if found else ())


def _spread(found: Spread, unit: Unit) -> tuple[str, ...]:
    """In words: percentiles where there are calls enough, then the rest."""
    percentiles = ["–" if value is None else unit.figure(value) for value in found.percentiles]
    cells = (*percentiles, unit.figure(found.greatest), Unit(1, "").figure(found.per_second))
    return (*cells, unit.figure(found.service), f"{found.late:,} of {found.due:,}") if found.due is not None else cells


def detailed(view: StepView, results: Sequence[TrialResult], csv_bytes: int | None) -> StepView:
    """A size step with what lies behind each size."""
    lines = []
    for line in view.lines:
        found = footprint(view.scenario, view.step.name, line.row.engine, line.row.title, results, csv_bytes)
        lines.append(replace(line, details=_sizes(found, view.unit)) if found else line)
    return replace(view, lines=tuple(lines), details=SIZES)


def _sizes(found: Footprint, unit: Unit) -> tuple[str, ...]:
    """A footprint in words, in the order of SIZES."""
    flush = "–" if found.before_flush is None else unit.text(found.before_flush)
    row = "–" if found.per_row is None else f"{found.per_row:,.1f} B"
    shares = ["–" if share is None else f"×{share:.2f}" for share in (found.csv_ratio, found.amplification)]
    return (unit.text(found.allocated), flush, row, *shares)


def _plans(plans: Sequence[QueryPlan], order: Sequence[str]) -> tuple[QueryPlan, ...]:
    """The best engine's first; one for all engines that have the very same."""
    same: dict[tuple[str, str], list[QueryPlan]] = {}
    for plan in sorted((plan for plan in plans if plan.engine in order), key=lambda plan: order.index(plan.engine)):
        same.setdefault((plan.text, plan.note), []).append(plan)
    return tuple(replace(mine[0], title=", ".join(plan.title for plan in mine)) for mine in same.values())


def _line(row: Row, unit: Unit, mark: str) -> Line:
    rank = "" if row.place is None else str(row.place)
    if row.withheld and row.measured:
        return Line(row, rank, f"withheld: {textwrap.shorten(row.withheld, CLAUSE, placeholder=' …')}", "", "", mark)
    if row.value is None:
        return Line(row, "", str(row.outcome), "", "", mark)
    interval = ""
    if row.low is not None and row.high is not None and row.unit != "B":
        interval = f"{unit.figure(row.low)} to {unit.figure(row.high)}"
    ratio, between = "", ""
    if row.ratio is not None:
        ratio = f"×{times(row.ratio.value)}"
        if row.ratio.low is not None and row.ratio.high is not None and row.unit != "B":
            between = f"{times(row.ratio.low)} to {times(row.ratio.high)}"
    return Line(
        row=row,
        rank=rank,
        value=unit.figure(row.value),
        interval=interval,
        ratio=ratio,
        mark=mark,
        ratio_interval=between,
        share=_percent(row.harness_share),
        original="" if row.original is None else unit.figure(row.original),
    )


def times(ratio: float) -> str:
    """A ratio in words, without its sign."""
    return f"{ratio:.2f}" if ratio < 100 else f"{ratio:,.0f}"


def _percent(share: float | None) -> str:
    """A harness's share in words, with a mark on what is bound by the harness."""
    if share is None:
        return ""
    return "<0.1%" if share < 0.001 else f"{share:.1%}{'!' if share > BOUND_SHARE else ''}"


def _harness(good: Sequence[Row], nulls: Sequence[Row]) -> str:
    """The null engines' times in words, and the largest share that they are of any result."""
    durations = [fitting("s", [null.value]).text(null.value) for null in nulls if null.value is not None]
    shares = [row.harness_share for row in good if row.harness_share is not None]
    if not durations or not shares:
        return ""
    words = f"the harness itself: {' for rows, '.join(durations)}{' for Arrow batches' if len(durations) > 1 else ''}"
    most = max(good, key=lambda row: row.harness_share or 0)
    if max(shares) >= 0.001:
        words += f"; at most {max(shares):.1%} of a result ({most.title})"
    return words + ("; ! is bound by the harness" if max(shares) > BOUND_SHARE else "")


def _and(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
