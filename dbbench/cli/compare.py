"""`compare`: runs side by side."""

from pathlib import Path

import click

from dbbench.cli.common import command, examples, metric_option, open_console, run_path, share
from dbbench.cli.gates import exit_status
from dbbench.host.metric import Metric


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
    from dbbench.report.compared_runs import Compared
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
        try:
            out.mkdir(parents=True, exist_ok=True)
            for path in compared_runs.pictures(found, out):
                click.echo(f"wrote {path}", err=True)
        except OSError as exc:
            raise UserError(f"{out} can't be written: {exc.strerror}") from exc
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
