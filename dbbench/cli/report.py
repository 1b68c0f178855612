"""`report` shows a run again, and what `suite` shows at its end."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dbbench.cli.common import (
    command,
    examples,
    format_option,
    gate_metric_option,
    open_console,
    publish_option,
    run_path,
)
from dbbench.cli.gates import PairGate, check_gates, chosen_gates, gate_option, show_gates, unknown_option
from dbbench.host.metric import Metric

if TYPE_CHECKING:
    from rich.console import Console

    from dbbench.report.run_view import View
    from dbbench.results.run_directory import Run


@dataclass(frozen=True)
class Looks:
    """Target of a report outside the run's own folder, and the look of its pictures."""

    out: Path | None = None
    theme: str = "light"
    width: int | None = None
    #: What engines are sorted by: "time", which is best first, or a key of `report.sorting`.
    sort: str = "time"
    #: The engine that has a colour; empty if all have theirs.
    highlight: str = ""
    #: Whether Arrow batches are ranked with rows.
    mixed: bool = False


def _print_schema(context: click.Context, parameter: click.Parameter, asked: bool) -> None:
    """Print the JSON Schema of results.json and end: it needs no run."""
    if not asked:
        return
    import json

    from dbbench.report.export.results_json import schema

    click.echo(json.dumps(schema(), indent=2))
    context.exit()


@click.command(
    epilog=examples(
        "dbbench report r1",
        "dbbench report r1 --format png,csv",
        "dbbench report r1 --publish",
        "dbbench report r1 --gate duckdb@1.4/duckdb@1.3:10%",
        "dbbench report --schema > results.schema.json",
        'dbbench report r1 --engine sqlite --engine duckdb --label duckdb="DuckDB 2" --theme dark --out post',
    ),
    short_help="Show a run again and draw its charts anew.",
)
@click.argument("run", type=run_path)
@format_option
@click.option("-e", "--engine", "engines", multiple=True, metavar="ENGINE", help="Only these engines. Repeatable.")
@click.option("--step", "steps", multiple=True, metavar="STEP", help="Only these steps. Repeatable.")
@click.option("--label", "labels", multiple=True, metavar="ENGINE=TEXT", help="Label of an engine. Repeatable.")
@click.option("--title", default="", help="A title instead of the suite's.")
@click.option(
    "--sort",
    type=click.Choice(["time", "memory", "cpu", "written", "size"]),
    default="time",
    help="Order engines by time (best first in each step), peak memory, CPU time, bytes written, or size.",
)
@click.option(
    "--mix-forms", "mixed", is_flag=True, help="Rank engines that return Arrow batches with those that return rows."
)
@click.option("--theme", type=click.Choice(["light", "dark", "transparent"]), default="light", help="Of the pictures.")
@click.option("--width", type=click.IntRange(400, 1600), help="Width of the pictures, in pixels; text keeps its size.")
@click.option("--highlight", default="", metavar="ENGINE", help="Only this engine in colour, the others grey.")
@click.option("--out", type=click.Path(path_type=Path), help="A new folder to write to, instead of the run's own.")
@click.option(
    "--schema",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_schema,
    help="Print the JSON Schema of results.json instead.",
)
@gate_option
@unknown_option
@gate_metric_option
@publish_option
@command
def report(
    run: Path,
    formats: str | None,
    engines: tuple[str, ...],
    steps: tuple[str, ...],
    labels: tuple[str, ...],
    title: str,
    sort: str,
    mixed: bool,
    theme: str,
    width: int | None,
    highlight: str,
    out: Path | None,
    gates: tuple[PairGate, ...],
    fail_on_unknown: bool,
    metric: Metric | None,
    publish: bool,
) -> int:
    """Show a RUN again and draw its charts anew; no engine needs to be installed.

    --sort changes the order alone, and no figure, rank or ratio. These options need --out, so that the run's own report
    stays whole: --engine, --step, --label, --title, --theme, --width, --highlight, --mix-forms. Ranks and ratios then
    compare what is chosen. With --out, --metric ranks by that metric.

    Exit status: 0 all went well in the run; 1 something was unsuccessful or failed its --gate; 2 usage error; 3 the run
    can't show whether a --gate is kept.
    """
    from dbbench.errors import UserError
    from dbbench.results.chosen_run import Choice, ChosenRun
    from dbbench.results.run_directory import Run

    chosen = chosen_formats(formats, shared=publish or out is not None)
    called = dict(label.partition("=")[::2] for label in labels)
    if not all(called.values()):
        raise UserError('--label is ENGINE=TEXT, as in --label duckdb="DuckDB 2"')
    opened, console = Run.open(run), open_console()
    choice = Choice(engines, steps, called, title, metric if out and metric else Metric.WALL)
    part = ChosenRun(opened, choice) if choice != Choice() else None
    if metric not in (None, Metric.WALL) and not (out or gates):
        raise UserError("--metric needs --out DIR, for a report by it, or a --gate")
    gates = chosen_gates(gates, metric, fail_on_unknown=fail_on_unknown)
    if out is None and (part or theme != "light" or width or highlight or mixed):
        raise UserError(
            "choosing engines, steps, labels, a title, a theme, a width, a highlight or forms needs --out DIR"
        )
    check_gates(opened, gates)
    shown = show_report(
        part or opened,
        console,
        chosen,
        publish=publish,
        looks=Looks(out, theme, width, sort, highlight, mixed),
        whole=opened,
    )
    return status(opened, console, shown, gates, publish=publish)


def chosen_formats(text: str | None, *, shared: bool) -> tuple[str, ...]:
    """The formats that the user named, or the usual ones, for others to see or not. Raises UserError if unknown."""
    from dbbench.report.write import SHARED, USUAL, check_formats

    chosen = (SHARED if shared else USUAL) if text is None else tuple(part.strip() for part in text.split(","))
    check_formats(chosen)
    return chosen


def status(
    run: Run, console: Console, shown: View, gates: tuple[PairGate, ...], *, publish: bool, keep: bool = False
) -> int:
    """Show what the gates say; the exit status of a run with them. `keep`: also in the run directory."""
    status = show_gates(run, console, gates, publish=publish, keep=keep)
    return 1 if shown.unsuccessful else status


def show_report(
    run: Run,
    console: Console,
    formats: tuple[str, ...],
    *,
    publish: bool,
    looks: Looks = Looks(),
    whole: Run | None = None,
) -> View:
    """Write the files, then show the result: a terminal may not take it, and what is written stays.

    `whole` is the run that `run` is a part of.
    """
    from dbbench.errors import UserError
    from dbbench.report.run_view import view
    from dbbench.report.sorting import sorted_by
    from dbbench.report.terminal import run as terminal
    from dbbench.report.write import write_report

    shown = view(run, publish=publish, out=looks.out, mixed=looks.mixed)
    if looks.highlight:
        if looks.highlight not in {system.engine for system in shown.systems}:
            raise UserError(f"--highlight {looks.highlight}: the report has no such engine")
        shown = replace(shown, highlight=looks.highlight)
    if looks.sort != "time":
        shown = sorted_by(shown, looks.sort, view(whole or run, publish=publish, mixed=looks.mixed))
    try:
        written = write_report(shown, formats, theme=looks.theme, width=looks.width)
    except UserError:  # a run directory that can't be written to is shown all the same
        terminal.show(shown, console)
        raise
    terminal.show(shown, console)
    for path in written:
        console.print(f"wrote {path}", highlight=False, markup=False, soft_wrap=True)
    return shown
