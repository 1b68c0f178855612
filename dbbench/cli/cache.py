"""`cache`: what dbbench keeps in its cache folder, and how to remove it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from dbbench.cli.common import command, examples

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dbbench.host.kept_folder import Kept


@click.command(
    epilog=examples("dbbench cache", "dbbench cache --remove duckdb-1.3"),
    short_help="List what the cache holds, or remove some of it.",
)
@click.option(
    "--remove", "names", multiple=True, metavar="NAME", help="Remove this entry; the beginning of its name is enough."
)
@click.option("--yes", is_flag=True, help="Don't ask.")
@command
def cache(names: tuple[str, ...], yes: bool) -> int:
    """List the datasets, environments and server templates in the cache with their sizes, or remove some.

    A run makes again what it needs, but for a build that `--resume` asks for. Environments need the network, and jars
    `dbbench engines install`. Remove nothing while another dbbench runs.

    Exit status: 0 listed or removed; 1 something could not be removed, or you said no; 2 usage error.
    """
    from dbbench.host.kept_folder import cache_folder, contents

    root = cache_folder()
    found = contents(root)
    if not names:
        _show(found)
        click.echo(f"{_size(sum(entry.bytes for entry in found))} in {root}")
        return 0
    chosen = _named(found, names)
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
    from dbbench.message import cleaned

    lines = [(entry.kind, cleaned(entry.name), _size(entry.bytes), cleaned(entry.what)) for entry in found]
    kinds, names, sizes = (max((len(line[column]) for line in lines), default=0) for column in range(3))
    for kind, name, size, what in lines:
        click.echo(f"{kind:<{kinds}}  {name:<{names}}  {size:>{sizes}}  {what}")


def _size(count: int) -> str:
    from dbbench.analysis.units import amount

    return amount("B", count)
