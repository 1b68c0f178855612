"""All of a run's report: summary.csv, charts and pages."""

from __future__ import annotations

from pathlib import Path

from dbbench.errors import UserError
from dbbench.report import summary
from dbbench.report.view import View
from dbbench.store import Run

FORMATS = ("png", "svg", "html", "md", "csv")


def write_report(run: Run, shown: View, formats: tuple[str, ...] = FORMATS) -> list[Path]:
    """Write the formats asked for; the pages and tables written. Raises UserError if they can't be."""
    written = []
    try:
        if "csv" in formats:
            summary.write(run, shown)
            written.append(run.path / "summary.csv")
        pages = tuple(form for form in formats if form in ("md", "html"))
        if pages or {"png", "svg"} & set(formats):
            from dbbench.report import charts  # matplotlib takes a third of a second to import

            run.report.mkdir(exist_ok=True)
            # Both kinds of page show the SVG files.
            stems = charts.draw(shown, run.report, (*formats, "svg") if pages else formats)
            if pages:
                from dbbench.report import pages as page_writer

                written += page_writer.write(shown, run.report, pages, stems)
    except OSError as exc:
        raise UserError(f"the report can't be written to {run.path}: {exc.strerror or exc}") from exc
    return written
