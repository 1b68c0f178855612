"""A history of runs for the terminal, and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from dbbench.analysis.history import History
from dbbench.report.export.markdown_page import escaped
from dbbench.report.history.words import change_lines, how, remarks, runs, summary
from dbbench.report.terminal.comparison import wrapped


def show(shown: History, console: Console) -> None:
    """Print it: the runs, then each change with its run."""
    for text in _terminal(shown):
        console.print(text, soft_wrap=True, highlight=False)


def _terminal(shown: History) -> Iterator[Text]:
    suite = shown.sides[-1].suite
    yield Text(f"{len(shown.sides)} runs of {suite.name}")
    for name, side in zip(runs(shown), shown.sides, strict=True):
        yield Text(f"  {name}  {side.name}", style="dim")
    lines = change_lines(shown)
    widths = [max((len(getattr(line, part)) for line in lines), default=0) for part in ("before", "after", "verdict")]
    for line in lines:
        yield Text()
        yield Text(f"{line.engine}, {line.step}", style="bold")
        cells = zip((line.before, f"-> {line.after}", line.verdict), (widths[0], widths[1] + 3, widths[2]), strict=True)
        figures = "  ".join(f"{cell:>{width}}" for cell, width in cells)
        yield Text(f"  {figures}  from run {line.since}", style="red" if line.worse else "green")
        for note in line.notes:
            yield from wrapped(f"    {note}", "yellow")
    yield Text()
    for text in remarks(shown):
        yield from wrapped(f"warning: {text}", "yellow")
    yield from wrapped(how(shown), "dim")
    yield Text(summary(shown), style="bold")


def markdown(shown: History) -> Iterator[str]:
    """The same as Markdown, for a comment or a page."""
    yield f"**{summary(shown)}**"
    lines = change_lines(shown)
    if lines:
        yield ""
        yield "| engine | step | before | after | | from run | |"
        yield "|---|---|--:|--:|---|---|---|"
    for line in lines:
        cells = (line.engine, line.step, line.before, line.after, line.verdict, line.since, "; ".join(line.notes))
        yield f"| {' | '.join(escaped(cell) for cell in cells)} |"
    for text in (*remarks(shown), how(shown)):
        yield ""
        yield escaped(text)
