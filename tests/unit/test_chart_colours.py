"""One engine has one colour in all charts of a report; what the colours mean is said; both kinds of files have them."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from matplotlib.colors import to_rgb
from matplotlib.image import imread

from dbbench.report.charts import png, svg
from dbbench.report.charts.draw import figures
from dbbench.report.charts.palette import COLOURS, ON_DARK, THEMES, colour_name, engine_colours
from dbbench.report.charts.scene import Scene
from dbbench.report.run_view import View, view
from tests.fabricated import Fake, fabricate
from tests.scenes import boxes, dots, texts

ENGINES = {
    "a": Fake("A", {"bulk-insert": 1.0, "join-1": 3.0, "insert-1": 900.0}),
    "b": Fake("B", {"bulk-insert": 2.0, "join-1": 1.0}, gives="batches"),
    "c": Fake("C", 3.0, size=9e6),
}


def drawn(shown: View) -> dict[str, Scene]:
    return dict(figures(shown, shown.scenarios[0]))


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> View:
    return view(fabricate(tmp_path_factory.mktemp("colours") / "run", ENGINES, rounds=6))


def test_an_engine_has_its_colour_in_each_chart_wherever_it_stands(shown: View) -> None:
    charts, colours = drawn(shown), engine_colours(shown)
    assert len({*colours.values()}) == 3
    orders = set()
    for step in shown.scenarios[0].steps:
        marks = [*boxes(charts[f"invoices-{step.step.name}"]), *dots(charts[f"invoices-{step.step.name}"])]
        inks = dict.fromkeys(mark.ink for mark in marks if mark.ink[0] in "ct")
        assert [*inks] == [colours[line.row.engine] for line in step.lines], step.step.name
        orders.add(tuple(line.row.engine for line in step.lines))
    assert len(orders) > 1


def test_the_page_has_the_same_colours_for_the_same_engines() -> None:
    style = resources.files("dbbench.report").joinpath("templates", "page.css").read_text("utf-8")
    named = re.findall(r"--c(\d): (#[0-9a-f]{6});", style)
    assert [colour for _, colour in sorted(named[:8])] == [*COLOURS]
    assert [colour for _, colour in sorted(named[8:])] == [*ON_DARK]


def test_a_family_has_a_colour_and_its_members_a_tint_in_every_run() -> None:
    known = ("sqlite", "sqlite+apsw", "libsql", "turso", "odbc+sqlite", "duckdb", "duckdb@1.4", "duckdb+arrow")
    assert [*map(colour_name, known)] == ["c0", "t0", "t0", "t0", "t0", "c4", "t4", "t4"]


def test_one_engine_may_be_highlighted(shown: View) -> None:
    assert {*engine_colours(replace(shown, highlight="a")).values()} == {"c3", "grey"}


def test_what_the_ratios_are_stands_over_them(shown: View, tmp_path: Path) -> None:
    charts = drawn(shown)
    assert {"times slower", "than best"} <= {*texts(charts["invoices-join-1"])}
    assert "times larger" in texts(charts["invoices-database-size"])
    alone = drawn(view(fabricate(tmp_path / "run", {"a": Fake("A")}, rounds=1)))
    assert "than best" not in texts(alone["invoices-join-1"])


def test_arrow_batches_are_hatched_or_hollow(shown: View) -> None:
    charts = drawn(shown)
    assert [box.hatch for box in boxes(charts["invoices-join-1"])].count("slash") == 1
    assert any("Hatched or hollow: Arrow" in text for text in texts(charts["invoices-join-1"]))
    assert not any(box.hatch for box in boxes(charts["invoices-bulk-insert"]))


def test_data_with_the_indexes_in_it_are_hatched(tmp_path: Path) -> None:
    def unknown(result: dict[str, Any]) -> None:
        for step in result["steps"]:
            if step["name"] == "database-size" and result["engine_name"] == "b":
                del step["facts"]["index"]

    scene = drawn(view(fabricate(tmp_path / "run", ENGINES, rounds=1, change=unknown)))["invoices-database-size"]
    assert sum(bool(box.hatch) for box in boxes(scene)) == 2  # with the key's
    assert {"data", "data with indexes", "indexes"} <= {*texts(scene)}


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("stem", ["invoices-join-1", "invoices-database-size"])
def test_a_png_has_each_bar_in_its_colour_at_its_place(shown: View, stem: str, theme: str) -> None:
    scene = drawn(shown)[stem]
    picture = imread(io.BytesIO(png.written(scene, THEMES[theme], 1600)))
    plain = [box for box in boxes(scene) if box.tone == 1 and not box.hatch]
    assert len(plain) >= 2
    for box in plain:
        x, y = box.x + box.width * 0.8, box.y + 3  # beside an interval
        assert picture[round(y * 2), round(x * 2), :3] == pytest.approx(to_rgb(THEMES[theme][box.ink]), abs=0.01)
    assert picture[2, 2, 3] == (0 if theme == "transparent" else 1)


def test_an_svg_has_a_hatch_as_one_pattern_whatever_the_number_of_bars(shown: View) -> None:
    text = svg.written(drawn(shown)["invoices-join-1"], "it", THEMES["light"]).decode()
    assert text.count("<pattern") == 1
    assert text.count("url(#it-slash)") == 1
    assert len(text) < 8_000
