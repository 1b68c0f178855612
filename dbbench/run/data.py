"""The data of a run: drawn, read, or found again; and room for it."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from dbbench.datasets.cache import Files, kept, materialise
from dbbench.errors import UserError
from dbbench.host.apart import apart
from dbbench.results.run_directory import Run
from dbbench.suite.model import Suite

#: Free bytes that a run wants besides the size of its data as CSV. What an engine makes of the data nobody knows before:
#: a trial is ended before the disk is full.
_ROOM = 2**24


def draw(suite: Suite, scale: float, seed: int, folder: Path) -> dict[str, Files]:
    """The suite's datasets, from the cache, or drawn or read now. Files are looked for in `folder`."""
    found = {}
    for name, dataset in suite.datasets.items():
        draw_it = partial(materialise, dataset, scale=scale, seed=seed, folder=folder)
        found[name] = apart(f"a file of the dataset {name}", draw_it) if dataset.from_files else draw_it()
    return found


def drawn_again(run: Run) -> dict[str, Files]:
    """A run's datasets. What came from files is taken from the cache: paths in a run directory are not followed."""
    found = {}
    for name, dataset in run.suite.datasets.items():
        if dataset.from_files:
            known = run.manifest.datasets.get(name)
            found[name] = kept(str(known.get("key", "")) if known else "")
        else:
            found[name] = materialise(dataset, scale=run.manifest.scale, seed=run.manifest.seed)
    return found


def facts_of(files: Files) -> dict[str, object]:
    """What a run directory keeps of a dataset."""
    manifest = files.manifest
    rows = {name: table["rows"] for name, table in manifest["tables"].items()}
    return {"rows": rows, "csv_bytes": manifest["csv_bytes"], "key": files.directory.name}


def check_room(out: Path, datasets: Mapping[str, Files]) -> None:
    """Raise UserError if there is no room for a run at `out` with these data."""
    needed = _ROOM + sum(files.manifest["csv_bytes"] for files in datasets.values())
    free = shutil.disk_usage(existing(out)).free
    if free < needed:
        raise UserError(
            f"{existing(out)} has {free / 1e6:,.0f} MB free, and this run needs {needed / 1e6:,.0f} MB or more; "
            "make room, name another place with --out, or choose a smaller --scale"
        )


def existing(path: Path) -> Path:
    """The nearest folder that exists."""
    return path if path.is_dir() else next(parent for parent in path.absolute().parents if parent.is_dir())
