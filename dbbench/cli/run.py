"""`suite` makes a run and reports it, `report` reports it anew."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dbbench.cli.common import (
    INTERRUPTED,
    columns,
    command,
    engine_names,
    examples,
    format_option,
    memory,
    metric_option,
    open_console,
    publish_option,
    scale_option,
    seconds,
    seed_option,
    share,
    suite_names,
)
from dbbench.cli.gates import PairGate, check_gates, chosen_gates, gate_option, show_gates, unknown_option

if TYPE_CHECKING:
    from rich.console import Console

    from dbbench.report.run_view import View
    from dbbench.results.run_directory import Run
    from dbbench.run.config import Config
    from dbbench.run.request import Ready


def _configured(context: click.Context, _parameter: click.Parameter, path: Path | None) -> Config | None:
    """Read the file before the other options: theirs are the defaults that it names."""
    if path is None:
        return None
    from dbbench.cli.common import shown
    from dbbench.errors import UserError
    from dbbench.run.config import read

    try:
        config = read(path)
    except UserError as exc:
        click.echo(f"dbbench: {shown(exc)}", err=True)
        context.exit(2)
    context.default_map = config.defaults
    return config


@click.command(
    epilog=examples(
        "dbbench suite invoices",
        "dbbench suite invoices --engine sqlite --engine duckdb --out r1",
        "dbbench suite invoices --quick --scale 0.1",
        "dbbench suite my-suite.yaml --set sqlite.cache_mib=256",
        "dbbench suite invoices -e sqlite -e sqlite@small --set sqlite@small.cache_mib=4",
        "dbbench suite invoices --sweep sqlite.cache_mib=16,64,256",
        "dbbench suite invoices -e duckdb@1.3 -e duckdb@1.4 --rounds 10 --gate duckdb@1.4/duckdb@1.3:10%",
        "dbbench suite invoices --url postgresql=postgresql://me@db.example/bench",
        "dbbench suite invoices --url cockroach=env:COCKROACH_URL",
        "dbbench suite mixes --url postgresql=env:PG_URL --cluster local:2",
        "dbbench suite mixes --url postgresql=env:PG_URL --cluster tls://head:8786 --hosts 4",
        "dbbench suite --resume r1",
        "dbbench suite --resume r1 --rounds 10",
    ),
    short_help="Run a suite and report best to worst.",
)
@click.argument("suite", required=False, shell_complete=suite_names)
@click.option(
    "--config",
    type=click.Path(path_type=Path),
    metavar="FILE",
    is_eager=True,
    callback=_configured,
    help="Take variants, settings, engines and options from a TOML file; all else goes before it.",
)
@click.option(
    "--engine",
    "-e",
    "engines",
    multiple=True,
    metavar="NAME",
    shell_complete=engine_names,
    help="Run this engine, or with ENGINE@LABEL a variant of it; may be given again. [default: all that are installed and have work in the suite]",
)
@click.option(
    "--rounds",
    type=click.IntRange(1, 1000),
    help="Passes over all engines; with --resume how many the run is to have in all. "
    "[default: 5, or as many as it takes to tell the engines apart]",
)
@click.option(
    "--precision",
    type=share,
    metavar="SHARE",
    help="Go on, up to 50 rounds, until every interval is within this share of its median, like 5%.",
)
@click.option("--time-limit", type=seconds, metavar="TIME", help="Start no round that would not fit, like 10m.")
@scale_option
@seed_option
@click.option(
    "--quick",
    is_flag=True,
    help="A first look: one round, of less work where the suite says so (unless --scale is given). No intervals, no ranks.",
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="ENGINE.OPTION=VALUE",
    help="Set an option of an engine, or of a variant; `dbbench engines -v` lists them.",
)
@click.option(
    "--sweep",
    "sweeps",
    multiple=True,
    metavar="ENGINE.OPTION=VALUES",
    help="Run a variant of ENGINE for each of the VALUES, with commas between, and chart them; may be given again.",
)
@click.option(
    "--url",
    "urls",
    multiple=True,
    metavar="NAME=URL",
    help="Run the engine NAME, or ENGINE@PLACE, against the server at URL; any other NAME through SQLAlchemy. "
    "env:VAR reads a variable.",
)
@click.option(
    "--cluster",
    metavar="PLACE",
    help="Have the clients of each step on several hosts: local:N for N of them here, or the address of a Dask scheduler, "
    "like tls://head:8786. Each host has as many clients as the suite says. Needs --url.",
)
@click.option("--hosts", type=click.IntRange(1, 1000), help="How many hosts of --cluster to use.")
@click.option(
    "--out", type=click.Path(path_type=Path), help="The run directory to make. [default: dbbench-runs/SUITE-TIME]"
)
@click.option(
    "--resume",
    type=click.Path(path_type=Path),
    metavar="RUN",
    help="Do what is left of a run that was interrupted, or with --rounds add rounds to it.",
)
@click.option(
    "--trial-timeout",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="End a trial that takes longer. [default: 600, or what the suite has for --quick]",
)
@click.option(
    "--trial-memory",
    type=memory,
    metavar="SIZE",
    help="End a trial that needs more, like 4GiB. [default: 3/4 of the machine's]",
)
@click.option(
    "--memory-limit",
    type=memory,
    metavar="SIZE",
    help="Keep each trial, engine and harness together, within this much memory and no swap, like 2GiB (Linux). "
    "Cached pages of files count, too.",
)
@gate_option
@unknown_option
@metric_option
@format_option
@publish_option
@click.pass_context
@command
def suite(
    context: click.Context,
    suite: str | None,
    config: Config | None,
    engines: tuple[str, ...],
    rounds: int | None,
    scale: float,
    seed: int | None,
    quick: bool,
    precision: float | None,
    time_limit: float | None,
    settings: tuple[str, ...],
    sweeps: tuple[str, ...],
    urls: tuple[str, ...],
    cluster: str | None,
    hosts: int | None,
    out: Path | None,
    resume: Path | None,
    trial_timeout: float | None,
    trial_memory: int | None,
    memory_limit: int | None,
    gates: tuple[PairGate, ...],
    fail_on_unknown: bool,
    metric: str,
    formats: str | None,
    publish: bool,
) -> int:
    """Run SUITE (a built-in name or a YAML file) and report best to worst.

    Exit status: 0 all went well; 1 something was unsuccessful or failed its --gate, and the report stands; 2 usage
    error; 3 the run can't show whether a --gate is kept; 130 interrupted, with all finished trials kept.
    """
    from dbbench.cluster.place import place
    from dbbench.engine.urls import parse as parse_urls
    from dbbench.errors import UserError
    from dbbench.run.config import Config as Nothing
    from dbbench.run.request import Request, new_run, resumed_run, with_sweeps
    from dbbench.run.settings import parse_settings

    if quick:  # what the file has for whole runs is not meant for a first look
        rounds = rounds if _given(context, "rounds") else None
        precision = precision if _given(context, "precision") else None
        time_limit = time_limit if _given(context, "time_limit") else None
    chosen = _formats(formats, shared=publish)
    if metric != "wall" and not gates:
        raise UserError("--metric says what a --gate compares; add one, like --gate duckdb@1.4/duckdb@1.3:10%")
    gates = chosen_gates(gates, metric, fail_on_unknown=fail_on_unknown)
    if quick and gates:
        raise UserError("--quick is one round, which can't decide a --gate; omit one of them")
    where = place(cluster, hosts)
    if resume is not None:
        given = [
            max(parameter.opts, key=len)
            for parameter in context.command.params
            if parameter.name
            not in (
                "resume",
                "rounds",
                "suite",
                "urls",
                "cluster",
                "hosts",
                "settings",
                "gates",
                "fail_on_unknown",
                "metric",
                "formats",
                "publish",
            )
            and _given(context, str(parameter.name))
        ]
        if given:
            raise UserError(f"--resume continues the run as it was started; omit {', '.join(given)}")
        ready = resumed_run(resume, suite, parse_urls(urls), parse_settings(settings), rounds, where)
        check_gates(ready.run, gates)
    elif suite is None:
        raise UserError("name a suite, like `dbbench suite invoices` (`dbbench suites` lists them)")
    else:
        request = Request(
            suite=suite,
            engines=engines,
            rounds=rounds,
            quick=quick,
            precision=precision,
            time_limit=time_limit,
            scale=scale if _given(context, "scale") or (config and config.options.scale and not quick) else None,
            seed=seed,
            options=parse_settings(settings),
            urls=parse_urls(urls),
            cluster=where,
            out=out,
            trial_seconds=trial_timeout,
            trial_memory=trial_memory,
            memory_limit=memory_limit,
            needed=[name for gate in gates for name in (gate.new, gate.old)],
            config=config or Nothing(),
        )
        console = open_console()
        ready = new_run(
            with_sweeps(request, sweeps), lambda line: console.print(line, style="dim", highlight=False, markup=False)
        )
    return _run(ready, chosen, gates, publish=publish)


@dataclass(frozen=True)
class Looks:
    """Where a report goes, if not to the run's own folder, and how its pictures look."""

    out: Path | None = None
    theme: str = "light"
    width: int | None = None
    #: What engines are sorted by: "time", which is best first, or a key of `report.sorting`.
    sort: str = "time"


