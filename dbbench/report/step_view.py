"""A step as all reports show it: every figure worded once, so that no two formats can differ."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Self, TypeVar

from dbbench.analysis.footprint import Footprint
from dbbench.analysis.queryplans import QueryPlan
from dbbench.analysis.recorded import Tail
from dbbench.analysis.remarks import About
from dbbench.analysis.row import Row
from dbbench.analysis.units import Unit, duration
from dbbench.host.metric import PACES
from dbbench.report.conditions import host_notes
from dbbench.results.facts import StepFacts
from dbbench.suite.dataset import Records
from dbbench.suite.model import Scenario
from dbbench.suite.steps import AnyStep
from dbbench.suite.steps.base import Step
from dbbench.suite.steps.timed import TimedStep

S = TypeVar("S", bound=Step)
#: What each engine's results say of a step besides their figures.
Facts = Sequence[StepFacts]

#: The harness's share of a result from which it is reported, and from which the result is the harness's.
NOTABLE_SHARE, BOUND_SHARE = 0.05, 0.20
#: The least share that is reported.
LEAST_SHARE = 0.001
#: The fewest rounds that give an interval of 95 %; fewer give the range of the rounds.
SURE_ROUNDS = 6
#: A change by less reads better in per cent.
SMALL_CHANGE = 0.1
#: Beyond this ratio of worst to best a scale is logarithmic, where the suite doesn't say.
WIDE_RANGE = 100


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
    #: Further figures, in the order of the step's own `details`; empty if it has none.
    details: tuple[str, ...] = ()
    #: How many transactions were made again, in words; empty if none was.
    retries: str = ""
    #: Operation -> how long its calls took, where there were enough.
    tails: Mapping[str, Tail] = field(default_factory=dict)
    #: Its place best to worst, where the lines are in another order.
    place: int = 0

    @property
    def withheld(self) -> bool:
        """Whether `value` says why there is no figure, in the place where it would be."""
        return self.row.value is None

    @property
    def arrow(self) -> bool:
        """Whether the rows of its query came as Arrow batches."""
        return self.row.gives == "batches"

    @property
    def tier(self) -> str:
        """Its durability tier, if that promises more than was asked for, or less."""
        others = (About.STRONGER_TIER, About.WEAKER_TIER)
        return next((each.names[0] for each in self.row.remarks if each.about in others), "")

    @property
    def weaker(self) -> bool:
        """Whether its durability tier promises less than was asked for."""
        return any(each.about is About.WEAKER_TIER for each in self.row.remarks)

    @property
    def called(self) -> str:
        """Text at its bar."""
        return f"{self.row.title}, {self.tier}" if self.tier else self.row.title


@dataclass(frozen=True)
class Data:
    """What the steps of a scenario work on. `count` records, if it has records; peak memory by engine."""

    csv_bytes: int | None = None
    #: What these bytes are, where it isn't keys and values.
    form: str = "CSV"
    records: Records | None = None
    count: int = 0
    memory: Mapping[str, float | None] = field(default_factory=dict)

    def each(self, amount: float | None) -> str:
        """Bytes of all records in words, as kilobytes for 1,000 of them: as many as bytes for one."""
        return "–" if amount is None or not self.count else f"{Unit(1, '').figure(amount / self.count)} kB"


@dataclass(frozen=True)
class StepView:
    """One step, best to worst or by `sorting`. `failed` have no figure; `harness` words the null engine's time."""

    scenario: Scenario
    step: AnyStep
    wording: Wording[Any]
    data: Data
    unit: Unit
    rounds: int
    lines: tuple[Line, ...]
    failed: tuple[Line, ...]
    harness: str
    footnotes: tuple[str, ...]
    #: What the lines' further figures are; empty if they have none.
    details: tuple[str, ...] = ()
    #: The engines' plans of the query, best engine first.
    plans: tuple[QueryPlan, ...] = ()
    #: Of a size: engine -> its footprint.
    footprints: Mapping[str, Footprint] = field(default_factory=dict)

    @property
    def best_first(self) -> list[Line]:
        """The lines from best to worst, independent of the order on the page."""
        return sorted(self.lines, key=lambda line: line.place)

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
        return len({line.arrow for line in self.lines}) > 1

    @property
    def measure(self) -> str:
        """What the figures are, for a subtitle."""
        better = "more" if self.higher else "less"
        if self.counted:
            what = "what the data cost" if self.in_parts else "all files"
            return f"{self.unit.symbol}, {better} is better; {what}, after a flush"
        rounds = "; one round, no interval" if self.rounds else ""
        if self.rounds > 1:
            rounds = f"; median of {self.rounds} rounds with {self.interval}"
        cold = "; cold caches" if self.step.cold else ""
        how = f"; {clients}" if (clients := self.wording.driven(self.step)) else ""
        what = self.heading.replace("/s", " per second") if self.rates else self.unit.symbol
        per = "" if self.rates else self.wording.per
        return f"{what}{per}, {better} is better{rounds}{cold}{how}"

    @property
    def counted(self) -> bool:
        """Whether its figures are counted, not timed: rounds hardly differ, and the harness takes nothing."""
        return self.step.unit == "B"

    @property
    def paced(self) -> bool:
        """Whether its figures are times or rates: who takes less of anything else isn't faster."""
        return all(line.row.unit in PACES for line in self.lines if line.row.value is not None)

    @property
    def withheld(self) -> bool:
        """Whether a figure is withheld: then nobody is known to be the first."""
        return any(line.withheld for line in self.lines)

    @property
    def in_parts(self) -> bool:
        """Whether a size is in parts: then its figure is what the data cost, else the total."""
        return any(found.empty is not None for found in self.footprints.values())

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
        what = "differences under 2 % count as a tie" if self.counted else "tied: within the noise or under 2 %"
        return f"{span}: {what}" if span else ""

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
        return heading(self.unit, self.step.counts)

    @property
    def interval(self) -> str:
        """What the interval is: of fewer than six rounds, the range can't cover the truth in 95 of 100 cases."""
        if self.rounds >= SURE_ROUNDS or any(line.row.dependence.figures > 1 for line in self.lines):
            return "95 % interval"
        return "the least and greatest"

    @property
    def conditions(self) -> str:
        """How much was read or called for a figure, and what the figures don't say."""
        facts = [line.row.facts or {} for line in self.lines]
        arrow = [line.row.title for line in self.lines if line.arrow] if self.mixed else []
        words = [
            self.wording.conditions(self.step, facts, arrow, self.data.records),
            *self._read_inside(),
            *self._in_one_process(),
            *host_notes(line.row for line in self.lines),
        ]
        best = "Ratios are to the best figure that is shown." if self.withheld else ""
        span = f"{self.rank_note[0].upper()}{self.rank_note[1:]}." if self.rank_note else ""
        return " ".join(filter(None, (*words, span, best)))

    def _read_inside(self) -> Iterator[str]:
        """Note on engines whose loop over the rows isn't Python's."""
        if names := [line.row.title for line in self.lines if (line.row.facts or {}).get("gives") == "columns"]:
            yield f"Rows are read outside of Python, and values are not turned into Python objects: {', '.join(names)}."

    def _in_one_process(self) -> Iterator[str]:
        """Note on engines whose clients share one process, where others' are in several."""
        asked = self.step.concurrent_clients.processes
        recorded = [(line.row.title, (line.row.facts or {}).get("clients")) for line in self.lines]
        if names := [title for title, clients in recorded if clients and clients["processes"] < asked]:
            yield f"All clients are threads of one process, since no other could open the database: {', '.join(names)}."

    @property
    def details_note(self) -> str:
        """What the further figures are."""
        return self.wording.details_note(self.step, self)

    def with_details(self, cells: Callable[[Line], Mapping[str, str]]) -> Self:
        """The view with further figures of each line: column -> figure, empty where a line lacks it.

        A column that is empty in all lines is left out, and a line without any figure has none.
        """
        found = [cells(line) for line in self.lines]
        given = {name for each in found for name, figure in each.items() if figure}
        columns = [name for name in dict.fromkeys(name for each in found for name in each) if name in given]
        lines = tuple(
            replace(line, details=tuple(each.get(name) or "–" for name in columns)) if any(each.values()) else line
            for line, each in zip(self.lines, found, strict=True)
        )
        return replace(self, lines=lines, details=tuple(columns))

    @property
    def original(self) -> str:
        """The method of the benchmark that is reproduced, if some line has a figure by it."""
        return str(self.scenario.worst_of_last) if any(line.original for line in self.lines) else ""

    @property
    def sql(self) -> str:
        """The statement as the suite has it, in one line."""
        return " ".join(self.step.statements.get("", "").split())


