"""The engines' colours can be told apart by the colour-blind and in grey print, and read on their pages.

Colour blindness is simulated by the matrices of full severity of Machado, Oliveira and Fernandes, A Physiologically-based
Model for Simulation of Color Vision Deficiency (IEEE Transactions on Visualization and Computer Graphics, 2009), on
linear RGB. A difference is the distance in CIELAB (CIE 1976), where about 2 can just be seen, and in grey that in
lightness alone. Contrast is that of WCAG 2.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import numpy.typing as npt
import pytest

from dbbench.report.charts.palette import COLOURS, ON_ANY, ON_DARK

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
