"""The command line. Thin: checks nothing itself, and is the only module that prints and exits."""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import dbbench

if TYPE_CHECKING:  # at run time each command imports what it needs: --help stays quick
    from rich.console import Console

    from dbbench.report.view import View
    from dbbench.request import Ready
    from dbbench.store import Run

INTERRUPTED = 130


def _examples(*lines: str) -> str:
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


class _Plain(click.Group):
    """Commands in the order they are written, not by the alphabet."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(self.commands)


@click.group(
    cls=_Plain,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=_examples("dbbench suite invoices", "dbbench suite invoices --quick --engine sqlite", "dbbench engines"),
)
@click.version_option(dbbench.__version__, prog_name="dbbench")
def main() -> None:
    """Benchmark databases through plugins: verified answers, intervals, best-to-worst charts.

    Start with `dbbench suite invoices`: it runs on every engine that is installed.
    """
    # Let a SIGTERM be as kind as Ctrl-C: what is finished stays, what runs is cleared up.
    signal.signal(signal.SIGTERM, signal.default_int_handler)


def _command(function: Callable[..., int | None]) -> Callable[..., None]:
    """A user's mistake is one line and exit status 2; an interruption is 130."""

    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> None:
        from dbbench.errors import SuiteError, UserError

        try:
            status = function(*args, **kwargs)
        except SuiteError as exc:
            click.echo(str(exc), err=True)
            click.echo(f"{len(exc.faults)} fault{'s' if len(exc.faults) > 1 else ''}", err=True)
            sys.exit(2)
        except UserError as exc:
            click.echo(f"dbbench: {exc}", err=True)
            sys.exit(2)
        except KeyboardInterrupt:
            click.echo("interrupted", err=True)
            sys.exit(INTERRUPTED)
        sys.exit(status or 0)

    return wrapped


def _engine_names(context: click.Context, parameter: click.Parameter, typed: str) -> list[str]:
    from dbbench import registry

    return [name for name in registry.names() if name.startswith(typed)]


def _suite_names(context: click.Context, parameter: click.Parameter, typed: str) -> list[Any]:
    from click.shell_completion import CompletionItem

    from dbbench.loader import builtin_suites

    names = [CompletionItem(name) for name in builtin_suites() if name.startswith(typed)]
    return names or [CompletionItem(typed, type="file")]


def _scale(text: Any) -> float:
    try:
        scale = float(text)
    except ValueError as exc:
        raise click.BadParameter(f"{text!r} is not a number") from exc
    if not 0 < scale <= 10_000:
        raise click.BadParameter(f"{text} is not above 0 (and at most 10,000): 1 is the original's size, 0.1 a tenth")
    return scale


def _share(text: Any) -> float:
    try:
        share = float(str(text).removesuffix("%")) / (100 if str(text).endswith("%") else 1)
    except ValueError as exc:
        raise click.BadParameter(f"{text!r} is not a share like 5% or 0.05") from exc
    if not 0 < share < 1:
        raise click.BadParameter(f"{text} is not above 0 % and below 100 %")
    return share


def _seconds(text: Any) -> float:
    units = {"s": 1, "m": 60, "h": 3600}
    number, unit = (str(text)[:-1], str(text)[-1:]) if str(text)[-1:] in units else (str(text), "s")
    if number.replace(".", "", 1).isdigit() and float(number) > 0:
        return float(number) * units[unit]
    raise click.BadParameter(f"{text!r} is not a time like 90s, 10m or 1h")


def _memory(text: Any) -> int:
    units = {"MiB": 2**20, "GiB": 2**30, "MB": 10**6, "GB": 10**9}
    for unit, size in units.items():
        number = str(text).removesuffix(unit)
        if number != str(text) and number.replace(".", "", 1).isdigit() and float(number) > 0:
            return int(float(number) * size)
    raise click.BadParameter(f"{text!r} is not a size like 500MiB or 4GiB")


scale_option = click.option(
    "--scale",
    type=_scale,
    metavar="NUMBER",
    default=1.0,
    show_default=True,
    help="Rows, as a multiple of the original's.",
)
seed_option = click.option(
    "--seed",
    type=click.IntRange(0, 2**63 - 1),
    help="Seed of the data and of the order of trials. [default: the suite's]",
)
publish_option = click.option(
    "--publish",
    is_flag=True,
    help="Withhold the figures of engines whose licences forbid to publish them; write to RUN/publish alone.",
)