class Wording(Generic[S]):
    """What is worded for steps of a kind alone; each kind overrides what it has something to say of."""

    #: What the figure is of, after its unit.
    per = ""
    #: Whether a chart of parts can be drawn of its lines.
    in_parts = False

    def call(self, step: S) -> str:
        """What its percentiles are of."""
        return "a call"

    def work(self, step: S) -> str:
        """Amount of a step's work and its clients; empty if its SQL or title is enough."""
        return self.driven(step)

    def driven(self, step: S) -> str:
        """Rate and number of clients, unless one client makes one call after another."""
        clients = f"{step.concurrent_clients} at once" if step.concurrent_clients.count > 1 else ""
        return "; ".join(filter(None, (load(step) if isinstance(step, TimedStep) else "", clients)))

    def conditions(self, step: S, facts: Facts, arrow: Sequence[str], records: Records | None) -> str:
        """Sentences on what a figure was made of. `arrow` are the engines that gave batches where others gave rows."""
        return ""

    def detailed(self, step: S, view: StepView) -> StepView:
        """The view with the further figures of its lines, where it has some."""
        return view

    def details_note(self, step: S, view: StepView) -> str:
        """What the further figures are."""
        return ""


def load(step: TimedStep) -> str:
    """How calls are made, in words; empty for the kind's default of one after another."""
    words = []
    if step.rate is not None:
        words.append(f"{step.rate.per_second:,g} calls a second ({step.rate.arrivals}), from when they were due")
    if step.find is not None:
        words.append(f"highest rate with {step.find} ({step.find.arrivals} arrivals, from when calls were due)")
    if step.duration is not None:
        words.append(f"for {_time(step.duration)}")
    if step.warm_up_seconds:
        words.append(f"after {_time(step.warm_up_seconds)} to warm up")
    if step.ramp_up:
        words.append(f"load grown over {_time(step.ramp_up)}")
    return "; ".join(words)


