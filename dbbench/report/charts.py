"""Charts as SVG and PNG. Colours are Okabe and Ito's, which the colour-blind tell apart."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator
from matplotlib.transforms import blended_transform_factory

from dbbench.report.view import Line, ScenarioView, StepView, View
from dbbench.suite import Bars, Overview, SizeChart

BLUE, SKY, ORANGE, GREY, INK, FAINT = "#0072B2", "#56B4E9", "#E69F00", "#6b6b6b", "#1a1a1a", "#d9d9d9"
STYLE: Any = {
    "font.family": ["DejaVu Sans"],
    "font.size": 10,
    "svg.hashsalt": "dbbench",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,
    "text.color": INK,
    "axes.labelcolor": INK,
    "text.parse_math": False,
}
WIDTH = 8.0
ROW, BAR = 0.42, 0.62
MARGIN = 0.2
#: Beyond this ratio of worst to best an "auto" axis is logarithmic.
WIDE_RANGE = 100


def draw(shown: View, folder: Path, formats: Sequence[str]) -> list[str]:
    """Draw every chart that the suite asks for; the stems of the files, in order."""
    stems = []
    with mpl.rc_context(STYLE):
        for scenario in shown.scenarios:
            for stem, figure in _figures(shown, scenario):
                _save(figure, folder / stem, formats)
                stems.append(stem)
    return stems


def stem(scenario: ScenarioView, name: str) -> str:
    """The file name of a chart without its ending."""
    return f"{scenario.scenario.name}-{name}"


def _figures(shown: View, scenario: ScenarioView) -> Iterator[tuple[str, Figure]]:
    caption = shown.caption(scenario.scenario)
    there = [view.step.name for view in scenario.steps]
    for chart in scenario.charts:
        match chart:
            case Overview():
                yield stem(scenario, "overview"), _overview(shown, scenario, caption)
            case Bars(steps=steps, axis=axis):
                for name in steps or [view.step.name for view in scenario.steps if view.step.kind != "size"]:
                    if name in there:
                        yield stem(scenario, name), _bars(scenario.step(name), axis, caption)
            case SizeChart(step=name) if name in there:
                yield stem(scenario, name), _sizes(scenario.step(name), scenario.csv_bytes, caption)


def _save(figure: Figure, path: Path, formats: Sequence[str]) -> None:
    if "png" in formats:
        FigureCanvasAgg(figure).print_png(path.with_suffix(".png"), pil_kwargs={"compress_level": 3})
    if "svg" in formats:
        FigureCanvasSVG(figure).print_svg(path.with_suffix(".svg"), metadata={"Date": None})


class _Sheet:
    """A figure laid out in inches from the top: title, subtitle, axes, footnotes, caption."""

    def __init__(
        self,
        title: str,
        subtitle: str,
        rows: float,
        footnotes: Sequence[str],
        caption: str,
        left: float,
        axis: float = 0.3,
    ) -> None:
        titles = textwrap.wrap(title, 74)
        subtitles = textwrap.wrap(subtitle, 108)
        notes = [line for note in footnotes for line in textwrap.wrap(note, 112, subsequent_indent="   ")]
        captions = textwrap.wrap(caption, 124)
        height = 0.16 + 0.26 * len(titles) + 0.2 * len(subtitles) + 0.12 + rows * ROW + axis
        height += 0.1 * bool(notes) + 0.17 * len(notes) + 0.12 + 0.15 * len(captions) + 0.1
        self.figure = Figure(figsize=(WIDTH, height), dpi=150, facecolor="white")
        self.height = height
        y = 0.16
        y = self._texts(titles, y, 0.26, size=13, weight="bold")
        y = self._texts(subtitles, y, 0.2, size=9, color=GREY) + 0.12
        box = (left / WIDTH, 1 - (y + rows * ROW) / height, (WIDTH - left - MARGIN) / WIDTH, rows * ROW / height)
        self.axes: Axes = self.figure.add_axes(box)
        y += rows * ROW + axis + 0.1 * bool(notes)
        y = self._texts(notes, y, 0.17, size=8, color=INK) + 0.12
        self._texts(captions, y, 0.15, size=6.8, color=GREY)

    def _texts(self, lines: Sequence[str], y: float, step: float, **style: Any) -> float:
        for line in lines:
            self.figure.text(MARGIN / WIDTH, 1 - y / self.height, line, va="top", ha="left", **style)
            y += step
        return y


def _bars(view: StepView, axis: str, caption: str) -> Figure:
    """One step: a bar for each engine with its interval, the failed ones named under them."""
    lines, values = view.lines, [line.row.value or 0.0 for line in view.lines]
    shown = [value / view.unit.size for value in values]
    positive = [value for value in shown if value > 0]
    wide = bool(positive) and max(positive) / min(positive) > WIDE_RANGE
    logarithmic = bool(positive) and (axis == "logarithmic" or (axis == "auto" and wide))
    subtitle = view.measure + (" (logarithmic axis)" if logarithmic else "")
    notes = [f"{_superscript(str(number))} {note}" for number, note in enumerate(view.footnotes, 1)]
    if view.harness:
        notes.append(view.harness[0].upper() + view.harness[1:] + ".")
    sheet = _Sheet(view.step.title, subtitle, _rows(view), notes, caption, _label_width(view))
    axes = sheet.axes
    if logarithmic:
        axes.set_xscale("log")
        axes.set_xlim(min(positive) / 1.8, max(positive) * 4)
        axes.hlines(range(len(shown)), min(positive) / 1.8, shown, color=FAINT, linewidth=1)
        axes.plot(shown, range(len(shown)), "o", color=BLUE, markersize=8)
    else:
        axes.barh(range(len(shown)), shown, BAR, color=BLUE)
        axes.set_xlim(0, max(_ends(view), default=1.0) * 1.3 or 1)
        axes.xaxis.set_major_locator(MaxNLocator(6))
    for place, line in enumerate(lines):
        row = line.row
        end = shown[place]
        if row.low is not None and row.high is not None:
            low, high = row.low / view.unit.size, row.high / view.unit.size
            axes.plot([low, high], [place, place], color=INK, linewidth=1.4, solid_capstyle="butt")
            axes.plot(
                [low, low, np.nan, high, high],
                [place - 0.12, place + 0.12, np.nan, place - 0.12, place + 0.12],
                color=INK,
                linewidth=1.4,
            )
            end = max(end, high)
        _label(
            axes,
            end,
            place,
            f"{line.value} {view.unit.symbol}{_superscript(line.mark)}",
            f"  {line.ratio}" if place else "",
        )
    _failed(axes, view)
    _dress(sheet, view)
    return sheet.figure


def _sizes(view: StepView, csv_bytes: int | None, caption: str) -> Figure:
    """Sizes in parts, with the CSV files' size as a line."""
    notes = [f"{_superscript(str(number))} {note}" for number, note in enumerate(view.footnotes, 1)]
    parts = [_parts(line) for line in view.lines]
    unit = view.unit
    subtitle = f"{view.measure}; all files after a flush"
    sheet = _Sheet(view.step.title, subtitle, _rows(view), notes, caption, _label_width(view), axis=0.62)
    axes = sheet.axes
    left = np.zeros(len(parts))
    for name, colour in (("data", BLUE), ("index", SKY), ("journal", ORANGE), ("other", FAINT)):
        widths = np.array([part.get(name, 0.0) for part in parts]) / unit.size
        if widths.any():
            text = {"data": "data, indexes included where not apart", "index": "indexes"}.get(name, name)
            axes.barh(range(len(parts)), widths, BAR, left=left, color=colour, label=text)
        left = left + widths
    for place, line in enumerate(view.lines):
        _label(
            axes,
            left[place],
            place,
            f"{line.value} {unit.symbol}{_superscript(line.mark)}",
            f"  {line.ratio}" if place else "",
        )
    greatest = max([*left, (csv_bytes or 0) / unit.size], default=1.0)
    axes.set_xlim(0, greatest * 1.3 or 1)
    axes.xaxis.set_major_locator(MaxNLocator(6))
    if csv_bytes:
        axes.axvline(
            csv_bytes / unit.size,
            color=INK,
            linestyle=(0, (4, 3)),
            linewidth=1.2,
            label=f"as CSV: {unit.text(csv_bytes)}",
        )
    _failed(axes, view)
    _dress(sheet, view)
    if view.lines:
        below = -0.3 / (_rows(view) * ROW)  # 0.3 inches under the axis
        axes.legend(
            loc="upper right",
            bbox_to_anchor=(1.02, below),
            ncols=5,
            fontsize=8,
            frameon=False,
            columnspacing=1.4,
            handlelength=1.6,
        )
    return sheet.figure


