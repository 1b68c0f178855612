"""A run as all reports show it: made from its figures, or from those that may be published."""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dbbench.analysis import fleet
from dbbench.analysis.footprint import Resources
from dbbench.analysis.paired import Series, control
from dbbench.analysis.publication import Figures, figures
from dbbench.analysis.remarks import other_tier
from dbbench.analysis.row import Row
from dbbench.analysis.standings import Standing, fills_of_mixes
from dbbench.analysis.verdicts import ComparisonVerdict
from dbbench.host import machine
from dbbench.report.conditions import durability, promised
from dbbench.report.published_comparison import PublishedComparison, published_comparisons
from dbbench.report.remarks import control_words, worded
from dbbench.report.step_builder import step_view
from dbbench.report.step_view import Data, StepView
from dbbench.report.warnings import publication_remarks, publication_warnings, run_warnings, upper_limits
from dbbench.results.chosen_run import ChosenRun, metric_of
from dbbench.results.facts import Rows, ToldFacts
from dbbench.results.run_directory import Manifest, Run
from dbbench.results.trial import TrialResult
from dbbench.suite.charts import AnyChart, Bars
from dbbench.suite.model import Scenario, Suite


@dataclass(frozen=True)
class ScenarioView:
    """One scenario with its steps, the overall order, and what the engines used."""

    suite_title: str
    scenario: Scenario
    steps: tuple[StepView, ...]
    standings: tuple[Standing, ...]
    resources: tuple[Resources, ...]
    charts: tuple[AnyChart, ...]
    data: Data
    #: Its tier, and what is known of it.
    durability: str
    #: Engines whose figures are withheld.
    withheld: frozenset[str] = frozenset()
    #: What its engines are in the order of, in words; empty for the usual one.
    order: str = ""

    @property
    def fills(self) -> set[str]:
        """Names of the steps that fill a store for its mixes."""
        return fills_of_mixes(self.scenario)

    @property
    def sizes(self) -> dict[str, float | None]:
        """Each engine's last size, but for those that are ranked separately."""
        lines = (line for step in self.steps if step.counted for line in step.lines)
        return {line.row.engine: line.row.value for line in lines if not line.row.apart}

    def axis(self, step: str) -> str:
        """The axis of a step's bars, as the suite has it."""
        axes = {name: chart.axis for chart in self.charts if isinstance(chart, Bars) for name in chart.steps}
        return axes.get(step, "auto")

    def step(self, name: str) -> StepView:
        """A step's view by its name."""
        return next(view for view in self.steps if view.step.name == name)

    def named(self, names: Sequence[str]) -> list[StepView]:
        """The steps of these names, as far as it has them; all steps without names."""
        views = {view.step.name: view for view in self.steps}
        return [views[name] for name in names or views if name in views]


@dataclass(frozen=True)
class System:
    """An engine that ran: its name, what to call it, and its versions, settings and licence in words."""

    engine: str
    title: str
    versions: str
    settings: str
    license: str


