"""The result in the terminal, as wide as that is: bars and figures of each step, then the fastest engine overall."""

import math
import textwrap
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Self

from rich.console import Console
from rich.text import Text

from dbbench.analysis.units import amount, duration
from dbbench.report.run_view import ScenarioView, View
from dbbench.report.step_view import Line, StepView, times
from dbbench.report.verdict import conclusion, finding, verdict

#: The least and most columns that are made use of.
LEAST_WIDTH, MOST_WIDTH = 40, 160
_LEAST_BAR = 8
_EIGHTHS = " ▏▎▍▌▋▊▉"


def show(shown: View, console: Console) -> None:
    """Print the whole run, its conclusion last, where it stays visible."""
    width, missing = width_of(console), dict(shown.missing)
    several, ascii_only = len(shown.scenarios) > 1, not (console.encoding or "").lower().startswith("utf")

    def put(lines: Iterator[Text]) -> None:
        for text in lines:
            console.print(text, soft_wrap=True, highlight=False)

    for scenario in shown.scenarios:
        if several:
            put(iter([Text(), *_wrapped(scenario.scenario.title.upper(), width, "bold")]))
        for view in scenario.steps:
            put(_step(view, missing, width, ascii_only=ascii_only))
        put(_overall(scenario, width))
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
    put(_answer(shown, width))


def _answer(shown: View, width: int) -> Iterator[Text]:
    """What the run found: a table over several scenarios, and each one's verdict, the verdict over all last."""
    yield Text()
    if shown.across:
        yield from _wrapped("All scenarios: geometric mean of the ratios to the best", width, "bold")
        heads = ("engine", tuple(scenario.scenario.name for scenario in shown.scenarios))
        engines = [
            (
                next(item.engine for item in line if item),
                tuple(f"×{times(item.mean_ratio)}" if item and item.mean_ratio else "-" for item in line),
            )
            for line in shown.across
        ]
        yield from (Text(text) for text in _table([heads, *engines], width))
        yield Text()
    for scenario in shown.scenarios if len(shown.scenarios) > 1 else ():
        yield from _wrapped(f"{scenario.scenario.title}. {verdict(scenario, alike=True)}", width, "")
    yield from _wrapped(conclusion(shown), width, "bold")


def width_of(console: Console) -> int:
    """Columns that are made use of."""
    return min(max(console.width, LEAST_WIDTH), MOST_WIDTH)


def _wrapped(text: str, width: int, style: str, indent: str = "") -> Iterator[Text]:
    """A sentence in lines, `indent` before those after the first."""
    return (Text(line, style=style) for line in textwrap.wrap(text, width, subsequent_indent=indent))


def print_wrapped(console: Console, text: str, style: str) -> None:
    """Print a sentence in lines of the report's width."""
    for line in _wrapped(text, width_of(console), style, "  "):
        console.print(line, soft_wrap=True, highlight=False)


