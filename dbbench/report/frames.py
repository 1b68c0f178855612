"""A run as pandas DataFrames, for one's own figures and charts: `dbbench.open_run(path)`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dbbench.analysis.footprint import footprints
from dbbench.analysis.gate import Answer
from dbbench.analysis.paired import pair_gate
from dbbench.analysis.summary import summarise
from dbbench.errors import UserError
from dbbench.host.metric import Metric
from dbbench.report.remarks import notes
from dbbench.report.terminal.pairs import pair_lines
from dbbench.results.chosen_run import check_names
from dbbench.results.run_directory import Run

if TYPE_CHECKING:
    import pandas as pd


#: The columns of each frame with their types, which it has whatever is in it, also without rows.
_SUMMARY = {
    "scenario": "str", "step": "str", "engine": "str", "title": "str", "is_null": "bool", "outcome": "str",
    "verified": "boolean", "unit": "str", "direction": "str", "rounds": "int64", "value": "float64", "low": "float64",
    "high": "float64", "ratio": "float64", "rank_best": "Int64", "rank_worst": "Int64", "remarks": "str",
}  # fmt: skip
_SAMPLES = {
    "scenario": "str", "step": "str", "engine": "str", "round": "int64", "trial": "str", "warm_up": "bool",
    "number": "int64", "value": "float64", "unit": "str",
}  # fmt: skip
_SIZES = {
    "scenario": "str", "step": "str", "engine": "str", "round": "int64", "part": "str", "apparent": "int64",
    "allocated": "int64",
}  # fmt: skip
_GROWTH = {
    "scenario": "str", "step": "str", "engine": "str", "value": "float64", "grown": "float64",
    "grown_share": "float64", "per_added_row": "float64", "compact_seconds": "float64",
}  # fmt: skip


class RunFrames:
    """The results of a run directory. Times are in seconds, sizes in bytes, rates in operations per second.

    Names and words are strings, counts and bytes int64, figures float64 (missing: NaN). What may be missing of a truth
    value or a rank is `boolean` and `Int64` (missing: `pandas.NA`). A frame without rows has its columns, too.

    Nothing is withheld here: before you publish, see which licences forbid it (docs/cli.md).
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Raises RunError if there is no run at `path`, or it is damaged."""
        self.run = Run.open(Path(path))
        self._results = self.run.results()

    def summary(self) -> pd.DataFrame:
        """One row for each scenario, step and engine, best to worst.

        Columns: scenario, step, engine, title, outcome, verified, unit ("s", "B" or "1/s"), direction ("lower" or
        "higher" is better), rounds, value (the median over rounds), low and high (its 95 % interval), ratio (to the
        best), rank_best and rank_worst, remarks. A null engine has is_null True.
        """
        rows = [
            {
                "scenario": row.scenario, "step": row.step, "engine": row.engine, "title": row.title,
                "is_null": not row.ranked, "outcome": str(row.outcome), "verified": row.checked, "unit": row.unit,
                "direction": row.direction, "rounds": len(row.trial_means), "value": row.value, "low": row.low,
                "high": row.high, "ratio": row.ratio.value if row.ratio else None,
                "rank_best": row.rank.best if row.rank else None, "rank_worst": row.rank.worst if row.rank else None,
                "remarks": "; ".join(notes(row)),
            }
            for row in summarise(self.run.suite, self.run.manifest, self._results)
        ]  # fmt: skip
        return _frame(rows, _SUMMARY)

    def samples(self) -> pd.DataFrame:
        """One row for each timed call that was kept one by one, in the order of the trials.

        Columns: scenario, step, engine, round, trial, warm_up (whether it is outside of the figure), number (from 1),
        value, unit. Of steps with more than 1,000 calls there are none: their percentiles are in the run directory.
        """
        rows = [
            {
                "scenario": result.scenario_name, "step": step.name, "engine": result.engine_name, "round": result.round,
                "trial": result.id, "warm_up": warm_up, "number": number, "value": value, "unit": step.unit,
            }
            for result in self._results
            for step in result.steps
            for warm_up, values in ((True, step.warm_up), (False, step.samples))
            for number, value in enumerate(values, 1)
        ]  # fmt: skip
        return _frame(rows, _SAMPLES)

    def sizes(self) -> pd.DataFrame:
        """One row for each file of each size step.

        Columns: scenario, step, engine, round, part ("data", "journal", "reserved" or "other"), apparent and allocated
        bytes.
        """
        rows = [
            {
                "scenario": result.scenario_name, "step": step.name, "engine": result.engine_name, "round": result.round,
                "part": file["part"], "apparent": file["apparent"], "allocated": file["allocated"],
            }
            for result in self._results
            for step in result.steps
            for file in step.facts.get("files", ())
        ]  # fmt: skip
        return _frame(rows, _SIZES)

    def size_parts(self) -> pd.DataFrame:
        """One row for each part of each size step, none for runs that kept no parts.

        Columns: scenario, step, engine, round, part, apparent bytes. What the data cost is "data" and "index" ("both"
        where they can't be told apart), "journal" (log in use) and "other"; not in it are "reserved" (log) and "empty"
        (database).
        """
        rows = [
            {
                "scenario": result.scenario_name, "step": step.name, "engine": result.engine_name, "round": result.round,
                "part": part, "apparent": count,
            }
            for result in self._results
            for step in result.steps
            for part, count in step.facts.get("size_parts", {}).items()
        ]  # fmt: skip
        return _frame(rows, {name: kind for name, kind in _SIZES.items() if name != "allocated"})

    def growth(self) -> pd.DataFrame:
        """One row for each engine and size step, with the medians over rounds.

        Columns: scenario, step, engine, value (bytes that the data cost), grown (since the size before), grown_share,
        per_added_row (bytes for each row added since then), compact_seconds (the engine's own compaction before it).
        """
        called = self.run.manifest.titles(self._results)
        rows = [
            {
                "scenario": scenario.name, "step": step.name, "engine": engine, "value": found.value,
                "grown": found.grown, "grown_share": found.grown_share, "per_added_row": found.per_added_row,
                "compact_seconds": found.compact_seconds,
            }
            for scenario in self.run.suite.scenarios
            for step in scenario.steps
            if step.unit == "B"
            for engine, found in footprints(scenario, step.name, called, self._results, None).items()
        ]  # fmt: skip
        return _frame(rows, _GROWTH)

    def assert_not_slower(
        self, engine: str, *, than: str, by: float, metric: str | None = None, fail_on_unknown: bool = False
    ) -> None:
        """Raise AssertionError if an engine is slower or larger than another by more than a share (0.1 is 10 %).

        It does what `--gate` does: both are compared round by round. Raises AssertionError as well where the rounds
        can't show it, which more rounds can; the message has a line for each step. `metric` is one of `--metric`, like
        "cpu"; without one it is the usual one of a gate. `fail_on_unknown`: raise it too where any timed step can't be
        told, as the option of that name does. Raises UserError for an engine that the run doesn't have.
        """
        if not 0 < by < 1:
            raise UserError(f"by={by} is not a share above 0 and below 1, like 0.1")
        check_names("engine", (engine, than), self.run.manifest.engines)
        if metric not in (None, *Metric):
            raise UserError(f"unknown metric {metric!r}; there are {', '.join(Metric)}")
        shown = pair_gate(
            self.run, self._results, (engine, than), by, Metric(metric) if metric else None, strict=fail_on_unknown
        )
        if shown.gate.answer is not Answer.PASSED:
            raise AssertionError("\n".join(line.plain for line in pair_lines(shown)).strip())


def _frame(rows: list[dict[str, Any]], types: dict[str, str]) -> pd.DataFrame:
    """Raises UserError if pandas is missing."""
    try:
        import pandas as pd
    except ImportError:
        raise UserError("a DataFrame needs pandas, which is not installed: pip install pandas") from None
    return pd.DataFrame(rows, columns=list(types)).astype(types)


def open_run(path: str | os.PathLike[str]) -> RunFrames:
    """A finished or interrupted run, to be read with pandas. Raises RunError if there is none at `path`."""
    return RunFrames(path)
