"""`suite` makes a run and reports it, `report` reports it anew."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dbbench.cli.common import (
    INTERRUPTED,
    columns,
    command,
    engine_names,
    examples,
    memory,
    open_console,
    publish_option,
    scale_option,
    seconds,
    seed_option,
    share,
    suite_names,
)

if TYPE_CHECKING:
    from rich.console import Console

    from dbbench.report.view import View
    from dbbench.request import Ready
    from dbbench.store import Run


@click.command(
    epilog=examples(
        "dbbench suite invoices",
        "dbbench suite invoices --engine sqlite --engine duckdb --out r1",
        "dbbench suite invoices --quick --scale 0.1",
        "dbbench suite my-suite.yaml --set sqlite.cache_mib=256",
        "dbbench suite invoices --url postgresql=postgresql://me@db.example/bench",
        "dbbench suite invoices --url cockroach=env:COCKROACH_URL",
        "dbbench suite --resume r1",
    ),
    short_help="Run a suite and report best to worst.",
)
@click.argument("suite", required=False, shell_complete=suite_names)
@click.option(
    "--engine",
    "-e",
    "engines",
    multiple=True,
    metavar="NAME",
    shell_complete=engine_names,
    help="Run this engine; may be given again. [default: all that are installed and have work in the suite]",
)
@click.option(
    "--rounds",
    type=click.IntRange(1, 1000),
    help="Passes over all engines. [default: 5, or as many as it takes to tell the engines apart]",
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
    help="Set an engine's option; `dbbench engines -v` lists them.",
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
    "--out", type=click.Path(path_type=Path), help="The run directory to make. [default: dbbench-runs/SUITE-TIME]"
)
@click.option(
    "--resume", type=click.Path(path_type=Path), metavar="RUN", help="Do what is left of a run that was interrupted."
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
@publish_option
@click.pass_context
@command
def suite(
    context: click.Context,
    suite: str | None,
    engines: tuple[str, ...],
    rounds: int | None,
    scale: float,
    seed: int | None,
    quick: bool,
    precision: float | None,
    time_limit: float | None,
    settings: tuple[str, ...],
    urls: tuple[str, ...],
    out: Path | None,
    resume: Path | None,
    trial_timeout: float | None,
    trial_memory: int | None,
    publish: bool,
) -> int:
    """Run SUITE (a built-in name or a YAML file) and report best to worst.

    Exit status: 0 all went well; 1 something was unsuccessful, and the report stands; 2 wrong use;
    130 interrupted, with all finished trials kept.
    """
    from dbbench.errors import UserError
    from dbbench.request import Request, new_run, parse_settings, resumed_run
    from dbbench.urls import parse as parse_urls

    if quick and (rounds not in (None, 1) or precision or time_limit):
        raise UserError("--quick is one round; leave it away to use --rounds, --precision or --time-limit")
    if resume is not None:
        given = [
            max(parameter.opts, key=len)
            for parameter in context.command.params
            if parameter.name not in ("resume", "suite", "urls", "settings", "publish")
            and _given(context, str(parameter.name))
        ]
        if given:
            raise UserError(f"--resume goes on as the run was started; leave {', '.join(given)} away")
        ready = resumed_run(resume, suite, parse_urls(urls), parse_settings(settings))
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
            scale=scale if _given(context, "scale") else None,
            seed=seed,
            options=parse_settings(settings),
            urls=parse_urls(urls),
            out=out,
            trial_seconds=trial_timeout,
            trial_memory=trial_memory,
        )
        ready = new_run(request)
    return _run(ready, publish=publish)


def _given(context: click.Context, parameter: str) -> bool:
    """Whether the user gave it, be it the default's value."""
    from click.core import ParameterSource

    return context.get_parameter_source(parameter) is ParameterSource.COMMANDLINE


@click.command(
    epilog=examples("dbbench report r1", "dbbench report r1 --format png,csv", "dbbench report r1 --publish"),
    short_help="Show a run again and draw its charts anew.",
)
@click.argument("run", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "formats",
    metavar="FORMATS",
    default="png,svg,html,md,csv",
    show_default=True,
    help="What to write, with commas between.",
)
@publish_option
@command
def report(run: Path, formats: str, publish: bool) -> int:
    """Show a RUN again and draw its charts anew; no engine needs to be installed.

    Exit status: 0 all went well in the run; 1 something was unsuccessful; 2 wrong use.
    """
    from dbbench.errors import UserError
    from dbbench.report.write import FORMATS
    from dbbench.store import Run

    chosen = tuple(part.strip() for part in formats.split(","))
    unknown = [part for part in chosen if part not in FORMATS]
    if unknown:
        raise UserError(f"there is no format {unknown[0]!r}; there are {', '.join(FORMATS)}")
    return 1 if _report(Run.open(run), open_console(), chosen, publish=publish).unsuccessful else 0


def _run(ready: Ready, *, publish: bool) -> int:
    """Run the trials, then report, also after an interruption."""
    import datetime
    from functools import partial

    from dbbench.analysis.budget import Budget
    from dbbench.analysis.summary import ranked
    from dbbench.plan import too_few_rounds
    from dbbench.report.console import print_wrapped
    from dbbench.report.listing import absent_lines
    from dbbench.report.progress import watched
    from dbbench.runner import run_trials

    console = open_console()
    for line in absent_lines(ready.absent, ready.idle, columns=columns()):
        console.print(line, style="dim", highlight=False, markup=False)
    run = ready.run
    engines = sum(ranked(run.manifest, name) for name in run.manifest.usable)
    print_wrapped(console, too_few_rounds(engines, run.manifest.rounds), "dim")
    if run.manifest.quick:
        text = f"--quick: one round at {run.suite.quick} (--scale 1 for all of the work)"
        console.print(text, style="dim", highlight=False, markup=False)
    budget = Budget(run.manifest.precision, run.manifest.time_limit)
    enough = partial(budget.reached, run.suite, run.manifest)
    try:
        with watched(console, run, publish=publish) as report:
            stopped = run_trials(run, ready.trials, ready.datasets, report, enough, ready.urls)
    except KeyboardInterrupt:
        if run.results():
            _report(run, console, publish=publish)
        again = f"dbbench suite --resume {run.path}{' --publish' if publish else ''}"
        console.print(f"\ninterrupted; go on with: {again}", highlight=False, markup=False)
        return INTERRUPTED
    update: dict[str, Any] = {"finished": datetime.datetime.now(datetime.UTC)}
    if stopped:
        update |= {"stopped": stopped, "rounds": max(result.round for result in run.results())}
    run.manifest = run.manifest.model_copy(update=update)
    run.save()
    shown = _report(run, console, publish=publish)
    return 1 if shown.unsuccessful else 0


def _report(run: Run, console: Console, formats: tuple[str, ...] | None = None, *, publish: bool) -> View:
    """Write the files, then show the result: a terminal may not take it, and what is written stays."""
    from dbbench.errors import UserError
    from dbbench.report import console as terminal
    from dbbench.report.view import view
    from dbbench.report.write import FORMATS, write_report

    shown = view(run, publish=publish)
    try:
        written = write_report(shown, formats or FORMATS)
    except UserError:  # a run directory that can't be written to is shown all the same
        terminal.show(shown, console)
        raise
    terminal.show(shown, console)
    for path in written:
        console.print(f"wrote {path}", highlight=False, markup=False, soft_wrap=True)
    return shown
