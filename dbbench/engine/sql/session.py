"""What SQL engines share: a session over any DB-API connection, and tables made, looked for and dropped.

A new SQL engine gives its types and settings and, where it has one, a better way to load; it copies nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from dbbench.engine.base import Engine, Session
from dbbench.engine.operations import LoadPart, Retry, Rows
from dbbench.engine.sql.dialect import RECORD_TABLE, Dialect
from dbbench.engine.sql.operations import SQLObjects
from dbbench.errors import Unsupported

if TYPE_CHECKING:
    import pyarrow as pa
    from pydantic import BaseModel

    from dbbench.suite.dataset import Records, Table


class SQLSession(SQLObjects):
    """A client over a DB-API connection in autocommit mode whose `execute` returns an iterable cursor."""

    def __init__(self, connection: Any, dialect: Dialect) -> None:
        self.connection = connection
        self.sql = dialect

    def execute(self, sql: str) -> Any:
        """Run one statement."""
        return self.connection.execute(sql)

    def read_only(self, *, on: bool) -> None:
        """Run the dialect's statement, if it has one."""
        if self.sql.read_only:
            self.execute(self.sql.read_only[0 if on else 1])

    def begin(self) -> None:
        """Start a transaction."""
        self.execute("BEGIN")

    def begin_reading(self) -> None:
        """Start a transaction that will only read, where a system wants that to be said."""
        self.begin()

    def commit(self) -> None:
        """Commit it."""
        self.execute("COMMIT")

    def rollback(self) -> None:
        """Undo it. Do nothing if the system has already ended it."""
        self.execute("ROLLBACK")

    def retry_reason(self, exc: BaseException) -> Retry | None:
        """Reason for rolling back and retrying a transaction that ended with this error; None if it isn't retried."""
        return None

    def prepare_load(self, name: str, table: Table) -> Callable[[Any], object]:
        """A callable that inserts a list of rows."""
        return partial(self.connection.cursor().executemany, self.sql.insert(name, table))

    def begin_load(self, tables: Mapping[str, Table]) -> None:
        """Start the transaction of a load. The tables are empty."""
        self.begin()

    def prepare_finish(self, tables: Mapping[str, Table]) -> Mapping[LoadPart, Callable[[], object]]:
        """What ends a load, in its order: here the indexes, the dialect's statistics, then the commit."""
        finish: dict[LoadPart, Callable[[], object]] = {"indexes": self.each(self.create_indexes(tables))}
        if self.sql.statistics:
            finish["statistics"] = self.each(self.sql.of_each(self.sql.statistics, tables))
        return {**finish, "commit": self.commit}

    def create_indexes(self, tables: Mapping[str, Table]) -> list[str]:
        """The statements that make the indexes of some tables."""
        return [text for name, table in tables.items() for text in self.sql.create_indexes(name, table)]

    def indexed(self, name: str) -> set[str] | None:
        """The first column of each index of a table, by the system's catalogue; None if it can't be asked."""
        if not self.sql.indexed:
            return None
        return {str(column) for (column,) in fetch(self, self.sql.indexed.format(name.replace("'", "''")))}

    def each(self, statements: Sequence[str]) -> Callable[[], None]:
        """A callable that runs one statement after another."""

        def run() -> None:
            for statement in statements:
                self.execute(statement)

        return run

    def prepare_query(self, sql: str) -> Callable[[], Rows]:
        """A callable that runs a query and gives its cursor."""
        return partial(self.execute, sql)

    def batches(self, sql: str) -> Iterable[pa.RecordBatch] | None:
        """The rows of a query as Arrow batches, where the driver gives these faster: loaded tables are checked
        by them. None: they are checked by what `prepare_query` gives.
        """
        return None

    def prepare_statement(self, sql: str) -> Callable[[], object]:
        """A callable that runs a statement, which commits alone unless a transaction is open."""
        return partial(self.execute, sql)

    def prepare_call(self, sql: str, rows: int | None = None) -> Callable[..., Any]:
        """A statement with placeholders: see SQLKeyValue."""
        execute = self.connection.execute
        if rows == 0:
            return lambda *values: execute(sql, values)
        if rows == 1:
            return lambda *values: execute(sql, values).fetchone()
        return lambda *values: execute(sql, values).fetchall()

    @property
    def driver_execute(self) -> Callable[[str, Sequence[Any]], Any] | None:
        """The driver's `execute(sql, values)`, if `prepare_call` only calls it, and fetchone or fetchall after it.

        Transactions call it without a function in between. None in a class that has a `prepare_call` of its own.
        """
        return self.connection.execute if type(self).prepare_call is SQLSession.prepare_call else None

    def prepare_rows(self, sql: str) -> Callable[..., Iterable[Sequence[Any]]]:
        """A query with placeholders -> call(*values) -> its rows, which may be left unread."""
        return self.prepare_call(sql)

    def prepare_many(self, sql: str) -> Callable[[Sequence[Sequence[Any]]], object]:
        """A statement with placeholders for many values, inside a transaction."""
        return partial(self.connection.cursor().executemany, sql)

    def prepare_compact(self, tables: Sequence[str]) -> Callable[[], object]:
        """A callable that runs the dialect's statement. Raises Unsupported if it has none."""
        if not self.sql.compact:
            raise Unsupported("no statement that compacts its tables is known")
        return self.each(self.sql.of_each(self.sql.compact, tables))

    def explain(self, sql: str) -> str:
        """The engine's own plan of a query, in its own words. Raises Unsupported if it tells none."""
        if not self.sql.explain:
            raise Unsupported("no query plan available")
        rows = fetch(self, f"{self.sql.explain} {sql}")
        return "\n".join("  ".join(str(value) for value in row if value is not None) for row in rows)

    def close(self) -> None:
        """Close the connection."""
        self.connection.close()


