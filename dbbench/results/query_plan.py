"""An engine's own plan of a query, as a file in its trial's directory: result.json stays small."""

import os
from pathlib import Path

from dbbench.host import plain_file
from dbbench.message import printable

#: A plan that is longer is cut: no reader gets further.
MOST = 64 * 1024


def keep(trial: Path, step: str, text: str) -> None:
    """Write the plan of a step's query."""
    cut = text if len(text) <= MOST else f"{text[:MOST]}\n[cut: {len(text):,} characters]"
    path = plain_file.folder(trial, "plans") / f"{step}.txt"
    plain_file.write(path, f"{cut}\n".encode(errors="backslashreplace"))


def steps(trial: Path) -> set[str]:
    """The steps whose queries may have a plan. Raises OSError if that can't be read."""
    try:
        names = os.listdir(plain_file.inside(trial, "plans"))
    except FileNotFoundError:
        return set()
    return {name.removesuffix(".txt") for name in names}


def kept(trial: Path, step: str) -> str:
    """The plan of a step's query; empty if there is none. Raises OSError if it can't be read."""
    try:
        data = plain_file.read(plain_file.inside(trial, "plans", f"{step}.txt"), most=8 * MOST)
    except FileNotFoundError:
        return ""
    return printable(data.decode("utf-8", errors="replace")).rstrip()
