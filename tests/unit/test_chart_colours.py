"""One engine has one colour in all charts of a report; what the colours mean is said; pictures are as matplotlib draws them."""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PathCollection, PolyCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from dbbench.report.charts.canvas import Canvas
from dbbench.report.charts.draw import figures
from dbbench.report.charts.layout import STYLE
from dbbench.report.charts.palette import COLOURS, ON_DARK, engine_colours
from dbbench.report.run_view import View, view
from tests.fabricated import Fake, fabricate

ENGINES = {
    "a": Fake("A", {"bulk-insert": 1.0, "join-1": 3.0, "insert-1": 900.0}),
    "b": Fake("B", {"bulk-insert": 2.0, "join-1": 1.0}, gives="batches"),
    "c": Fake("C", 3.0, size=9e6),
}


def drawn(shown: View) -> dict[str, Figure]:
    with mpl.rc_context(STYLE):
        return dict(figures(shown, shown.scenarios[0]))


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> View:
    return view(fabricate(tmp_path_factory.mktemp("colours") / "run", ENGINES, rounds=6))


def colours_by_row(figure: Figure) -> dict[int, set[str]]:
    """Row -> the colours of what is drawn in it, but white."""
    found: dict[int, set[str]] = {}
    for part in figure.axes[0].collections:
        edges, faces = part.get_edgecolor(), part.get_facecolor()
        if isinstance(part, PolyCollection):
            rows = [round(float(path.vertices[:4, 1].mean())) for path in part.get_paths()]
        elif isinstance(part, PathCollection):
            rows = [round(float(y)) for _, y in part.get_offsets()]
            faces = edges
        else:
            continue
        for place, row in enumerate(rows):
            found.setdefault(row, set()).add(to_hex(faces[place % len(faces)]))
    return {row: found[row] - {"#ffffff"} for row in found}


def test_an_engine_has_its_colour_in_each_chart_wherever_it_stands(shown: View) -> None:
    charts, colours = drawn(shown), engine_colours(shown)
    assert len({*colours.values()}) == 3
    orders = set()
    for step in shown.scenarios[0].steps:
        assert {
            line.row.engine: colours_by_row(charts[f"invoices-{step.step.name}"])[row]
            for row, line in enumerate(step.lines)
        } == {engine: {colour} for engine, colour in colours.items()}, step.step.name
        orders.add(tuple(line.row.engine for line in step.lines))
    assert len(orders) > 1


def test_the_page_has_the_same_colours_for_the_same_engines() -> None:
    style = resources.files("dbbench.report").joinpath("templates", "page.css").read_text("utf-8")
    named = re.findall(r"--c(\d): (#[0-9a-f]{6});", style)
    assert [colour for _, colour in sorted(named[:8])] == [*COLOURS]
    assert [colour for _, colour in sorted(named[8:])] == [*ON_DARK]


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.findobj(mpl.text.Text)]


def test_what_the_ratios_are_stands_over_them(shown: View, tmp_path: Path) -> None:
    charts = drawn(shown)
    assert {"times slower", "than best"} <= {*texts(charts["invoices-join-1"])}
    assert "times larger" in texts(charts["invoices-database-size"])
    alone = drawn(view(fabricate(tmp_path / "run", {"a": Fake("A")}, rounds=1)))
    assert "than best" not in texts(alone["invoices-join-1"])


def test_arrow_batches_are_hatched_or_hollow(shown: View) -> None:
    charts = drawn(shown)
    hatches = [part.get_hatch() for part in charts["invoices-join-1"].axes[0].collections]
    assert "////" in hatches
    assert any("Hatched or hollow: Arrow" in text for text in texts(charts["invoices-join-1"]))
    assert "////" not in [part.get_hatch() for part in charts["invoices-bulk-insert"].axes[0].collections]


def test_data_with_the_indexes_in_it_are_hatched(tmp_path: Path) -> None:
    def unknown(result: dict[str, Any]) -> None:
        for step in result["steps"]:
            if step["name"] == "database-size" and result["engine_name"] == "b":
                del step["facts"]["index"]

    figure = drawn(view(fabricate(tmp_path / "run", ENGINES, rounds=1, change=unknown)))["invoices-database-size"]
    (hatched,) = [part for part in figure.axes[0].collections if part.get_hatch()]
    assert len(hatched.get_paths()) == 1
    assert {"data", "data with indexes", "indexes"} <= {*texts(figure)}


@pytest.mark.parametrize("stem", ["invoices-join-1", "invoices-overview"])
def test_a_picture_is_what_matplotlib_draws(shown: View, stem: str) -> None:
    """But for texts at whole dots."""
    with mpl.rc_context(STYLE):
        pictures = []
        for kind in (Canvas, FigureCanvasAgg):
            canvas = kind(drawn(shown)[stem])
            canvas.draw()
            pictures.append(np.asarray(canvas.buffer_rgba(), dtype=float))
    ours, theirs = pictures
    blank = np.abs(theirs - 255).mean()
    assert np.abs(ours - theirs).mean() < 0.25 * blank
    assert np.abs(ours[::-1] - theirs).mean() > 0.5 * blank
