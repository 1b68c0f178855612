"""The result in the terminal: tables and bars that fit 80 columns."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.text import Text

from dbbench.analysis.units import duration, fitting
from dbbench.report.run_view import ScenarioView, View
from dbbench.report.step_view import Line, StepView, times

WIDTH = 80
_EIGHTHS = " ▏▎▍▌▋▊▉"


def show(shown: View, console: Console) -> None:
    """Print the whole run."""
    missing = dict(shown.missing)
    for scenario in shown.scenarios:
        for view in scenario.steps:
            for text in _step(view, missing, ascii_only=not _has_blocks(console)):
                console.print(text, soft_wrap=True, highlight=False)
        for text in _overall(scenario):
            console.print(text, soft_wrap=True, highlight=False)
    for name, why in missing.items():
        print_wrapped(console, f"not run: {name}: {why}", "yellow")
    if shown.stopped:
        print_wrapped(console, f"stopped: {shown.stopped}", "")
    facts = dict(shown.facts)
    print_wrapped(console, f"durability: {facts['Durability']}", "")
    print_wrapped(console, f"order: {facts['Order']}" if "Order" in facts else "", "")
    for remark in shown.remarks:
        print_wrapped(console, remark, "")
    for warning in shown.warnings:
        print_wrapped(console, f"warning: {warning}", "yellow")


def _has_blocks(console: Console) -> bool:
    return (console.encoding or "").lower().startswith("utf")


def print_wrapped(console: Console, text: str, style: str) -> None:
    """Print a sentence in lines of the report's width."""
    for line in textwrap.wrap(text, WIDTH, subsequent_indent="  "):
        console.print(Text(line, style=style), soft_wrap=True, highlight=False)


def _step(view: StepView, missing: Collection[str], *, ascii_only: bool) -> Iterator[Text]:
    """A step. Why an engine is missing altogether stands once, at the end."""
    yield Text()
    yield from (Text(line, style="bold") for line in textwrap.wrap(view.step.title, WIDTH))
    measure = view.measure + (" (log scale)" if view.wide else "")
    heading = "harness" if any(line.share for line in view.lines) else ""
    *full, last = textwrap.wrap(measure, WIDTH - 2 - len(heading) - bool(heading))
    yield from (Text(f"  {line}", style="dim") for line in full)
    yield Text(f"  {last:<{WIDTH - 2 - len(heading)}}{heading}".rstrip(), style="dim")
    names = max((len(line.row.engine) for line in (*view.lines, *view.failed)), default=4)
    values = max((len(line.value) for line in view.lines if not line.withheld), default=1)
    intervals = max((len(line.interval) for line in view.lines), default=0)
    shares = max((len(line.share) for line in view.lines), default=0)
    ranks = max(3, *(len(line.rank) for line in view.lines)) if view.lines else 3
    marks = max(3, *(len(_mark(line)) for line in view.lines)) if view.lines else 3
    bar_width = max(WIDTH - ranks - 1 - names - 2 - values - marks - 1 - intervals - 1 - 8 - shares - bool(shares), 8)
    scale = _Scale.of(view)
    for line in view.lines:
        if line.withheld:
            start = f"{line.rank:>{ranks}} {line.row.engine:<{names}} "
            yield from _long(f"{start}{line.value}{_mark(line)}", len(start))
            continue
        bar = scale.bar(line.row.value or 0, bar_width, ascii_only=ascii_only)
        text = Text(f"{line.rank:>{ranks}} {line.row.engine:<{names}} ")
        text.append(f"{bar:<{bar_width}}", style="blue")
        text.append(f" {line.value:>{values}}", style="bold")
        text.append(f"{_mark(line):<{marks}} {line.interval:>{intervals}}", style="dim")
        text.append(f" {line.ratio:>8}")
        if shares:
            text.append(f" {line.share:>{shares}}", style="dim")
        yield text
    for line in view.failed:
        mark = "" if line.row.engine in missing else _mark(line)
        yield Text(f"{'':{ranks}} {line.row.engine:<{names}} {line.value}{mark}", style="red")
    if view.rank_note:
        yield Text(f"  {view.rank_note}", style="dim")
    if view.details:
        table = [("", view.details), *((line.row.engine, line.details) for line in view.lines if line.details)]
        yield from (Text(text, style="dim") for text in _table(table))
    elsewhere = {line.mark for line in view.failed if line.row.engine in missing}
    elsewhere -= {line.mark for line in (*view.lines, *view.failed) if line.row.engine not in missing}
    for number, note in enumerate(view.footnotes, 1):
        if str(number) in elsewhere:
            continue
        yield from (
            Text(line, style="dim") for line in textwrap.wrap(f"  [{number}] {note}", WIDTH, subsequent_indent="      ")
        )
    if note := view.harness_note():
        yield from (Text(line, style="dim") for line in textwrap.wrap(f"  {note}", WIDTH, subsequent_indent="  "))


