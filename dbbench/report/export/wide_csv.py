"""wide.csv: one row for each engine and one column for each step, as chart makers like Datawrapper take it."""

from collections.abc import Sequence
from pathlib import Path

from dbbench.host import plain_file
from dbbench.report.export.summary_csv import lines
from dbbench.report.run_view import View


def write(shown: View, _stems: Sequence[str] = ()) -> Path:
    """Write it into the view's folder. A step's heading has its unit: s, B or 1/s. Not verified: left out."""
    columns: dict[str, dict[str, float]] = {}
    for scenario in shown.scenarios:
        for step in scenario.steps:
            name = f"{scenario.scenario.title}: {step.step.title}" if len(shown.scenarios) > 1 else step.step.title
            unit = f"({next((line.row.unit for line in step.lines), step.step.figure_unit)})"
            heading = f"{name} {unit}" if f"{name} {unit}" not in columns else f"{name}, {step.step.name} {unit}"
            columns[heading] = {
                line.row.engine: line.row.value
                for line in step.lines
                if line.row.value is not None and line.row.verified
            }
    titles = {item.engine: item.title for scenario in shown.scenarios for item in scenario.standings}
    rows: list[list[object]] = [["Engine", *columns]]
    rows += [[title, *(each.get(name, "") for each in columns.values())] for name, title in titles.items()]
    path = shown.folder / "wide.csv"
    plain_file.write(path, lines(rows).encode())
    return path
