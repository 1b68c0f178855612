"""A run as all reports show it: every figure worded once, so that no two formats can differ."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from dbbench import machine
from dbbench.analysis.environment import disturbances
from dbbench.analysis.footprint import Footprint, footprint
from dbbench.analysis.spread import SHOWN, Spread, spread
from dbbench.analysis.summary import Resources, Row, Standing, ranked, resources, standings, summarise
from dbbench.analysis.units import Unit, fitting
from dbbench.outcome import Outcome
from dbbench.plan import fewest_rounds
from dbbench.store import Manifest, Run, TrialResult
from dbbench.suite import AnyChart, AnyStep, QueryStep, Scenario, SqlStep, StatementStep

#: A harness's share of a result above which it is told, and above which the result is the harness's.
NOTABLE_SHARE, BOUND_SHARE = 0.05, 0.20
#: From so many rounds on an interval is one of 95 %; fewer give the range of the rounds.
SURE_BLOCKS = 6
#: The further figures of a size.
SIZES = ("allocated", "before flush", "per row", "of CSV", "written")


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
            arrow = [
                line.row.title for line, fact in zip(self.lines, facts, strict=True) if fact.get("gives") == "batches"
            ]
            if arrow and len(arrow) < len(facts):
                words.append(
                    f"{' and '.join(arrow)}: Arrow batches, whose values are not turned into Python objects; "
                    "the others give rows of Python values."
                )
        if isinstance(step, StatementStep):
            if step.rate is None:
                words.append(f"A round is the mean of {step.iterations} calls after {step.warm_up} to warm up.")
            if step.adds is None and step.check is None:
                words.append("The suite says nothing to check its effect by: not verified.")
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


@dataclass(frozen=True)
class ScenarioView:
    """One scenario with its steps, the overall order, and what the engines used."""

    scenario: Scenario
    steps: tuple[StepView, ...]
    standings: tuple[Standing, ...]
    resources: tuple[Resources, ...]
    charts: tuple[AnyChart, ...]
    csv_bytes: int | None

    def step(self, name: str) -> StepView:
        """A step's view by its name."""
        return next(view for view in self.steps if view.step.name == name)


@dataclass(frozen=True)
class View:
    """A whole run."""

    run: Run
    rows: tuple[Row, ...]
    scenarios: tuple[ScenarioView, ...]
    warnings: tuple[str, ...]
    #: Facts for the page: (name, text).
    facts: tuple[tuple[str, str], ...]
    #: For each engine that ran: (name, title, versions, settings).
    systems: tuple[tuple[str, str, str, str], ...]
    #: Engines that could not be run: (name, why).
    missing: tuple[tuple[str, str], ...]

    @property
    def title(self) -> str:
        """The suite's title."""
        return self.run.suite.title

    @property
    def unsuccessful(self) -> bool:
        """Whether anything came out otherwise than ok."""
        return any(row.outcome is not Outcome.OK for row in self.rows) or any(
            resource.remarks for scenario in self.scenarios for resource in scenario.resources
        )

    def caption(self, scenario: Scenario) -> str:
        """What every chart carries under it."""
        manifest = self.run.manifest
        return (
            f"dbbench {manifest.dbbench} · {self.run.suite.name}, scale {manifest.scale:g}, seed {manifest.seed} · "
            f"durability: {scenario.durability} (declared) · {machine.in_words(manifest.machine)} · "
            f"{manifest.created:%Y-%m-%d}"
        )


def view(run: Run) -> View:
    """All that is to be shown of a run. Raises RunError if one of its trials is damaged."""
    results = run.results()
    rows = summarise(run.suite, run.manifest, results)
    scenarios = tuple(_scenario(run, scenario, rows, results) for scenario in run.suite.scenarios)
    return View(
        run=run,
        rows=tuple(rows),
        scenarios=scenarios,
        warnings=tuple(_warnings(run, rows, results)),
        facts=tuple(_facts(run)),
        systems=tuple(_systems(run, results)),
        missing=tuple(
            (name, "; ".join(filter(None, (probed["detail"], probed.get("install")))))
            for name, probed in run.manifest.engines.items()
            if probed["status"] != "available"
        ),
    )


def _scenario(run: Run, scenario: Scenario, rows: Sequence[Row], results: Sequence[TrialResult]) -> ScenarioView:
    steps = []
    for step in scenario.steps:
        mine = [row for row in rows if (row.scenario, row.step) == (scenario.name, step.name)]
        if mine:
            csv_bytes = run.manifest.datasets.get(scenario.dataset, {}).get("csv_bytes")
            shown = _step(scenario, step, mine)
            steps.append(detailed(shown, results, csv_bytes) if step.kind == "size" else shown)
    return ScenarioView(
        scenario=scenario,
        steps=tuple(steps),
        standings=tuple(standings(rows, scenario)),
        resources=tuple(resources(run.manifest, results, scenario.name)),
        charts=scenario.charts,
        csv_bytes=run.manifest.datasets.get(scenario.dataset, {}).get("csv_bytes"),
    )


def _step(scenario: Scenario, step: AnyStep, rows: list[Row]) -> StepView:
    good = [row for row in rows if row.value is not None and row.ranked]
    unit = fitting("B" if step.kind == "size" else "s", [row.value for row in good if row.value])
    footnotes: list[str] = []
    lines: list[Line] = []
    failed: list[Line] = []
    for row in rows:
        if not row.ranked:
            continue
        mark = ""
        if row.detail:
            footnotes.append(f"{row.title}: {row.detail}")
            mark = str(len(footnotes))
        (failed if row.value is None else lines).append(_line(row, unit, mark))
    blocks = max((len(row.blocks) for row in good), default=0)
    words = _harness(good, [row for row in rows if not row.ranked]) if step.kind != "size" else ""
    found = StepView(scenario, step, unit, blocks, tuple(lines), tuple(failed), words, tuple(footnotes))
    return _with_percentiles(found, step) if isinstance(step, StatementStep) else found


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


