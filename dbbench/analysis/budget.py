"""When a run has done enough: its intervals are narrow, or its time is spent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dbbench.analysis.ranking import fewest_rounds
from dbbench.analysis.summary import summarise
from dbbench.analysis.systems import ranked
from dbbench.analysis.units import duration
from dbbench.results.outcome import Outcome
from dbbench.results.run_directory import Manifest
from dbbench.results.trial import TrialResult
from dbbench.suite.model import Suite


@dataclass(frozen=True)
class Budget:
    """`precision`: the half-width of an interval as a share of its median; `seconds`: of all trials together."""

    precision: float | None = None
    seconds: float | None = None

    def reached(self, suite: Suite, manifest: Manifest, results: Sequence[TrialResult], rounds: int) -> str:
        """Why the run may stop after `rounds` rounds, in words; empty if it should go on."""
        if self.precision is not None and rounds >= fewest_rounds(
            sum(ranked(manifest, name) for name in manifest.usable)
        ):
            widest, where = self._widest(suite, manifest, results)
            if widest <= self.precision:
                return f"precise enough after {rounds} rounds: no interval is wider than ±{widest:.1%} ({where})"
        if self.seconds is not None:
            spent = sum(result.seconds for result in results)
            if spent + spent / rounds > self.seconds:
                text = f"out of time after {rounds} round{'s' if rounds > 1 else ''}: {duration(spent)} of {duration(self.seconds)}"
                if self.precision is None:
                    return text
                widest, where = self._widest(suite, manifest, results)
                return f"{text}; the widest interval is ±{widest:.1%} ({where}), not ±{self.precision:.1%}"
        return ""

    @staticmethod
    def _widest(suite: Suite, manifest: Manifest, results: Sequence[TrialResult]) -> tuple[float, str]:
        """The widest interval of all times, and whose it is; steps that failed have none."""
        widths = [
            ((row.high - row.low) / 2 / row.value, f"{row.step}, {row.engine}")
            for row in summarise(suite, manifest, results)
            if row.outcome is Outcome.OK and row.ranked and row.unit != "B" and row.value
            and row.low is not None and row.high is not None
        ]  # fmt: skip
        return max(widths, default=(float("inf"), "no interval yet"))
