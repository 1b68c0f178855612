"""What is compared: the figure of a step, or the CPU time of the same calls."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from dbbench.errors import UserError
from dbbench.results.outcome import Outcome
from dbbench.results.trial import StepResult, TrialResult

#: What a step says of its work, and not of its wall time.
_OF_THE_WORK = ("gives", "takes", "cache", "why", "rows", "csv_bytes", "agrees", "checked_by", "of")
_MISSING = "no CPU time of these calls is known: they waited for their moments, or a server at a URL did the work"
CPU_TIME = "CPU time"


class Metric(StrEnum):
    """`wall`: a step's own figure, a time by the clock or a rate. `cpu`: CPU seconds of a call or an operation."""

    WALL = "wall"
    CPU = "cpu"


def by_metric(results: Iterable[TrialResult], metric: Metric) -> list[TrialResult]:
    """The results with the figures of a metric. Raises UserError if none has such a figure. Sizes stay what they are."""
    if metric is Metric.WALL:
        return list(results)
    found = [result.model_copy(update={"steps": tuple(_by_cpu(step) for step in result.steps)}) for result in results]
    if found and not any(step.metric == CPU_TIME and step.value is not None for one in found for step in one.steps):
        raise UserError("the run keeps no CPU time of its calls: run it again, or omit --metric cpu")
    return found


def _by_cpu(step: StepResult) -> StepResult:
    if step.unit in ("", "B"):
        return step
    if step.value is not None and step.cpu_seconds is None:
        return step.model_copy(update={"outcome": Outcome.UNSUPPORTED, "detail": _MISSING})
    return step.model_copy(
        update={
            "metric": CPU_TIME,
            "unit": "s",
            "direction": "lower",
            "value": None if step.value is None else step.cpu_seconds,
            "samples": (),
            "warm_up": (),
            "facts": {key: value for key, value in step.facts.items() if key in _OF_THE_WORK},
        }
    )
