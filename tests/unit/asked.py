"""The reference on a few rows, in this process."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from dbbench.answers.reference import answered
from dbbench.answers.stored import Question
from dbbench.datasets.cache import Files
from dbbench.datasets.generate import arrow_schema
from dbbench.suite.dataset import Table

#: Table -> column, the first the key -> its type and its values.
Content = Mapping[str, Mapping[str, tuple[str, Sequence[Any]]]]
Ask = Callable[..., list[pa.Table]]


@dataclass(frozen=True)
class Given(Files):
    """A dataset of tables in memory."""

    content: Mapping[str, pa.Table] = field(default_factory=dict)

    def stream(self, table: str) -> Iterator[pa.RecordBatch]:
        """The batches of a table."""
        return iter(self.content[table].to_batches())


def tables_of(content: Content) -> dict[str, Table]:
    """The tables as a suite declares them."""
    return {
        name: Table.model_validate(
            {
                "rows": {"file": "none.csv"},
                "primary_key": next(iter(columns)),
                "columns": {
                    column: {"type": kind, "nullable": bool(place)}
                    for place, (column, (kind, _)) in enumerate(columns.items())
                },
            }
        )
        for name, columns in content.items()
    }


def rows_of(content: Content) -> dict[str, pa.Table]:
    """The rows of each table."""
    return {
        name: pa.table(
            [pa.array(values, kind) for (_, values), kind in zip(content[name].values(), schema.types, strict=True)],
            schema=schema,
        )
        for name, table in tables_of(content).items()
        if (schema := arrow_schema(table))
    }


def reference(folder: Path, content: Content) -> Ask:
    """What asks the reference: the answers of which each is right. Raises whatever it raises."""
    tables, files = tables_of(content), Given(folder, rows_of(content))

    def ask(sql: str, memory: int = 2**26, **more: Any) -> list[pa.Table]:
        return answered(Question(sql, **more), tables, files, memory, str(folder))

    return ask


def values(answers: Sequence[pa.Table]) -> list[tuple[Any, ...]]:
    """The rows of the one answer, without ranks."""
    (answer,) = answers
    return [tuple(value for name, value in row.items() if name != " rank") for row in answer.to_pylist()]
