"""A card for a link or a post, 1200 by 630 pixels: what was found, with ratios and sizes, machine and date."""

from collections.abc import Sequence
from dataclasses import replace

from dbbench.report.charts.axis import fitting_axis
from dbbench.report.charts.bars import ARROW_NOTE, bar, bars
from dbbench.report.charts.layout import CAPTION, MARGIN, NAME, SMALL, SUBTITLE, TITLE, Frame, Look
from dbbench.report.charts.measure import widest, wrap
from dbbench.report.charts.rows import Row, marks, placed
from dbbench.report.charts.scene import PITCH, Box, Scene
from dbbench.report.run_view import View
from dbbench.report.step_view import StepView, times
from dbbench.report.verdict import Win, apart, conclusion, finding, means, overall, smallest, wins

#: What sites ask for, in pixels.
WIDTH, HEIGHT = 1200, 630
#: The most bars, and the most of sizes; the ones after are counted.
_MOST, _SIZES = 8, 3
#: Pixels that it is laid out in: one and a half dots each.
_ACROSS, _DOWN = 800.0, 420.0
_INSIDE = _ACROSS - 2 * MARGIN
#: Where its two columns part, and the space between them.
_HALF, _GAP = 424.0, 28.0
#: Beyond this ratio of the worst to the best an axis is logarithmic: half a card is narrow.
_WIDE = 20
#: The greatest height of a row; a bar takes six tenths.
_ROW = 110.0


def card(shown: View, look: Look) -> Scene | None:
    """A card of the whole answer; of one step, where only one compares engines; None without a figure."""
    steps = [step for scenario in shown.scenarios for step in scenario.steps if step.lines]
    fills = {name for scenario in shown.scenarios for name in scenario.fills}
    timed = [step for step in steps if not step.counted and step.step.name not in fills and finding(step)]
    known = [(item.engine, item.title, mean) for item, mean in means(shown) if mean]
    if len(timed) > 1 and len(known) > 1:
        return _answer(shown, len(timed), sorted(known, key=lambda each: each[2]), look)
    asked = (step for step in timed if step.step.kind != "load")
    chosen = next(asked, next(iter((*timed, *steps)), None))
    if chosen is None:
        return None
    step = replace(chosen, lines=chosen.lines[:_MOST], failed=(*chosen.lines[_MOST:], *chosen.failed))
    return _one_step(shown, step, finding(chosen), look)


def _answer(shown: View, count: int, known: Sequence[tuple[str, str, float]], look: Look) -> Scene:
    """The mean of each engine at the left; at the right the winners of steps, and the smallest databases."""
    scene = Scene(_ACROSS, _DOWN, overall(shown), conclusion(shown))
    hidden = _not_compared(shown)
    lacking = [item.title for item, mean in means(shown) if not mean and item.engine not in hidden]
    notes = (
        apart(shown),
        _further(len(known) - _MOST),
        f"Without a figure in every step: {', '.join(lacking)}." if lacking else "",
    )
    top, bottom = _frame(shown, scene, overall(shown), f"{shown.title}: {count} timed steps", notes)
    right = Frame(_HALF + _GAP, top, _ACROSS - MARGIN, bottom)
    ratios = [(title, look.colour(engine), mean, f"{times(mean)}×") for engine, title, mean in known[:_MOST]]
    _panel(scene, "Mean multiple of each step's best", ratios, Frame(MARGIN, top, _HALF, bottom))
    found = smallest(shown)
    sizes = []
    if found:
        step, lines = found
        sizes = [
            (line.row.title, look.colour(line.row.engine), line.row.value or 0.0, step.unit.text(line.row.value or 0))
            for line in lines[:_SIZES]
        ]
    colours = {title: look.colour(engine) for engine, title, _ in known}
    room = right.bottom - right.top - (26.0 + 24.0 * len(sizes) if sizes else 0)
    y = _winners(scene, shown, count, colours, replace(right, bottom=right.top + room))
    if found:
        _panel(
            scene,
            f"Smallest: {found[0].step.title}",
            sizes,
            replace(right, top=y, bottom=min(bottom, y + 24 + 70 * len(sizes))),
        )
    return scene


