"""`site`: a static site of many runs."""

from pathlib import Path

import click

from dbbench.cli.common import command, examples, metric_option, run_path
from dbbench.host.metric import Metric


@click.command(
    epilog=examples("dbbench site dbbench-runs/* --out site", "dbbench site laptop/* server/* --out public"),
    short_help="Make a static site of many runs.",
)
@click.argument("runs", nargs=-1, required=True, type=run_path, metavar="RUN...")
@click.option(
    "--out",
    required=True,
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="The folder to make, or a site of dbbench's to make anew.",
)
@metric_option
@command
def site(runs: tuple[Path, ...], out: Path, metric: Metric) -> int:
    """Make a site: a page for each RUN, and one that lists them by suite, machine and engine.

    It has what may be published: where a licence forbids it, figures are withheld. It needs no server and loads
    nothing from elsewhere.

    Exit status: 0 all runs are in it; 1 some could not be read and are left out; 2 none could, or DIR has something else.
    """
    import sys

    from dbbench.report.site import write

    with click.progressbar(length=len(runs), label="runs", file=sys.stderr, hidden=not sys.stderr.isatty()) as bar:
        left_out = write(runs, out, lambda _done, _all: bar.update(1), metric)
    for text in left_out:
        click.echo(f"left out: {text}", err=True)
    click.echo(f"wrote {out / 'index.html'}")
    return 1 if left_out else 0
