"""`compare`: two runs side by side."""

from __future__ import annotations

from pathlib import Path

import click

from dbbench.cli.common import (
    command,
    examples,
    metric_option,
    open_console,
    share,
)
from dbbench.cli.gates import exit_status


@click.command(
    epilog=examples(
        "dbbench compare before after",
        "dbbench compare before after --fail-above 5%",
        "dbbench compare before after --markdown > comment.md",
        "dbbench compare --old before-1 --old before-2 --new after-1 --new after-2",
    ),
    short_help="Compare two runs.",
)
@click.argument("runs", nargs=-1, type=click.Path(path_type=Path), metavar="OLD NEW")
@click.option(
    "--old",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="RUN",
    help="One of several old runs; may be given again.",
)
@click.option(
    "--new",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="RUN",
    help="One of several new runs; may be given again.",
)
@click.option(
    "--fail-above",
    type=share,
    metavar="SHARE",
    help="Exit with 1 if anything broke, or is shown to be slower or larger by more than this, like 5%; "
    "with 3 if the runs can't show it.",
)
@click.option("--fail-on-unknown", is_flag=True, help="With --fail-above: exit with 1 for any step that can't be told.")
@click.option("--across-machines", is_flag=True, help="Compare runs of different machines too; the result says so.")
@metric_option
@click.option("--markdown", is_flag=True, help="Print Markdown, for a pull request's comment.")
@click.option("--publish", is_flag=True, help="Leave out the engines whose licences forbid to publish their figures.")
@command
def compare(
    runs: tuple[Path, ...],
    old: tuple[Path, ...],
    new: tuple[Path, ...],
    fail_above: float | None,
    fail_on_unknown: bool,
    across_machines: bool,
    metric: str,
    markdown: bool,
    publish: bool,
) -> int:
    """Compare the runs OLD and NEW: what is slower, faster, the same, or can't be told.

    Several runs a side, made in turns, show how much runs differ by themselves: name them with --old and --new.

    Exit status: 0 compared; 1 failed --fail-above; 2 the runs are not alike or can't be read; 3 the runs can't
    show whether --fail-above is kept.
    """
    from dbbench.analysis.comparability import Side
    from dbbench.analysis.compare import compare as compared
    from dbbench.analysis.gate import gated
    from dbbench.errors import UserError
    from dbbench.report.terminal import comparison
    from dbbench.results.metric import Metric
    from dbbench.results.run_directory import Run

    if fail_on_unknown and fail_above is None:
        raise UserError("--fail-on-unknown makes the gate stricter: add the gate, like --fail-above 5%")
    if len(runs) not in (0, 2) or (not runs and not (old and new)):
        raise UserError("name two runs, OLD and NEW, or several: --old RUN --old RUN --new RUN --new RUN")
    paths = ((*runs[:1], *old), (*runs[1:], *new))
    sides = [[Side.read(Run.open(path), Metric(metric)) for path in side] for side in paths]
    found = compared(*sides, gate=fail_above, across_machines=across_machines, publish=publish)
    gate = None if fail_above is None else gated(found.pairs, fail_above, strict=fail_on_unknown, gone=found.gone)
    if markdown:
        for line in comparison.markdown(found, gate=gate):
            click.echo(line)
    else:
        comparison.show(found, open_console(), gate=gate)
    return exit_status([] if gate is None else [gate.answer])
