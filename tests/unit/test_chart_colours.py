"""One engine has one colour in all charts of a report, which the colour-blind tell apart; what the colours mean is said."""

import io
import re
from dataclasses import replace
from importlib import resources
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from matplotlib.colors import to_rgb
from matplotlib.image import imread

from dbbench.report.charts import png, svg
from dbbench.report.charts.draw import figures
from dbbench.report.charts.palette import COLOURS, ON_ANY, ON_DARK, THEMES, colour_name, engine_colours
from dbbench.report.charts.scene import Scene
from dbbench.report.run_view import View, view
from tests.fabricated import Fake, fabricate
from tests.scenes import boxes, dots, texts

ENGINES = {
    "a": Fake("A", {"bulk-insert": 1.0, "join-1": 3.0, "insert-1": 900.0}),
    "b": Fake("B", {"bulk-insert": 2.0, "join-1": 1.0}, gives="batches"),
    "c": Fake("C", 3.0, size=9e6),
}
Values = npt.NDArray[np.float64]
SEEN_BY = {
    "anybody": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
#: From linear sRGB to CIE XYZ, and its white (D65).
XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
WHITE = XYZ.sum(axis=1)
PALETTES = {"white": COLOURS, "dark": ON_DARK, "any": ON_ANY}


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


def test_an_svg_has_a_hatch_as_one_pattern(shown: View) -> None:
    text = svg.written(drawn(shown)["invoices-join-1"], "it", THEMES["light"]).decode()
    assert text.count("<pattern") == 1
    assert text.count("url(#it-slash)") == 1
    assert len(text) < 8_000


def linear(colour: str) -> Values:
    parts = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def lab(parts: Values) -> Values:
    xyz = XYZ @ np.clip(parts, 0, 1) / WHITE
    x, y, z = np.where(xyz > (6 / 29) ** 3, np.cbrt(xyz), xyz / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def difference(first: str, second: str, sight: str) -> float:
    matrix = np.array(SEEN_BY[sight])
    return float(np.linalg.norm(lab(matrix @ linear(first)) - lab(matrix @ linear(second))))


def contrast(first: str, second: str) -> float:
    lights = [float((XYZ @ linear(colour))[1]) + 0.05 for colour in (first, second)]
    return max(lights) / min(lights)


def neighbours(palette: tuple[str, ...]) -> list[tuple[str, str]]:
    """Also the last and the first, for they come again from the ninth engine on."""
    return list(zip(palette, (*palette[1:], palette[0]), strict=True))


@pytest.mark.parametrize("sight", SEEN_BY)
@pytest.mark.parametrize("page", PALETTES)
def test_engines_can_be_told_apart(page: str, sight: str) -> None:
    palette = PALETTES[page]
    assert min(difference(*pair, sight) for pair in neighbours(palette)) >= 18
    assert min(difference(*pair, sight) for pair in combinations(palette, 2)) >= 10


@pytest.mark.parametrize(("page", "least"), [("white", 18), ("dark", 15), ("any", 8)])
def test_neighbours_can_be_told_apart_in_grey_print(page: str, least: float) -> None:
    lights = [(lab(linear(first))[0], lab(linear(second))[0]) for first, second in neighbours(PALETTES[page])]
    assert min(abs(first - second) for first, second in lights) >= least


@pytest.mark.parametrize(
    ("page", "ground", "least"),
    [("white", "#ffffff", 4.5), ("dark", "#14171b", 4.5), ("any", "#ffffff", 3), ("any", "#14171b", 3)],
)
def test_they_stand_out_from_the_page(page: str, ground: str, least: float) -> None:
    assert min(contrast(colour, ground) for colour in PALETTES[page]) >= least


def test_the_measure_is_the_published_one() -> None:
    """Black and white are 100 apart and 21 to 1, white stays white, and red and green come closer."""
    assert difference("#000000", "#ffffff", "anybody") == pytest.approx(100, abs=0.1)
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert difference("#ff0000", "#00ff00", "deuteranopia") < difference("#ff0000", "#00ff00", "anybody") / 2
    for name, matrix in SEEN_BY.items():  # white stays white
        assert np.array(matrix) @ np.ones(3) == pytest.approx(np.ones(3), abs=1e-5), name
