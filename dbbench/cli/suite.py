"""`suite` makes a run and reports it."""

from __future__ import annotations

import shlex
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dbbench.cli.common import (
    INTERRUPTED,
    clients_option,
    columns,
    command,
    engine_names,
    examples,
    format_option,
    gate_metric_option,
    memory,
    open_console,
    outside_option,
    patience,
    publish_option,
    run_path,
    scale_option,
    seconds,
    seed_option,
    share,
    suite_names,
)
from dbbench.cli.gates import PairGate, check_gates, chosen_gates, gate_option, unknown_option
from dbbench.cli.report import chosen_formats, show_report, status
from dbbench.host.metric import Metric

if TYPE_CHECKING:
    from dbbench.results.run_directory import Run
    from dbbench.runs.config import Config
    from dbbench.runs.plan import Ready

#: What --resume takes beside itself: all else was settled when the run began.
WITH_RESUME = (
    "resume", "rounds", "suite", "urls", "cluster", "hosts", "max_clients", "settings", "gates", "fail_on_unknown",
    "metric", "formats", "publish",
)  # fmt: skip


def _configured(context: click.Context, _parameter: click.Parameter, path: Path | None) -> Config | None:
    """Read the file before the other options: its gates are the default of --gate."""
    if path is None:
        return None
    from dbbench.cli.common import shown
    from dbbench.errors import UserError
    from dbbench.runs.config import read

    try:
        config = read(path)
    except UserError as exc:
        click.echo(f"dbbench: {shown(exc)}", err=True)
        context.exit(2)
    context.default_map = {"gates": config.gate_texts}
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
        "dbbench suite invoices -e sqlite -e sqlite@small --set sqlite@small.cache_mib=4 --control",
        "dbbench suite invoices --from duckdb@head=. --from duckdb@base=git+file://$PWD@main --gate duckdb@head/duckdb@base:10%",
        "dbbench suite invoices --url postgresql=postgresql://me@db.example/bench",
        "dbbench suite invoices --url cockroach=env:COCKROACH_URL",
        "dbbench suite mixes --url postgresql=env:PG_URL --cluster local:2",
        "dbbench suite mixes --url postgresql=env:PG_URL --cluster tls://head:8786 --hosts 4",
        "dbbench suite invoices --cluster tls://head:8786 --hosts 4 --fleet --rounds 8",
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
    help="Take variants and gates from a TOML file; command-line options and the suite take precedence.",
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
    help="Rounds, in each of which every engine runs once; with --resume the total number. "
    "[default: 8; more for over 22 engines, or if the suite asks for more; up to 50 with --precision or --time-limit]",
)
@click.option(
    "--precision",
    type=share,
    metavar="SHARE",
    help="Go on, up to 50 rounds, until every interval is within this share of its median, like 5%.",
)
@click.option(
    "--time-limit", type=seconds, metavar="TIME", help="Start no round that would end after this time, like 10m."
)
@scale_option
@seed_option
@click.option(
    "--quick",
    is_flag=True,
    help="A first look: one round, of less work where the suite says so (unless --scale is given). No intervals, no ranks but of sizes.",
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
    "--control",
    is_flag=True,
    help="Run one engine twice, to see how far the machine tells it apart from itself: OLD of the --gate, or else the first "
    "--engine. If it does, the gate is undecided.",
)
@click.option(
    "--from",
    "built",
    multiple=True,
    metavar="ENGINE@LABEL=WHAT",
    help="Run a variant of a build of yours: a wheel, an sdist, a source folder, git+file://FOLDER@COMMIT, or the program, "
    "library or folder that the engine runs. Built once, and kept in the cache.",
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
    help="Run the clients of each step on several hosts: local:N for N of them here, or the address of a Dask scheduler, "
    "like tls://head:8786. Each host has as many clients as the suite says. Needs --url.",
)
@click.option(
    "--fleet",
    is_flag=True,
    help="Let the hosts of --cluster run whole rounds, several at the same time: for engines without a server elsewhere.",
)
@click.option("--hosts", type=click.IntRange(1, 1000), help="How many hosts of --cluster to use.")
@click.option(
    "--out", type=click.Path(path_type=Path), help="The run directory to make. [default: dbbench-runs/SUITE-TIME]"
)
@click.option(
    "--resume", type=run_path, metavar="RUN", help="Continue an interrupted run, or with --rounds add rounds to it."
)
@click.option(
    "--trial-timeout",
    type=patience,
    metavar="SECONDS",
    help="End a trial that takes longer. [default: 600, times a --scale above 1, or what the suite has for --quick]",
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
    help="Limit each trial (engine and harness) to this much memory without swap, like 2GiB (Linux). "
    "Cached pages of files count, too.",
)
@clients_option
@outside_option
@gate_option
@unknown_option
@gate_metric_option
@format_option
@publish_option
@click.pass_context
@command
def suite(
    context: click.Context,
    suite: str | None,
    config: Config | None,
    settings: tuple[str, ...],
    sweeps: tuple[str, ...],
    built: tuple[str, ...],
    urls: tuple[str, ...],
    cluster: str | None,
    hosts: int | None,
    resume: Path | None,
    control: bool,
    gates: tuple[PairGate, ...],
    fail_on_unknown: bool,
    metric: Metric | None,
    formats: str | None,
    publish: bool,
    **asked: Any,
) -> int:
    """Run SUITE (a built-in name or a YAML file) and report best to worst.

    Exit status: 0 all went well, though an engine that you didn't name may be unsupported; 1 something was unsuccessful
    or failed its --gate, and the report stands; 2 usage error; 3 the run can't show whether a --gate is kept; 130
    interrupted, with all finished trials kept.
    """
    # The other options have the names that they have in Request.
    from dbbench.cluster.place import place
    from dbbench.engine.urls import parse as parse_urls
    from dbbench.errors import UserError
    from dbbench.report.terminal.listing import rights
    from dbbench.runs.begin import new_run
    from dbbench.runs.config import Config as Nothing
    from dbbench.runs.request import Request, parse_settings, with_builds, with_control, with_sweeps
    from dbbench.runs.resume import resumed_run
    from dbbench.suite.loader import builtin_suites

    quick = asked["quick"]
    if quick and not _given(context, "gates"):  # those of the file are not meant for a first look
        gates = ()
    if not _given(context, "scale"):
        asked["scale"] = None
    chosen = chosen_formats(formats, shared=publish)
    if metric not in (None, Metric.WALL) and not gates:
        raise UserError("--metric chooses what a --gate compares; add one, like --gate duckdb@1.4/duckdb@1.3:10%")
    gates = chosen_gates(gates, metric, fail_on_unknown=fail_on_unknown)
    if quick and gates:
        raise UserError("--quick is one round, which can't decide a --gate; omit one of them")
    where = place(cluster, hosts)
    if resume is not None:
        given = [
            max(parameter.opts, key=len)
            for parameter in context.command.params
            if parameter.name not in WITH_RESUME and _given(context, str(parameter.name))
        ]
        if given:
            raise UserError(f"--resume continues the run as it was started; omit {', '.join(given)}")
        ready = resumed_run(
            resume, suite, parse_urls(urls), parse_settings(settings), asked["rounds"], where, asked["max_clients"]
        )
        check_gates(ready.run, gates)
    elif suite is None:
        raise UserError("name a suite, like `dbbench suite invoices` (`dbbench suites` lists them)")
    else:
        request = Request(
            suite=suite,
            options=parse_settings(settings),
            urls=parse_urls(urls),
            cluster=where,
            needed=[name for gate in gates for name in (gate.new, gate.old)],
            needed_steps=[gate.step for gate in gates if gate.step],
            config=config or Nothing(),
            **asked,
        )
        request = with_builds(with_sweeps(request, sweeps), built)
        if control:
            request = with_control(request, gates[0].old if gates else "")
        console = open_console()
        ready = new_run(request, lambda line: console.print(line, style="dim", highlight=False, markup=False))
    if suite not in builtin_suites() and (said := rights(ready.run.suite)):
        line = textwrap.fill(f"{ready.run.suite.name}: {said}", 80, subsequent_indent="  ")
        open_console().print(line, style="dim", highlight=False, markup=False)
    return _run(ready, chosen, gates, publish=publish)