class SQLEngine(Engine):
    """An engine that speaks SQL."""

    #: A subclass of `SQLSession`.
    session_class: ClassVar[type[Session]] = SQLSession
    #: A primary key refuses them.
    duplicates: ClassVar = "refused"
    #: How the system writes types and names. A property where only an open engine knows.
    sql: ClassVar[Dialect] = Dialect()
    #: The options that hold through an access layer too, where not all do.
    layer_options: ClassVar[type[BaseModel] | None] = None
    #: Setting in `durability` -> a query that a session answers with the value it has. Another makes a writing
    #: step wrong.
    sync_queries: ClassVar[Mapping[str, str]] = {}
    #: Option -> a query that a session answers with the value it has, where the option was given one. Another takes the
    #: rank.
    option_queries: ClassVar[Mapping[str, str]] = {}

    def promised(self) -> Mapping[str, Any]:
        """The settings of durability that every session has: here those of the tier."""
        return self.durability[self.info().tier]

    def create(self, tables: Mapping[str, Table]) -> None:
        """Make the tables, each in a transaction of its own: all of them, or at a URL none.

        Raises Unsupported if one already exists, which at a URL may be the user's own.
        """
        if not tables:
            return
        kinds = {column.data_type.name for table in tables.values() for column in table.columns.values()}
        if unknown := kinds - self.sql.types.keys():
            raise Unsupported(f"no column type for {min(unknown)} is known")
        session = self._sql_session()
        self._check_free(session, tables)
        made: list[str] = []
        try:
            for name, table in tables.items():
                session.execute(self.sql.create_table(name, table))
                made.append(name)
        finally:
            try:
                session.close()
            finally:
                if self.url and 0 < len(made) < len(tables):  # no more than these: others may not be ours
                    self.drop(made)

    def _sql_session(self) -> SQLSession:
        """Connect. Raises Unsupported if the engine's sessions answer no SQL."""
        session = self.connect()
        if isinstance(session, SQLSession):
            return session
        session.close()
        raise Unsupported(f"{self.name} answers no SQL")

    def create_store(self, records: Records) -> None:
        """Make the table of records. Raises Unsupported if it already exists."""
        session = self._sql_session()
        self._check_free(session, [RECORD_TABLE])
        session.execute(self.sql.create_records(records))
        session.close()

    def remove(self, tables: Mapping[str, Table]) -> None:
        """Drop the tables that were made at a URL; a database in the engine's directory goes with that."""
        if self.url:
            self.drop(list(tables) or [RECORD_TABLE])

    def drop(self, names: Sequence[str]) -> None:
        """Drop tables, the last first, as far as they are there."""
        session = self._sql_session()
        for name in reversed(names):
            if self._has(session, name):
                session.execute(f"DROP TABLE {self.sql.quoted(name)}")
        session.close()

    def _check_free(self, session: SQLSession, names: Iterable[str]) -> None:
        """Raise Unsupported if a table already exists at a URL, where it may be the user's own."""
        for name in names if self.url else ():
            if self._has(session, name):
                raise Unsupported(
                    f"the database already has a table {name}: name another database, or drop the table if an "
                    "interrupted run has left it"
                )

    def _has(self, session: SQLSession, name: str) -> bool:
        try:
            fetch(session, f"SELECT 1 FROM {self.sql.quoted(name)} WHERE 1 = 0")
        except Exception:  # each driver has its own; whatever else is wrong shows when the table is made
            return False
        return True


def fetch(session: Any, sql: str) -> list[tuple[Any, ...]]:
    """All rows of a small query, in any result format."""
    given = session.prepare_query(sql)()
    if session.result_format == "batches":
        return [tuple(row.values()) for batch in given for row in _named(batch).to_pylist()]
    return [tuple(row) for row in given]


def _named(batch: Any) -> Any:
    return batch.rename_columns([str(index) for index in range(batch.num_columns)])
