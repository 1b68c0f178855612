"""DuckDB, read row by row and as Arrow batches."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import Field

from dbbench.engine import (
    STANDARD_TYPES,
    Concurrency,
    Dialect,
    MemoryShare,
    Options,
    Publication,
    Retry,
    Rows,
    Session,
    Setup,
    Tier,
    Unsupported,
    chosen,
    fetch,
)
from dbbench_plugins.sql_vectors import VectorRows, VectorTable

if TYPE_CHECKING:
    from dbbench.engine import Table


@dataclass(frozen=True)
class _WithoutIndexes(Dialect):
    """Tables without any index, also without the one that keeps a primary key unique."""

    def create_table(self, name: str, table: Table) -> str:
        if table.foreign_keys:
            raise Unsupported("foreign keys refer to primary keys, which the option `indexes` leaves out")
        with_key = super().create_table(name, table)
        return f"{with_key[: with_key.rindex(', PRIMARY KEY')]})"

    def create_indexes(self, name: str, table: Table) -> list[str]:
        return []


#: Rows that are fetched at a time: as many as there are in a vector of DuckDB's.
_AT_ONCE = 2_048


class DuckDBOptions(Options):
    threads: int | None = Field(default=None, ge=1, description="worker threads; DuckDB's own choice if not given")
    memory_limit_mib: Annotated[int | None, MemoryShare("memory", least=16)] = Field(
        default=None, description="memory that DuckDB may use, for its cache and for queries, MiB"
    )
    indexes: bool = Field(
        default=True,
        description="whether it has the suite's primary keys and indexes; it holds all of them in memory",
    )


def _arrow_reader() -> Callable[[Any], Rows]:
    """What reads a relation as Arrow batches: releases before 1.5 have another name for it."""
    from duckdb import DuckDBPyRelation as Relation

    found: Callable[[Any], Rows] = getattr(Relation, "to_arrow_reader", None) or Relation.fetch_arrow_reader
    return found


class DuckDBSession(VectorRows):
    load_format = "batches"
    distances: ClassVar = {
        metric: f"{function}(vector, ?::FLOAT[{{0}}])"
        for metric, function in (
            ("l2", "array_distance"), ("cosine", "array_cosine_distance"), ("ip", "array_negative_inner_product"),
        )
    }  # fmt: skip

    def prepare_load(self, name: str, table: Table) -> Callable[[Any], object]:
        quoted, relation = self.sql.quoted(name), self.connection.from_arrow

        def insert(batch: Any) -> None:
            # A registered batch would be kept until the transaction ends: the whole dataset, in memory.
            relation(batch).insert_into(quoted)

        return insert

    def vector(self, vector: Any) -> Any:
        return vector

    def prepare_add(self) -> Callable[[Any, Any, Any], object]:
        import pyarrow as pa

        relation = self.connection.from_arrow

        def add(keys: Any, vectors: Any, labels: Any) -> None:
            column = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), vectors.shape[1])
            relation(pa.record_batch([keys, labels, column], names=["key", "label", "vector"])).insert_into("vectors")

        return add

    def rollback(self) -> None:
        import duckdb

        with suppress(duckdb.TransactionException):  # a commit that failed has ended the transaction
            self.execute("ROLLBACK")

    @classmethod
    def retry_reason(cls, exc: BaseException) -> Retry | None:
        """DuckDB has no codes; it says "Conflict" or "conflict" of what another transaction changed first."""
        conflict = type(exc).__name__ == "TransactionException" and "onflict" in str(exc)
        return "conflict" if conflict else None

    def prepare_query(self, sql: str) -> Callable[[], Rows]:
        execute, fetch = self.connection.execute, partial(self.connection.fetchmany, _AT_ONCE)

        def run() -> Rows:
            execute(sql)
            return chain.from_iterable(iter(fetch, []))

        return run

    def batches(self, sql: str) -> Any:
        """Read by `duckdb` too: a twentieth of the time that rows take."""
        return _arrow_reader()(self.connection.sql(sql))

    def returned_rows(self, given: Any) -> bool:
        """What changes rows describes one as well: their number."""
        return [name for name, *_ in given.description or ()] not in ([], ["Count"])

    def prepare_call(self, sql: str, rows: int | None = None) -> Callable[..., Any]:
        """Read to the end, as a connection with an unread result does nothing else."""
        execute = self.connection.execute
        if rows is None:
            return lambda *values: execute(sql, values).fetchall()

        def call(*values: Any) -> Any:
            found = execute(sql, values).fetchall()
            return found[0] if rows and found else None

        return call

    def prepare_many(self, sql: str) -> Callable[[Sequence[Sequence[Any]]], object]:
        """Run on this connection: a cursor is another one, with transactions of its own."""
        return partial(self.connection.executemany, sql)

    def explain(self, sql: str) -> str:
        """The physical plan, an operator a line: the boxes that DuckDB draws take ten times the room."""
        ((_, plan),) = fetch(self, f"EXPLAIN (FORMAT JSON) {sql}")
        return "\n".join(line for root in json.loads(plan) for line in _operators(root))


class ArrowSession(DuckDBSession):
    result_format = "batches"
    prepare_get: ClassVar = None  # type: ignore[assignment]  # objects are made of rows: see `duckdb`
    prepare_get_many: ClassVar = None  # type: ignore[assignment]  # as above
    prepare_add: ClassVar = None  # type: ignore[assignment]  # keys are wanted, not batches: see `duckdb`
    prepare_append: ClassVar = None  # type: ignore[assignment]  # as above
    prepare_remove: ClassVar = None  # type: ignore[assignment]  # as above
    prepare_nearest: ClassVar = None  # type: ignore[assignment]  # as above

    def prepare_query(self, sql: str) -> Callable[[], Rows]:
        relation, reader = self.connection.sql, _arrow_reader()
        return lambda: reader(relation(sql))


class DuckDB(VectorTable):
    name = "duckdb"
    title = "DuckDB (rows)"
    license = "MIT"
    publication = Publication.ALLOWED
    dialect = "duckdb"
    sql = Dialect(
        types={**STANDARD_TYPES, "json": "JSON"},
        document="CAST({0} AS VARCHAR)",
        binary=("BLOB", "BLOB"),
        # Its VACUUM gives no room back; a checkpoint does, of row groups that are empty by now, and as much at the end
        # of the file.
        compact="CHECKPOINT",
        # An index's columns are reported as text, like ['"Name"'].
        indexed="SELECT TRIM(expressions, '[]''\"') FROM duckdb_indexes() WHERE table_name = '{0}'",
    )
    options_class = DuckDBOptions
    session_class = DuckDBSession
    modules = ("duckdb",)
    metrics: ClassVar[Any] = ("l2", "cosine", "ip")
    vector_type: ClassVar = "FLOAT[{0}]"
    concurrency = Concurrency(threads=None, processes=1)  # a file that is written belongs to one process
    option_queries: ClassVar = {"threads": "SELECT current_setting('threads')"}  # it tells its memory limit rounded
    durability: ClassVar = {Tier.POWER: {}}  # one fdatasync for each commit, and no switch to turn it off

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        if not self.options.indexes:
            why = "the option `indexes` is off"
            self.sql = _WithoutIndexes(**vars(self.sql))  # type: ignore[misc]  # this one's
            self.missing_features = {"indexes": why, "unique keys": why}  # type: ignore[misc]  # this one's

    @classmethod
    def versions(cls) -> dict[str, str]:
        import duckdb

        return {"DuckDB": duckdb.__version__}

    def open(self) -> None:
        import duckdb

        settings: dict[str, Any] = {}
        if self.options.threads:
            settings["threads"] = self.options.threads
        if mib := chosen(self.options.memory_limit_mib):
            settings["memory_limit"] = f"{mib}MiB"
        self.connection = duckdb.connect(str(self.directory / "data.duckdb"), config=settings)

    def connect(self) -> Session:
        return self.session_class(self.connection.cursor(), self.sql)

    def settings(self) -> dict[str, Any]:
        names = ("threads", "memory_limit")
        query = "SELECT " + ", ".join(f"current_setting('{name}')" for name in names)
        (values,) = self.connection.execute(query).fetchall()
        return {**dict(zip(names, values, strict=True)), "indexes": self.options.indexes}

    def flush(self) -> None:
        self.connection.execute("CHECKPOINT")

    def close(self) -> None:
        self.connection.close()


class DuckDBArrow(DuckDB):
    name = "duckdb+arrow"
    title = "DuckDB (Arrow)"
    session_class = ArrowSession
    metrics = ()


def _operators(node: Mapping[str, Any], depth: int = 0) -> Iterator[str]:
    """Yield a line for an operator and for each below it, indented."""
    details = (
        f"{name}: {', '.join([value] if isinstance(value, str) else value)}"
        for name, value in node["extra_info"].items()
    )
    yield "  " * depth + f"{node['name'].strip()} {'; '.join(details)}".rstrip()
    for child in node["children"]:
        yield from _operators(child, depth + 1)
