"""What is compared: the figure of a step, or the CPU time or the undelayed time of the same calls."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from dbbench.errors import UserError
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


class Metric(StrEnum):
    """`wall`: a step's own figure, a time by the clock or a rate. The others are seconds of a call or an operation:

    `cpu`: CPU time. `undelayed`: time by the clock, less what the threads that made the calls waited for a processor.
    """

    WALL = "wall"
    CPU = "cpu"
    UNDELAYED = "undelayed"

    @property
    def by(self) -> str:
        """What its figures are by, for a title; empty for a step's own."""
        return "" if self is Metric.WALL else _TIMES[self].name

    @property
    def meaning(self) -> str:
        """What its figures are, in a sentence without its full stop; empty for a step's own."""
        return "" if self is Metric.WALL else f"times are {_TIMES[self].meaning}"


@dataclass(frozen=True)
class _Time:
    """Seconds that a result keeps besides its figure."""

    #: What a figure of it is called; no figure of its own has this name.
    name: str
    field: str
    meaning: str
    #: Why a step may have none.
    missing: str


_TIMES = {
    Metric.CPU: _Time(
        "CPU time",
        "cpu_seconds",
        "CPU time of the calls: of the worker, and of its private server",
        "no CPU time of these calls is known: they waited for their moments, or a server at a URL did the work",
    ),
    Metric.UNDELAYED: _Time(
        "undelayed time",
        "undelayed_seconds",
        "undelayed: by the clock, less what the threads that call waited for a processor",
        "no undelayed time of these calls is known: they waited for their moments or each other, or this system doesn't tell",
    ),
}


def metric_of(figure: str) -> Metric:
    """The metric that a figure is of, by the figure's name in a result."""
    return next((metric for metric, time in _TIMES.items() if time.name == figure), Metric.WALL)


def by_metric(results: Iterable[TrialResult], metric: Metric) -> list[TrialResult]:
    """The results with the figures of a metric. Raises UserError if none has such a figure. Sizes stay what they are."""
    if metric is Metric.WALL:
        return list(results)
    time = _TIMES[metric]
    found = [result.model_copy(update={"steps": tuple(_by(time, step) for step in result.steps)}) for result in results]
    if found and not any(step.metric == time.name and step.value is not None for one in found for step in one.steps):
        raise UserError(f"the run keeps no {time.name} of its calls: run it again, or omit --metric {metric}")
    return found


def lacking(results: Iterable[TrialResult], metric: Metric) -> set[str]:
    """Steps with a time or a rate that has no figure of a metric, of the results that have any."""
    timed = [
        step for result in results for step in result.steps if step.unit in ("s", "1/s") and step.value is not None
    ]
    return set() if metric is Metric.WALL else {one.name for one in timed if getattr(one, _TIMES[metric].field) is None}


def _by(time: _Time, step: StepResult) -> StepResult:
    if step.unit in ("", "B"):
        return step
    seconds: float | None = getattr(step, time.field)
    if step.value is not None and seconds is None:
        return step.model_copy(update={"outcome": Outcome.UNSUPPORTED, "detail": time.missing})
    return step.model_copy(
        update={
            "metric": time.name,
            "unit": "s",
            "direction": "lower",
            "value": None if step.value is None else seconds,
            "samples": (),
            "warm_up": (),
            "facts": {key: value for key, value in step.facts.items() if key in _OF_THE_WORK},
        }
    )