@main.command(
    epilog=_examples(
        "dbbench suite invoices",
        "dbbench suite invoices --engine sqlite --engine duckdb --out r1",
        "dbbench suite invoices --quick --scale 0.1",
        "dbbench suite my-suite.yaml --set sqlite.cache_mib=256",
        "dbbench suite invoices --url postgresql=postgresql://me@db.example/bench",
        "dbbench suite invoices --url cockroach=env:COCKROACH_URL",
        "dbbench suite --resume r1",
    )
)
@click.argument("suite", required=False, shell_complete=_suite_names)
@click.option(
    "--engine",
    "-e",
    "engines",
    multiple=True,
    metavar="NAME",
    shell_complete=_engine_names,
    help="Run this engine; may be given again. [default: all that are installed]",
)
@click.option(
    "--rounds",
    type=click.IntRange(1, 1000),
    help="Passes over all engines. [default: 5, or as many as it takes to tell the engines apart]",
)
@click.option("--precision", type=_share, metavar="SHARE", help="Go on until every interval is within, like 5%.")
@click.option("--time-limit", type=_seconds, metavar="TIME", help="Start no round that would not fit, like 10m.")
@scale_option
@seed_option
@click.option("--quick", is_flag=True, help="One round: to try things out. No intervals and no ranks.")
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
    default=600,
    show_default=True,
    metavar="SECONDS",
    help="End a trial that takes longer.",
)
@click.option(
    "--trial-memory",
    type=_memory,
    metavar="SIZE",
    help="End a trial that needs more, like 4GiB. [default: 3/4 of the machine's]",
)
@publish_option
@click.pass_context
@_command
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
    trial_timeout: float,
    trial_memory: int | None,
    publish: bool,
) -> int:
    """Run SUITE (a built-in name or a YAML file) and report best to worst.

    Exit status: 0 all went well; 1 something was unsuccessful, and the report stands; 2 wrong use;
    130 interrupted, with all finished trials kept.
    """
    from click.core import ParameterSource

    from dbbench.errors import UserError
    from dbbench.request import Request, new_run, parse_settings, resumed_run
    from dbbench.urls import parse as parse_urls

    if quick and (rounds not in (None, 1) or precision or time_limit):
        raise UserError("--quick is one round; leave it away to use --rounds, --precision or --time-limit")
    if resume is not None:
        given = [
            max(parameter.opts, key=len)
            for parameter in context.command.params
            if parameter.name not in ("resume", "suite", "urls", "publish")
            and context.get_parameter_source(str(parameter.name)) is ParameterSource.COMMANDLINE
        ]
        if given:
            raise UserError(f"--resume goes on as the run was started; leave {', '.join(given)} away")
        ready = resumed_run(resume, suite, parse_urls(urls))
    elif suite is None:
        raise UserError("name a suite, like `dbbench suite invoices` (`dbbench suites` lists them)")
    else:
        request = Request(
            suite=suite,
            engines=engines,
            rounds=1 if quick else rounds,
            precision=precision,
            time_limit=time_limit,
            scale=scale,
            seed=seed,
            options=parse_settings(settings),
            urls=parse_urls(urls),
            out=out,
            trial_seconds=trial_timeout,
            trial_memory=trial_memory,
        )
        ready = new_run(request)
    return _run(ready, publish=publish)


def _run(ready: Ready, *, publish: bool) -> int:
    """Run the trials, then report, also after an interruption."""
    import datetime
    from functools import partial

    from dbbench.analysis.budget import Budget
    from dbbench.report.listing import absent_lines
    from dbbench.report.progress import watched
    from dbbench.runner import run_trials

    console = _console()
    for line in absent_lines(ready.absent, ready.idle):
        console.print(line, style="dim", highlight=False, markup=False)
    run = ready.run
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
    """Show the result at once, then write the files."""
    from dbbench.report import console as terminal
    from dbbench.report.view import view
    from dbbench.report.write import FORMATS, write_report

    shown = view(run, publish=publish)
    terminal.show(shown, console)
    for path in write_report(shown, formats or FORMATS):
        console.print(f"wrote {path}", highlight=False, markup=False, soft_wrap=True)
    return shown


@main.command(epilog=_examples("dbbench suites"))
@_command
def suites() -> None:
    """List the built-in suites."""
    from dbbench.loader import builtin_suites, find_suite, load_suite

    for name in builtin_suites():
        click.echo(f"{name:<16} {' '.join(load_suite(find_suite(name)).description.split())}")


