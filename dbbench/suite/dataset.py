"""Tables as data: their columns, keys and rows; records, vectors and texts under keys.

These models are the dataset part of a suite file, and what an engine is given to create.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import AfterValidator, ConfigDict, Discriminator, Field, Tag, TypeAdapter, model_validator

from dbbench.errors import Unsupported
from dbbench.suite.base import HIDDEN, Identifier, Model
from dbbench.suite.data_types import DataType, TypeText, parse_type
from dbbench.suite.documents import Document
from dbbench.suite.plain import mapping, sequence
from dbbench.suite.values import (
    Choice,
    Computed,
    Days,
    Drawn,
    Listed,
    Moments,
    Pattern,
    Quantiles,
    Reference,
    Sequence,
    Words,
    ascending,
)

Values = Annotated[
    Sequence | Reference | Quantiles | Choice | Pattern | Days | Moments | Words | Listed | Computed | Document,
    Field(discriminator="kind"),
]
#: The same, for plain data.
ANY: TypeAdapter[Drawn] = TypeAdapter(Values, config=ConfigDict(defer_build=True))
#: The column of a flattened array that has an element's place in it, from 0.
PLACE = "Place"
#: Characters of the longest name.
_LONGEST = 63


class Column(Model):
    """One column, and how its values are drawn; without `values` they come from the table's file."""

    type: TypeText = Field(description="Like `varchar(15)`.")
    #: It is of no concern to an engine.
    values: Values | None = Field(default=None, description="How they are drawn.")
    nullable: bool = Field(default=False, description="Whether a file's values may be missing.")
    #: It is of no concern to an engine.
    null_every: int = Field(default=0, ge=0, description="10 makes every tenth value NULL.")
    #: It is of no concern to an engine.
    source: str = Field(default="", max_length=300, description="Its name in the file, if that is another.")

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
    def _drawn(self) -> Self:
        if self.null_every and (self.values is None or not self.nullable):
            raise ValueError("`null_every` only for drawn values, and not with `nullable: false`")
        if self.data_type.name == "json" and (self.nullable or self.values is None):
            raise ValueError("values of the kind document, and none of them missing")
        return self

    @property
    def data_type(self) -> DataType:
        """The type taken apart."""
        return parse_type(self.type)


class FromFile(Model):
    """Rows from CSV or Parquet files."""

    file: str = Field(min_length=1, description="A path or a glob, relative to the suite.")
    count: int | None = Field(default=None, ge=0, description="How many rows there must be.")


def _kind_of_rows(value: Any) -> str:
    return "rows:file" if isinstance(value, dict | FromFile) else "rows:number"


Rows = Annotated[
    Annotated[int, Field(ge=1), Tag("rows:number")] | Annotated[FromFile, Tag("rows:file")],
    Discriminator(_kind_of_rows),
]


class ForeignKey(Model):
    """A reference that the engine checks."""

    columns: tuple[Identifier, ...] = Field(min_length=1, description="With the types of the primary key of `table`.")
    table: Identifier = Field(description="A table stated before.")
    #: The columns of that primary key.
    key: tuple[Identifier, ...] = Field(default=(), json_schema_extra=HIDDEN)