def _further(engines: int) -> str:
    """Note on engines for which there is no room."""
    return f"{engines} more engine{'s are' if engines > 1 else ' is'} not shown." if engines > 0 else ""


def _not_compared(shown: View) -> set[str]:
    """Engines with figures that are withheld, or that aren't ranked with the others."""
    steps = [step for scenario in shown.scenarios for step in scenario.steps if not step.counted]
    return {name for scenario in shown.scenarios for name in scenario.withheld} | {
        line.row.engine for step in steps for line in step.lines if line.row.apart
    }


def _panel(scene: Scene, head: str, figures: Sequence[tuple[str, str, float, str]], frame: Frame) -> None:
    """A heading, and bars of (title, colour, value, text) that fill the frame as far as rows may grow."""
    values = [value for _, _, value, _ in figures]
    logarithmic = max(values) > _WIDE * min(values) > 0
    head += " (logarithmic axis)" if logarithmic else ""
    inside = frame.right - frame.left
    top = scene.text(frame.left, frame.top + SMALL, wrap(head, SMALL, inside, lines=1), SMALL, "grey") - 4
    height = min(_ROW, (frame.bottom - top) / len(figures))
    names, most = [title for title, *_ in figures], inside * 0.44
    size = NAME if widest(names, NAME) <= most and height > NAME * PITCH else SMALL
    room, figure = min(widest(names, size), most), widest([text for *_, text in figures], size)
    axis = fitting_axis(values, logarithmic=logarithmic, beyond=1.0)
    plot = replace(frame, left=frame.left + room + 10, right=frame.right - figure - 10)
    for place, (title, ink, value, text) in enumerate(figures):
        middle = top + (place + 0.5) * height
        lines = wrap(title, size, room, lines=2 if height >= 2 * size * PITCH - 1 else 1)
        scene.level(frame.left + room, middle, lines, size, anchor="end")
        marks(scene, bar(Row(title, ink), value, axis), axis, plot, middle, height * 0.6)
        scene.level(frame.right, middle, [text], size, anchor="end")


def _winners(scene: Scene, shown: View, count: int, colours: dict[str, str], frame: Frame) -> float:
    """Draw who was fastest in which of `count` steps; where that ends."""
    found = wins(shown.scenarios)
    if not found:
        return frame.top
    inside, y = frame.right - frame.left, frame.top + SMALL * PITCH + 4
    size, pitch, parts = _fitted(found, count, inside - 18, frame.bottom - y)
    fitting = 0
    for win, (heads, steps) in zip(found, parts, strict=True):
        if y + (len(heads) + len(steps)) * pitch > frame.bottom:
            break
        ink = colours.get(win.titles[0], "grey") if len(win.titles) == 1 else "grey"
        scene.marks.append(Box(frame.left, y + size * 0.28, 10, 10, ink))
        for line, lead in (*((head, "") for head in heads), *steps):
            scene.text(frame.left + 18, y + size, [line], size, bold=line in heads)
            scene.text(frame.right, y + size, [lead], size, anchor="end")
            y += pitch
        y, fitting = y + 6, fitting + 1
    part = f" ({fitting} of {len(found)} winners and ties)" if fitting < len(found) else ""
    words = wrap(f"Best by step, with the lead{part}", SMALL, inside, lines=1)
    scene.text(frame.left, frame.top + SMALL, words, SMALL, "grey")
    return y


#: For each winner its lines, and those of its steps, each with the lead that stands at its end.
_Parts = list[tuple[list[str], list[tuple[str, str]]]]


