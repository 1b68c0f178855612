"""The expected answer of a query: computed from its SQL by the reference, unless the suite overrides it."""

from collections.abc import Iterable
from typing import Annotated, Any, Literal, Self

from pydantic import Discriminator, Field, Tag, model_validator

from dbbench.suite.base import Identifier, Model
from dbbench.suite.data_types import TypeText
from dbbench.suite.plain import Mapping, mapping

#: `Table.Column` of the dataset.
ColumnName = Annotated[str, Field(pattern=r"^[A-Za-z]\w*(\.[A-Za-z]\w*)?$")]
Sql = Annotated[str, Field(min_length=1, max_length=100_000)]
#: The keys of a form that is no longer read.
_FORMER = frozenset({"table", "select", "subqueries", "join", "where", "group_by", "having", "order_by"})


class SqlAnswer(Model):
    """What the reference returns."""

    sql: Sql | None = Field(
        default=None, description="In place of the step's own, where the reference doesn't take that."
    )
    ordered: bool | None = Field(
        default=None, description="Whether the order matters; by default if the SQL ends in an ORDER BY."
    )

    @model_validator(mode="before")
    @classmethod
    def _not_relational(cls, data: Any) -> Any:
        if is_former(data):
            raise ValueError(
                "`answer` left out, for what the reference returns for the step's SQL, or `answer: {sql: ...}`"
            )
        return data


class GivenRows(Model):
    """Rows written in the suite, at scale 1."""

    columns: dict[Identifier, TypeText] = Field(min_length=1, description="Name -> type.")
    rows: tuple[tuple[int | float | str | None, ...], ...] = Field(max_length=10_000, description="One list each.")
    ordered: bool = Field(default=False, description="Whether the order matters.")

    @model_validator(mode="after")
    def _as_wide(self) -> Self:
        for number, row in enumerate(self.rows, 1):
            if len(row) != len(self.columns):
                raise ValueError(f"{len(self.columns)} values in each row, one for each column, unlike row {number}")
        return self


class AnswerFile(Model):
    """Rows of a CSV or Parquet file, at scale 1."""

    file: str = Field(min_length=1, description="A path, relative to the suite.")
    columns: dict[Identifier, TypeText] = Field(default={}, description="Name -> type, for a CSV file.")
    ordered: bool = Field(default=False, description="Whether the order matters.")


class EngineAnswer(Model):
    """What an engine returns, computed once in a process of its own; it has a rank once another database agrees."""

    engine: str = Field(pattern=r"^[a-z0-9][A-Za-z0-9+@._-]{0,99}$", description="The engine.")
    ordered: bool = Field(default=False, description="Whether the order matters.")


def is_former(answer: Any) -> bool:
    """Whether an answer, as plain data, has the relational form that suites had until November 2026."""
    return isinstance(answer, dict) and bool(_FORMER & answer.keys())


def _way(value: Any) -> str:
    """The form of an answer, by its keys; worded for messages of faults."""
    if isinstance(value, str):
        return "answer:word"
    keys = value if isinstance(value, dict) else getattr(type(value), "model_fields", ())
    return next((f"answer:{key}" for key in ("rows", "file", "engine") if key in keys), "answer:sql")


#: Rows that are known before the run.
KnownAnswer = SqlAnswer | GivenRows | AnswerFile | EngineAnswer
AnyAnswer = Annotated[
    Annotated[SqlAnswer, Tag("answer:sql")]
    | Annotated[GivenRows, Tag("answer:rows")]
    | Annotated[AnswerFile, Tag("answer:file")]
    | Annotated[EngineAnswer, Tag("answer:engine")]
    | Annotated[Literal["agree", "none"], Tag("answer:word")],
    Discriminator(_way),
]


def columns_of(tables: Mapping, names: Iterable[Any]) -> list[str]:
    """`Table.Column` of each column of the tables named; unknown tables have none."""
    return [f"{name}.{column}" for name in names for column in mapping(mapping(tables, name), "columns")]
