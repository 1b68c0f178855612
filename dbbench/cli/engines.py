"""`engines`: which there are, and installing what one needs; `versions`: the releases of one."""

from __future__ import annotations

import shlex
import subprocess
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from dbbench.cli.common import columns, command, engine_names, examples

if TYPE_CHECKING:
    from dbbench.engine.probe import Probed


class _Listing(click.Group):
    """A group whose command `list` needs no name: `dbbench engines -v sqlite` is `dbbench engines list -v sqlite`."""

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        known = (*self.commands, *context.help_option_names)
        return super().parse_args(context, args if args and args[0] in known else ["list", *args])


@click.group(
    cls=_Listing,
    epilog=examples("dbbench engines", "dbbench engines -v sqlite duckdb", "dbbench engines install h2"),
    short_help="List the engines, or install one.",
)
def engines() -> None:
    """List the engines, or install what one needs.

    `dbbench engines [NAME]...` is short for `dbbench engines list [NAME]...`.
    """


@engines.command(
    "list",
    epilog=examples("dbbench engines", "dbbench engines --all", "dbbench engines -v sqlite duckdb"),
    short_help="List the engines: which are available, and details.",
)
@click.argument("names", nargs=-1, shell_complete=engine_names)
@click.option("--all", "everything", is_flag=True, help="Show the details of every engine.")
@click.option("--verbose", "-v", is_flag=True, help="Show options, durability tiers and URLs too.")
@click.option(
    "--markdown", "form", flag_value="markdown", help="Print what is supported as Markdown, the same on every machine."
)
@click.option("--json", "form", flag_value="json", help="Print JSON: all that is known of each engine.")
@command
def listed(names: tuple[str, ...], everything: bool, verbose: bool, form: str | None) -> None:
    """List the engines: a line for each that is available, then those that are not, by family.

    With NAMES, --all or --verbose: status, versions, licence, whether results may be published, how to install.
    """
    from dbbench.engine import registry
    from dbbench.engine.probe import probe
    from dbbench.host import atomic_json
    from dbbench.report.terminal.engines import engine_lines, engine_matrix, overview_lines

    registry.check_names(list(names))
    found = probe(sorted(names) or registry.names())
    if not names:  # null engines are the harness's own
        found = {name: engine for name, engine in found.items() if engine.ranked}
    if form == "json":
        click.echo(atomic_json.text({"engines": [asdict(engine) for engine in found.values()]}), nl=False)
        return
    if form == "markdown":
        lines = engine_matrix({name: engine for name, engine in found.items() if engine.license and engine.ranked})
    elif names or everything or verbose:
        lines = engine_lines(found, verbose=verbose, columns=columns())
    else:
        lines = overview_lines(found, columns=columns())
    for line in lines:
        click.echo(line)


@engines.command(
    epilog=examples(
        "dbbench engines install h2",
        "dbbench engines install --print postgresql+pyodbc",
        "sudo apt-get install $(dbbench engines install --debian mysql redis)",
    ),
    short_help="Install what an engine needs.",
)
@click.argument("names", nargs=-1, required=True, shell_complete=engine_names)
@click.option("--yes", "-y", is_flag=True, help="Run the steps without asking.")
@click.option("--print", "only_print", is_flag=True, help="Print the commands and run none.")
@click.option("--debian", is_flag=True, help="Print the names of the Debian packages alone, for a script.")
@command
def install(names: tuple[str, ...], yes: bool, only_print: bool, debian: bool) -> int:
    """Install what the engines NAMES need and don't have.

    Drivers are installed by pip into this Python's environment, and JDBC jars into dbbench's cache folder.
    The command for Debian packages is printed, for it needs root. Exit status: 0 the engines are
    available; 1 they aren't, or a step failed; 2 usage error, or another dbbench uses this environment.
    """
    from dbbench.engine import registry
    from dbbench.engine.probe import probe
    from dbbench.errors import UserError
    from dbbench.host.processes import at_work, environment
    from dbbench.report.terminal.engines import engine_lines

    registry.check_names(list(names))
    wanted = list(dict.fromkeys(names))
    if debian:
        click.echo(" ".join(registry.install_steps(wanted).debian))
        return 0
    if not only_print:
        wanted = _missing(probe(wanted))
    steps = registry.install_steps(wanted)
    if only_print:
        for words in steps.commands():
            click.echo(shlex.join(words))
        return 0
    if steps.debian:
        click.echo(f"As root, if these packages are missing:\n  {shlex.join(next(steps.commands()))}")
    own = list(steps.own_commands())
    if own:
        if busy := at_work():
            raise UserError(f"another dbbench uses this environment (process {busy[0]}): install when it has ended")
        click.echo("\n".join(("In this environment:", *(f"  {shlex.join(words)}" for words in own))))
        if not yes:
            click.confirm("Run this now?", abort=True)
        for words in own:
            subprocess.run(words, env=environment(), check=False)  # whether it worked is seen below
    found = probe(list(names))
    for line in engine_lines(found, verbose=False, columns=columns()):
        click.echo(line)
    return 1 if _missing(found) else 0


def _missing(found: dict[str, Probed]) -> list[str]:
    """Engines that need something which can be installed: not one that waits for a URL only."""
    return [
        name for name, engine in found.items() if engine.status != "available" and not engine.install.startswith("--")
    ]


@click.command(
    epilog=examples(
        "dbbench versions duckdb",
        "dbbench versions duckdb --minor --last 6",
        "dbbench versions sqlite+apsw --last 3 --fetch",
    ),
    short_help="List the releases of an engine that can run here.",
)
@click.argument("engine", shell_complete=engine_names)
@click.option(
    "--last", type=click.IntRange(1, 1000), default=8, show_default=True, metavar="N", help="How many, newest first."
)
@click.option("--minor", is_flag=True, help="List only the newest of each minor release (1.3, 1.4).")
@click.option("--fetch", is_flag=True, help="Fetch each into the cache now, so that a run needs no network.")
@command
def versions(engine: str, last: int, minor: bool, fetch: bool) -> int:
    """List the releases of ENGINE's package that have a wheel for this Python and machine, newest first.

    Exit status: 0 listed; 1 a release could not be fetched; 2 usage error, or pip can't tell.
    """
    from dbbench.engine import registry
    from dbbench.engine.environments import available, prepared
    from dbbench.errors import Unavailable, UserError

    registry.check_names([engine])
    try:
        package = registry.versioned_package(engine)
        found = available(package, minor=minor)[:last]
    except (Unavailable, registry.Broken) as exc:
        raise UserError(str(exc)) from exc
    status = 0
    for release in found:
        text = release
        if fetch:
            try:
                text = f"{release}  {prepared(package, release).folder}"
            except Unavailable as exc:
                text, status = f"{release}  {exc}", 1
        click.echo(text)
    click.echo(f"dbbench suite SUITE {' '.join(f'-e {engine}@{release}' for release in reversed(found))}")
    return status
