"""The charts that a suite asks for, as pictures: PNG and SVG files; and a card, one picture of the run."""

from __future__ import annotations

from dbbench.report.export.exporter import Exporter

PNG = Exporter("png", charts=("png",))
SVG = Exporter("svg", charts=("svg",))
CARD = Exporter("card", charts=("card",), usual=False, shared=True)
