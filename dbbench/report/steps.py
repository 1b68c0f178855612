"""A step as all reports show it: every figure worded once, so that no two formats can differ."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from dbbench.analysis.contention import fared
from dbbench.analysis.queryplans import QueryPlan
from dbbench.analysis.spread import Tail, tails
from dbbench.analysis.summary import Row
from dbbench.analysis.units import Unit, fitting
from dbbench.report.conditions import conditions, driven
from dbbench.schema import Records
from dbbench.suite import (
    AnyStep,
    Clients,
    ContentionStep,
    KeyValueStep,
    ObjectStep,
    QueryStep,
    Scenario,
    SqlStep,
    StatementStep,
)

#: A harness's share of a result above which it is told, and above which the result is the harness's.
NOTABLE_SHARE, BOUND_SHARE = 0.05, 0.20
#: One that is told at all.
LEAST_SHARE = 0.001
#: From so many rounds on an interval is one of 95 %; fewer give the range of the rounds.
SURE_BLOCKS = 6
#: Beyond this ratio of worst to best a scale is logarithmic, where the suite doesn't say.
WIDE_RANGE = 100
#: The most characters of a clause in the place of a figure; the whole stands under the chart.
CLAUSE = 48


@dataclass(frozen=True)
class Line:
    """One engine in one step. `mark` has the numbers of its footnotes."""

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
    #: How many transactions were made again, in words; empty if none was.
    retries: str = ""
    #: Operation -> how long its calls took, where there were enough.
    tails: Mapping[str, Tail] = field(default_factory=dict)

    @property
    def withheld(self) -> bool:
        """Whether `value` says why there is no figure, in the place where it would be."""
        return self.row.value is None

    @property
    def arrow(self) -> bool:
        """Whether the rows of its query came as Arrow batches."""
        return (self.row.facts or {}).get("gives") == "batches"


@dataclass(frozen=True)
class Data:
    """What the steps of a scenario work on. `count` records, if it has records; peak memory by engine."""

    csv_bytes: int | None = None
    records: Records | None = None
    count: int = 0
    memory: Mapping[str, float | None] = field(default_factory=dict)

    def each(self, amount: float | None) -> str:
        """Bytes of all records in words, as kilobytes for 1,000 of them: as many as bytes for one."""
        return "–" if amount is None or not self.count else f"{Unit(1, '').figure(amount / self.count)} kB"


@dataclass(frozen=True)
class StepView:
    """One step, best to worst. `failed` have no figure; `harness` words the null engine's time."""

    scenario: Scenario
    step: AnyStep
    data: Data
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

    def harness_note(self, *, marked: bool = True) -> str:
        """What the harness takes; what is bound by it has a mark in its line, or else is named here."""
        bound = [line.row.title for line in self.lines if (line.row.harness_share or 0) > BOUND_SHARE]
        if not bound:
            return self.harness
        return f"{self.harness}; " + ("! is bound by the harness" if marked else f"bound by it: {', '.join(bound)}")

    @property
    def mixed(self) -> bool:
        """Whether some engines give Arrow batches, and others rows."""
        return len({(line.row.facts or {}).get("gives", "rows") for line in self.lines}) > 1

    @property
    def measure(self) -> str:
        """What the figures are, for a subtitle."""
        better = "more" if self.higher else "less"
        if self.step.kind == "size":
            return f"{self.unit.symbol}, {better} is better"
        rounds = f"median of {self.blocks} rounds with {self.interval}" if self.blocks > 1 else "one round, no interval"
        per = {"statement": " per call", "objects": " per object"}.get(self.step.kind, "")
        cold = "; cold caches" if self.cold else ""
        how = f"; {clients}" if (clients := driven(self.step)) else ""
        what = self.heading.replace("/s", " per second") if self.rates else self.unit.symbol
        return f"{what}{per}, {better} is better; {rounds}{cold}{how}"

    @property
    def higher(self) -> bool:
        """Whether more is better."""
        return self.rates or any(line.row.direction == "higher" for line in (*self.lines, *self.failed))

    @property
    def rates(self) -> bool:
        """Whether the figures are operations in a second."""
        return self.unit.symbol.endswith("/s")

    @property
    def ranked(self) -> bool:
        """Whether any of its engines has a rank."""
        return any(line.rank for line in self.lines)

    @property
    def rank_note(self) -> str:
        """What a range of ranks means, where there is one."""
        span = next((line.rank for line in self.lines if "-" in line.rank), "")
        what = (
            "under 2 % apart is no difference" if self.step.kind == "size" else "the rounds leave any of these possible"
        )
        return f"rank {span}: {what}" if span else ""

    @property
    def columns(self) -> list[tuple[str, str]]:
        """The figures of a table: (heading, name in `Line`), without those that no line has."""
        known = [
            (self.heading, "value"), (self.interval, "interval"), ("Ratio", "ratio"), ("its interval", "ratio_interval"),
            ("Harness", "share"), (self.original, "original"),
        ]  # fmt: skip
        return [item for item in known if item[1] == "value" or any(getattr(line, item[1]) for line in self.lines)]

    @property
    def heading(self) -> str:
        """The unit, for the head of a column."""
        return heading(self.unit)

    @property
    def interval(self) -> str:
        """What the interval is: with fewer than six rounds it can't cover the truth in 95 of 100 cases."""
        return "95 % interval" if self.blocks >= SURE_BLOCKS else "the least and greatest"

    @property
    def conditions(self) -> str:
        """How much was read or called for a figure, and what the figures don't say."""
        facts = [line.row.facts or {} for line in self.lines]
        arrow = [line.row.title for line in self.lines if line.arrow] if self.mixed else []
        words = [conditions(self.step, facts, arrow, self.data.records), *self._in_one_process()]
        best = "Ratios are to the best figure that is shown." if any(line.withheld for line in self.lines) else ""
        span = f"{self.rank_note[0].upper()}{self.rank_note[1:]}." if self.rank_note else ""
        return " ".join(filter(None, (*words, span, best)))

    def _in_one_process(self) -> Iterator[str]:
        """Whose clients share one process, where others' are in several."""
        asked = getattr(self.step, "clients", Clients()).processes
        told = [(line.row.title, (line.row.facts or {}).get("clients")) for line in self.lines]
        if names := [title for title, clients in told if clients and clients["processes"] < asked]:
            yield f"All clients are threads of one process, since no other could open the database: {', '.join(names)}."

    @property
    def details_note(self) -> str:
        """What the further figures are."""
        if self.step.kind == "size":
            written = "Written: bytes that the process wrote since the size before, for each byte that it was given"
            if self.data.records:
                return (
                    f"{written} as keys and values. For 1,000 records: disk, and the trial's peak memory above the null "
                    "engine's."
                )
            return f"{written} as CSV."
        if self.step.kind == "load":
            return (
                f"In {self.unit.symbol}: the parts add up to the figure. Making the rows for the driver is outside the "
                "clock; it stands in brackets."
            )
        if isinstance(self.step, ContentionStep):
            return (
                "Percentiles of an iteration. Clients: processes × threads. Fastest and slowest: of the clients, who all "
                "had the same to do. Fairness: Jain's index of their rates, 1 if all are alike. Retries: transactions made "
                "again, of all rounds. Counted: inserts/updates/deletes as the system itself counted them."
            )
        if isinstance(self.step, ObjectStep):
            return (
                f"In {self.unit.symbol}: execute and fetch are the driver's calls, as they are seen in a second session, "
                "and materialise is the rest. Once: to connect, and from there to the first call's end."
            )
        unit = "of a call" if self.rates else f"in {self.unit.symbol}"
        what = f"Percentiles {unit}, medians of the rounds', where a round has ten calls above them"
        if isinstance(self.step, StatementStep) and self.step.rate:
            return f"{what}. Service: mean from a call's start to its end. Late: more than 1 ms after its moment."
        if isinstance(self.step, KeyValueStep) and self.step.transaction > 1:
            return f"{what}. A call is a transaction of {self.step.transaction:,} records.{self._yardstick_note}"
        return f"{what}.{self._yardstick_note}"

    @property
    def _yardstick_note(self) -> str:
        engine = self.scenario.yardstick
        return f" Of {engine}: the figure as a multiple of that engine's." if engine else ""

    @property
    def cold(self) -> bool:
        """Whether each call starts with cold caches; a line where that failed says so in its footnote."""
        return isinstance(self.step, QueryStep | KeyValueStep) and self.step.cache == "cold"

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
    data: Data,
    plans: Sequence[QueryPlan],
) -> StepView:
    """A step in words. `rows` are the step's own, in their order."""
    good = [row for row in rows if row.value is not None and row.ranked]
    unit = fitting(_base(step, good), [row.value for row in good if row.value])
    footnotes: dict[str, list[str]] = {}
    lines: list[Line] = []
    failed: list[Line] = []
    for row in rows:
        if not row.ranked:
            continue
        marks = []
        for note in filter(None, (row.detail, row.unsteady, row.doubt)):
            if not (row.withheld and row.measured):  # its clause stands in its line
                footnotes.setdefault(note, []).append(row.title)
                marks.append(str(list(footnotes).index(note) + 1))
        (lines if row.measured else failed).append(_line(row, unit, ",".join(marks)))
    blocks = max((len(row.blocks) for row in good), default=0)
    words = _harness(good, [row for row in rows if not row.ranked]) if step.kind != "size" else ""
    order = [line.row.engine for line in (*lines, *failed)]
    return StepView(
        scenario, step, data, unit, blocks, tuple(lines), tuple(failed), words,
        tuple(f"{', '.join(titles)}: {detail}" for detail, titles in footnotes.items()),
        plans=_plans(plans, order),
    )  # fmt: skip