def _print_schema(context: click.Context, parameter: click.Parameter, asked: bool) -> None:
    """Print the JSON Schema of results.json and end: it needs no run."""
    if not asked:
        return
    import json

    from dbbench.report.export.results_document import schema

    click.echo(json.dumps(schema(), indent=2))
    context.exit()


def _given(context: click.Context, parameter: str) -> bool:
    """Whether the user gave it, be it the default's value."""
    from click.core import ParameterSource

    return context.get_parameter_source(parameter) is ParameterSource.COMMANDLINE


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
@click.argument("run", type=click.Path(path_type=Path))
@format_option
@click.option("-e", "--engine", "engines", multiple=True, metavar="ENGINE", help="Only these engines. Repeatable.")
@click.option("--step", "steps", multiple=True, metavar="STEP", help="Only these steps. Repeatable.")
@click.option("--label", "labels", multiple=True, metavar="ENGINE=TEXT", help="What to call an engine. Repeatable.")
@click.option("--title", default="", help="A title instead of the suite's.")
@click.option(
    "--sort",
    type=click.Choice(["time", "memory", "cpu", "written", "size"]),
    default="time",
    help="Order engines by time (best first in each step), peak memory, CPU time, bytes written, or size.",
)
@click.option("--theme", type=click.Choice(["light", "dark", "transparent"]), default="light", help="Of the pictures.")
@click.option("--width", type=click.IntRange(200, 4000), help="Of the pictures, in pixels.")
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
@metric_option
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
    theme: str,
    width: int | None,
    out: Path | None,
    gates: tuple[PairGate, ...],
    fail_on_unknown: bool,
    metric: str,
    publish: bool,
) -> int:
    """Show a RUN again and draw its charts anew; no engine needs to be installed.

    With --sort the figures, ranks and ratios stay what they are. What chooses or changes anything (--engine, --step, --label, --title, --theme, --width) needs --out: the run's own
    report stays whole. Ranks and ratios are then among what is chosen. With --out and --metric cpu they are of the CPU
    time of the calls.

    Exit status: 0 all went well in the run; 1 something was unsuccessful or failed its --gate; 2 usage error; 3 the run
    can't show whether a --gate is kept.
    """
    from dbbench.errors import UserError
    from dbbench.results.chosen_run import Choice, ChosenRun
    from dbbench.results.metric import Metric
    from dbbench.results.run_directory import Run

    chosen = _formats(formats, shared=publish or out is not None)
    called = dict(label.partition("=")[::2] for label in labels)
    if not all(called.values()):
        raise UserError('--label is ENGINE=TEXT, as in --label duckdb="DuckDB 2"')
    opened, console = Run.open(run), open_console()
    choice = Choice(engines, steps, called, title, Metric(metric) if out else Metric.WALL)
    part = ChosenRun(opened, choice) if choice != Choice() else None
    if metric != "wall" and not (out or gates):
        raise UserError("--metric needs --out DIR, for a report by it, or a --gate")
    gates = chosen_gates(gates, metric, fail_on_unknown=fail_on_unknown)
    if out is None and (part or theme != "light" or width):
        raise UserError("choosing engines, steps, labels, a title, a theme or a width needs --out DIR")
    check_gates(opened, gates)
    shown = _report(
        part or opened, console, chosen, publish=publish, looks=Looks(out, theme, width, sort), whole=opened
    )
    return _status(opened, console, shown, gates, publish=publish)


