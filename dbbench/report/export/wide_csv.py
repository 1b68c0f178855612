"""wide.csv: one row for each engine and one column for each step, as chart makers like Datawrapper take it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dbbench.host import plain_file
from dbbench.report.export.summary_csv import lines
from dbbench.report.run_view import View


def write(shown: View, _stems: Sequence[str] = ()) -> Path:
    """Write it into the view's folder. Each step has one unit, in its heading; what is not verified is left out."""
    columns: dict[str, dict[str, float]] = {}
    for scenario in shown.scenarios:
        for step in scenario.steps:
            name = f"{scenario.scenario.title}: {step.step.title}" if len(shown.scenarios) > 1 else step.step.title
            columns[f"{name} ({step.unit.symbol})"] = {
                line.row.title: float(f"{line.row.value / step.unit.size:.6g}")
                for line in step.best_first
                if line.row.value is not None and line.row.verified and not line.withheld
            }
    engines = dict.fromkeys(item.title for scenario in shown.scenarios for item in scenario.standings)
    rows: list[list[object]] = [["Engine", *columns]]
    rows += [[name, *(each.get(name, "") for each in columns.values())] for name in engines]
    path = shown.folder / "wide.csv"
    plain_file.write(path, lines(rows).encode())
    return path
