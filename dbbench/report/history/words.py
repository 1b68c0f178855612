"""A history in words: the runs, each change in one line, and what was looked at."""

from collections.abc import Iterator
from dataclasses import dataclass

from rich.console import Console
from rich.text import Text

from dbbench.analysis.history import FEWEST_RUNS, Change, History, Series
from dbbench.analysis.units import fitting
from dbbench.analysis.verdicts import changed
from dbbench.report.step_view import times
from dbbench.report.terminal.comparison import code, wrapped


@dataclass(frozen=True)
class ChangeLine:
    """One change, worded."""

    engine: str
    step: str
    before: str
    after: str
    verdict: str
    #: The run from which on it is so, as `runs` names it.
    since: str
    notes: tuple[str, ...]
    worse: bool


def runs(shown: History) -> list[str]:
    """One name for each run: its number and when it began."""
    several = len({side.manifest.created.date() for side in shown.sides}) < len(shown.sides)
    form = "%Y-%m-%d %H:%M" if several else "%Y-%m-%d"
    return [f"{number} ({side.manifest.created:{form}})" for number, side in enumerate(shown.sides, 1)]


def step_name(series: Series, shown: History) -> str:
    """The step's title, after its scenario's where there are several."""
    suites = (side.suite for side in reversed(shown.sides))
    scenario = next(each for suite in suites for each in suite.scenarios if each.name == series.scenario)
    title = next((step.title for step in scenario.steps if step.name == series.step), series.step)
    alone = [each.name for each in shown.sides[-1].suite.scenarios] == [series.scenario]
    return title if alone else f"{scenario.title}: {title}"


def change_lines(shown: History) -> list[ChangeLine]:
    """All changes: by series, the greatest first."""
    return [_line(series, change, shown) for series in shown.changed for change in series.changes]


def _line(series: Series, change: Change, shown: History) -> ChangeLine:
    unit = fitting(series.unit, [change.before, change.after])
    return ChangeLine(
        engine=series.title,
        step=step_name(series, shown),
        before=unit.text(change.before),
        after=unit.text(change.after),
        verdict=f"×{times(max(change.ratio, 1 / change.ratio), 10)} {changed(change.ratio, series.unit)}",
        since=runs(shown)[change.at],
        notes=tuple(_notes(change)),
        worse=change.ratio > 1,
    )


def _notes(change: Change) -> Iterator[str]:
    if change.causes:
        yield f"differs: {'; '.join(map(str, change.causes))}"
    if change.null_too:
        yield "the null engine changed at this run too: the machine or dbbench may be the cause"
    if change.provisional:
        yield "provisional: only the newest run shows it; make another run"


def remarks(shown: History) -> Iterator[str]:
    """What limits the history."""
    if len(shown.sides) < FEWEST_RUNS:
        yield f"no change can be seen in fewer than {FEWEST_RUNS} runs: add runs"
    for side, item in shown.machines:
        yield f"different machines, which may be the cause: {side.name}: {item}"
    if shown.unlike:
        parts = [
            f"{step_name(one, shown)} of {one.title} in run{'s' * (len(one.unlike) > 1)} "
            f"{', '.join(str(number + 1) for number in one.unlike)}"
            for one in shown.unlike
        ]
        yield f"left out, of another sort than the newest's: {'; '.join(parts)}"
    for engine, clause in shown.withheld:
        yield f"{engine} is withheld: {clause}"


def summary(shown: History) -> str:
    """The number of series that changed, and of those that changed in the newest run only."""
    changed = [series for series in shown.changed if series.settled]
    worse = sum(any(change.ratio > 1 for change in series.settled) for series in changed)
    newest = sum(change.provisional for series in shown.changed for change in series.changes)
    total = f"{len(shown.series)} steps of engines"
    over = f"over {len(shown.sides)} runs"
    text = (
        f"{len(changed)} of {total} changed {over}, {worse} for the worse"
        if changed
        else f"no change in {total} {over}"
    )
    return f"{text}; {newest} provisional" if newest else text


def how(shown: History) -> str:
    """What counts as a change, and of what."""
    meaning = shown.sides[-1].metric.meaning
    return f"{meaning[0].upper()}{meaning[1:]}. {_HOW}" if meaning else _HOW


_HOW = (
    "A change is where the medians of the runs before and from then on differ, by Student's t test with Bonferroni's "
    "correction for the places and for the engine's steps, below 5 %, and by 2 % or more."
)


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
    """The same as Markdown, for a comment or a page. Texts from files are quoted as code."""
    yield f"**{summary(shown)}**"
    lines = change_lines(shown)
    if lines:
        yield ""
        yield "| engine | step | before | after | | from run | |"
        yield "|---|---|--:|--:|---|---|---|"
    for line in lines:
        cells = (code(line.engine), code(line.step), line.before, line.after, line.verdict, line.since)
        yield f"| {' | '.join(cells)} | {code('; '.join(line.notes))} |"
    for text in (*map(code, remarks(shown)), how(shown)):
        yield ""
        yield text
