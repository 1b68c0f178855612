"""The charts that a suite asks for, as pictures: PNG and SVG files."""

from __future__ import annotations

from dbbench.report.export.exporter import Exporter

PNG = Exporter("png", charts=("png",))
SVG = Exporter("svg", charts=("svg",))