@dataclass(frozen=True)
class View:
    """A whole run."""

    run: Run
    rows: tuple[Row, ...]
    scenarios: tuple[ScenarioView, ...]
    warnings: tuple[str, ...]
    #: Facts for the page: (name, text).
    facts: tuple[tuple[str, str], ...]
    systems: tuple[System, ...]
    #: Engines that could not be run: (name, why).
    missing: tuple[tuple[str, str], ...]
    #: Whether anything of an engine, null engines apart, came out otherwise than ok.
    unsuccessful: bool
    #: Why there was no further round.
    stopped: str = ""
    #: The published figures of the benchmark that is reproduced, beside these.
    published_comparisons: tuple[PublishedComparison, ...] = ()
    #: Whether this is what may be published.
    published: bool = False
    #: Variants that form a series, and where one of them is shown to be slower or faster than the one before it.
    series: tuple[tuple[Series, Mapping[tuple[str, str, str], ComparisonVerdict]], ...] = ()
    #: What has to stand under it: what engines lack that others have, and what publishing asks for.
    remarks: tuple[str, ...] = ()
    #: Those of them that stand under each picture: what its figures are of, and what licences ask for.
    conditions: tuple[str, ...] = ()
    #: The folder to write to, if it isn't the run's own. Its pictures go out alone, and so name the systems.
    out: Path | None = None
    #: Where the list of runs is that has its page, relative to that page; empty without one.
    listed_in: str = ""
    #: What the engines are sorted by, a key of `sorting.KEYS`; empty for best first.
    sort: str = ""
    #: Whether steps of the run are left out: what its trials used as a whole says nothing of the rest.
    partial: bool = False
    #: The engine that has a colour, while the others are grey; empty if all have theirs.
    highlight: str = ""
    #: Of each engine its standings in the scenarios, best first, where there are several scenarios.
    across: tuple[tuple[Standing | None, ...], ...] = ()
    #: Whether Arrow batches are ranked with rows, and step -> engine -> its row if it were otherwise.
    mixed: bool = False
    otherwise: Mapping[tuple[str, str], Mapping[str, Row]] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """The suite's title."""
        return self.run.suite.title

    @property
    def then_words(self) -> str:
        """What the published figures are, and what can be read from them here."""
        source = self.run.suite.source
        if source is None:
            return ""
        machine = f", measured on {source.machine}" if source.machine else ""
        return (
            f"{source.title} ({source.year}){machine}. Its figures and those of this run are of different machines, "
            "drivers and data, so each is set against the best figure of its own side only: compare the ratios. "
            f"{source.note}"
        )

    @property
    def machine(self) -> str:
        """The machine, and how much of its memory a trial might use."""
        manifest = self.run.manifest
        words = machine.in_words(manifest.machine)
        return f"{words} · memory limit {_bytes(manifest.memory_limit)}" if manifest.memory_limit else words

    @property
    def alone(self) -> bool:
        """Whether its pictures go out alone, without the page."""
        return self.published or self.out is not None

    @property
    def folder(self) -> Path:
        """Folder of its files."""
        return self.out or (self.run.publish if self.published else self.run.path)

    def captions(self, scenario: Scenario) -> tuple[str, ...]:
        """The caption below every chart. One that goes out alone has versions and conditions; the page has settings."""
        manifest = self.run.manifest
        found = next(view for view in self.scenarios if view.scenario.name == scenario.name)
        line = (
            f"dbbench {manifest.dbbench} · {self.run.suite.name}, scale {manifest.scale:g}, seed {manifest.seed} · "
            f"durability: {found.durability} · {self.machine} · "
            f"{manifest.created:%Y-%m-%d}"
        )
        if found.order:
            line += f" · engines by {found.order}"
        count = len(self.warnings)
        notes = ["settings", "method"] if self.alone else []
        notes += [f"! {count} warning{'s' if count > 1 else ''}"] if count else []
        seen = f" · {', '.join(notes)}: see the page" if notes else ""
        if not self.alone:
            return (f"{line}{seen}",)
        versions = " · ".join(f"{system.title}: {system.versions}" for system in self.systems if system.versions)
        return (*self.conditions, versions, f"{line}{seen}")


