"""Results with other figures than the steps' own: with an amount that their calls used."""

from __future__ import annotations

from collections.abc import Iterable

from dbbench.errors import UserError
from dbbench.host.metric import Metric
from dbbench.results.outcome import Outcome
from dbbench.results.trial import StepResult, TrialResult

#: What a step says of its work, and not of its wall time.
_OF_THE_WORK = (
    "gives",
    "takes",
    "cache",
    "why",
    "rows",
    "csv_bytes",
    "agrees",
    "disputes",
    "differs",
    "checked_by",
    "of",
)


def metric_of(figure: str) -> Metric:
    """The metric that a figure is of, by the figure's name in a result."""
    return next((metric for metric in Metric if metric.by == figure), Metric.WALL)


def by_metric(results: Iterable[TrialResult], metric: Metric) -> list[TrialResult]:
    """The results with the figures of a metric. Raises UserError if none has such a figure. Sizes stay what they are."""
    if metric is Metric.WALL:
        return list(results)
    found = [
        result.model_copy(update={"steps": tuple(_by(metric, step) for step in result.steps)}) for result in results
    ]
    if found and not any(step.metric == metric.by and step.value is not None for one in found for step in one.steps):
        raise UserError(f"the run keeps no {metric.by} of its calls: run it again, or omit --metric {metric}")
    return found


def lacking(results: Iterable[TrialResult], metric: Metric) -> set[str]:
    """Steps with a time or a rate that has no figure of a metric, of the results that have any."""
    timed = [
        step for result in results for step in result.steps if step.unit in ("s", "1/s") and step.value is not None
    ]
    return set() if metric is Metric.WALL else {one.name for one in timed if not one.usage.get(metric)}


def _by(metric: Metric, step: StepResult) -> StepResult:
    if step.unit in ("", "B"):
        return step
    if step.value is not None and not step.usage.get(metric):  # there is no ratio to 0
        why = f"no {metric.by} counted during these calls" if metric in step.usage else metric.missing
        return step.model_copy(update={"outcome": Outcome.UNSUPPORTED, "detail": why})
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
