"""What processes used over the seconds of a step: a curve for each, in a picture with a part for each kind of use."""

from collections.abc import Mapping
from itertools import pairwise

from dbbench.report.charts.axis import Axis, fitting_axis
from dbbench.report.charts.layout import Look, Sheet, Texts
from dbbench.report.charts.plot import MOST, Curve, Plot, on_sheet, shapes
from dbbench.report.charts.scene import Scene
from dbbench.results.trial_files import Sample, Watched

#: What is drawn: a field of `Sample`, what its figures are divided by, and the heading. Memory is no rate.
_PARTS = (
    ("cpu", 1.0, "processors used"),
    ("read", 1e6, "MB read from storage per second"),
    ("written", 1e6, "MB written to storage per second"),
    ("faults", 1.0, "page faults per second"),
    ("switches", 1.0, "waits (voluntary context switches) per second"),
    ("memory", 2**20, "memory held, MiB"),
)
_HEIGHT, _BETWEEN = 90.0, 52.0
#: Seconds between looks that say nothing of a rate.
_CLOSE = 0.1


def use(title: str, watched: Mapping[str, Watched], look: Look) -> Scene:
    """The picture of what the processes of some engines used: those that computed most, where there are many."""
    curves = _curves(watched)
    shown = sorted(curves, key=lambda name: -(curves[name][0][-1].cpu - curves[name][0][0].cpu))
    notes = [f"Not drawn: {', '.join(shown[MOST:])}."] if shown[MOST:] else []
    shown = shown[:MOST]
    sheet = Sheet(Texts(title, "looked at twice a second", notes), look)
    engines = {name: curves[name][1] for name in shown}
    shape = shapes(shown, engines, look)
    x = Axis(0, max((each.samples[-1].at for each in watched.values() if each.samples), default=1.0) or 1.0)
    for field, size, heading in _PARTS:
        points = {name: _points(curves[name][0], field, size) for name in shown}
        y = fitting_axis([value for mine in points.values() for _, value in mine], logarithmic=False)
        drawn = [
            Curve(name, look.colour(engines[name]), shape[name], mine, dotted=len(mine) < 40)
            for name, mine in points.items()
            if mine
        ]
        ticks = [(each, f"{each:g}") for each in x.ticks(10)] if field == _PARTS[-1][0] else []
        plot = Plot(drawn, x, y, ticks, heading, below="seconds from the start" if ticks else "")
        sheet.y = on_sheet(plot, sheet, shown, _HEIGHT, 26).bottom + _BETWEEN - 26
    sheet.y += 24
    return sheet.finished()


def _curves(watched: Mapping[str, Watched]) -> dict[str, tuple[list[Sample], str]]:
    """Engine and process -> its samples, and the engine."""
    found: dict[str, tuple[list[Sample], str]] = {}
    for engine, each in watched.items():
        for process, name in each.names.items():
            mine = [sample for sample in each.samples if sample.process == process]
            title = f"{engine} {name}"
            if mine:
                found[title if title not in found else f"{title} {process}"] = mine, engine
    return found


def _points(samples: list[Sample], field: str, size: float) -> list[tuple[float, float]]:
    """Places of a curve; a rate stands at the end of the time that it is of."""
    if field == "memory":
        return [(each.at, each.memory / size) for each in samples]
    values = [(each.at, getattr(each, field)) for each in samples]
    return [
        (now, max(0.0, (value - before) / size / (now - then)))
        for (then, before), (now, value) in pairwise(values)
        if value is not None and before is not None and now - then > _CLOSE
    ]
