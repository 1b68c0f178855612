"""Rows as Python objects: the class of a table's objects, how one is made of a row, and what a right one is.

An object's members are called as the table's columns. Layers with classes of their own give instances of those.
"""

import datetime
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import make_dataclass
from decimal import Decimal
from functools import cache
from typing import Any

from dbbench.errors import WrongAnswer
from dbbench.suite.dataset import Column, Table

#: Where a driver gives text for a type of columns: what makes the value of it. A decimal that is a float stays one.
_FROM_TEXT: Mapping[str, Callable[[str], Any]] = {
    "date": datetime.date.fromisoformat,
    "datetime": datetime.datetime.fromisoformat,
    "decimal": Decimal,
}
#: How near two fractions must be, as in a query's answer; decimals that are kept as such are equal.
_NEAR = {"real": 1e-6, "double": 1e-12, "decimal": 1e-9}


@cache
def object_class(name: str, members: tuple[str, ...]) -> type:
    """A class with slots for these members. Raises TypeError for a member whose name Python reserves."""
    return make_dataclass(name, members, slots=True, eq=False)


def object_maker(name: str, table: Table, given: Mapping[str, str]) -> Callable[[Sequence[Any]], Any]:
    """Row -> object. `given` says for which types the driver gives a text or a float: see `Session.bind`."""
    source, known = _construction(name, table, given)
    return _compiled(f"lambda row: {source}", known)


def object_getter(
    name: str, table: Table, given: Mapping[str, str], read: Callable[[Any], Any]
) -> Callable[[Any], Any]:
    """Key -> object or None, by `read`, which gives the row or None."""
    source, known = _construction(name, table, given)
    return _compiled(f"lambda key: None if (row := read(key)) is None else {source}", {**known, "read": read})


def _construction(name: str, table: Table, given: Mapping[str, str]) -> tuple[str, dict[str, object]]:
    """The expression that makes an object of `row`, and what it refers to.

    Where no value has to be made anew, the row is spread. Otherwise each value is named: a loop over the columns
    would take as long as fetching the row does.
    """
    known: dict[str, object] = {"made": object_class(name, tuple(table.columns))}
    values = []
    for at, column in enumerate(table.columns.values()):
        kind = column.data_type.name
        make = float if given.get(kind) == "float" else _FROM_TEXT.get(kind) if given.get(kind) == "text" else None
        if make is not None:
            known[kind] = make
            values.append(f"None if (value := row[{at}]) is None else {kind}(value)")
        else:
            values.append(f"row[{at}]")
    return (f"made({', '.join(values)})" if len(known) > 1 else "made(*row)"), known


def _compiled(source: str, known: dict[str, object]) -> Callable[[Any], Any]:
    function: Callable[[Any], Any] = eval(source, known)  # noqa: S307 - made above of numbers and types alone
    return function


def check_objects(
    objects: Iterable[Any], wanted: Mapping[Any, Sequence[Any]], table: Table, *, floats: bool = False
) -> None:
    """Compare objects, member by member, with the rows by their keys. Raises WrongAnswer for the first difference.

    `floats`: the database keeps a decimal as a float, whatever a layer makes of that.
    """
    left = dict(wanted)
    for thing in objects:
        key = getattr(thing, table.single_key, None)
        if key not in left:
            raise WrongAnswer(f"an object {key!r} {'twice' if key in wanted else 'that was not asked for'}")
        for (name, column), value in zip(table.columns.items(), left.pop(key), strict=True):
            found = getattr(thing, name, _MISSING)
            if not _same(found, value, column, floats):
                raise WrongAnswer(f"object {key!r}: {name} is {_shown(found)} instead of {_shown(value)}")
    if left:
        raise WrongAnswer(f"{len(left):,} objects are missing, {next(iter(left))!r} among them")


class _Missing:
    def __repr__(self) -> str:
        return "missing"


_MISSING = _Missing()


def _same(found: Any, wanted: Any, column: Column, floats: bool) -> bool:
    """True for values of one type that are equal. Fractions may be floats or decimals; a CHAR may be padded."""
    if wanted is None:
        return found is None
    kind = column.data_type.name
    if kind in _NEAR and (floats or kind != "decimal" or not isinstance(found, Decimal)):
        unit = 0.5 * 10.0 ** -column.data_type.arguments[1] if kind == "decimal" else 0.0
        is_number = isinstance(found, float | Decimal)
        return is_number and bool(math.isclose(found, wanted, rel_tol=_NEAR[kind], abs_tol=unit))
    if kind == "char" and isinstance(found, str):
        return found.rstrip(" ") == str(wanted).rstrip(" ")
    return type(found) is type(wanted) and bool(found == wanted)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