def _fitted(found: Sequence[Win], count: int, inside: float, room: float) -> tuple[float, float, _Parts]:
    """The size of letters, the pitch of lines, and the lines: each step has one, or they are joined where they must."""
    steps = [[(step.step.name.replace("-", " "), lead) for _, step, lead in win.steps] for win in found]
    joined = [[(", ".join(" ".join(filter(None, each)) for each in mine), "")] for mine in steps]
    # Steps, the size of letters, and the most lines of a winner and of its steps.
    layouts = [(steps, size, 2, 99) for size in (16.0, 15.0, 14.0, 13.0, SMALL)]
    layouts += [(joined, size, 2, 99) for size in (15.0, 14.0, 13.0, SMALL)]
    layouts += [(joined, SMALL, head, most) for head, most in ((2, 4), (2, 3), (2, 2), (2, 1), (1, 1))]
    for entries, size, head, most in layouts:
        parts = [
            (
                wrap(f"{win.words}: {len(win.steps)} of {count}", size, inside, bold=True, lines=head),
                [(line, lead) for name, lead in mine for line in wrap(name, size, inside, lines=most)],
            )
            for win, mine in zip(found, entries, strict=True)
        ]
        needed = sum(len(heads) + len(rest) for heads, rest in parts) * size * PITCH
        left = room - needed - 6 * len(found)
        if left >= 0:
            return size, size * PITCH * (min(1.5, 1 + left / needed) if entries is steps else 1), parts
    return SMALL, SMALL * PITCH, parts


def _frame(
    shown: View, scene: Scene, title: str, what: str, notes: Sequence[str], *, below: float = 0.0
) -> tuple[float, float]:
    """Draw title, subtitle and the notes of a picture that is shared alone; the top and bottom of what is left."""
    manifest = shown.run.manifest
    lines = wrap(title.removesuffix(".") or shown.title, TITLE, _INSIDE, bold=True, lines=3)
    y = scene.text(MARGIN, MARGIN + 16, lines, TITLE, bold=True)
    y = scene.text(MARGIN, y, wrap(what, SUBTITLE, _INSIDE, lines=2), SUBTITLE, "grey")
    many = len(shown.warnings)
    notes = [*notes, f"{many} warning{'s' if many > 1 else ''}: see the page." if many else "", *shown.conditions]
    where = f"dbbench {manifest.dbbench} · {manifest.created:%d %B %Y} · {shown.machine}"
    # What publishing asks for has to be there whole.
    most = 9 if shown.published else 2
    foot = [*wrap(" ".join(filter(None, notes)), CAPTION, _INSIDE, lines=most), *wrap(where, CAPTION, _INSIDE, lines=2)]
    bottom = _DOWN - 12 - len(foot) * CAPTION * PITCH
    scene.text(MARGIN, bottom + CAPTION, foot, CAPTION, "grey")
    return y - 2, bottom - 10 - below


def _one_step(shown: View, step: StepView, found: str, look: Look) -> Scene:
    """The conclusion, the bars of a step in the remaining space, and the required notes below."""
    logarithmic = step.wide
    what = f"{shown.title} · {step.step.title}: {step.measure}{' (logarithmic axis)' if logarithmic else ''}"
    scene = Scene(_ACROSS, _DOWN, found or shown.title, what)
    failed = [line.row.title for line in step.failed if not line.row.measured]
    notes = (
        ARROW_NOTE if step.mixed else "",
        _further(len(step.failed) - len(failed)),
        f"Without a figure: {', '.join(failed)}." if failed else "",
    )
    top, bottom = _frame(shown, scene, found, what, notes, below=24)
    chart = bars(replace(step, failed=()), "logarithmic" if logarithmic else "linear", look)
    rows = [replace(row, title=wrap(row.title, 14, 250, lines=1)[0], cells=_cells(row.cells, line.row.verified))
            for row, line in zip(chart.rows, step.lines, strict=True)]  # fmt: skip
    heads = [head.replace("\n", " ") for head in chart.heads]
    placed(replace(chart, rows=rows, heads=heads), scene, top - 8, _ACROSS, height=bottom - top)
    return scene


def _cells(cells: Sequence[str], verified: bool) -> list[str]:
    """The figure without its footnotes' numbers, which have no footnotes here, and the ratio."""
    if not cells:
        return []
    figure = cells[0].rstrip("⁰¹²³⁴⁵⁶⁷⁸⁹,")
    return [figure if verified else f"{figure}, not verified", *cells[1:]]
