"""Plain data of a suite file, read before its shape is checked: a value of the wrong shape is empty."""

from collections.abc import Iterator, Sequence
from typing import Any

#: A path in the file, what was expected there, and the names that are known.
Dangling = tuple[tuple[str | int | float, ...], str, Sequence[str]]
Path = tuple[str | int, ...]
Mapping = dict[Any, Any]


def mapping(thing: Any, key: Any) -> Mapping:
    """The mapping under a key."""
    value = thing.get(key) if isinstance(thing, dict) and not isinstance(key, dict | list) else None
    return value if isinstance(value, dict) else {}


def sequence(thing: Any, key: str) -> list[Any]:
    """The list under a key."""
    value = thing.get(key) if isinstance(thing, dict) else None
    return value if isinstance(value, list) else []


def items(thing: Any, key: str) -> list[tuple[int, Mapping]]:
    """The mappings in the list under a key, each with its index."""
    return [(index, item) for index, item in enumerate(sequence(thing, key)) if isinstance(item, dict)]


def unknown(names: Any, known: Mapping | list[str], path: Path, what: str) -> Iterator[Dangling]:
    """The faults of a name, or of those in a list, that isn't among the known ones."""
    for place, name in enumerate(names) if isinstance(names, list) else [(None, names)]:
        if isinstance(name, str) and name not in known:
            yield path if place is None else (*path, place), f"{what} {listed(known)}", list(known)


def unknown_table(name: Any, tables: Mapping, path: Path) -> Iterator[Dangling]:
    """The fault of a name that no table has."""
    return unknown(name if isinstance(name, str) else None, tables, path, "one of the tables")


def no_sequence(table: Mapping, path: Path) -> Iterator[Dangling]:
    """The fault of a table whose keys aren't known to follow one another, or to come from a file."""
    key = mapping(mapping(table, "columns"), table.get("primary_key"))
    if isinstance(table.get("primary_key"), list) or mapping(key, "values").get("kind") not in ("sequence", None):
        yield path, "a table whose primary key is a sequence", ()


def listed(names: Any) -> str:
    """Names in words."""
    return ", ".join(map(str, names))
