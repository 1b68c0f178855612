"""Tables as data: columns, their types, and how their values are drawn.

These models are the dataset part of a suite file, and what an engine is given to create.
"""

from __future__ import annotations

import ast
import datetime
import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    ValidationInfo,
    field_validator,
    model_validator,
)

from dbbench.errors import Unsupported
from dbbench.suite.expressions import parse
from dbbench.suite.plain import mapping, sequence

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

#: The types of columns that numbers, texts and days go into.
NUMBERS: tuple[str, ...] = ("integer", "bigint", "real", "double", "decimal", "currency")
TEXTS: tuple[str, ...] = ("char", "varchar")
DAYS: tuple[str, ...] = ("date", "datetime")


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
    """A text, repeated `repeat` times, in which each `#` is a random digit."""

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


class Words(Model):
    """A text of some words, one from each list, each as likely as the others of its list, with spaces between them."""

    kind: Literal["words"]
    of: tuple[tuple[Annotated[str, Field(min_length=1)], ...], ...] = Field(min_length=1)

    @field_validator("of")
    @classmethod
    def _some_in_each(cls, of: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
        if not all(of):
            raise ValueError("a word in each list")
        return of


class Listed(Model):
    """These texts, one after another, over and over."""

    kind: Literal["listed"]
    texts: tuple[str, ...] = Field(min_length=1)


#: What the expression of a column may call, with the number of its arguments.
_FUNCTIONS = {"rows": 1, "random": 2}


def parsed(text: str) -> ast.expr:
    """The tree of a column's expression. Raises ValueError, which says what was expected."""
    tree = parse(text, _FUNCTIONS, arithmetic_only=True)
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            raise ValueError("// for whole numbers, not /")  # noqa: TRY004 - a fault of a suite
        if isinstance(node, ast.Attribute):
            raise ValueError("columns of the same table, by their names alone")  # noqa: TRY004
        if isinstance(node, ast.Call):
            known = all(isinstance(each, ast.Name) for each in node.args)
            if isinstance(node.func, ast.Name) and node.func.id == "rows" and not known:
                raise ValueError("rows(Table), with the name of a table")
    return tree


def named_in(tree: ast.expr) -> tuple[list[str], list[str]]:
    """The columns that a column's expression names, and the tables whose rows it asks for."""
    columns: list[str] = []
    tables: list[str] = []
    match tree:
        case ast.Name(id=name):
            columns.append(name)
        case ast.Call(func=ast.Name(id="rows"), args=[ast.Name(id=table)]):
            tables.append(table)
        case ast.Call(args=arguments):
            for node in arguments:
                tables += named_in(node)[1]  # a random number is between the same two in each row
                if named_in(node)[0]:
                    raise ValueError("random(least, most) of numbers, without columns")
        case _:
            for child in ast.iter_child_nodes(tree):
                if isinstance(child, ast.expr):
                    more = named_in(child)
                    columns += more[0]
                    tables += more[1]
    return columns, tables


class Computed(Model):
    """Whole numbers by an expression, in steps: as numbers, or as days or seconds after `first`.

    It may name columns of the same table: a computed one by its number before `step` and `first`, quantiles by their number of
    steps.
    """

    kind: Literal["computed"]
    text: str
    step: float = Field(default=1, gt=0)
    first: datetime.date | None = None

    @field_validator("text")
    @classmethod
    def _arithmetic(cls, text: str) -> str:
        named_in(parsed(text))
        return text


Values = Annotated[
    Sequence | Reference | Quantiles | Choice | Pattern | Days | Moments | Words | Listed | Computed,
    Field(discriminator="kind"),
]


class Column(Model):
    """One column, and how its values are drawn; without `values` they come from the table's file."""

    #: The type as the suite writes it, like `varchar(15)`; `data_type` is the same, taken apart.
    type: TypeText
    #: How its values are drawn; of no concern to an engine.
    values: Values | None = None
    #: Whether some of its values are missing.
    nullable: bool = False
    #: Each value at a multiple of it is missing, if it isn't 0; of no concern to an engine.
    null_every: int = Field(default=0, ge=0)
    #: Its name in the file, if that is another; of no concern to an engine.
    source: str = Field(default="", max_length=300)

    @model_validator(mode="before")
    @classmethod
    def _missing(cls, given: Any) -> Any:
        """A column of which values are drawn as missing is nullable without saying so."""
        if not isinstance(given, dict) or "nullable" in given:
            return given
        values = given.get("values")
        drawn = given.get("null_every") or (values.get("null_every") if isinstance(values, dict) else None)
        return given | {"nullable": True} if drawn else given

    @model_validator(mode="after")
    def _drawn(self) -> Column:
        if self.null_every and (self.values is None or not self.nullable):
            raise ValueError("`null_every` only for drawn values, and not with `nullable: false`")
        return self

    @property
    def data_type(self) -> DataType:
        """The type taken apart."""
        return parse_type(self.type)


class FromFile(Model):
    """Rows from CSV or Parquet files: a path or a glob, relative to the suite. `count` is how many there must be."""

    file: str = Field(min_length=1)
    count: int | None = Field(default=None, ge=0)


def _kind_of_rows(value: Any) -> str:
    return "rows:file" if isinstance(value, dict | FromFile) else "rows:number"


Rows = Annotated[
    Annotated[int, Field(ge=1), Tag("rows:number")] | Annotated[FromFile, Tag("rows:file")],
    Discriminator(_kind_of_rows),
]


#: Of what dbbench fills in, and no suite writes.
_FILLED: dict[str, Any] = {"hidden": True}


class ForeignKey(Model):
    """Columns that hold the primary key of a table stated before; declared to the engine, which then checks them."""

    columns: tuple[Identifier, ...] = Field(min_length=1)
    table: Identifier
    #: The columns of that primary key.
    key: tuple[Identifier, ...] = Field(default=(), json_schema_extra=_FILLED)


class Table(Model):
    """One table."""

    #: Their number at scale 1, or the file that they are in.
    rows: Rows
    #: Whether `--scale` multiplies them.
    scales: bool = True
    #: The column of the primary key, or its columns in their order.
    primary_key: Identifier | Annotated[tuple[Identifier, ...], Field(min_length=1)]
    #: Single columns, indexed after the load.
    indexes: tuple[Identifier, ...] = ()
    #: Those that are declared; a reference alone isn't.
    foreign_keys: tuple[ForeignKey, ...] = ()
    #: Name -> column, in their order.
    columns: dict[Identifier, Column] = Field(min_length=1)

    @model_validator(mode="after")
    def _values_from_somewhere(self) -> Table:
        for name, column in self.columns.items():
            own = column.values is None or isinstance(column.values, Sequence)
            if isinstance(self.rows, FromFile) and not own:
                raise ValueError(f"no values of {name}: those of a file's rows come from it, or are a sequence")
            if isinstance(self.rows, int) and column.values is None:
                raise ValueError(f"values of {name}: only a table with `rows: {{file: ...}}` has them from elsewhere")
        for name in self.key_columns:
            if name in self.columns and self.columns[name].nullable:
                raise ValueError(f"a primary key that is never missing, unlike {name}")
        if len(set(self.key_columns)) < len(self.key_columns):
            raise ValueError("each column of the primary key once")
        return self

    @property
    def key_columns(self) -> tuple[str, ...]:
        """The columns of the primary key."""
        return (self.primary_key,) if isinstance(self.primary_key, str) else self.primary_key

    @property
    def single_key(self) -> str:
        """The one column of the primary key. Raises Unsupported if there are several."""
        if len(self.key_columns) > 1:
            raise Unsupported(f"a primary key of several columns: {', '.join(self.key_columns)}")
        return self.key_columns[0]


class Records(Model):
    """Records under keys, for key-value steps. `count` is their number at scale 1.

    Ascending keys are the record's number, its most significant byte first; scattered ones look random.
    """

    #: Their number at scale 1.
    count: int = Field(ge=1, le=10**12)
    #: The length of every key.
    key_bytes: int = Field(default=8, ge=8, le=512)
    #: Whether each key is above the one before, or keys look random.
    key_order: Literal["ascending", "scattered"] = "ascending"
    #: The length of every value.
    value_bytes: int = Field(default=100, ge=16, le=1 << 20)


def _with_parents(table: Any, tables: Mapping[Any, Any]) -> Any:
    """A table as plain data, whose foreign keys name the columns that they refer to."""
    keys = sequence(table, "foreign_keys")
    if not keys:
        return table
    found = []
    for each in keys:
        key = mapping(tables, mapping({"": each}, "").get("table")).get("primary_key")
        found.append({**each, "key": key if isinstance(key, list | tuple) else [key]} if key else each)
    return {**table, "foreign_keys": found}


class Dataset(Model):
    """Some tables, or records under keys, drawn from one seed."""

    seed: int = Field(default=1, ge=0)
    tables: dict[Identifier, Table] = {}
    records: Records | None = None

    @model_validator(mode="before")
    @classmethod
    def _keys_of_parents(cls, given: Any) -> Any:
        """Each foreign key with the columns that it refers to, as an engine is told them."""
        tables = mapping(given, "tables")
        if not any(sequence(table, "foreign_keys") for table in tables.values()):
            return given
        return {**given, "tables": {name: _with_parents(table, tables) for name, table in tables.items()}}

    @model_validator(mode="after")
    def _one_of_both(self) -> Dataset:
        if bool(self.tables) == (self.records is not None):
            raise ValueError("either tables or records")
        return self

    @property
    def from_files(self) -> bool:
        """Whether rows of a table come from a file."""
        return any(isinstance(table.rows, FromFile) for table in self.tables.values())

    def rows(self, table: str, scale: float) -> int:
        """Rows of a drawn table at a scale: at least one."""
        rows = self.tables[table].rows
        assert isinstance(rows, int), "only the file tells"
        if not self.tables[table].scales:
            return rows
        return max(1, round(rows * scale))
