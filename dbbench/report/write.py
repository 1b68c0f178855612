"""A run's report in the formats asked for; for publication in a folder of its own, made anew."""

import contextlib
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from dbbench.errors import UserError
from dbbench.host import plain_file
from dbbench.report.export import html_page, markdown_page, results_json, summary_csv, wide_csv
from dbbench.report.run_view import View


@dataclass(frozen=True)
class Exporter:
    """One format of a report, under the name that `--format` has for it."""

    name: str
    #: Writes the view, given the stems of the charts drawn; the path of the file.
    write: Callable[[View, Sequence[str]], Path] | None = None
    #: The kinds of chart files that it consists of or shows. Each chart is drawn once for all formats.
    charts: tuple[str, ...] = ()
    #: Whether it is written unless `--format` says otherwise.
    usual: bool = True
    #: Whether it is usual for a report that is made to be shown to others: with `--out` or `--publish`.
    shared: bool = False
    #: Whether it is written whatever `--format` says: what a run found can then always be read by programs.
    always: bool = False


EXPORTERS = {
    exporter.name: exporter
    for exporter in (
        Exporter("png", charts=("png",)),
        Exporter("svg", charts=("svg",)),
        Exporter("html", html_page.write, charts=("svg",)),
        Exporter("md", markdown_page.write, charts=("svg",)),
        Exporter("csv", summary_csv.write),
        Exporter("wide", wide_csv.write, usual=False, shared=True),
        Exporter("json", results_json.write, always=True),
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
            raise UserError(f"unknown format {name!r}; there are {', '.join(EXPORTERS)}")


def write_report(
    shown: View, formats: Sequence[str] = USUAL, *, theme: str = "light", width: int | None = None
) -> list[Path]:
    """Write the formats asked for; the pages and tables written. Raises UserError if they can't be.

    `theme` and `width`, in pixels, are those of the pictures: see `charts.palette` and `charts.layout`.
    """
    exporters = [exporter for name, exporter in EXPORTERS.items() if name in formats or exporter.always]
    try:
        if shown.out:
            if shown.out.exists() and (not shown.out.is_dir() or any(shown.out.iterdir())):
                raise UserError(f"{shown.out} already exists; choose another folder with --out")
            shown.out.mkdir(parents=True, exist_ok=True)
        elif shown.published:
            folder = plain_file.inside(shown.run.path, shown.folder.name)
            if folder.exists():  # nothing may stay of an earlier one, which may have withheld less
                shutil.rmtree(folder)
            folder.mkdir()
        # Tables first: they stay where a chart can't be drawn.
        written = [exporter.write(shown, ()) for exporter in exporters if exporter.write and not exporter.charts]
        stems = _draw(shown, sorted({kind for exporter in exporters for kind in exporter.charts}), theme, width)
        return written + [exporter.write(shown, stems) for exporter in exporters if exporter.write and exporter.charts]
    except OSError as exc:
        raise UserError(f"the report can't be written to {shown.folder}: {exc.strerror or exc}") from exc


def _draw(shown: View, kinds: Sequence[str], theme: str, width: int | None) -> list[str]:
    """Draw each chart once, in all the kinds of files that are needed; the stems of the files."""
    if not kinds:
        return []
    # matplotlib takes a third of a second to import, and reads a matplotlibrc of the current folder.
    with contextlib.chdir("/"):
        from dbbench.report.charts import draw

    return draw.draw(shown, plain_file.folder(shown.folder, "report"), kinds, theme=theme, width=width)