def _time(seconds: float) -> str:
    return duration(seconds) if seconds >= 60 else f"{seconds:g} s"


def heading(unit: Unit, counts: str = "operations") -> str:
    """A unit for the head of a column: of a rate with what is counted."""
    known = unit.symbol
    return f"{known.removesuffix('/s')} {counts}/s".strip() if known.endswith("/s") else known


def times(ratio: float, most: float = 100) -> str:
    """A ratio in words, without its sign: two decimals, or more where a small one needs them for two figures.

    From `most` on it has none.
    """
    if ratio >= most:
        return f"{ratio:,.0f}"
    return f"{ratio:.{1 - math.floor(math.log10(ratio)) if 0 < ratio < 0.1 else 2}f}"


def small_share(ratio: float) -> str:
    """How far a ratio is from 1, in per cent, where that reads better than the ratio itself; else empty."""
    apart = abs(ratio - 1)
    return f"{apart * 100:.2g} %" if 0 < apart < SMALL_CHANGE else ""


def reference_ratio(view: StepView, line: Line) -> str:
    """A figure as a multiple of the reference engine's, in words; empty if either is unknown."""
    engine = view.scenario.reference
    known = next((other.row.value for other in view.lines if other.row.engine == engine), None)
    return "" if not known or line.row.value is None else f"×{times(line.row.value / known)}"


def mean_of(count: int, one: str, several: str = "") -> str:
    """What a round is, in words: one call, or the mean of several."""
    return f"the mean of {count} {several or f'{one}s'}" if count > 1 else f"one {one}"


def joined(names: Sequence[str]) -> str:
    """Names in words."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def percentiles_note(view: StepView) -> str:
    """What percentiles of calls are, without a full stop."""
    unit = "of a call" if view.rates else f"in {view.unit.symbol}"
    return f"Percentiles {unit}, medians of the rounds', where a round has ten calls above them"


def reference_note(view: StepView) -> str:
    """What the multiples of the reference's figure are; empty without a reference."""
    engine = view.scenario.reference
    return f" Of {engine}: the figure as a multiple of that engine's." if engine else ""