@main.command(epilog=_examples("dbbench engines", "dbbench engines -v sqlite duckdb", "dbbench engines --markdown"))
@click.argument("names", nargs=-1, shell_complete=_engine_names)
@click.option("--verbose", "-v", is_flag=True, help="Show options, durability tiers and URLs too.")
@click.option("--markdown", is_flag=True, help="Print what is supported as Markdown, the same on every machine.")
@_command
def engines(names: tuple[str, ...], verbose: bool, markdown: bool) -> None:
    """List the engines: status, versions, licence, whether results may be published, how to install."""
    from dbbench import registry
    from dbbench.probe import probe
    from dbbench.report.listing import engine_lines, engine_matrix

    registry.check_names(list(names))
    found = probe(sorted(names) or registry.names())
    if markdown:
        known = {name: engine for name, engine in found.items() if engine.license and engine.ranked}
        lines = engine_matrix(known, registry.installers(known))
    else:
        lines = engine_lines(found, verbose=verbose, columns=_columns())
    for line in lines:
        click.echo(line)


@main.command(epilog=_examples("dbbench describe invoices"))
@click.argument("suite", shell_complete=_suite_names)
@_command
def describe(suite: str) -> None:
    """Say what SUITE does: data, steps, SQL."""
    from dbbench.loader import find_suite, load_suite
    from dbbench.report.listing import suite_lines

    for line in suite_lines(load_suite(find_suite(suite)), columns=_columns()):
        click.echo(line)


@main.command(epilog=_examples("dbbench check my-suite.yaml", "dbbench check --schema > suite.schema.json"))
@click.argument("files", nargs=-1, type=click.Path(path_type=Path))
@click.option("--schema", is_flag=True, help="Print the JSON Schema of suite files, for editors.")
@_command
def check(files: tuple[Path, ...], schema: bool) -> int:
    """Check suite FILES; every fault is told with its line and column."""
    import json

    from dbbench.errors import SuiteError, UserError
    from dbbench.loader import find_suite, load_suite

    if schema:
        from dbbench.suite import Suite

        click.echo(json.dumps(Suite.model_json_schema(), indent=2))
        return 0
    if not files:
        raise UserError("name the files to check, like `dbbench check my-suite.yaml`")
    status = 0
    for file in files:
        try:
            load_suite(find_suite(str(file)))
            click.echo(f"{file}: ok")
        except SuiteError as exc:
            click.echo(str(exc), err=True)
            status = 2
        except UserError as exc:
            click.echo(f"dbbench: {exc}", err=True)
            status = 2
    return status


@main.command(epilog=_examples("dbbench dataset invoices --scale 0.1 --seed 7 --format csv --out data"))
@click.argument("suite", shell_complete=_suite_names)
@scale_option
@seed_option
@click.option("--format", "form", type=click.Choice(["csv", "parquet"]), default="csv", show_default=True)
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The folder to write to.")
@_command
def dataset(suite: str, scale: float, seed: int | None, form: str, out: Path) -> None:
    """Write SUITE's data out, so that any answer can be checked by other means."""
    from dbbench.datasets.export import export
    from dbbench.loader import find_suite, load_suite

    loaded = load_suite(find_suite(suite))
    for name, data in loaded.datasets.items():
        folder = out / name if len(loaded.datasets) > 1 else out
        for path, rows in export(data, folder, form, scale=scale, seed=seed):
            click.echo(f"{path}: {rows:,} rows")


@main.command(
    epilog=_examples("dbbench report r1", "dbbench report r1 --format png,csv", "dbbench report r1 --publish")
)
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--format", "formats", default="png,svg,html,md,csv", show_default=True, help="What to write.")
@publish_option
@_command
def report(run: Path, formats: str, publish: bool) -> int:
    """Show a RUN again and draw its charts anew; no engine needs to be installed."""
    from dbbench.errors import UserError
    from dbbench.report.write import FORMATS
    from dbbench.store import Run

    chosen = tuple(part.strip() for part in formats.split(","))
    unknown = [part for part in chosen if part not in FORMATS]
    if unknown:
        raise UserError(f"there is no format {unknown[0]!r}; there are {', '.join(FORMATS)}")
    return 1 if _report(Run.open(run), _console(), chosen, publish=publish).unsuccessful else 0


