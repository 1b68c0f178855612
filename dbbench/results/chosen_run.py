"""A part of a run, as for a blog: some of its engines and steps, with names of one's own. Its files stay as they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from dbbench.did_you_mean import did_you_mean
from dbbench.errors import UserError
from dbbench.host.metric import Metric
from dbbench.results.by_metric import by_metric
from dbbench.results.run_directory import Run
from dbbench.results.trial import TrialResult


@dataclass(frozen=True)
class Choice:
    """Chosen engines and steps (all, if none is named), labels, the title (the suite's, if empty), and the figures."""

    engines: Sequence[str] = ()
    steps: Sequence[str] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    title: str = ""
    metric: Metric = Metric.WALL


class ChosenRun(Run):
    """Presents a run as one of these engines and steps alone; null engines stay, for the harness's share."""

    def __init__(self, whole: Run, choice: Choice) -> None:
        """Raises UserError for an engine or a step that isn't in the run."""
        run_engines = whole.manifest.engines
        nulls = [name for name, probed in run_engines.items() if not probed.get("ranked", True)]
        known = [name for name in run_engines if name not in nulls]
        check_names("engine", (*choice.engines, *choice.labels), known)
        check_names(
            "step", choice.steps, dict.fromkeys(step.name for each in whole.suite.scenarios for step in each.steps)
        )
        chosen = {*(choice.engines or known), *nulls}
        engines = {
            name: {**probed, "title": choice.labels.get(name, probed.get("title"))}
            for name, probed in run_engines.items()
            if name in chosen
        }
        scenarios = [
            each.model_copy(
                update={"steps": tuple(step for step in each.steps if step.name in choice.steps or not choice.steps)}
            )
            for each in whole.suite.scenarios
        ]
        update: dict[str, object] = {"title": choice.title or whole.suite.title}
        if choice.metric.by:  # what was published elsewhere is of wall time
            update = {"title": f"{update['title']}, by {choice.metric.by}", "source": None}
            scenarios = [each.model_copy(update={"worst_of_last": None}) for each in scenarios]
        update["scenarios"] = tuple(each for each in scenarios if each.steps)
        suite = whole.suite.model_copy(update=update)
        super().__init__(whole.path, whole.manifest.model_copy(update={"engines": engines}), suite)
        self._whole, self._labels, self._metric = whole, choice.labels, choice.metric

    def results(self) -> list[TrialResult]:
        """The chosen engines' trials, with the chosen steps. Raises RunError for a damaged one."""
        steps = {each.name: {step.name for step in each.steps} for each in self.suite.scenarios}
        return [
            result.model_copy(
                update={
                    "steps": tuple(step for step in result.steps if step.name in steps[result.scenario_name]),
                    "engine": self._engine(result),
                }
            )
            for result in by_metric(self._whole.results(), self._metric)
            if result.engine_name in self.manifest.engines and result.scenario_name in steps
        ]

    def _engine(self, result: TrialResult) -> Mapping[str, object]:
        label = self._labels.get(result.engine_name)
        return {**result.engine, "title": label} if label and result.engine else result.engine


def check_names(what: str, named: Iterable[str], known: Iterable[str]) -> None:
    """Raise UserError for the first name that a run doesn't have; `what` is it of."""
    names = list(known)
    for name in named:
        if name not in names:
            rest = did_you_mean(name, names) or f"; it has {', '.join(names)}"
            raise UserError(f"this run has no {what} {name!r}{rest}")
