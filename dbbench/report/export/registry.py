"""Every format that a report can be written in. A new one is a module here and its name in this list."""

from __future__ import annotations

from collections.abc import Sequence

from dbbench.errors import UserError
from dbbench.report.export import html_page, markdown_page, results_json, summary_csv
from dbbench.report.export.exporter import Exporter

EXPORTERS = {
    exporter.name: exporter
    for exporter in (
        Exporter("png", charts=("png",)),
        Exporter("svg", charts=("svg",)),
        html_page.EXPORTER,
        markdown_page.EXPORTER,
        summary_csv.EXPORTER,
        results_json.EXPORTER,
        Exporter("card", charts=("card",), usual=False, shared=True),  # one picture of the run
    )
}
#: What is written unless its user says otherwise.
USUAL = tuple(name for name, exporter in EXPORTERS.items() if exporter.usual)
SHARED = tuple(name for name, exporter in EXPORTERS.items() if exporter.usual or exporter.shared)


def check_formats(wanted: Sequence[str]) -> None:
    """Raise UserError for the first name that no format has."""
    for name in wanted:
        if name not in EXPORTERS:
            raise UserError(f"there is no format {name!r}; there are {', '.join(EXPORTERS)}")
