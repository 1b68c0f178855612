"""Several runs: `runs` lists them, `compare` has them side by side, `history` in their order, `site` a page of each."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from dbbench.cli.common import columns, command, examples, metric_option, open_console, run_path, share, shown, writing
from dbbench.cli.gates import exit_status
from dbbench.host.metric import Metric

if TYPE_CHECKING:
    from dbbench.report.compared_runs import Compared
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
    status = "" if manifest.finished else ", interrupted"
    rounds = f"{manifest.rounds} round{'s' if manifest.rounds > 1 else ''}{' (--quick)' if manifest.quick else ''}"
    engines = ", ".join(name for name in manifest.usable if manifest.ranked(name))
    return f"{manifest.created.astimezone():%Y-%m-%d %H:%M}  {manifest.suite}, {rounds}{status}: {engines}"


@click.command(
    epilog=examples(
        "dbbench compare before after",
        "dbbench compare before after --fail-above 5%",
        "dbbench compare before after --markdown > comment.md",
        "dbbench compare before after --out pictures",
        "dbbench compare base first second --html > comparison.html",
        "dbbench compare --old before-1 --old before-2 --new after-1 --new after-2",
    ),
    short_help="Compare runs.",
)
@click.argument("runs", nargs=-1, type=run_path, metavar="OLD NEW...")
@click.option("--old", multiple=True, type=run_path, metavar="RUN", help="One of several old runs; may be given again.")
@click.option("--new", multiple=True, type=run_path, metavar="RUN", help="One of several new runs; may be given again.")
@click.option(
    "--fail-above",
    type=share,
    metavar="SHARE",
    help="Exit with 1 if anything broke, or is shown to be slower or larger by more than this, like 5%; "
    "with 3 if the runs can't show it.",
)
@click.option(
    "--fail-on-unknown", is_flag=True, help="With --fail-above: exit with 1 for any step that can't be decided."
)
@click.option("--across-machines", is_flag=True, help="Compare runs of different machines too; every output is marked.")
@metric_option
@click.option("--markdown", "form", flag_value="markdown", help="Print Markdown, for a pull request's comment.")
@click.option("--json", "form", flag_value="json", help="Print JSON: all figures, ratios, intervals and verdicts.")
@click.option("--html", "form", flag_value="html", help="Print a self-contained HTML page.")
@click.option(
    "--out", type=click.Path(path_type=Path, file_okay=False), help="Write charts to this folder, as SVG and PNG."
)
@click.option("--publish", is_flag=True, help="Omit engines whose licences forbid publishing their figures.")
@command
def compare(
    runs: tuple[Path, ...],
    old: tuple[Path, ...],
    new: tuple[Path, ...],
    fail_above: float | None,
    fail_on_unknown: bool,
    across_machines: bool,
    metric: Metric,
    form: str | None,
    out: Path | None,
    publish: bool,
) -> int:
    """Compare the runs OLD and NEW: what is slower, faster, the same, or can't be decided.

    Of more than two runs each is compared with the first. Several runs a side, made in turns, show how much runs differ
    by themselves: name them with --old and --new.

    Exit status, of the worst of several comparisons: 0 compared; 1 failed --fail-above; 2 the runs are not alike or
    can't be read; 3 the runs can't show whether --fail-above is kept.
    """
    from dbbench.analysis.comparability import Side
    from dbbench.analysis.compare import compare as compared
    from dbbench.analysis.gate import gated
    from dbbench.errors import UserError
    from dbbench.report import compared_runs
    from dbbench.report.terminal import comparison
    from dbbench.results.run_directory import Run

    if fail_on_unknown and fail_above is None:
        raise UserError("--fail-on-unknown makes the gate stricter: add the gate, like --fail-above 5%")
    if len(runs) == 1 or (not runs and not (old and new)) or (len(runs) > 2 and (old or new)):
        raise UserError(
            "name two runs or more, OLD and NEW, or several a side: --old RUN --old RUN --new RUN --new RUN"
        )
    found: list[Compared] = []
    for new_run in runs[1:] or [None]:
        paths = ((*runs[:1], *old), (*([new_run] if new_run else []), *new))
        sides = [[Side.read(Run.open(path), metric) for path in side] for side in paths]
        one = compared(*sides, gate=fail_above, across_machines=across_machines, publish=publish)
        gate = None if fail_above is None else gated(one.pairs, fail_above, strict=fail_on_unknown, gone=one.gone)
        found.append((one, gate))
    if out:
        with writing(out):
            out.mkdir(parents=True, exist_ok=True)
            for path in compared_runs.pictures(found, out):
                click.echo(f"wrote {path}", err=True)
    if form == "json":
        click.echo(compared_runs.as_json(found), nl=False)
    elif form == "html":
        click.echo(compared_runs.page(found), nl=False)
    for number, (one, gate) in enumerate(found):
        if number and form in (None, "markdown"):
            click.echo()
        if form == "markdown":
            for line in comparison.markdown(one, gate=gate):
                click.echo(line)
        elif form is None:
            comparison.show(one, open_console(), gate=gate)
    return exit_status([gate.answer for _, gate in found if gate])


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
    from dbbench.host.collector import collector_off
    from dbbench.report.history import files, words
    from dbbench.results.run_directory import Run

    with collector_off():  # a thousand runs are millions of objects, and none is garbage
        sides = [Side.read(Run.open(path), metric) for path in runs]
        found = history_of(
            sides, across_machines=across_machines, publish=publish, intervals=bool(out or form == "json")
        )
    written = []
    if out:
        with writing(out):
            out.mkdir(parents=True, exist_ok=True)
            written = files.write(found, out)
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
