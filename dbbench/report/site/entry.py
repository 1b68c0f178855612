"""What a site says of a run: the lines of the list, and the page of the run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dbbench.host import machine
from dbbench.host.metric import Metric
from dbbench.report.run_view import ScenarioView, View, view
from dbbench.report.step_view import Line, StepView
from dbbench.results.chosen_run import Choice, ChosenRun
from dbbench.results.run_directory import Run


@dataclass(frozen=True)
class Place:
    """One engine's place in a scenario: how many times the best of each step it takes, as a mean."""

    title: str
    ratio: str


@dataclass(frozen=True)
class Entry:
    """One scenario of a run, as a line of the list."""

    #: The run's page, relative to the list; its scenario's heading follows the #.
    page: str
    suite: str
    title: str
    machine: str
    date: str
    rounds: int
    scale: str
    places: tuple[Place, ...]
    warned: bool

    @property
    def titles(self) -> Sequence[str]:
        """The engines' titles, in their order."""
        return [place.title for place in self.places]


def read(path: Path, metric: Metric = Metric.WALL) -> View:
    """What may be published of the run at `path`: a site is public. Raises RunError, or UserError without figures of the metric."""
    run = Run.open(path)
    return view(ChosenRun(run, Choice(metric=metric)) if metric is not Metric.WALL else run, publish=True)


def page_name(shown: View, taken: Sequence[str]) -> str:
    """A name for the run's page that no other has."""
    name = f"{shown.run.suite.name}-{shown.run.manifest.created:%Y%m%d-%H%M%S}"
    number = 1 + sum(other == name or other.startswith(f"{name}-") for other in taken)
    return name if number == 1 else f"{name}-{number}"


def entries(shown: View, name: str) -> list[Entry]:
    """The lines of a run: one for each scenario."""
    manifest = shown.run.manifest
    return [
        Entry(
            page=f"runs/{name}.html#{scenario.scenario.name}",
            suite=shown.run.suite.name,
            title=_title(shown, scenario),
            machine=machine.in_words(manifest.machine),
            date=f"{manifest.created:%Y-%m-%d}",
            rounds=manifest.rounds,
            scale=f"{manifest.scale:g}",
            places=tuple(places(scenario)),
            warned=bool(shown.warnings),
        )
        for scenario in shown.scenarios
    ]


def _title(shown: View, scenario: ScenarioView) -> str:
    if len(shown.scenarios) == 1:
        return shown.run.suite.title
    return f"{shown.run.suite.title}: {scenario.scenario.title}"


def places(scenario: ScenarioView) -> list[Place]:
    """The engines of a scenario in the order of their means; those without one by name after them."""
    called = {row.row.engine: row.row.title for step in scenario.steps for row in (*step.lines, *step.failed)}
    found = [
        Place(called.get(standing.engine, standing.engine), _ratio(standing.mean_ratio, scenario, standing.engine))
        for standing in scenario.standings
    ]
    stood = {standing.engine for standing in scenario.standings}
    ranked = {line.row.engine for step in scenario.steps for line in (*step.lines, *step.failed) if line.row.ranked}
    return [*found, *(Place(called[engine], "") for engine in sorted(ranked - stood))]


def _ratio(mean: float | None, scenario: ScenarioView, engine: str) -> str:
    return "withheld" if engine in scenario.withheld else "" if mean is None else f"×{mean:.2f}"


def share(line: Line, step: StepView) -> float:
    """How long a bar is beside its figure, in per cent of the longest in the step."""
    most = max((other.row.value or 0 for other in step.lines), default=0)
    return 100 * (line.row.value or 0) / most if most else 0
