"""What SQLAlchemy Core does for an engine: types, names and DDL, and a session over one of its connections."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from dbbench.engine import RECORD_KEY, RECORD_TABLE, RECORD_VALUE, Dialect, Retry, Rows, SQLSession
from dbbench_plugins.dbapi import filled

if TYPE_CHECKING:
    from dbbench.engine import Records, Table


#: Who knows a database's errors, by SQLAlchemy's name for it.
_SESSIONS = {
    "postgresql": "dbbench_plugins.postgresql.server:PostgreSQLSession",
    "mysql": "dbbench_plugins.mysql.server:MySQLSession",
    "mariadb": "dbbench_plugins.mysql.server:MySQLSession",
    "sqlite": "dbbench_plugins.sqlite:SQLiteSession",
    "duckdb": "dbbench_plugins.duckdb:DuckDBSession",
    "firebird": "dbbench_plugins.firebird:FirebirdSession",
    "oracle": "dbbench_plugins.oracle:OracleSession",
}
#: Databases whose dialects tell of all indexes.
_INSPECTED = ("sqlite", "postgresql", "mysql", "mariadb")
#: Dialect -> the collation that compares texts by code points, where the database may have another.
_COLLATIONS = {
    "postgresql": "C",
    "mysql": "utf8mb4_bin",
    "mariadb": "utf8mb4_bin",
    "mssql": "Latin1_General_100_BIN2",
}


@dataclass(frozen=True)
class CoreDialect(Dialect):
    """Types, names and DDL as one of SQLAlchemy's dialects writes them."""

    core: Any = None

    def quoted(self, name: str) -> str:
        return str(self.core.identifier_preparer.quote_identifier(name))

    def create_table(self, name: str, table: Table) -> str:
        from sqlalchemy.schema import CreateTable

        return self._compiled(CreateTable(core_table(name, table)))

    def create_indexes(self, name: str, table: Table) -> list[str]:
        from sqlalchemy import Index
        from sqlalchemy.schema import CreateIndex

        made = core_table(name, table)
        return [
            self._compiled(CreateIndex(Index(_always_quoted(self.index_name(name, column)), made.c[column])))
            for column in table.indexes
        ]

    def create_records(self, records: Records) -> str:
        from sqlalchemy import LargeBinary
        from sqlalchemy.dialects.mssql import VARBINARY as MSSQL_VARBINARY
        from sqlalchemy.dialects.mysql import VARBINARY
        from sqlalchemy.dialects.oracle import RAW
        from sqlalchemy.schema import CreateTable

        def binary(size: int) -> Any:  # where a key can't be a blob
            kind = LargeBinary().with_variant(VARBINARY(size), "mysql", "mariadb")
            return kind.with_variant(MSSQL_VARBINARY(size), "mssql").with_variant(RAW(size), "oracle")

        columns = {RECORD_KEY: binary(records.key_bytes), RECORD_VALUE: binary(records.value_bytes)}
        return self._compiled(CreateTable(_table(RECORD_TABLE, columns, (RECORD_KEY,))))

    def limited(self, query: str, count: int) -> str:
        if self.core.name in ("mssql", "oracle"):
            return f"{query} OFFSET 0 ROWS FETCH NEXT {count} ROWS ONLY"
        return super().limited(query, count)

    def _compiled(self, construct: Any) -> str:
        return str(construct.compile(dialect=self.core))


def core_table(name: str, table: Table) -> Any:
    """A table in SQLAlchemy's own terms."""
    import sqlalchemy as sa

    kinds: dict[str, Callable[..., Any]] = {
        "integer": sa.Integer,
        "bigint": sa.BigInteger,
        "real": sa.REAL,
        "double": sa.Double,
        "decimal": sa.Numeric,
        "char": partial(_text_type, sa.CHAR, sa.NCHAR),
        "varchar": partial(_text_type, sa.String, sa.NVARCHAR),
        "date": sa.Date,
        "datetime": sa.DateTime,
    }
    columns = {key: kinds[column.data_type.name](*column.data_type.arguments) for key, column in table.columns.items()}
    return _table(name, columns, table.key_columns, table.foreign_keys)


def _text_type(kind: Any, of_sql_server: Any, size: int) -> Any:
    made = kind(size)
    for name, collation in _COLLATIONS.items():
        made = made.with_variant((of_sql_server if name == "mssql" else kind)(size, collation), name)
    return made


def _table(name: str, columns: Mapping[str, Any], key: Sequence[str], foreign_keys: Sequence[Any] = ()) -> Any:
    from sqlalchemy import Column, ForeignKeyConstraint, Integer, MetaData, PrimaryKeyConstraint, Table

    quoted, known, constraints = _always_quoted, MetaData(), []
    for each in foreign_keys:  # of the other tables nothing but the names matters here
        if each.table not in known.tables:
            Table(quoted(each.table), known, *(Column(quoted(column), Integer) for column in each.key))
        columns_there = [known.tables[each.table].c[column] for column in each.key]
        constraints.append(ForeignKeyConstraint(list(each.columns), columns_there))
    return Table(
        quoted(name),
        known,
        *(
            Column(quoted(column), kind, key=column, nullable=column not in key, autoincrement=False)
            for column, kind in columns.items()
        ),
        PrimaryKeyConstraint(*key),
        *constraints,
    )