def _formats(text: str | None, *, shared: bool) -> tuple[str, ...]:
    """The formats that the user named, or the usual ones, for others to see or not. Raises UserError for one that there isn't."""
    from dbbench.report.export.registry import SHARED, USUAL, check_formats

    chosen = (SHARED if shared else USUAL) if text is None else tuple(part.strip() for part in text.split(","))
    check_formats(chosen)
    return chosen


def _status(run: Run, console: Console, shown: View, gates: tuple[PairGate, ...], *, publish: bool) -> int:
    """Show what the gates say; the exit status of a run with them."""
    status = show_gates(run, console, gates, publish=publish)
    return 1 if shown.unsuccessful else status


def _run(ready: Ready, formats: tuple[str, ...], gates: tuple[PairGate, ...] = (), *, publish: bool) -> int:
    """Run the trials, then report, also after an interruption."""
    from dbbench.analysis.systems import ranked
    from dbbench.report.terminal.engines import absent_lines
    from dbbench.report.terminal.progress import watched
    from dbbench.report.terminal.run import print_wrapped
    from dbbench.run.plan import too_few_rounds
    from dbbench.scripting import carry_out

    console = open_console()
    for line in absent_lines(ready.absent, ready.idle, columns=columns()):
        console.print(line, style="dim", highlight=False, markup=False)
    run = ready.run
    engines = sum(ranked(run.manifest, name) for name in run.manifest.usable)
    print_wrapped(console, too_few_rounds(engines, run.manifest.rounds), "dim")
    if run.manifest.quick:
        rounds = "one round" if run.manifest.rounds == 1 else f"{run.manifest.rounds} rounds"
        text = f"--quick: {rounds} at {run.suite.quick} (--scale 1 for all of the work)"
        console.print(text, style="dim", highlight=False, markup=False)
    try:
        with watched(console, run, publish=publish) as report:
            carry_out(ready, report)
    except KeyboardInterrupt:
        if run.results():
            _report(run, console, formats, publish=publish)
        again = f"dbbench suite --resume {run.path}{' --publish' if publish else ''}"
        console.print(f"\ninterrupted; go on with: {again}", highlight=False, markup=False)
        return INTERRUPTED
    shown = _report(run, console, formats, publish=publish)
    return _status(run, console, shown, gates, publish=publish)


def _report(
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

    shown = view(run, publish=publish, out=looks.out)
    if looks.sort != "time":
        shown = sorted_by(shown, looks.sort, view(whole or run, publish=publish))
    try:
        written = write_report(shown, formats, theme=looks.theme, width=looks.width)
    except UserError:  # a run directory that can't be written to is shown all the same
        terminal.show(shown, console)
        raise
    terminal.show(shown, console)
    for path in written:
        console.print(f"wrote {path}", highlight=False, markup=False, soft_wrap=True)
    return shown