def _overview(shown: View, scenario: ScenarioView, caption: str) -> Figure:
    """Every engine and step as a multiple of the step's best, with the figure itself under it."""
    steps = scenario.steps
    engines = scenario.standings
    subtitle = (
        "Multiple of the step's best, with the figure under it; engines by the geometric mean over the timed steps. "
        "Darker is further behind."
    )
    rows = max(len(engines), 1)
    left = 0.35 + max((len(item.title) for item in engines), default=10) * 0.078
    sheet = _Sheet(f"{shown.title}: overview", subtitle, rows + 0.9, [], caption, left, axis=0.05)
    axes = sheet.axes
    columns = len(steps) + 1
    colours = mpl.colormaps["Blues"]
    for place, standing in enumerate(engines):
        y = place + 0.9
        mean = standing.mean_ratio
        axes.text(0.5, y + 0.5, f"×{mean:.2f}" if mean else "–", ha="center", va="center", fontsize=9, weight="bold")
        for column, step in enumerate(steps, 1):
            row = standing.rows.get(step.step.name)
            if row is None:
                continue
            shade = 0.0 if row.ratio is None else min(np.log10(row.ratio) / 2, 1) * 0.75
            colour = colours(shade) if row.ratio else "white"
            axes.add_patch(
                mpl.patches.Rectangle((column + 0.02, y + 0.03), 0.96, 0.94, facecolor=colour, edgecolor="none")
            )
            ink = "white" if shade > 0.6 else INK
            if row.value is None:
                axes.text(
                    column + 0.5,
                    y + 0.5,
                    _two_lines(str(row.outcome)),
                    ha="center",
                    va="center",
                    fontsize=7.5,
                    color=GREY,
                    style="italic",
                )
                continue
            ratio = f"×{row.ratio:.2f}" if row.ratio and row.ratio < 10 else f"×{row.ratio:,.0f}" if row.ratio else ""
            axes.text(column + 0.5, y + 0.34, ratio, ha="center", va="center", fontsize=8.5, color=ink)
            axes.text(
                column + 0.5, y + 0.72, step.unit.text(row.value), ha="center", va="center", fontsize=6.8, color=ink
            )
    for column, name in enumerate(["mean", *(step.step.name for step in steps)]):
        axes.text(
            column + 0.5,
            0.45,
            _two_lines(name.replace("-", " ")),
            ha="center",
            va="center",
            fontsize=8,
            weight="bold" if not column else "normal",
        )
    axes.set_xlim(0, columns)
    axes.set_ylim(rows + 0.9, 0)
    for place, item in enumerate(engines):
        axes.text(-0.1, place + 1.4, item.title, ha="right", va="center")
    axes.set_xticks([])
    axes.set_yticks([])
    axes.spines["bottom"].set_visible(False)
    return sheet.figure