def _base(step: AnyStep, good: Sequence[Row]) -> str:
    """The unit that the rows are in; where there are none, the one that they would be in."""
    usual = {"size": "B", "keyvalue": "1/s", "mix": "1/s"}.get(step.kind, "s")
    return next((row.unit for row in good if row.unit), usual)


def _plans(plans: Sequence[QueryPlan], order: Sequence[str]) -> tuple[QueryPlan, ...]:
    """The best engine's first; one for all engines that have the very same."""
    same: dict[tuple[str, str], list[QueryPlan]] = {}
    for plan in sorted((plan for plan in plans if plan.engine in order), key=lambda plan: order.index(plan.engine)):
        same.setdefault((plan.text, plan.note), []).append(plan)
    return tuple(replace(mine[0], title=", ".join(plan.title for plan in mine)) for mine in same.values())


def _line(row: Row, unit: Unit, mark: str) -> Line:
    rank = "–" if row.checked is False else "" if row.rank is None else str(row.rank)
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
        retries=_retries(row),
        tails=tails(row.rounds),
    )


def _retries(row: Row) -> str:
    found = fared(row.rounds)
    count = sum(found.retries.values()) if found else 0
    return f"{count:,} {'retry' if count == 1 else 'retries'}" if count else ""


def heading(unit: Unit) -> str:
    """A unit for the head of a column: of a rate with what is counted."""
    known = unit.symbol
    return f"{known.removesuffix('/s')} operations/s".strip() if known.endswith("/s") else known


