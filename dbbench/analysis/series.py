"""Variants of one engine that form a series: its releases, or the values of one option."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from packaging.version import Version

from dbbench.analysis.paired import paired
from dbbench.analysis.row import Row
from dbbench.analysis.verdicts import ComparisonVerdict
from dbbench.results.run_directory import Manifest


@dataclass(frozen=True)
class Point:
    """A place on the axis, and the variant that stands there."""

    label: str
    engine: str


@dataclass(frozen=True)
class Series:
    """Two or more variants of an engine, in the order of the axis."""

    engine: str
    #: What the axis shows: "release", or an option's name.
    axis: str
    points: tuple[Point, ...]

    @property
    def name(self) -> str:
        """Part of a file's name."""
        return f"{self.engine}-{self.axis}".replace("+", "-")


def series(manifest: Manifest) -> tuple[Series, ...]:
    """All series of a run; none if its variants differ in nothing that has an order."""
    return tuple(each for each in (*_releases(manifest), *_sweeps(manifest)) if len(each.points) > 1)


def changes(rows: Sequence[Row], found: Series) -> dict[tuple[str, str, str], ComparisonVerdict]:
    """Scenario, step and engine of each point that is shown to differ from the one before it."""
    marked: dict[tuple[str, str, str], ComparisonVerdict] = {}
    for before, after in zip(found.points, found.points[1:], strict=False):
        for pair in paired(rows, after.engine, before.engine):
            if pair.timed and pair.verdict not in (ComparisonVerdict.UNSURE, ComparisonVerdict.SAME):
                marked[pair.scenario, pair.step, after.engine] = pair.verdict
    return marked


def _releases(manifest: Manifest) -> Iterator[Series]:
    by_engine: dict[str, list[tuple[Version, Point]]] = {}
    for name, variant in manifest.variants.items():
        if variant.release and not (variant.repeats or variant.build):  # builds have no order
            point = Point(variant.release, name)
            by_engine.setdefault(variant.engine, []).append((Version(variant.release), point))
    for engine, found in by_engine.items():
        ordered = sorted(found, key=lambda one: (one[0], one[1].engine))
        yield Series(engine, "release", tuple(point for _, point in ordered))


def _sweeps(manifest: Manifest) -> Iterator[Series]:
    by_option: dict[tuple[str, str], list[Point]] = {}
    for name, variant in manifest.variants.items():
        if variant.sweep:
            value = str(manifest.options.get(name, {}).get(variant.sweep, ""))
            by_option.setdefault((variant.engine, variant.sweep), []).append(Point(value, name))
    for (engine, option), points in by_option.items():
        yield Series(engine, option, tuple(sorted(points, key=lambda point: _in_order(point.label))))


def _in_order(value: str) -> tuple[int, float, str]:
    """Numbers by their size, then texts."""
    try:
        return 0, float(value), value
    except ValueError:
        return 1, 0.0, value
