"""A run with other figures or less of it: by what the calls used, as chosen engines and steps. Files stay."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from dbbench.errors import UserError
from dbbench.host.metric import PACES, Metric
from dbbench.message import did_you_mean
from dbbench.results.outcome import Outcome
from dbbench.results.run_directory import Run
from dbbench.results.trial import StepResult, TrialResult

#: What a step says of its work, and not of its wall time.
_OF_THE_WORK = (
    "gives", "awaited", "takes", "cache", "why", "rows", "csv_bytes", "agrees", "disputes", "differs", "checked_by", "of",
)  # fmt: skip


def metric_of(figure: str) -> Metric:
    """The metric that a figure is of, by the figure's name in a result."""
    return next((metric for metric in Metric if metric.by == figure), Metric.WALL)


def by_metric(results: Iterable[TrialResult], metric: Metric) -> list[TrialResult]:
    """The results with the figures of a metric. Raises UserError if none has such a figure. Sizes stay."""
    found = figures_of(results, metric)
    if (
        metric is not Metric.WALL
        and found
        and not any(step.metric == metric.by and step.value is not None for one in found for step in one.steps)
    ):
        raise UserError(
            f"the run keeps no {metric.by} of its calls: run it again, or choose another metric than {metric}"
        )
    return found


def figures_of(results: Iterable[TrialResult], metric: Metric) -> list[TrialResult]:
    """The same; a step without such a figure has none, with the reason."""
    if metric is Metric.WALL:
        return list(results)
    return [
        result.model_copy(update={"steps": tuple(_by(metric, step) for step in result.steps)}) for result in results
    ]


def lacking(results: Iterable[TrialResult], metric: Metric) -> set[str]:
    """Steps with a time or a rate that has no figure of a metric, of the results that have any."""
    timed = [step for result in results for step in result.steps if step.unit in PACES and step.value is not None]
    return set() if metric is Metric.WALL else {one.name for one in timed if not one.usage.get(metric)}


def _by(metric: Metric, step: StepResult) -> StepResult:
    if step.unit in ("", "B"):
        return step
    if step.value is not None and not step.usage.get(metric):  # there is no ratio to 0
        why = f"no {metric.by} counted during these calls" if metric in step.usage else metric.missing
        return step.model_copy(update={"outcome": Outcome.NOT_COUNTED, "detail": why})
    return step.model_copy(
        update={
            "metric": metric.by,
            "unit": metric.unit,
            "direction": "lower",
            "value": None if step.value is None else step.usage[metric],
            "samples": (),
            "warm_up": (),
            "facts": {key: value for key, value in step.facts.items() if key in _OF_THE_WORK},
        }
    )


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
            name: {**probed, "label": choice.labels.get(name, "")}
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
        #: Whether it lacks steps of the whole run.
        self.partial = bool(choice.steps)
        self.whole, self._metric = whole, choice.metric

    def results(self) -> list[TrialResult]:
        """The chosen engines' trials, with the chosen steps. Raises RunError for a damaged one."""
        steps = {each.name: {step.name for step in each.steps} for each in self.suite.scenarios}
        return [
            result.model_copy(
                update={"steps": tuple(step for step in result.steps if step.name in steps[result.scenario_name])}
            )
            for result in by_metric(self.whole.results(), self._metric)
            if result.engine_name in self.manifest.engines and result.scenario_name in steps
        ]


def check_names(what: str, named: Iterable[str], known: Iterable[str]) -> None:
    """Raise UserError for the first name that a run doesn't have; `what` is it of."""
    names = list(known)
    for name in named:
        if name not in names:
            rest = did_you_mean(name, names) or f"; it has {', '.join(names)}"
            raise UserError(f"this run has no {what} {name!r}{rest}")
