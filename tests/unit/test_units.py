"""Figures as people read them."""

import pytest

from dbbench.analysis.units import Unit, duration, fitting, whole

SECONDS = Unit(1, "s")


@pytest.mark.parametrize(
    ("value", "figure"),
    [
        (0, "0"), (0.000_123_45, "0.000123"), (0.3, "0.300"), (0.9994, "0.999"), (0.9996, "1.00"), (1, "1.00"),
        (9.994, "9.99"), (9.996, "10.0"), (12.34, "12.3"), (99.94, "99.9"), (99.96, "100"), (100.4, "100"),
        (999.6, "1,000"), (12_345.6, "12,346"), (-5.678, "-5.68"), (-0.05, "-0.0500"),
    ],
)  # fmt: skip
def test_a_figure_has_three_digits_or_all_before_the_point(value: float, figure: str) -> None:
    assert SECONDS.figure(value) == figure


def test_a_figure_is_in_its_unit() -> None:
    assert Unit(1e-3, "ms").text(0.0123) == "12.3 ms"
    assert Unit(1e6, "MB").text(297_450_000) == "297 MB"


@pytest.mark.parametrize(
    ("base", "values", "symbol"),
    [
        ("s", [], "s"), ("s", [0.0], "s"), ("s", [1.0], "s"), ("s", [0.999], "ms"), ("s", [1e-3], "ms"), ("s", [1e-12], "ns"),
        ("s", [0.999e-3], "µs"), ("s", [0.999e-6], "ns"), ("s", [0, 0.002, 2], "ms"), ("s", [-0.002, 2], "ms"),
        ("s", [0.002, 99], "ms"), ("s", [0.002, 100], "s"),  # not 100,000 ms
        ("s", [1e-9, 1e4], "s"), ("B", [1], "B"), ("B", [999, 99_999], "B"), ("B", [999, 100_000], "kB"), ("B", [1_000], "kB"),
        ("B", [999_999], "kB"), ("B", [1e6, 9e9], "MB"), ("B", [5e9], "GB"), ("1/s", [], "/s"), ("1/s", [999, 99_999_999], "/s"),
        ("1/s", [999, 100_000_000], "thousand/s"), ("1/s", [1_000], "thousand/s"), ("1/s", [1e6, 2e9], "million/s"),
    ],
)  # fmt: skip
def test_the_least_value_is_at_least_one_unless_the_greatest_grows_too_long(
    base: str, values: list[float], symbol: str
) -> None:
    assert fitting(base, values).symbol == symbol
    assert fitting(base, iter(values)).symbol == symbol


@pytest.mark.parametrize(
    ("base", "values", "symbol"),
    [
        ("s", [4.641, 39.094], "ms"), ("s", [2, 30], "s"), ("s", [0.0, 0.0], "s"), ("s", [0.00011, 0.00003], "µs"),
        ("s", [1 / 3], "ms"), ("B", [14_208_000, 91_776_000], "kB"), ("1/s", [70_210], "/s"), ("1/s", [], "/s"),
    ],
)  # fmt: skip
def test_published_values_are_in_a_unit_in_which_they_are_whole(base: str, values: list[float], symbol: str) -> None:
    assert whole(base, values).symbol == symbol


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 s"), (0.4, "0 s"), (59.4, "59 s"), (59.6, "1 min 0 s"), (60, "1 min 0 s"), (200, "3 min 20 s"),
        (3599.4, "59 min 59 s"), (3599.6, "1 h 0 min"), (3900, "1 h 5 min"), (90_000, "25 h 0 min"),
    ],
)  # fmt: skip
def test_a_duration_is_in_words(seconds: float, words: str) -> None:
    assert duration(seconds) == words
