"""An engine's own plan of a query, as a file in its trial's directory: result.json stays small."""

from __future__ import annotations

from pathlib import Path

#: A plan that is longer is cut: no reader gets further.
MOST = 64 * 1024


def keep(trial: Path, step: str, text: str) -> None:
    """Write the plan of a step's query."""
    path = _path(trial, step)
    path.parent.mkdir(exist_ok=True)
    cut = text if len(text) <= MOST else f"{text[:MOST]}\n[cut: {len(text):,} characters]"
    path.write_text(f"{cut}\n", "utf-8", errors="backslashreplace")


def kept(trial: Path, step: str) -> str:
    """The plan of a step's query; empty if there is none."""
    try:
        return _path(trial, step).read_text("utf-8", errors="replace").rstrip()
    except OSError:
        return ""


def _path(trial: Path, step: str) -> Path:
    return trial / "plans" / f"{step}.txt"
