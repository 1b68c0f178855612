"""summary.csv: one row for each step and engine."""

import csv
import io
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from dbbench.analysis.row import Row
from dbbench.host import plain_file
from dbbench.report.remarks import notes, worded
from dbbench.report.run_view import View

COLUMNS = (
    "suite", "scenario", "step", "engine", "outcome", "metric", "unit", "direction",
    "blocks", "value", "ci_low", "ci_high", "rank", "detail", "verified", "rank_best", "rank_worst",
)  # fmt: skip
#: Doubles tell all whole numbers below it.
_WHOLE = 2**53
#: How a text begins that is a formula to a spreadsheet; a number is none.
_FORMULA = re.compile(r"\s*(?:[=@]|[+-](?![0-9.]+(?:e[+-]?[0-9]+)?$))")
_VERIFIED = {True: "yes", False: "no", None: ""}


def write(shown: View, _stems: Sequence[str] = ()) -> Path:
    """Write it into the view's folder. Times in seconds, sizes in bytes, rates by second."""
    run, rows = shown.run, [list[object](COLUMNS)]
    sizes = {
        (scenario.scenario.name, step.step.name, engine): found
        for scenario in shown.scenarios
        for step in scenario.steps
        for engine, found in step.footprints.items()
    }
    for row in shown.rows:
        rows.append(
            [
                run.suite.name, row.scenario, row.step, _engine(row), row.outcome, row.metric, row.unit, row.direction,
                len(row.trial_means), _figure(row.value), _figure(row.low), _figure(row.high),
                row.rank or "", "; ".join(notes(row)), _VERIFIED[row.checked],
                row.rank.best if row.rank else "", row.rank.worst if row.rank else "",
            ]
        )  # fmt: skip
        found = sizes.get((row.scenario, row.step, row.engine))
        rounds, worst = len(row.trial_means), run.suite.scenario(row.scenario).worst_of_last
        for what, count, value in (
            (str(worst), rounds, row.original),
            *((part, 1, size) for part, size in row.kept_size_parts.items()),
            ("growth", rounds, found.grown if found else None),
            ("bytes for each added row", rounds, found.per_added_row if found else None),
        ):
            if value is not None:
                start = [run.suite.name, row.scenario, row.step, _engine(row), row.outcome, f"{row.metric}, {what}"]
                rows.append([*start, row.unit, row.direction, count, _figure(value), *[""] * 7])
        if row.compact_seconds is not None:
            start = [run.suite.name, row.scenario, row.step, _engine(row), row.outcome, "compaction time", "s", "lower"]
            rows.append([*start, 1, _figure(row.compact_seconds), *[""] * 7])
    for scenario in shown.scenarios:
        for used in scenario.resources:
            for metric, unit, value in (
                ("peak memory", "B", used.peak_memory),
                ("cpu time", "s", used.cpu_seconds),
                ("bytes written", "B", used.written_bytes),
            ):
                start = [run.suite.name, scenario.scenario.name, "(trial)", used.engine, "ok", metric, unit, "lower"]
                withheld = ["withheld"] if used.engine in scenario.withheld else []
                detail = "; ".join([*withheld, *map(worded, used.remarks)])
                rows.append([*start, run.manifest.rounds, _figure(value), "", "", "", detail, "", "", ""])
    path = shown.folder / "summary.csv"
    plain_file.write(path, lines(rows).encode())
    return path


def lines(rows: Iterable[Sequence[object]]) -> str:
    """Rows as CSV. A text that a spreadsheet would take for a formula, and carry out, begins with an apostrophe."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerows([_plain(cell) for cell in row] for row in rows)
    return text.getvalue()


def _plain(cell: object) -> object:
    return f"'{cell}" if isinstance(cell, str) and _FORMULA.match(cell) else cell


def _engine(row: Row) -> str:
    """A null engine in brackets: a bare `null` is a missing value to pandas."""
    return row.engine if row.ranked else f"({row.engine})"


def _figure(value: float | None) -> str:
    """The shortest digits that read back as the same number; bytes and the like as whole numbers."""
    if value is None:
        return ""
    return str(int(value)) if value == int(value) and value < _WHOLE else repr(value)
