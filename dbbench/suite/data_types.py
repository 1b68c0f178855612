"""The types of columns, as a suite writes them and taken apart."""

import re
from collections.abc import Mapping
from typing import Annotated, NamedTuple

from pydantic import AfterValidator, Field

#: Each type's name and how many arguments it takes.
TYPES: Mapping[str, int] = {
    "integer": 0,
    "bigint": 0,
    "real": 0,
    "double": 0,
    "decimal": 2,
    "currency": 0,
    "char": 1,
    "varchar": 1,
    "date": 0,
    "datetime": 0,
    "json": 0,
}

#: The types of columns that numbers, texts and days go into.
NUMBERS: tuple[str, ...] = ("integer", "bigint", "real", "double", "decimal", "currency")
TEXTS: tuple[str, ...] = ("char", "varchar")
DAYS: tuple[str, ...] = ("date", "datetime")


class DataType(NamedTuple):
    """A column's type taken apart: `decimal(19, 4)` is ("decimal", (19, 4))."""

    #: One of the names in the table of column types.
    name: str
    #: Precision and scale of a decimal, the length in characters of a char or varchar; else empty.
    arguments: tuple[int, ...]


def parse_type(text: str) -> DataType:
    """Take `varchar(15)` apart. `currency` is decimal(19, 4), as it was in the engines that have it.

    Raises ValueError with what was expected.
    """
    match = re.fullmatch(r"([a-z]+)(?:\((\d+(?:\s*,\s*\d+)*)\))?", text.strip())
    if text.count("(") != text.count(")"):  # `{type: decimal(9, 2)}` without quotes ends at its comma
        raise ValueError('a type with its brackets closed; inside { } write it in quotes: "decimal(9, 2)"')
    if match is None or match[1] not in TYPES:
        raise ValueError(f"one of the types {', '.join(TYPES)}")
    arguments = tuple(int(number) for number in match[2].split(",")) if match[2] else ()
    if len(arguments) != (due := TYPES[match[1]]):
        words = f"{due} argument{'' if due == 1 else 's'} for {match[1]}"
        raise ValueError(f"{words}, like {_EXAMPLES.get(match[1], match[1])}")
    if match[1] == "currency":
        return DataType("decimal", (19, 4))
    if match[1] == "decimal" and not (1 <= arguments[0] <= 38 and arguments[1] <= arguments[0]):
        raise ValueError("a precision of 1 to 38 and a scale no larger, like decimal(19, 4)")
    if match[1] in ("char", "varchar") and arguments[0] < 1:
        raise ValueError("a length of at least 1")
    return DataType(match[1], arguments)


_EXAMPLES = {"varchar": "varchar(15)", "char": "char(1)", "decimal": "decimal(19, 4)"}


def _checked_type(text: str) -> str:
    parse_type(text)
    return text


TypeText = Annotated[str, AfterValidator(_checked_type), Field(examples=["integer", "varchar(15)", "currency"])]