def times(ratio: float) -> str:
    """A ratio in words, without its sign: two decimals, or so many that a small one has two figures."""
    if ratio >= 100:
        return f"{ratio:,.0f}"
    return f"{ratio:.{1 - math.floor(math.log10(ratio)) if 0 < ratio < 0.1 else 2}f}"


def yardstick(view: StepView, line: Line) -> str:
    """A figure as a multiple of that of the scenario's yardstick, in words; empty where one of them isn't known."""
    engine = view.scenario.yardstick
    known = next((other.row.value for other in view.lines if other.row.engine == engine), None)
    return "" if not known or line.row.value is None else f"×{times(line.row.value / known)}"


def _percent(share: float | None) -> str:
    """A harness's share in words, with a mark on what is bound by the harness."""
    if share is None:
        return ""
    return "<0.1%" if share < LEAST_SHARE else f"{share:.1%}{'!' if share > BOUND_SHARE else ''}"


def _harness(good: Sequence[Row], nulls: Sequence[Row]) -> str:
    """The null engines' times in words, and the largest share that they are of any result."""
    durations = [_own_time(null) for null in nulls if null.value]
    shares = [row.harness_share for row in good if row.harness_share is not None]
    if not durations or not shares:
        return ""
    words = f"the harness itself: {' for rows, '.join(durations)}{' for Arrow batches' if len(durations) > 1 else ''}"
    most = max(good, key=lambda row: row.harness_share or 0)
    if max(shares) >= LEAST_SHARE:
        words += f"; at most {max(shares):.1%} of a result ({most.title})"
    return words


def _own_time(null: Row) -> str:
    value = null.value or 0
    if null.direction == "higher":
        return f"{fitting('s', [1 / value]).text(1 / value)} an operation"
    return fitting("s", [value]).text(value)
