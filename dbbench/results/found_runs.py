"""Run directories of a folder, newest first."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from dbbench.errors import RunError, SuiteError, UserError
from dbbench.results.run_directory import Run

#: Where `dbbench suite` makes runs.
MADE_IN = Path("dbbench-runs")
#: Where runs are looked for: there, and where `--out` usually makes them.
FOLDERS = (MADE_IN, Path())
#: The word for the newest run.
LATEST = "latest"


@dataclass(frozen=True)
class Unreadable:
    """A run directory that can't be read."""

    path: Path
    why: str


def found_runs(folders: Sequence[Path] = FOLDERS) -> tuple[list[Run], list[Unreadable]]:
    """The runs that are directly in these folders, newest first, and those that can't be read."""
    runs: list[Run] = []
    unreadable: list[Unreadable] = []
    for path in _paths(folders):
        try:
            runs.append(Run.open(path))
        except (RunError, SuiteError) as exc:
            unreadable.append(Unreadable(path, str(exc)))
    return sorted(runs, key=lambda run: run.manifest.created.timestamp(), reverse=True), unreadable


def latest() -> Path:
    """The newest run directory. Raises UserError if there is none."""
    runs, _ = found_runs()
    if not runs:
        raise UserError(f"there is no run in {' or '.join(str(each.absolute()) for each in FOLDERS)}; name its folder")
    return runs[0].path


def _paths(folders: Sequence[Path]) -> Iterator[Path]:
    for folder in folders:
        if folder.is_dir():
            yield from sorted(path for path in folder.iterdir() if os.path.isfile(path / "run.json"))