def _given(context: click.Context, parameter: str) -> bool:
    """Whether the user gave it, be it the default's value."""
    from click.core import ParameterSource

    return context.get_parameter_source(parameter) is ParameterSource.COMMANDLINE


def _run(ready: Ready, formats: tuple[str, ...], gates: tuple[PairGate, ...] = (), *, publish: bool) -> int:
    """Run the trials, then report, also after an interruption."""
    from dbbench.cli.common import shown as cleaned
    from dbbench.errors import UserError
    from dbbench.report.terminal.engines import absent_lines
    from dbbench.report.terminal.progress import watched
    from dbbench.report.terminal.run import print_wrapped
    from dbbench.report.warnings import too_few_rounds
    from dbbench.scripting import carry_out

    console = open_console()
    for line in absent_lines(ready.absent, ready.idle, columns=columns()):
        console.print(line, style="dim", highlight=False, markup=False)
    run = ready.run
    engines = sum(run.manifest.ranked(name) for name in run.manifest.usable)
    print_wrapped(console, too_few_rounds(engines, run.manifest.rounds), "dim")
    if run.manifest.quick and (quick := run.suite.quick):
        rounds = "one round" if run.manifest.rounds == 1 else f"{run.manifest.rounds} rounds"
        clients = ", all clients in one process" if quick.one_process else ""
        most = f"at most {run.manifest.limits['seconds']:g} s for a trial"
        text = f"--quick: {rounds} at scale {run.manifest.scale:g}{clients}, {most} (--scale 1 for all of the work)"
        console.print(text, style="dim", highlight=False, markup=False)
    try:
        with watched(console, run, publish=publish) as report:
            carry_out(ready, report)
    except KeyboardInterrupt:
        try:
            if run.results():
                show_report(run, console, formats, publish=publish)
        except UserError as exc:  # such as a full disk
            click.echo(f"dbbench: {cleaned(exc)}", err=True)
        finally:
            again = f"{_resumed(run)}{' --publish' if publish else ''}"
            console.print(f"\ninterrupted; continue with: {again}", highlight=False, markup=False)
        return INTERRUPTED
    try:
        shown = show_report(run, console, formats, publish=publish)
    except BaseException:  # Ctrl-C, too
        again = f"dbbench report {shlex.quote(str(run.path))}{' --publish' if publish else ''}"
        console.print(f"\nthe trials are kept; report them with: {again}", highlight=False, markup=False)
        raise
    console.print(f"next: {_next(run, engines)}", highlight=False, markup=False, soft_wrap=True)
    return status(run, console, shown, gates, publish=publish, keep=True)


def _next(run: Run, engines: int) -> str:
    """What most users do after a run like this."""
    from dbbench.analysis.ranking import fewest_rounds

    if run.manifest.quick:
        return "the same command without --quick, for all of the work and ranks"
    if engines > 1 and run.manifest.rounds < fewest_rounds(engines):
        return f"{_resumed(run)} --rounds {fewest_rounds(engines)}, for ranks"
    return f"dbbench report {shlex.quote(str(run.path))} --publish, for a report that may be published"


def _resumed(run: Run) -> str:
    """The command that continues a run; its URLs have *** for their secrets."""
    from dbbench.runs.over_hosts import named

    engines = run.manifest.engines.items()
    urls = [f"{name}={known['url']}" for name, known in engines if "url" in known]
    options = [f"--url {shlex.quote(url)}" for url in urls]
    return " ".join(filter(None, ["dbbench suite --resume", shlex.quote(str(run.path)), *options, named(run.manifest)]))