@main.command(
    epilog=_examples(
        "dbbench compare before after",
        "dbbench compare before after --fail-above 5%",
        "dbbench compare before after --markdown > comment.md",
    )
)
@click.argument("old", type=click.Path(path_type=Path))
@click.argument("new", type=click.Path(path_type=Path))
@click.option(
    "--fail-above",
    type=_share,
    metavar="SHARE",
    help="Exit with 1 if anything broke, or is proven to be slower or larger by more than this, like 5%.",
)
@click.option("--across-machines", is_flag=True, help="Compare runs of different machines too; the result says so.")
@click.option("--markdown", is_flag=True, help="Print Markdown, for a pull request's comment.")
@click.option("--publish", is_flag=True, help="Leave out the engines whose licences forbid to publish their figures.")
@_command
def compare(
    old: Path, new: Path, fail_above: float | None, across_machines: bool, markdown: bool, publish: bool
) -> int:
    """Compare the runs OLD and NEW: what is slower, faster, the same, or can't be told.

    Exit status: 0 compared; 1 held up by --fail-above; 2 the runs are not alike or can't be read.
    """
    from dbbench.analysis.compare import beyond
    from dbbench.analysis.compare import compare as compared
    from dbbench.analysis.likeness import Side
    from dbbench.report import comparison
    from dbbench.store import Run

    sides = [Side.read(Run.open(path)) for path in (old, new)]
    found = compared(*sides, gate=fail_above, across_machines=across_machines, publish=publish)
    if markdown:
        for line in comparison.markdown(found, gate=fail_above):
            click.echo(line)
    else:
        comparison.show(found, _console(), gate=fail_above)
    return 1 if fail_above is not None and beyond(found.pairs, fail_above) else 0


@main.command(
    epilog=_examples(
        "dbbench durability sqlite",
        "dbbench durability duckdb firebird --tier power --kills 50",
        "dbbench durability --all --markdown",
    )
)
@click.argument("engines", nargs=-1, metavar="[ENGINE]...", shell_complete=_engine_names)
@click.option("--all", "everything", is_flag=True, help="Every engine that is installed.")
@click.option("--tier", "tiers", multiple=True, metavar="TIER", help="memory, process or power; may be given again.")
@click.option(
    "--kills", type=click.IntRange(1, 10_000), default=20, show_default=True, help="How often a writer is killed."
)
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), help="Seed of the moments to kill. [default: a new one]")
@click.option(
    "--set", "settings", multiple=True, metavar="ENGINE.OPTION=VALUE", help="Set an engine's option, as for `suite`."
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=60,
    show_default=True,
    metavar="SECONDS",
    help="How long an engine may take to open and make a commit.",
)
@click.option("--json", "out", type=click.Path(path_type=Path, dir_okay=False), help="Write all that was found there.")
@click.option("--markdown", is_flag=True, help="Print the table as Markdown.")
@_command
def durability(
    engines: tuple[str, ...],
    everything: bool,
    tiers: tuple[str, ...],
    kills: int,
    seed: int | None,
    settings: tuple[str, ...],
    timeout: float,
    out: Path | None,
    markdown: bool,
) -> int:
    """Prove the durability tiers of ENGINEs: kill -9 amid commits, and sync calls counted.

    The databases are made in the current directory, on whose disk it all depends, and removed. Exit
    status: 0 nothing refuted; 1 something was refuted or could not be tried; 2 wrong use.
    """
    from dataclasses import asdict

    from dbbench import jsonfile
    from dbbench.durability.proofs import Request, prove_all
    from dbbench.errors import UserError
    from dbbench.report import durability as shown
    from dbbench.request import parse_settings

    if everything == bool(engines):
        raise UserError("name engines, like `dbbench durability sqlite`, or give --all for every one that is installed")
    if out is not None and not os.access(out.absolute().parent, os.W_OK):  # told now, not after some minutes
        raise UserError(f"{out} can't be written: {out.absolute().parent} is not a folder to write in")
    request = Request(engines, tiers, kills, seed, parse_settings(settings), timeout)
    with _status() as report:
        proofs = prove_all(request, report)
    for line in shown.markdown(proofs) if markdown else shown.lines(proofs, columns=_columns()):
        click.echo(line)
    if out is not None:
        try:
            jsonfile.write(out, asdict(proofs))
        except OSError as exc:
            raise UserError(f"{out} can't be written: {exc.strerror}") from exc
    return 1 if proofs.bad else 0


@contextlib.contextmanager
def _status() -> Iterator[Callable[[str], None]]:
    """A line on the terminal that says what goes on; elsewhere nothing."""
    from rich.console import Console

    with Console(stderr=True).status("looking at the engines") as status:
        yield status.update


@main.command(epilog=_examples('eval "$(dbbench completion bash)"', "dbbench completion fish | source"))
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@_command
def completion(shell: str) -> None:
    """Print the code that completes dbbench's commands in SHELL."""
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(main, {}, "dbbench", "_DBBENCH_COMPLETE").source())


def _columns() -> int:
    """The terminal's width; lines that go elsewhere stay whole."""
    import shutil

    return shutil.get_terminal_size().columns if sys.stdout.isatty() else 10_000


def _console() -> Console:
    from rich.console import Console

    return Console(soft_wrap=True)


if __name__ == "__main__":
    main()