def _table(rows: Sequence[tuple[str, Sequence[str]]]) -> Iterator[str]:
    """Names with their figures, without empty columns; in several tables where one would be too wide."""
    columns = [column for column in zip(*(cells for _, cells in rows), strict=True) if any(column[1:])]
    names = max(len(name) for name, _ in rows)
    widths = [max(map(len, column)) for column in columns]
    gap = "  " if 4 + names + sum(width + 2 for width in widths) <= WIDTH else " "
    for fitting_columns in _fitting(widths, WIDTH - 4 - names):
        for at, (name, _) in enumerate(rows):
            figures = gap.join(f"{columns[column][at]:>{widths[column]}}" for column in fitting_columns)
            yield f"    {name:<{names}}{gap}{figures}".rstrip()


def _fitting(widths: Sequence[int], room: int) -> list[list[int]]:
    """Columns in tables that fit, each column one wider than it is."""
    tables: list[list[int]] = [[]]
    for at, width in enumerate(widths):
        if tables[-1] and sum(widths[other] + 1 for other in tables[-1]) + width + 1 > room:
            tables.append([])
        tables[-1].append(at)
    return tables


def _overall(scenario: ScenarioView) -> Iterator[Text]:
    yield Text()
    yield Text("Overall: geometric mean of the ratios to the best, and what a trial used", style="bold")
    used = {item.engine: item for item in scenario.resources}
    table: list[tuple[str, Sequence[str]]] = [("engine", ("mean", "interval", "memory", "CPU", "written", "a trial"))]
    for item in scenario.standings:
        if item.engine in scenario.withheld:
            table.append((item.engine, ("withheld", *[""] * 5)))
            continue
        mine = used.get(item.engine)
        table.append(
            (
                item.engine,
                (
                    f"×{item.mean_ratio:.2f}" if item.mean_ratio else "-",
                    "" if item.low is None or item.high is None else f"{times(item.low)} to {times(item.high)}",
                    "as null" if mine and mine.peak_memory == 0 else _amount("B", mine.peak_memory if mine else None),
                    _amount("s", mine.cpu_seconds if mine else None),
                    _amount("B", mine.written_bytes if mine else None),
                    duration(mine.seconds) if mine and mine.seconds else "-",
                ),
            )
        )
    for number, text in enumerate(_table(table)):
        yield Text(text, style="dim" if not number else "")
    yield Text()


def _long(text: str, indent: int) -> Iterator[Text]:
    """A line that may be too long; what doesn't fit goes under its words."""
    start = text[: len(text) - len(text.lstrip())]
    lines = textwrap.wrap(text.lstrip(), WIDTH, initial_indent=start, subsequent_indent=" " * indent)
    yield from (Text(line, style="dim") for line in lines)


def _amount(base: str, value: float | None) -> str:
    return "-" if value is None else fitting(base, [value]).text(value)


@dataclass(frozen=True)
class _Scale:
    """How long a bar is. On a logarithmic scale it is a line with a point at its end: its length says nothing."""

    least: float
    greatest: float
    wide: bool

    @classmethod
    def of(cls, view: StepView) -> _Scale:
        """The scale of a step's figures."""
        known = [line.row.value for line in view.lines if line.row.value]
        return cls(min(known, default=0), max(known, default=0), view.wide)

    def bar(self, value: float, width: int, *, ascii_only: bool) -> str:
        if not value or not self.greatest:
            return ""
        if self.wide:
            share = math.log(value / self.least) / math.log(self.greatest / self.least)
            line, point = ("-", "o") if ascii_only else ("─", "●")
            return f"{line * round(share * (width - 1))}{point}"
        share = value / self.greatest
        if ascii_only:
            return "#" * round(share * width)
        eighths = max(round(share * width * 8), 1)
        return "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()


def _mark(line: Line) -> str:
    return f"[{line.mark}]" if line.mark else ""
