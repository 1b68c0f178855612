"""The sum of the times of steps before it."""

from dbbench.errors import NotVerified, Unsupported
from dbbench.host import metric
from dbbench.suite.steps.total import TotalStep
from dbbench.workloads.context import StepContext, StepMeasurement


def measure(step: TotalStep, context: StepContext) -> StepMeasurement:
    """Seconds. Raises Unsupported if one of the steps has no figure."""
    if missing := [name for name in step.of if name not in context.data.timed]:
        raise Unsupported(f"no sum, as {', '.join(missing)} {'have' if missing[1:] else 'has'} no figure")
    results = [context.data.timed[name] for name in step.of]
    return StepMeasurement(
        "time",
        "s",
        [sum(result.value or 0.0 for result in results)],
        facts={"of": list(step.of)},
        usage=metric.total(result.usage for result in results),
    )


def check(step: TotalStep, context: StepContext) -> None:
    """Each of the steps was checked by itself. Raises NotVerified if one was not."""
    if unverified := [name for name in step.of if name in context.data.unverified]:
        raise NotVerified(f"{', '.join(unverified)} {'were' if unverified[1:] else 'was'} not verified")
