"""DuckDB, read row by row and as Arrow batches."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field

from dbbench.engine import Concurrency, Options, Publication, Rows, Session
from dbbench.sql import Dialect, SQLEngine, SQLSession, fetch
from dbbench.suite import Tier

if TYPE_CHECKING:
    from dbbench.schema import Table


class DuckDBOptions(Options):
    threads: int | None = Field(default=None, ge=1, description="worker threads; DuckDB's own choice if not given")


class DuckDBSession(SQLSession):
    takes = "batches"

    def prepare_load(self, name: str, table: Table) -> Callable[[Any], object]:
        statement = f"INSERT INTO {self.sql.quoted(name)} SELECT * FROM dbbench_chunk"

        def insert(batch: Any) -> None:
            self.connection.register("dbbench_chunk", batch)
            self.connection.execute(statement)

        return insert

    def prepare_query(self, sql: str) -> Callable[[], Rows]:
        execute, fetchone = self.connection.execute, self.connection.fetchone

        def run() -> Rows:
            execute(sql)
            return iter(fetchone, None)

        return run

    def explain(self, sql: str) -> str:
        """The physical plan, drawn as boxes."""
        return "\n".join(plan for _, plan in fetch(self, f"EXPLAIN {sql}"))


class ArrowSession(DuckDBSession):
    gives = "batches"

    def prepare_query(self, sql: str) -> Callable[[], Rows]:
        relation = self.connection.sql
        return lambda: relation(sql).to_arrow_reader()


class DuckDB(SQLEngine):
    name = "duckdb"
    title = "DuckDB (rows)"
    license = "MIT"
    publication = Publication.ALLOWED
    dialect = "duckdb"
    sql = Dialect()
    options_class = DuckDBOptions
    session_class = DuckDBSession
    modules = ("duckdb",)
    concurrency = Concurrency(threads=None, processes=1)  # a file that is written belongs to one process
    durability: ClassVar = {Tier.POWER: {}}  # one fdatasync for each commit, and no switch to turn it off

    @classmethod
    def versions(cls) -> dict[str, str]:
        import duckdb

        return {"DuckDB": duckdb.__version__}

    def open(self) -> None:
        import duckdb

        settings = {"threads": self.options.threads} if self.options.threads else {}
        self.connection = duckdb.connect(str(self.directory / "data.duckdb"), config=settings)

    def connect(self) -> Session:
        return self.session_class(self.connection.cursor(), self.sql)

    def settings(self) -> dict[str, Any]:
        names = ("threads", "memory_limit")
        query = "SELECT " + ", ".join(f"current_setting('{name}')" for name in names)
        (values,) = self.connection.execute(query).fetchall()
        return dict(zip(names, values, strict=True))

    def flush(self) -> None:
        self.connection.execute("CHECKPOINT")

    def close(self) -> None:
        self.connection.close()


class DuckDBArrow(DuckDB):
    name = "duckdb+arrow"
    title = "DuckDB (Arrow)"
    session_class = ArrowSession
