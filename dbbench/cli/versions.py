"""`versions`: which releases of an engine's package can run here."""

import click

from dbbench.cli.common import command, engine_names, examples


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
    click.echo(f"dbbench suite invoices {' '.join(f'-e {engine}@{release}' for release in reversed(found))}")
    return status
