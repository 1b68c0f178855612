"""A report with its engines in another order than best first: by what their trials used, or by size."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from dbbench.errors import UserError
from dbbench.report.run_view import ScenarioView, View
from dbbench.report.step_view import Line, StepView

T = TypeVar("T")

#: What `--sort` names -> what it is, in words. "time", the usual one, is best first in each step.
KEYS = {"memory": "peak memory", "cpu": "CPU time", "written": "bytes written", "size": "size"}


def sorted_by(shown: View, key: str, whole: View) -> View:
    """The view with the engines of each scenario by a key of `KEYS`, lowest first, then those without such a figure.

    `whole` is the whole run, of which `shown` may be a part. Raises UserError if no engine has such a figure.
    """
    orders = {scenario.scenario.name: _order(scenario, key) for scenario in whole.scenarios}
    if not any(orders.values()):
        raise UserError(f"the run has no {KEYS[key]} to sort by; choose another --sort")
    scenarios = tuple(_scenario(scenario, orders[scenario.scenario.name], KEYS[key]) for scenario in shown.scenarios)
    facts = (*shown.facts, ("Order", f"engines by {KEYS[key]}, lowest first"))
    return replace(shown, scenarios=scenarios, facts=facts, sort=key)


def _order(scenario: ScenarioView, key: str) -> list[str]:
    """The engines that have such a figure, lowest first."""
    if key == "size":
        known = scenario.sizes
    else:
        names = {"memory": "peak_memory", "cpu": "cpu_seconds", "written": "written_bytes"}
        known = {each.engine: getattr(each, names[key]) for each in scenario.resources}
    found = [(value, engine) for engine, value in known.items() if value is not None]
    return [engine for _, engine in sorted(found)]


def _scenario(scenario: ScenarioView, order: Sequence[str], words: str) -> ScenarioView:
    def by(items: Sequence[T], engine: Callable[[T], str]) -> tuple[T, ...]:
        return tuple(sorted(items, key=lambda item: order.index(engine(item)) if engine(item) in order else len(order)))

    def step(view: StepView) -> StepView:
        lines = [replace(line, place=place) for place, line in enumerate(view.lines)]
        return replace(view, lines=by(lines, _engine), failed=by(view.failed, _engine))

    return replace(
        scenario,
        steps=tuple(map(step, scenario.steps)),
        standings=by(scenario.standings, lambda item: item.engine),
        resources=by(scenario.resources, lambda item: item.engine),
        order=words,
    )


def _engine(line: Line) -> str:
    return line.row.engine