def _always_quoted(name: str) -> Any:
    """A name that is written in quotes, as those in a suite's statements are, and so keeps its letters' case."""
    from sqlalchemy.sql import quoted_name

    return quoted_name(name, quote=True)


class CoreSession(SQLSession):
    """One connection, in autocommit mode where the dialect has one, outside of begin ... commit.

    `level` is the isolation level between those two, the database's own; without one the dialect has no autocommit
    mode, and each statement is committed by a call of its own.
    """

    load_format = "mappings"

    def __init__(self, connection: Any, dialect: Dialect, level: str = "") -> None:
        super().__init__(connection, dialect)
        self.level = level
        self.begun = False

    def execute(self, sql: str) -> Any:
        return self.prepare_statement(sql)()

    def begin(self) -> None:
        self.connection.rollback()
        if self.level:
            self.connection.execution_options(isolation_level=self.level)
        self.begun = True

    def commit(self) -> None:
        self.connection.commit()
        if self.level:
            self.connection.execution_options(isolation_level="AUTOCOMMIT")
        self.begun = False

    def rollback(self) -> None:
        self.connection.rollback()
        if self.level:
            self.connection.execution_options(isolation_level="AUTOCOMMIT")
        self.begun = False

    def retry_reason(self, exc: BaseException) -> Retry | None:
        """What the session of the database's own engine here says of the driver's error."""
        driver = getattr(exc, "orig", None)
        reason: Retry | None = self.knower.retry_reason(driver) if self.knower and driver is not None else None
        return reason

    @property
    def knower(self) -> Any:
        """The session class of the database's own engine here, or None."""
        assert isinstance(self.sql, CoreDialect)
        known = _SESSIONS.get(self.sql.core.name)
        return known and resolve_name(known)

    @property
    def bind(self) -> Mapping[str, str]:  # type: ignore[override]  # as the database that was found has it
        return filled(self.knower)

    def prepare_load(self, name: str, table: Table) -> Callable[[Any], object]:
        return partial(self.connection.execute, core_table(name, table).insert())

    def prepare_query(self, sql: str) -> Callable[[], Rows]:
        execute: Callable[[], Rows] = partial(self.connection.execute, _text(sql))
        if self.level:
            return execute

        def run() -> Rows:
            if not self.begun:
                self.connection.rollback()  # ends the transaction of the query before
            return execute()

        return run

    def prepare_statement(self, sql: str) -> Callable[[], object]:
        return self._committing(partial(self.connection.execute, _text(sql)))

    @property
    def declared(self) -> Mapping[str, str]:
        """What a driver of any database may leave a text: a footnote tells which of these came so."""
        return {**super().declared, **dict.fromkeys(("decimal", "date", "datetime"), "text")}

    def returned_rows(self, given: Any) -> bool:
        return bool(given.returns_rows)

    def indexed(self, name: str) -> set[str] | None:
        """Indexes by SQLAlchemy's inspector, where that was tried: DuckDB's dialect, for one, reports none."""
        from sqlalchemy import inspect

        assert isinstance(self.sql, CoreDialect)
        if self.sql.core.name not in _INSPECTED:
            return None
        return {str(index["column_names"][0]) for index in inspect(self.connection).get_indexes(name)}

    def prepare_call(self, sql: str, rows: int | None = None) -> Callable[..., Any]:
        statement, names = _with_parameters(sql)
        execute = self.connection.execute
        if rows == 0:
            return self._committing(lambda *values: execute(statement, dict(zip(names, values, strict=True))))
        if rows == 1:
            return lambda *values: execute(statement, dict(zip(names, values, strict=True))).fetchone()
        return lambda *values: execute(statement, dict(zip(names, values, strict=True))).fetchall()

    def prepare_many(self, sql: str) -> Callable[[Sequence[Sequence[Any]]], object]:
        statement, names = _with_parameters(sql)
        execute = self.connection.execute
        return lambda many: execute(statement, [dict(zip(names, values, strict=True)) for values in many])

    def _committing(self, execute: Callable[..., Any]) -> Callable[..., Any]:
        if self.level:
            return execute

        def run(*values: Any) -> Any:
            if self.begun:
                return execute(*values)
            self.connection.rollback()
            done = execute(*values)
            self.connection.commit()
            return done

        return run


def _text(sql: str) -> Any:
    """A statement without parameters: a colon in it is a colon."""
    from sqlalchemy import text

    return text(sql.replace(":", r"\:"))


def _with_parameters(sql: str) -> tuple[Any, list[str]]:
    """A statement with a parameter for each question mark outside of quotes, and their names."""
    from sqlalchemy import text

    names: list[str] = []

    def written(match: re.Match[str]) -> str:
        if match[0] != "?":
            return match[0].replace(":", r"\:")
        names.append(f"p{len(names)}")
        return f":{names[-1]}"

    return text(re.sub(r"'(?:[^']|'')*'|\"[^\"]*\"|[?:]", written, sql)), names
