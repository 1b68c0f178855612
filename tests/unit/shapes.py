"""Values of every wrong shape, and every place to put them."""

import copy
import datetime
from typing import Any

WRONG: list[Any] = [
    None, True, 3, -1.5, "x", [], {}, [[1]], [{}], {1: 2}, {"x": None}, {"kind": ["x"]}, datetime.date.max,
]  # fmt: skip


def places(data: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of everything in `data`, itself first."""
    children = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    return [path, *(place for key, child in children for place in places(child, (*path, key)))]


def put(data: Any, path: tuple[Any, ...], value: Any) -> Any:
    """`data` with another value at `path`; nothing else is copied."""
    if not path:
        return value
    result = copy.copy(data)
    result[path[0]] = put(data[path[0]], path[1:], value)
    return result
