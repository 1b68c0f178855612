"""What a format of a report is to the rest: a name, what it writes, and the charts that it shows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

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
