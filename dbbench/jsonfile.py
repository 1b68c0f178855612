"""JSON files that are whole or not there: written under a temporary name, then renamed."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any


def write(path: Path, document: Any) -> None:
    """Write `document` to `path` in one step."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_text(json.dumps(document, indent=1, ensure_ascii=False, default=str) + "\n", "utf-8")
    os.replace(temporary, path)


def read(path: Path) -> Any:
    """The document at `path`. Raises OSError or ValueError."""
    return json.loads(path.read_text("utf-8"))