class Table(Model):
    """One table."""

    rows: Rows = Field(
        description="Their number at scale 1, or the files that they are in; at any scale at least one is left."
    )
    scales: bool = Field(default=True, description="Whether `--scale` multiplies the rows.")
    primary_key: Identifier | Annotated[tuple[Identifier, ...], Field(min_length=1)] = Field(
        description="A column, or a list of them. `churn`, `contention`, `objects`, `adds`, `reference` and counters need one column."
    )
    indexes: tuple[Identifier, ...] = Field(default=(), description="Columns that get an index each, after the load.")
    foreign_keys: tuple[ForeignKey, ...] = Field(
        default=(), description="Checked by the engine for each row; ClickHouse refuses them."
    )
    columns: dict[Identifier, Column] = Field(min_length=1, description="Name -> column, in their order.")

    @model_validator(mode="after")
    def _values_from_somewhere(self) -> Self:
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
        for name in (*self.key_columns, *self.indexes):
            if name in self.columns and self.columns[name].data_type.name == "json":
                raise ValueError(f"a key and indexes of other columns than the documents in {name}")
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

    def flattened(self, name: str) -> dict[str, Table]:
        """The table with a column for each value of its documents, named by its path, and a table for each array.

        Of an array's table the columns are the key, the place of the element, and its values. Raises ValueError for a
        name that two of them would have, or that is too long.
        """
        found: dict[str, dict[str, Column]] = {name: {}}
        keys = {key: self.columns[key] for key in self.key_columns if key in self.columns}  # one that isn't is a fault
        for column_name, column in self.columns.items():
            if not isinstance(column.values, Document):
                found[name][column_name] = column
                continue
            for array, path, type_text in column.values.root.leaves(column_name):
                part = f"{name}_{array}" if array else name
                columns = found.setdefault(part, {**keys})
                if array:
                    columns.setdefault(PLACE, Column.model_construct(type="integer"))
                taken = {name.lower() for name in (*columns, *self.columns)}
                if path.lower() in taken or max(len(part), len(path)) > _LONGEST:
                    raise ValueError(
                        f"paths of at most {_LONGEST} characters, each of another name, unlike {part if len(part) > _LONGEST else path}"
                    )
                # The text of a document has all digits of a number.
                kind = "double" if type_text == "real" else type_text
                columns[path] = Column.model_construct(type=kind, nullable=True)
        keyed = {part: self.key_columns if part == name else (*self.key_columns, PLACE) for part in found}
        return {
            part: self.model_copy(update={"columns": columns, "primary_key": keyed[part]})
            for part, columns in found.items()
        }


class Records(Model):
    """Records under keys. SQL engines keep them in a table `Records` of `RecordKey` and `RecordValue`."""

    count: int = Field(ge=1, le=10**12, description="Records at scale 1.")
    key_bytes: int = Field(default=8, ge=8, le=512, description="The length of every key.")
    key_order: Literal["ascending", "scattered"] = Field(
        default="ascending",
        description="`ascending`: the record's number, most significant byte first; `scattered`: as good as random.",
    )
    value_bytes: int = Field(default=100, ge=16, le=1 << 20, description="The length of every value.")

    @property
    def numbered(self) -> bool:
        """Whether keys are numbers of blocks, as engines with `blocks` need them."""
        return self.key_order == "ascending" and self.key_bytes == 8


#: How far apart two vectors are: squared Euclidean distance, 1 less the cosine of their angle, negative inner product.
Distance = Literal["l2", "cosine", "ip"]


class _Column(Model):
    """What may be drawn, or be one column of the user's files."""

    file: str = Field(
        default="",
        description="Your own files: a path or a glob, relative to the suite; Parquet for vectors, CSV or Parquet for texts.",
    )
    column: str = Field(default="", max_length=300, description="Its column in these files.")

    @model_validator(mode="after")
    def _both(self) -> Self:
        if bool(self.file) != bool(self.column):
            raise ValueError("`file` and `column` together")
        for name in {"outside", "vocabulary", "words"} & {*type(self).model_fields}:
            if self.file and getattr(self, name) != type(self).model_fields[name].default:
                raise ValueError(f"no `{name}` with a `file`: it says how others are drawn")
        return self


class Vectors(_Column):
    """Vectors of float32 under the keys from 1 on. `count` is their number at scale 1.

    Without a file they are drawn around 100 centres in 24 dimensions, and mapped to `dimensions` with some noise. Label
    n is that of the n-th share of `labels`, 0 of all others. `queries` are drawn alike; those outside of the
    distribution only if asked for.
    """

    count: int = Field(ge=1, le=10**8, description="Vectors at scale 1; a `file` has these and the queries.")
    dimensions: int = Field(ge=2, le=4_096, description="The numbers of each vector.")
    metric: Distance = Field(
        default="l2",
        description="`l2`: squared Euclidean distance; `cosine`: 1 less the cosine; `ip`: the negative inner product.",
    )
    #: It is of no concern to an engine.
    labels: tuple[Annotated[float, Field(gt=0, lt=1)], ...] = Field(
        default=(), max_length=20, description="Shares: 1 % of all vectors have the label of `0.01`."
    )
    #: It is of no concern to an engine.
    queries: int = Field(
        default=5_000,
        ge=200,
        le=100_000,
        description="Drawn as the vectors are, or from a file's; the same number at any scale.",
    )
    #: It is of no concern to an engine.
    outside: bool = Field(default=False, description="Draw queries from outside of the distribution, too.")

    @model_validator(mode="after")
    def _some_of_each(self) -> Self:
        if len({*self.labels}) < len(self.labels) or sum(self.labels) > 1:
            raise ValueError("labels: different shares that add up to 1 at most")
        if nothing := [share for share in self.labels if share * self.count < 1]:
            raise ValueError(f"labels of one vector or more: of {self.count:,} a share of {nothing[0]:g} is none")
        return self