def view(run: Run, *, publish: bool = False, out: Path | None = None, mixed: bool = False) -> View:
    """The view of a run, or of what may be published of it. Raises RunError if one of its trials is damaged.

    `mixed`: rank Arrow batches with rows.
    """
    found = figures(run, publish=publish, mixed=mixed)
    scenarios = tuple(_scenario(run, scenario, found) for scenario in run.suite.scenarios)
    meanings = sorted({meaning for row in found.rows if (meaning := metric_of(row.metric).meaning)})
    known = control(run.manifest, found.rows)
    known = known if known and known.pairs else None
    doubts = [control_words(known)] if known and known.apart else []
    conditions = (*meanings, *(publication_remarks(run.manifest, found.results) if publish else ()))
    return View(
        run=run,
        rows=tuple(found.rows),
        scenarios=scenarios,
        warnings=(*doubts, *run_warnings(run, found), *publication_warnings(run, found.results, publish=publish)),
        facts=tuple(_facts(run, scenarios, found.stopped, fleet.rounds_of(found.results))),
        systems=tuple(_systems(run, found.results)),
        missing=tuple(
            (name, "; ".join(filter(None, (probed.get("detail"), probed.get("install")))))
            for name, probed in run.manifest.engines.items()
            if probed["status"] != "available"
        ),
        unsuccessful=found.unsuccessful,
        stopped=found.stopped,
        published_comparisons=published_comparisons(
            run.suite.source, [step for scenario in scenarios for step in scenario.steps]
        ),
        published=publish,
        series=found.series,
        out=out,
        across=found.across,
        mixed=mixed,
        partial=isinstance(run, ChosenRun) and run.partial,
        otherwise=found.otherwise,
        remarks=(
            *(["Arrow batches are ranked with rows, as asked for."] if mixed else []),
            *([control_words(known)] if known and not known.apart else []),
            *_lacks(run, found.results),
            *upper_limits(run.manifest),
            *conditions,
        ),
        conditions=conditions,
    )


def _scenario(run: Run, scenario: Scenario, found: Figures) -> ScenarioView:
    used = found.resources(scenario.name)
    drawn = run.manifest.datasets.get(scenario.dataset)
    records = run.suite.datasets[scenario.dataset].records
    data = Data(
        csv_bytes=drawn["csv_bytes"] if drawn else None,
        form="float32" if run.suite.datasets[scenario.dataset].vectors else "CSV",
        records=records,
        count=drawn["rows"].get("records", 0) if drawn else 0,
        memory={each.engine: each.peak_memory for each in used},
    )
    steps = []
    for step in scenario.steps:
        if mine := found.of_step(scenario, step):
            plans = [plan for plan in found.plans[scenario.name] if plan.step == step.name]
            sizes = found.footprints(scenario, step, data.csv_bytes)
            steps.append(step_view(scenario, step, mine, data, plans, sizes))
    return ScenarioView(
        suite_title=run.suite.title,
        scenario=scenario,
        steps=tuple(steps),
        standings=tuple(found.standings[scenario.name]),
        resources=tuple(used),
        charts=scenario.charts,
        data=data,
        durability=durability(scenario, run.manifest, found.results),
        withheld=frozenset(row.engine for row in found.rows if row.withheld),
    )


def _lacks(run: Run, results: Sequence[TrialResult]) -> list[str]:
    """What an engine doesn't have, and so isn't timed for, though its neighbours are."""
    called = run.manifest.titles(results)
    lacking: dict[str, list[str]] = {}
    for name, title in called.items():
        if lacks := run.manifest.engines[name].get("lacks", {}):
            without = ", ".join(f"no {what} ({why})" for what, why in lacks.items())
            lacking.setdefault(without, []).append(title)
    return [f"{', '.join(titles)}: {without}" for without, titles in lacking.items()]


def _hosts(hosts: Mapping[str, Sequence[int]]) -> str:
    """The rounds of each host."""
    each = (
        f"{name} had round{'s' if len(rounds) > 1 else ''} {', '.join(map(str, rounds))}"
        for name, rounds in hosts.items()
    )
    return f"whole rounds, each on one host: {'; '.join(each)}"