def _step(view: StepView, missing: Collection[str], width: int, *, ascii_only: bool) -> Iterator[Text]:
    """A step. Why an engine is missing altogether stands once, at the end."""
    yield Text()
    yield from _wrapped(view.step.title, width, "bold")
    yield from _wrapped(f"  {finding(view)}", width, "", "  ")
    measure = view.measure + (" (log scale)" if view.wide else "")
    heading = "harness" if any(line.share for line in view.lines) else ""
    *full, last = textwrap.wrap(measure, width - 2 - len(heading) - bool(heading))
    yield from (Text(f"  {line}", style="dim") for line in full)
    yield Text(f"  {last:<{width - 2 - len(heading)}}{heading}".rstrip(), style="dim")
    names = max((len(_name(line)) for line in (*view.lines, *view.failed)), default=4)
    values = max((len(line.value) for line in view.lines if not line.withheld), default=1)
    intervals = max((len(line.interval) for line in view.lines), default=0)
    shares = max((len(line.share) for line in view.lines), default=0)
    ranks = max(3, *(len(line.rank) for line in view.lines)) if view.lines else 3
    marks = max(3, *(len(_mark(line)) for line in view.lines)) if view.lines else 3
    bar_width = width - ranks - 1 - names - 2 - values - marks - 1 - intervals - 1 - 8 - shares - bool(shares)
    if bar_width < _LEAST_BAR:  # how sure a figure is gives way to the figure
        bar_width, intervals, shares = bar_width + intervals + 1 + shares + bool(shares), 0, 0
    bar_width = bar_width if bar_width >= _LEAST_BAR else 0
    scale = _Scale.of(view)
    for line in view.lines:
        if line.withheld:
            start = f"{line.rank:>{ranks}} {_name(line):<{names}} "
            yield from _wrapped(f"{start}{line.value}{_mark(line)}", width, "dim", " " * len(start))
            continue
        bar = scale.bar(line.row.value or 0, bar_width, ascii_only=ascii_only)
        text = Text(f"{line.rank:>{ranks}} {_name(line):<{names}} ")
        if bar_width:
            text.append(f"{bar:<{bar_width}}", style="blue")
        text.append(f" {line.value:>{values}}", style="bold")
        text.append(f"{_mark(line):<{marks}}{f' {line.interval:>{intervals}}' if intervals else ''}", style="dim")
        text.append(f" {line.ratio:>8}")
        if shares:
            text.append(f" {line.share:>{shares}}", style="dim")
        yield text
    for line in view.failed:
        mark = "" if line.row.engine in missing else _mark(line)
        yield Text(f"{'':{ranks}} {_name(line):<{names}} {line.value}{mark}", style="red")
    if view.rank_note:
        yield from _wrapped(f"  {view.rank_note}", width, "dim", "  ")
    if view.details:
        table = [("", view.details), *((line.row.engine, line.details) for line in view.lines if line.details)]
        yield from (Text(text, style="dim") for text in _table(table, width))
    elsewhere = {line.mark for line in view.failed if line.row.engine in missing}
    elsewhere -= {line.mark for line in (*view.lines, *view.failed) if line.row.engine not in missing}
    for number, note in enumerate(view.footnotes, 1):
        if str(number) in elsewhere:
            continue
        yield from _wrapped(f"  [{number}] {note}", width, "dim", "      ")
    if note := view.harness_note():
        yield from _wrapped(f"  {note}", width, "dim", "  ")


def _table(rows: Sequence[tuple[str, Sequence[str]]], width: int) -> Iterator[str]:
    """Names with their figures, without empty columns; in several tables where one would be too wide."""
    columns = [column for column in zip(*(cells for _, cells in rows), strict=True) if any(column[1:])]
    names = max(len(name) for name, _ in rows)
    widths = [max(map(len, column)) for column in columns]
    gap = "  " if 4 + names + sum(width + 2 for width in widths) <= width else " "
    for fitting_columns in _fitting(widths, width - 4 - names):
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


def _overall(scenario: ScenarioView, width: int) -> Iterator[Text]:
    yield Text()
    yield from _wrapped("Overall: geometric mean of the ratios to the best, and what a trial used", width, "bold")
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
                    f"×{times(item.mean_ratio)}" if item.mean_ratio else "-",
                    "" if item.low is None or item.high is None else f"{times(item.low)} to {times(item.high)}",
                    "as null" if mine and mine.peak_memory == 0 else _amount("B", mine.peak_memory if mine else None),
                    _amount("s", mine.cpu_seconds if mine else None),
                    _amount("B", mine.written_bytes if mine else None),
                    duration(mine.seconds) if mine and mine.seconds else "-",
                ),
            )
        )
    for number, text in enumerate(_table(table, width)):
        yield Text(text, style="dim" if not number else "")
    yield Text()


def _amount(base: str, value: float | None) -> str:
    return "-" if value is None else amount(base, value)


@dataclass(frozen=True)
class _Scale:
    """Length of a bar. On a logarithmic scale it is a line with a point at its end, as its length has no meaning."""

    least: float
    greatest: float
    wide: bool

    @classmethod
    def of(cls, view: StepView) -> Self:
        """The scale of a step's figures."""
        known = [line.row.value for line in view.lines if line.row.value]
        return cls(min(known, default=0), max(known, default=0), view.wide)

    def bar(self, value: float, width: int, *, ascii_only: bool) -> str:
        if not value or not self.greatest:
            return ""
        if self.wide:
            # All figures can be the same, on such a scale for the sake of an interval.
            span = math.log(self.greatest / self.least)
            share = math.log(value / self.least) / span if span else 1.0
            line, point = ("-", "o") if ascii_only else ("─", "●")
            return f"{line * round(share * (width - 1))}{point}"
        share = value / self.greatest
        if ascii_only:
            return "#" * round(share * width)
        eighths = max(round(share * width * 8), 1)
        return "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()


def _name(line: Line) -> str:
    return f"{line.row.engine}, {line.tier}" if line.tier else line.row.engine


def _mark(line: Line) -> str:
    return f"[{line.mark}]" if line.mark else ""
