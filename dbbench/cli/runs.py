"""`runs`: the run directories that there are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from dbbench.cli.common import columns, command, examples, shown

if TYPE_CHECKING:
    from dbbench.results.run_directory import Manifest


@click.command(epilog=examples("dbbench runs", "dbbench runs nightly", "dbbench report latest"))
@click.argument(
    "folders", nargs=-1, type=click.Path(path_type=Path, exists=True, file_okay=False), metavar="[FOLDER]..."
)
@command
def runs(folders: tuple[Path, ...]) -> int:
    """List the runs of FOLDERS, the newest first: path, date, suite, rounds and engines.

    Without a FOLDER they are those of dbbench-runs and of the current folder; the newest of these is `latest` to every
    command that takes a run.

    Exit status: 0 listed; 1 some can't be read.
    """
    from dbbench.report.terminal.engines import hanging
    from dbbench.results.found_runs import FOLDERS, found_runs

    found, unreadable = found_runs(folders or FOLDERS)
    for run in found:
        for line in hanging(columns(), f"{run.path}  ", _words(run.manifest), 4):
            click.echo(shown(line))
    for each in unreadable:
        click.echo(f"{shown(str(each.path))}  can't be read: {shown(each.why)}", err=True)
    if not found and not unreadable:
        click.echo("no runs here; make one with `dbbench suite invoices --quick`")
    return 1 if unreadable else 0


def _words(manifest: Manifest) -> str:
    """When it was made, of what, whether it is finished, and its engines."""
    from dbbench.analysis.systems import ranked

    status = "" if manifest.finished else ", interrupted"
    rounds = f"{manifest.rounds} round{'s' if manifest.rounds > 1 else ''}{' (--quick)' if manifest.quick else ''}"
    engines = ", ".join(name for name in manifest.usable if ranked(manifest, name))
    return f"{manifest.created.astimezone():%Y-%m-%d %H:%M}  {manifest.suite}, {rounds}{status}: {engines}"
