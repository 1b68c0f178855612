"""JSON files that are whole or not there: written under a temporary name, then renamed."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any


def write(path: Path, document: Any) -> None:
    """Write `document` to `path` in one step."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    text = json.dumps(document, indent=1, ensure_ascii=False, default=str) + "\n"
    try:
        # What can't be UTF-8, in a driver's message perhaps, becomes an escape that JSON has too.
        temporary.write_text(text, "utf-8", errors="backslashreplace")
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def read(path: Path) -> Any:
    """The document at `path`. Raises OSError or ValueError."""
    return json.loads(path.read_text("utf-8"))
