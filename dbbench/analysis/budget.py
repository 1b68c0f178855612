"""When a run has done enough: its intervals are narrow, or its time is spent."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dbbench.analysis.ranking import fewest_rounds
from dbbench.analysis.summary import summarise
from dbbench.results.outcome import Outcome
from dbbench.results.run_directory import Manifest
from dbbench.results.trial import TrialResult
from dbbench.suite.model import Suite


@dataclass(frozen=True)
class Stop:
    """Reason for a run to stop after `rounds` rounds: it is precise enough, or else out of time."""

    rounds: int
    #: The seconds that all trials took together, of `seconds`; None for a run that is precise enough.
    spent: float | None
    seconds: float | None
    #: The half-width of an interval that was asked for, and that of the widest, as shares of the median; and whose it
    #: is, empty where there is no interval yet.
    precision: float | None
    widest: float
    where: str


def reached(suite: Suite, manifest: Manifest, results: Sequence[TrialResult], rounds: int) -> Stop | None:
    """Whether `rounds` rounds are enough for the run's precision, or for its time limit; None if it should go on."""
    precision, seconds = manifest.precision, manifest.time_limit
    widest, where = math.inf, ""
    if precision is not None:
        widest, where = _widest(suite, manifest, results)
        few = fewest_rounds(sum(manifest.ranked(name) for name in manifest.usable))
        if rounds >= few and widest <= precision:
            return Stop(rounds, None, seconds, precision, widest, where)
    spent = sum(result.seconds for result in results)
    if seconds is not None and spent + spent / rounds > seconds:
        return Stop(rounds, spent, seconds, precision, widest, where)
    return None


def _widest(suite: Suite, manifest: Manifest, results: Sequence[TrialResult]) -> tuple[float, str]:
    """The widest interval of all times, and whose it is; steps that failed have none."""
    widths = [
        ((row.high - row.low) / 2 / row.value, f"{row.step}, {row.engine}")
        for row in summarise(suite, manifest, results)
        if row.outcome is Outcome.OK and row.ranked and row.unit != "B" and row.value
        and row.low is not None and row.high is not None
    ]  # fmt: skip
    return max(widths, default=(math.inf, ""))