def _facts(
    run: Run, scenarios: Sequence[ScenarioView], stopped: str, hosts: Mapping[str, Sequence[int]]
) -> list[tuple[str, str]]:
    manifest, suite = run.manifest, run.suite
    used = {scenario.dataset for scenario in suite.scenarios}
    data = "; ".join(_data(name, facts, run.whole.suite) for name, facts in manifest.datasets.items() if name in used)
    source = f"{suite.source.title} ({suite.source.year})" if suite.source else "none"
    return [
        ("Suite", f"{suite.name} (reproduces: {source})"),
        ("Data", f"{data}; scale {manifest.scale:g}, seed {manifest.seed}"),
        ("Rounds", _rounds(manifest, stopped)),
        *([("Hosts", _hosts(hosts))] if hosts else []),
        *([("Memory limit", _memory_limit(manifest.memory_limit))] if manifest.memory_limit else []),
        ("Durability", _durability(scenarios)),
        ("Machine", machine.in_words(manifest.machine)),
        ("dbbench", manifest.dbbench),
        ("Date", f"{manifest.created.astimezone(datetime.UTC):%Y-%m-%d %H:%M} UTC"),
    ]


def _durability(scenarios: Sequence[ScenarioView]) -> str:
    """The tier of each scenario, with what is known of it; scenarios of which the same is known together."""
    alike: dict[str, list[str]] = {}
    for item in scenarios:
        alike.setdefault(promised(item.scenario.durability, item.durability), []).append(item.scenario.name)
    if len(alike) == 1 and len(scenarios) > 1:
        return f"all scenarios: {next(iter(alike))}"
    return " · ".join(f"{', '.join(names)}: {known}" for known, names in alike.items())


def _data(name: str, facts: Rows, suite: Suite) -> str:
    count, size = sum(facts["rows"].values()), facts["csv_bytes"] / 1e6
    steps = [step for scenario in suite.scenarios if scenario.dataset == name for step in scenario.steps]
    if all(step.leaves_tables_empty for step in steps):
        return f"{name}: tables that are empty at first"
    if suite.datasets[name].records:
        return f"{name}: {count:,} records, {size:,.1f} MB of keys and values"
    if suite.datasets[name].vectors:
        return f"{name}: {count:,} vectors, {size:,.1f} MB of float32"
    if suite.datasets[name].texts:
        return f"{name}: {count:,} texts, {size:,.1f} MB as CSV"
    return f"{name}: {count:,} rows, {size:,.1f} MB as CSV"


def _memory_limit(limit: int) -> str:
    return f"{_bytes(limit)} for each trial (engine and harness), cached file pages included, without swap"


def _bytes(size: int) -> str:
    return f"{size / 2**30:g} GiB" if size >= 2**30 else f"{size / 2**20:g} MiB"


def _rounds(manifest: Manifest, stopped: str) -> str:
    text = f"{manifest.rounds}, interleaved in seeded random order; each trial in a fresh process"
    return f"{text}; {stopped}" if stopped else text


def _systems(run: Run, results: Sequence[TrialResult]) -> list[System]:
    found = []
    called = run.manifest.titles(results)
    for name, probed in run.manifest.engines.items():
        declared: ToldFacts = next((r.engine for r in results if r.engine_name == name and r.engine), ToldFacts())
        if not run.manifest.ranked(name) or probed["status"] != "available":
            continue
        versions = run.manifest.versions(name, declared)
        mine = [result for result in results if result.engine_name == name]
        settings = "; ".join([_pairs(declared.get("settings", {}), " = "), *_other_tiers(run.suite, mine)]).strip("; ")
        found.append(System(name, called[name], _pairs(versions, " "), settings, probed.get("license", "")))
    return found


def _other_tiers(suite: Suite, results: Sequence[TrialResult]) -> list[str]:
    """Notes on engines that give more durability than a scenario asks for."""
    asked = ((str(each.engine.get("tier", "")), suite.scenario(each.scenario_name).durability) for each in results)
    return list(dict.fromkeys(worded(remark) for tiers in asked for remark in other_tier(*tiers)))


def _pairs(mapping: dict[str, Any], between: str) -> str:
    return ", ".join(f"{key}{between}{value}" for key, value in mapping.items())