def _line(row: Row, unit: Unit, mark: str) -> Line:
    if row.value is None:
        return Line(row, "", str(row.outcome), "", "", mark)
    interval = ""
    if row.low is not None and row.high is not None and row.unit != "B":
        interval = f"{unit.figure(row.low)} to {unit.figure(row.high)}"
    ratio, between = "", ""
    if row.ratio is not None:
        ratio = f"×{_times(row.ratio.value)}"
        if row.ratio.low is not None and row.ratio.high is not None and row.unit != "B":
            between = f"{_times(row.ratio.low)} to {_times(row.ratio.high)}"
    return Line(
        row=row,
        rank="" if row.place is None else str(row.place),
        value=unit.figure(row.value),
        interval=interval,
        ratio=ratio,
        mark=mark,
        ratio_interval=between,
        share=_percent(row.harness_share),
        original="" if row.original is None else unit.figure(row.original),
    )


def _times(ratio: float) -> str:
    return f"{ratio:.2f}" if ratio < 100 else f"{ratio:,.0f}"


def _percent(share: float | None) -> str:
    """A harness's share in words, with a mark on what is bound by the harness."""
    if share is None:
        return ""
    return "<0.1%" if share < 0.001 else f"{share:.1%}{'!' if share > BOUND_SHARE else ''}"


def _harness(good: list[Row], nulls: list[Row]) -> str:
    """The null engines' times in words, and the largest share that they are of any result."""
    times = [fitting("s", [null.value]).text(null.value) for null in nulls if null.value is not None]
    shares = [row.harness_share for row in good if row.harness_share is not None]
    if not times or not shares:
        return ""
    words = f"the harness itself: {' for rows, '.join(times)}{' for Arrow batches' if len(times) > 1 else ''}"
    most = max(good, key=lambda row: row.harness_share or 0)
    if max(shares) >= 0.001:
        words += f"; at most {max(shares):.1%} of a result ({most.title})"
    return words + ("; ! is bound by the harness" if max(shares) > BOUND_SHARE else "")


def _warnings(run: Run, rows: Sequence[Row], results: Sequence[TrialResult]) -> list[str]:
    manifest, found = run.manifest, []
    wanted = len(manifest.usable) * manifest.rounds * len(run.suite.scenarios)
    if len(results) < wanted:
        found.append(f"{wanted - len(results)} of {wanted} trials have not been run: --resume {run.path} does them")
    most = max(
        (
            len({row.engine for row in rows if row.step == step and row.blocks and row.ranked})
            for step in {row.step for row in rows}
        ),
        default=0,
    )
    needed = fewest_rounds(most)
    if most > 1 and manifest.rounds < needed:
        rounds = f"{manifest.rounds} round{'s' if manifest.rounds > 1 else ''}"
        found.append(
            f"{rounds} can't tell {most} engines apart, so there are no places; --rounds {needed} are the fewest that can"
        )
    bound = sorted({row.step for row in rows if (row.harness_share or 0) > NOTABLE_SHARE})
    if bound:
        found.append(f"the harness is more than {NOTABLE_SHARE:.0%} of some results in {', '.join(bound)}")
    return found + disturbances(manifest, results)


def _facts(run: Run) -> list[tuple[str, str]]:
    manifest, suite = run.manifest, run.suite
    data = "; ".join(
        f"{name}: {sum(facts['rows'].values()):,} rows, {facts['csv_bytes'] / 1e6:,.1f} MB as CSV"
        for name, facts in manifest.datasets.items()
    )
    source = f"{suite.source.title} ({suite.source.year})" if suite.source else "none"
    return [
        ("Suite", f"{suite.name} (reproduces: {source})"),
        ("Data", f"{data}; scale {manifest.scale:g}, seed {manifest.seed}"),
        ("Rounds", _rounds(manifest)),
        ("Durability", ", ".join(f"{item.name}: {item.durability} (declared)" for item in suite.scenarios)),
        ("Machine", machine.in_words(manifest.machine)),
        ("dbbench", manifest.dbbench),
        ("Date", f"{manifest.created.astimezone(datetime.UTC):%Y-%m-%d %H:%M} UTC"),
    ]


def _rounds(manifest: Manifest) -> str:
    text = f"{manifest.rounds}, interleaved in seeded random order; each trial in a fresh process"
    return f"{text}; {manifest.stopped}" if manifest.stopped else text


def _systems(run: Run, results: Sequence[TrialResult]) -> list[tuple[str, str, str, str]]:
    found = []
    for name, probed in run.manifest.engines.items():
        told: dict[str, Any] = next((r.engine for r in results if r.engine_name == name and r.engine), {})
        if not ranked(run.manifest, name) or probed["status"] != "available":
            continue
        versions = told.get("versions") or probed.get("versions", {})
        found.append((name, probed["title"], _pairs(versions, " "), _pairs(told.get("settings", {}), " = ")))
    return found


def _pairs(mapping: dict[str, Any], between: str) -> str:
    return ", ".join(f"{key}{between}{value}" for key, value in mapping.items())
