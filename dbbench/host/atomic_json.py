"""JSON files that are whole or not there, and that may come from anyone when they are read."""

import json
import math
from pathlib import Path
from typing import Any, NoReturn

from dbbench.host import plain_file

#: A number of more digits is none that dbbench wrote.
_DIGITS = 19


def write(path: Path, document: Any, *, durable: bool = False) -> None:
    """Write `document` to `path` in one step; a durable one is on the disk when this returns."""
    content = json.dumps(document, indent=1, ensure_ascii=False, default=str) + "\n"
    # What can't be UTF-8, in a driver's message perhaps, becomes an escape that JSON has too.
    plain_file.write(path, content.encode("utf-8", errors="backslashreplace"), durable=durable)


def text(document: Any) -> str:
    """A document for other programs to read. Raises ValueError for a number that is none: what is not known is null."""
    return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def read(path: Path) -> Any:
    """The document at `path`. Raises OSError, or ValueError for anything but a finite document of a sane depth."""
    return parse(plain_file.read(path))


def parse(data: bytes) -> Any:
    """The document in UTF-8. Raises ValueError for anything but a finite document of a sane depth."""
    content = data.decode("utf-8")
    try:
        return json.loads(content, parse_constant=_not_a_number, parse_float=_finite, parse_int=_whole)
    except RecursionError as exc:
        raise ValueError("nested too deeply") from exc


def _not_a_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"{digits} is too large a number")
    return number


def _whole(digits: str) -> int:
    if len(digits.lstrip("-")) > _DIGITS:
        raise ValueError(f"a number of {len(digits)} digits is too large")
    return int(digits)
