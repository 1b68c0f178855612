"""All of a run's report: summary.csv, charts and pages; for publication in a folder of its own, made anew."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path

from dbbench import plainfile
from dbbench.errors import UserError
from dbbench.report import results, summary
from dbbench.report.view import View

FORMATS = ("png", "svg", "html", "md", "csv")


def write_report(shown: View, formats: tuple[str, ...] = FORMATS) -> list[Path]:
    """Write the formats asked for; the pages and tables written. Raises UserError if they can't be."""
    written = []
    try:
        if shown.published:
            folder = plainfile.inside(shown.run.path, shown.folder.name)
            if folder.exists():  # nothing may stay of an earlier one, which may have withheld less
                shutil.rmtree(folder)
            folder.mkdir()
            written.append(results.write(shown))
        if "csv" in formats:
            written.append(summary.write(shown))
        pages = tuple(form for form in formats if form in ("md", "html"))
        if pages or {"png", "svg"} & set(formats):
            # matplotlib takes a third of a second to import, and reads a matplotlibrc of the current folder.
            with contextlib.chdir("/"):
                from dbbench.report import charts

            folder = plainfile.folder(shown.folder, "report")
            # Both kinds of page show the SVG files.
            stems = charts.draw(shown, folder, (*formats, "svg") if pages else formats)
            if pages:
                from dbbench.report import pages as page_writer

                written += page_writer.write(shown, folder, pages, stems)
    except OSError as exc:
        raise UserError(f"the report can't be written to {shown.folder}: {exc.strerror or exc}") from exc
    return written