def _two_lines(text: str) -> str:
    words = text.split()
    return text if len(words) < 2 else f"{words[0]}\n{' '.join(words[1:])}"


def _parts(line: Line) -> dict[str, float]:
    """Bytes of a size's parts; the index, where it is known, is taken out of the data."""
    facts = line.row.facts or {}
    parts: dict[str, float] = {}
    for file in facts.get("files", []):
        parts[file["part"]] = parts.get(file["part"], 0) + file["apparent"]
    index = facts.get("index")
    if index:
        parts["index"] = index
        parts["data"] = parts.get("data", 0) - index
    return parts


def _rows(view: StepView) -> float:
    return max(len(view.lines) + len(view.failed), 1)


def _ends(view: StepView) -> list[float]:
    return [max(line.row.value or 0, line.row.high or 0) / view.unit.size for line in view.lines]


def _label_width(view: StepView) -> float:
    """Inches for the ranks and names on the left."""
    longest = max((len(line.row.title) for line in (*view.lines, *view.failed)), default=10)
    ranks = max((len(line.rank) for line in view.lines), default=0)
    return 0.35 + (longest + 2 * ranks) * 0.082


_BACKGROUND = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}


def _label(axes: Axes, x: float, y: float, text: str, faint: str) -> None:
    """A value beside the end of its bar, and its ratio after it."""
    note = axes.annotate(
        text, (x, y), (6, 0), textcoords="offset points", va="center", ha="left", fontsize=9, bbox=_BACKGROUND
    )
    if faint:
        axes.annotate(
            faint,
            (1, 0.5),
            (0, 0),
            xycoords=note,
            textcoords="offset points",
            va="center",
            fontsize=8,
            color=GREY,
            bbox=_BACKGROUND,
        )


def _failed(axes: Axes, view: StepView) -> None:
    for place, line in enumerate(view.failed, len(view.lines)):
        text = f"{line.value}{_superscript(line.mark)}"
        axes.annotate(
            text,
            (0, place),
            (6, 0),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            va="center",
            fontsize=9,
            color=GREY,
            style="italic",
        )


def _dress(sheet: _Sheet, view: StepView) -> None:
    """Names on the left, a light grid, no frame."""
    axes = sheet.axes
    lines = (*view.lines, *view.failed)
    axes.set_ylim(_rows(view) - 0.5, -0.5)
    axes.set_yticks(range(len(lines)), [line.row.title for line in lines])
    ranks = blended_transform_factory(sheet.figure.transFigure, axes.transData)
    for place, line in enumerate(lines):
        axes.text(MARGIN / WIDTH, place, line.rank, transform=ranks, va="center_baseline", ha="left")
    axes.tick_params(axis="y", length=0)
    axes.tick_params(axis="x", labelsize=8, colors=GREY)
    axes.xaxis.set_major_formatter(FuncFormatter(_tick))
    axes.grid(axis="x", color=FAINT, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines["bottom"].set_color(FAINT)
    if not view.lines:
        axes.set_xticks([])
    for tick, line in zip(axes.get_yticklabels(), lines, strict=True):
        tick.set_color(INK if line.row.value is not None else GREY)


def _tick(value: float, place: int) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:g}"


def _superscript(number: str) -> str:
    return number.translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
