"""`compare`: two runs side by side."""

from __future__ import annotations

from pathlib import Path

import click

from dbbench.cli.common import (
    command,
    examples,
    open_console,
    share,
)


@click.command(
    epilog=examples(
        "dbbench compare before after",
        "dbbench compare before after --fail-above 5%",
        "dbbench compare before after --markdown > comment.md",
    ),
    short_help="Compare two runs.",
)
@click.argument("old", type=click.Path(path_type=Path))
@click.argument("new", type=click.Path(path_type=Path))
@click.option(
    "--fail-above",
    type=share,
    metavar="SHARE",
    help="Exit with 1 if anything broke, or is proven to be slower or larger by more than this, like 5%.",
)
@click.option("--across-machines", is_flag=True, help="Compare runs of different machines too; the result says so.")
@click.option("--markdown", is_flag=True, help="Print Markdown, for a pull request's comment.")
@click.option("--publish", is_flag=True, help="Leave out the engines whose licences forbid to publish their figures.")
@command
def compare(
    old: Path, new: Path, fail_above: float | None, across_machines: bool, markdown: bool, publish: bool
) -> int:
    """Compare the runs OLD and NEW: what is slower, faster, the same, or can't be told.

    Exit status: 0 compared; 1 held up by --fail-above; 2 the runs are not alike or can't be read.
    """
    from dbbench.analysis.compare import beyond
    from dbbench.analysis.compare import compare as compared
    from dbbench.analysis.likeness import Side
    from dbbench.report import comparison
    from dbbench.store import Run

    sides = [Side.read(Run.open(path)) for path in (old, new)]
    found = compared(*sides, gate=fail_above, across_machines=across_machines, publish=publish)
    if markdown:
        for line in comparison.markdown(found, gate=fail_above):
            click.echo(line)
    else:
        comparison.show(found, open_console(), gate=fail_above)
    return 1 if fail_above is not None and beyond(found.pairs, fail_above) else 0
