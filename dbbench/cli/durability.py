"""`durability`: crash checks of the tiers."""

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import click

from dbbench.cli.common import columns, command, engine_names, examples, patience, seed, writing


@click.command(
    epilog=examples(
        "dbbench durability sqlite",
        "dbbench durability duckdb firebird --tier power --kills 50",
        "dbbench durability --all --json checks.json",
    ),
    short_help="Check what a commit survives.",
)
@click.argument("engines", nargs=-1, metavar="[ENGINE]...", shell_complete=engine_names)
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="Every installed engine that keeps data, but for those that run by name only.",
)
@click.option("--tier", "tiers", multiple=True, metavar="TIER", help="memory, process or power; may be given again.")
@click.option(
    "--kills",
    type=click.IntRange(1, 10_000),
    default=20,
    show_default=True,
    help="Number of times that a writer is killed.",
)
@click.option("--seed", type=seed, metavar="N", help="Seed of the times of the kills. [default: a new one]")
@click.option(
    "--set", "settings", multiple=True, metavar="ENGINE.OPTION=VALUE", help="Set an engine's option, as for `suite`."
)
@click.option(
    "--timeout",
    type=patience,
    default=60,
    show_default=True,
    metavar="SECONDS",
    help="How long an engine may take to open and make a commit.",
)
@click.option("--json", "out", type=click.Path(path_type=Path, dir_okay=False), help="Write all results to this file.")
@command
def durability(
    engines: tuple[str, ...],
    everything: bool,
    tiers: tuple[str, ...],
    kills: int,
    seed: int | None,
    settings: tuple[str, ...],
    timeout: float,
    out: Path | None,
) -> int:
    """Check the durability tiers of ENGINEs: kill -9 amid commits, and count sync calls.

    The databases are made in the current directory and removed: the result is that of its disk. Exit
    status: 0 no check failed; 1 a check failed or could not be made; 2 usage error;
    130 interrupted; what is finished is shown.
    """
    from dataclasses import asdict

    from dbbench.durability.checks import CheckRequest, check_all
    from dbbench.errors import UserError
    from dbbench.host import atomic_json
    from dbbench.report.terminal.durability import lines
    from dbbench.runs.request import parse_settings

    if everything == bool(engines):
        raise UserError("name engines, like `dbbench durability sqlite`, or give --all for every one that is installed")
    if out is not None and not os.access(out.absolute().parent, os.W_OK):  # told now, not after some minutes
        raise UserError(f"{out} can't be written: {out.absolute().parent} is not a folder to write in")
    request = CheckRequest(engines, tiers, kills, seed, parse_settings(settings), timeout)
    with _status() as report:
        checks = check_all(request, report)
    for line in lines(checks, columns=columns()):
        click.echo(line)
    if out is not None:
        with writing(out):
            atomic_json.write(out, asdict(checks))
    if checks.interrupted:
        raise KeyboardInterrupt
    return 1 if checks.bad else 0


@contextlib.contextmanager
def _status() -> Iterator[Callable[[str], None]]:
    """A line of progress on the terminal; elsewhere nothing."""
    from rich.console import Console

    with Console(stderr=True).status("looking at the engines") as status:
        yield status.update
