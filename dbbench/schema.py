"""Tables as data: columns, their types, and how their values are drawn.

These models are the dataset part of a suite file, and what an engine is given to create.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Annotated, Literal, NamedTuple

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationInfo, field_validator, model_validator

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
}


class DataType(NamedTuple):
    """A column's type taken apart: `decimal(19, 4)` is ("decimal", (19, 4))."""

    name: str
    arguments: tuple[int, ...]


def parse_type(text: str) -> DataType:
    """Take `varchar(15)` apart. `currency` is decimal(19, 4), as it was in the engines that have it.

    Raises ValueError, which says what was expected.
    """
    match = re.fullmatch(r"([a-z]+)(?:\((\d+(?:\s*,\s*\d+)*)\))?", text.strip())
    if text.count("(") != text.count(")"):  # `{type: decimal(9, 2)}` without quotes ends at its comma
        raise ValueError('a type with its brackets closed; inside { } write it in quotes: "decimal(9, 2)"')
    if match is None or match[1] not in TYPES:
        raise ValueError(f"one of the types {', '.join(TYPES)}")
    arguments = tuple(int(number) for number in match[2].split(",")) if match[2] else ()
    if len(arguments) != TYPES[match[1]]:
        raise ValueError(f"{TYPES[match[1]]} arguments for {match[1]}, like {_EXAMPLES.get(match[1], match[1])}")
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


#: A plain name: it can be quoted in every SQL dialect and stand in a file name.
Identifier = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]{0,62}$")]
TypeText = Annotated[str, AfterValidator(_checked_type), Field(examples=["integer", "varchar(15)", "currency"])]


class Model(BaseModel):
    """The base of everything that a suite file holds."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Sequence(Model):
    """Row number plus `start`: a primary key."""

    kind: Literal["sequence"]
    start: int = 1


class Reference(Model):
    """A key of another table of the dataset, whose primary key must be a sequence.

    `even` deals the parents out in ascending order, so that each has the same number of rows give or
    take one; `uniform` draws a parent at random for each row.
    """

    kind: Literal["reference"]
    table: Identifier
    spread: Literal["even", "uniform"] = "uniform"


#: Steps between two points: times 32 random bits, they must stay a whole number of 64 bits.
_MOST_STEPS = 1 << 31


class Quantiles(Model):
    """Numbers by their quantile function, linear between the points, rounded down to whole steps.

    `points: {0: 1, 0.5: 10, 1: 100}` says that the least is 1, half lie under 10 and the greatest is 100.
    Drawn with whole numbers throughout, so that every machine draws the same.
    """

    kind: Literal["quantiles"]
    points: dict[float, float] = Field(min_length=2)
    step: float = Field(default=1, gt=0)

    @field_validator("points")
    @classmethod
    def _ascending(cls, points: dict[float, float]) -> dict[float, float]:
        shares, values = list(points), list(points.values())
        if shares != sorted(shares) or values != sorted(values) or shares[0] != 0 or shares[-1] != 1:
            raise ValueError("shares that ascend from 0 to 1, with values that ascend too")
        return points

    @model_validator(mode="after")
    def _countable(self) -> Quantiles:
        values = list(self.points.values())
        if max(after - before for before, after in pairwise(values)) / self.step >= _MOST_STEPS:
            raise ValueError(f"points less than {_MOST_STEPS:,} steps apart")
        return self


class Choice(Model):
    """One of some texts or numbers, each with its weight."""

    kind: Literal["choice"]
    weights: dict[str, float] = Field(min_length=1)

    @field_validator("weights")
    @classmethod
    def _positive(cls, weights: dict[str, float]) -> dict[str, float]:
        if min(weights.values()) <= 0:
            raise ValueError("weights above 0")
        return weights


class Pattern(Model):
    """A text, so many times over, in which each `#` is a random digit."""

    kind: Literal["pattern"]
    text: str = Field(min_length=1, pattern=r"^[\x20-\x7e]+$")
    repeat: int = Field(default=1, ge=1, le=10_000)


class Days(Model):
    """A day from `first` to `last`, both included, at midnight."""

    kind: Literal["days"]
    first: datetime.date
    last: datetime.date

    @field_validator("last")
    @classmethod
    def _not_before(cls, last: datetime.date, info: ValidationInfo) -> datetime.date:
        if last < info.data.get("first", last):
            raise ValueError("a day that is not before the first")
        return last


class Moments(Model):
    """The moment `first`, and for each row after the first one `seconds` more. Each `null_every`th row has none."""

    kind: Literal["moments"]
    first: datetime.datetime
    seconds: int
    null_every: int = Field(default=0, ge=0)

    @field_validator("first")
    @classmethod
    def _whole(cls, first: datetime.datetime) -> datetime.datetime:
        if first.tzinfo is not None or first.microsecond:
            raise ValueError("a moment in whole seconds, without a time zone")
        return first


Values = Annotated[
    Sequence | Reference | Quantiles | Choice | Pattern | Days | Moments,
    Field(discriminator="kind"),
]


class Column(Model):
    """One column and how its values are drawn."""

    type: TypeText
    values: Values

    @property
    def data_type(self) -> DataType:
        """The type taken apart."""
        return parse_type(self.type)

    @property
    def nullable(self) -> bool:
        """Whether some of its values are missing."""
        return isinstance(self.values, Moments) and self.values.null_every > 0


class Table(Model):
    """One table. `rows` is its number at scale 1; `indexes` are single columns, indexed after the load."""

    rows: int = Field(ge=1)
    primary_key: Identifier
    indexes: tuple[Identifier, ...] = ()
    columns: dict[Identifier, Column] = Field(min_length=1)


class Records(Model):
    """Records under keys, for key-value steps. `count` is their number at scale 1.

    Ascending keys are the record's number, its most significant byte first; scattered ones look random.
    """

    count: int = Field(ge=1, le=10**12)
    key_bytes: int = Field(default=8, ge=8, le=512)
    key_order: Literal["ascending", "scattered"] = "ascending"
    value_bytes: int = Field(default=100, ge=16, le=1 << 20)


class Dataset(Model):
    """Some tables, or records under keys, drawn from one seed."""

    seed: int = Field(default=1, ge=0)
    tables: dict[Identifier, Table] = {}
    records: Records | None = None

    @model_validator(mode="after")
    def _one_of_both(self) -> Dataset:
        if bool(self.tables) == (self.records is not None):
            raise ValueError("either tables or records")
        return self

    def rows(self, table: str, scale: float) -> int:
        """Rows of a table at a scale: at least one."""
        return max(1, round(self.tables[table].rows * scale))
