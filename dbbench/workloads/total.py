"""The sum of the times of steps before it."""

from __future__ import annotations

from collections.abc import Mapping

from dbbench.errors import NotVerified, Unsupported
from dbbench.suite.steps.total import TotalStep
from dbbench.workloads.context import StepContext, StepMeasurement


def measure(step: TotalStep, context: StepContext) -> StepMeasurement:
    """Seconds. Raises Unsupported if one of the steps has no figure."""
    if missing := [name for name in step.of if name not in context.seconds]:
        raise Unsupported(f"no sum, as {', '.join(missing)} {'have' if missing[1:] else 'has'} no figure")
    return StepMeasurement(
        "time",
        "s",
        [sum(context.seconds[name] for name in step.of)],
        facts={"of": list(step.of)},
        cpu_seconds=_sum(step, context.cpu_seconds),
        undelayed_seconds=_sum(step, context.undelayed_seconds),
    )


def _sum(step: TotalStep, known: Mapping[str, float]) -> float | None:
    """None if one of the steps isn't known."""
    return sum(known[name] for name in step.of) if known.keys() >= set(step.of) else None


def check(step: TotalStep, context: StepContext) -> None:
    """Each of the steps was checked by itself. Raises NotVerified if one was not."""
    if unverified := [name for name in step.of if name in context.unverified]:
        raise NotVerified(f"{', '.join(unverified)} {'were' if unverified[1:] else 'was'} not verified")
