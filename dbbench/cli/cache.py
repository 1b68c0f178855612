"""`cache`: what dbbench keeps in its cache folder, and how to remove it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from dbbench.cli.common import command, examples

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dbbench.host.kept_folder import Kept

_DAY = 24 * 3600


@click.command(
    epilog=examples(
        "dbbench cache",
        "dbbench cache --prune",
        "dbbench cache --prune --unused 0 --yes",
        "dbbench cache --remove duckdb-1.3",
    ),
    short_help="List what the cache holds, or remove some of it.",
)
@click.option(
    "--remove", "names", multiple=True, metavar="NAME", help="Remove this entry; the beginning of its name is enough."
)
@click.option("--prune", is_flag=True, help="Remove entries that were not used recently.")
@click.option(
    "--unused",
    type=click.IntRange(0, 10_000),
    default=30,
    show_default=True,
    metavar="DAYS",
    help="Age of the entries that --prune removes; 0 removes everything.",
)
@click.option("--yes", is_flag=True, help="Don't ask.")
@click.pass_context
@command
def cache(context: click.Context, names: tuple[str, ...], prune: bool, unused: int, yes: bool) -> int:
    """List the datasets, environments and server templates in the cache with their sizes, or remove some.

    What is removed is made again when a run needs it, environments with the network. Jars, which `dbbench engines
    install` fetches, go only by --remove. Remove nothing while another dbbench runs.

    Exit status: 0 listed or removed; 1 something could not be removed, or you said no; 2 usage error.
    """
    import time

    from click.core import ParameterSource

    from dbbench.errors import UserError
    from dbbench.host.kept_folder import cache_folder, contents

    if names and prune:
        raise UserError("--remove and --prune exclude each other; omit one of them")
    if not prune and context.get_parameter_source("unused") is ParameterSource.COMMANDLINE:
        raise UserError("--unused says what --prune removes; add --prune")
    root = cache_folder()
    found = contents(root)
    if not names and not prune:
        _show(found)
        click.echo(f"{_size(sum(entry.bytes for entry in found))} in {root}")
        return 0
    since = time.time() - unused * _DAY
    chosen = _named(found, names) if names else [one for one in found if one.used <= since and one.kind != "jars"]
    if not chosen:
        click.echo("nothing to remove")
        return 0
    _show(chosen)
    return _remove(chosen, yes=yes)


def _named(found: Sequence[Kept], names: Sequence[str]) -> list[Kept]:
    from dbbench.errors import UserError
    from dbbench.host.kept_folder import named
    from dbbench.message import did_you_mean

    chosen: dict[Kept, None] = {}
    for name in names:
        mine = named(list(found), name) if name else []
        if len(mine) > 1:
            raise UserError(
                f"{name!r} matches several names: {', '.join(entry.name for entry in mine)}; give a longer one"
            )
        if not mine:
            known = [entry.name for entry in found]
            raise UserError(f"the cache holds no {name!r}{did_you_mean(name, known) or '; `dbbench cache` lists it'}")
        chosen[mine[0]] = None
    return list(chosen)


def _remove(chosen: Sequence[Kept], *, yes: bool) -> int:
    import sys

    from dbbench.errors import UserError
    from dbbench.host.kept_folder import discard

    if not yes:
        if not sys.stdin.isatty():
            raise UserError("there is no terminal to ask on; add --yes to remove these")
        if not click.confirm(f"remove {_size(sum(entry.bytes for entry in chosen))}?"):
            return 1
    status, freed = 0, 0
    for entry in chosen:
        try:
            discard(entry)
            freed += entry.bytes
        except OSError as exc:
            click.echo(f"{entry.path} can't be removed: {exc.strerror or exc}", err=True)
            status = 1
    click.echo(f"removed {_size(freed)}")
    return status


def _show(found: Sequence[Kept]) -> None:
    """A line for each, aligned."""
    import datetime

    from dbbench.message import cleaned

    lines = [
        (
            entry.kind,
            cleaned(entry.name),
            _size(entry.bytes),
            f"{datetime.date.fromtimestamp(entry.used)}",
            cleaned(entry.what),
        )
        for entry in found
    ]
    kinds, names, sizes = (max((len(line[column]) for line in lines), default=0) for column in range(3))
    for kind, name, size, used, what in lines:
        click.echo(f"{kind:<{kinds}}  {name:<{names}}  {size:>{sizes}}  used {used}  {what}")


def _size(count: int) -> str:
    from dbbench.analysis.units import amount

    return amount("B", count)
