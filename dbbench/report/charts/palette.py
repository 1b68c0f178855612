"""One colour for each engine, the same in all charts of a report.

Neighbours are light and dark in turn, so that grey print tells them apart. With any of the three colour blindnesses, as
Machado, Oliveira and Fernandes (2009) simulate them, all eight differ; `tests/unit/test_palette.py` says by how much. On
their own page they can be read as text (a contrast of 4.5), as names beside curves are.
"""

from __future__ import annotations

from collections.abc import Mapping

from dbbench.report.run_view import View

#: On white; those that page.css has as --c0 to --c7, in its order.
COLOURS = ("#0072b2", "#682e09", "#6d7a52", "#642d5c", "#d1420f", "#392b93", "#bd4380", "#184333")
#: On a dark page, as page.css has them.
ON_DARK = ("#3d9ad6", "#f5c27a", "#7f9c5c", "#ff9fd2", "#e8702a", "#cfd4ff", "#d9649a", "#a5f2dc")
#: On a page of any colour: those of both that a white and a dark page bear (a contrast of 3).
ON_ANY = ("#0072b2", "#e8702a", "#6d7a52", "#d9649a", "#d1420f", "#3d9ad6", "#bd4380", "#7f9c5c")

Colours = Mapping[str, str]


def engine_order(shown: View) -> list[str]:
    """The engines of a report, each once: those of the first scenario best to worst, then what others have besides."""
    return [*dict.fromkeys(item.engine for scenario in shown.scenarios for item in scenario.standings)]


def engine_colours(shown: View) -> dict[str, str]:
    """Engine -> colour. They come again from the ninth on: the name stands beside each bar and curve."""
    return {engine: COLOURS[number % len(COLOURS)] for number, engine in enumerate(engine_order(shown))}
