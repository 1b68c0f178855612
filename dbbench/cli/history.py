"""`history` shows where a figure changed over many runs of one suite, `site` makes a page of each of many runs."""

from pathlib import Path

import click

from dbbench.cli.common import command, examples, metric_option, open_console, run_path
from dbbench.host.metric import Metric


@click.command(
    epilog=examples(
        "dbbench history dbbench-runs/invoices-*",
        "dbbench history nightly/* --out history",
        "dbbench history nightly/* --metric cpu",
        "dbbench history nightly/* --markdown > comment.md",
    ),
    short_help="Show where a figure changed over many runs.",
)
@click.argument("runs", nargs=-1, required=True, type=run_path, metavar="RUN...")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write a page with charts there, and files for Apache Otava and for GitHub's benchmark action.",
)
@click.option("--across-machines", is_flag=True, help="Take runs of different machines too; every output is marked.")
@metric_option
@click.option("--markdown", "form", flag_value="markdown", help="Print Markdown, for a comment.")
@click.option("--json", "form", flag_value="json", help="Print JSON: all figures, intervals and changes.")
@click.option("--publish", is_flag=True, help="Omit engines whose licences forbid publishing their figures.")
@command
def history(
    runs: tuple[Path, ...], out: Path | None, across_machines: bool, metric: Metric, form: str | None, publish: bool
) -> int:
    """Show in the order of time at which RUN a figure changed, by how much, and what differed then.

    The runs are of one suite, scale and seed. A change can be seen from four runs on; with ten, one of a fifth is
    found where runs differ by 3 %. On a busy machine CPU time (--metric cpu) differs less.

    Exit status: 0 shown; 2 the runs are not alike or can't be read.
    """
    from dbbench.analysis.comparability import Side
    from dbbench.analysis.history import history as history_of
    from dbbench.errors import UserError
    from dbbench.report.history import files, words
    from dbbench.results.run_directory import Run

    sides = [Side.read(Run.open(path), metric) for path in runs]
    found = history_of(sides, across_machines=across_machines, publish=publish, intervals=bool(out or form == "json"))
    written = []
    if out:
        try:
            out.mkdir(parents=True, exist_ok=True)
            written = files.write(found, out)
        except OSError as exc:
            raise UserError(f"{out} can't be written: {exc.strerror}") from exc
    if form == "json":
        click.echo(files.as_json(found), nl=False)
    elif form == "markdown":
        for line in words.markdown(found):
            click.echo(line)
    else:
        words.show(found, open_console())
    for path in written:
        click.echo(f"wrote {path}", err=form is not None)
    return 0


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

    Exit status: 0 all runs are in it; 1 some could not be read and are left out; 2 none could, or DIR has something
    else.
    """
    import sys

    from dbbench.report.site import write

    with click.progressbar(length=len(runs), label="runs", file=sys.stderr, hidden=not sys.stderr.isatty()) as bar:
        left_out = write(runs, out, lambda _done, _all: bar.update(1), metric)
    for text in left_out:
        click.echo(f"left out: {text}", err=True)
    click.echo(f"wrote {out / 'index.html'}")
    return 1 if left_out else 0
