"""One colour for each engine, the same in all charts of a report, which the colour-blind tell apart."""

from __future__ import annotations

from collections.abc import Mapping

from dbbench.report.run_view import View

#: Okabe and Ito's, some darker so that they can be read on white; those that page.css has as --c0 to --c7, in its order.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#b3548a", "#a67300", "#3a8fc4", "#6a6a6a", "#7a4fb5")
#: The same on a dark page, as page.css has them.
ON_DARK = ("#3d9ad6", "#f0793a", "#2fbf96", "#d98cb8", "#d9a520", "#8fcdf2", "#aab1b9", "#b195e0")

Colours = Mapping[str, str]


def engine_order(shown: View) -> list[str]:
    """The engines of a report, each once: those of the first scenario best to worst, then what others have besides."""
    return [*dict.fromkeys(item.engine for scenario in shown.scenarios for item in scenario.standings)]


def engine_colours(shown: View) -> dict[str, str]:
    """Engine -> colour. They come again from the ninth on: the name stands beside each bar and curve."""
    return {engine: COLOURS[number % len(COLOURS)] for number, engine in enumerate(engine_order(shown))}
