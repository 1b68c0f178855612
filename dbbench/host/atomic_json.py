"""JSON files that are whole or not there, and that may come from anyone when they are read."""

import json
import math
from pathlib import Path
from typing import Any, NoReturn

from dbbench.host import plain_file
from dbbench.message import DEEPEST, MOST, clean

#: A number of more digits is none that dbbench wrote.
_DIGITS = 19
_AS_BRACES = bytes.maketrans(b"[]", b"{}")
_NO_BRACKETS = bytes({*range(256)} - {*b"{}[]"})


def write(path: Path, document: Any, *, durable: bool = False, indent: int | None = 1) -> None:
    """Write `document` to `path` in one step; a durable one is on the disk when this returns."""
    content = json.dumps(document, indent=indent, ensure_ascii=False, default=str) + "\n"
    # What can't be UTF-8, in a driver's message perhaps, becomes an escape that JSON has too.
    plain_file.write(path, content.encode("utf-8", errors="backslashreplace"), durable=durable)


def text(document: Any) -> str:
    """A document for other programs to read. Raises ValueError for a number that is none: what is not known is null."""
    return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def read(path: Path) -> Any:
    """The document at `path`. Raises OSError, or ValueError for anything but a finite document of a sane depth."""
    return parse(plain_file.read(path))


def read_clean(path: Path) -> Any:
    """The document at `path` as `read` returns it, with every text cleaned."""
    data = plain_file.read(path)
    document = parse(data)
    return document if _is_clean(data) else clean(document)


def _is_clean(data: bytes) -> bool:
    """Whether there is nothing to clean: JSON without an escape or DEL has no control character in a text."""
    if not data.isascii() or b"\\" in data or b"\x7f" in data:
        return False
    parts = data.split(b'"')  # in turns what stands outside of texts, and the texts
    if max(map(len, parts[1::2]), default=0) > MOST:
        return False
    nested = b"".join(parts[::2]).translate(_AS_BRACES, _NO_BRACKETS)
    for _ in range(DEEPEST):
        nested = nested.replace(b"{}", b"")
    return not nested


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