#: The table of texts, its key and its column.
TEXT_TABLE, TEXT_KEY, TEXT = "texts", "id", "body"
#: The most words of a text: what all systems take as a varchar.
MOST_WORDS = 1_000


class Texts(_Column):
    """Texts under the keys from 1 on. `count` is their number at scale 1.

    Without a file they are in lower-case ASCII. Words are drawn by Zipf's law from a vocabulary, one in four of those
    of the text's topic. No two words of the vocabulary are alike: the most frequent are English ones that other systems
    leave out, and others differ in their ending alone.
    """

    count: int = Field(ge=1, le=10**8, description="Texts at scale 1.")
    vocabulary: int = Field(default=20_000, ge=1_000, le=100_000, description="Different words.")
    words: Annotated[dict[float, Annotated[float, Field(ge=1, le=MOST_WORDS)]], AfterValidator(ascending)] = Field(
        default={0: 10, 0.5: 60, 0.9: 150, 1: 400}, min_length=2, description="The words of a text, by quantiles."
    )
    characters: int = Field(default=10_000, ge=1, le=16_000, description="The longest text of a file.")


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


def flattened(tables: Mapping[str, Table]) -> dict[str, Table]:
    """Tables as the reference has them. Raises ValueError for an array's table that has the name of another."""
    found: dict[str, Table] = {}
    for name, table in tables.items():
        parts = table.flattened(name)
        if taken := parts.keys() & (found.keys() | tables.keys() - {name}):
            raise ValueError(f"a name other than that of an array's table, {min(taken)}")
        found |= parts
    return found


#: What a dataset holds, one of these.
Holds = Literal["tables", "records", "vectors", "texts"]
HOLDS: tuple[Holds, ...] = get_args(Holds)


class Dataset(Model):
    """Some tables, or records, vectors or texts under keys, drawn from one seed."""

    seed: int = Field(default=1, ge=0, description="`--seed` overrides it.")
    tables: dict[Identifier, Table] = Field(default={}, description="Name -> table.")
    records: Records | None = Field(default=None, description="Values under keys, for `keyvalue` and `mix`.")
    vectors: Vectors | None = Field(default=None, description="For `nearest`.")
    texts: Texts | None = Field(default=None, description="For `search`.")

    @model_validator(mode="before")
    @classmethod
    def _keys_of_parents(cls, given: Any) -> Any:
        """Each foreign key with the columns that it refers to, as passed to an engine."""
        tables = mapping(given, "tables")
        if not any(sequence(table, "foreign_keys") for table in tables.values()):
            return given
        return {**given, "tables": {name: _with_parents(table, tables) for name, table in tables.items()}}

    @model_validator(mode="after")
    def _one_of_them(self) -> Self:
        if sum(bool(getattr(self, each)) for each in HOLDS) != 1:
            raise ValueError("either tables, records, vectors or texts")
        flattened(self.tables)
        return self

    @property
    def holds(self) -> Holds:
        """What it holds."""
        return next(each for each in HOLDS if getattr(self, each))

    @property
    def sources(self) -> dict[str, str]:
        """The user's files, each a path or a glob: table, `vectors` or `texts` -> the file of its rows."""
        found = {name: table.rows.file for name, table in self.tables.items() if isinstance(table.rows, FromFile)}
        for name, column in (("vectors", self.vectors), (TEXT_TABLE, self.texts)):
            if column and column.file:
                found[name] = column.file
        return found

    def rows(self, table: str, scale: float) -> int:
        """Rows of a drawn table at a scale: at least one."""
        rows = self.tables[table].rows
        assert isinstance(rows, int), "only the file tells"
        if not self.tables[table].scales:
            return rows
        return max(1, round(rows * scale))
