"""Any database that SQLAlchemy has a dialect for, at a URL, through SQLAlchemy Core.

The tables, indexes and inserts are Core's own constructs, so that a dialect writes its types and names; a suite's
statements go in as text(). So a result is that of the database and of Core together, and its title says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from dbbench.engine import (
    RECORD_TABLE,
    Concurrency,
    EngineInfo,
    File,
    Publication,
    ServerFailed,
    Session,
    Size,
    SQLEngine,
    Tier,
    Unavailable,
    Unsupported,
    fetch,
    local,
)
from dbbench_plugins.dbapi import KeepsSessions
from dbbench_plugins.sqlalchemy.core import CoreDialect, CoreSession

if TYPE_CHECKING:
    from dbbench.engine import Records, Table


@dataclass(frozen=True)
class Product:
    """What dbbench knows of a database behind a dialect, beyond what SQLAlchemy tells."""

    title: str
    #: The engine here whose licence it has, whatever its edition. Others speak like PostgreSQL and MySQL.
    licence: str = ""
    #: What is put before a query to get its plan as rows.
    explain: str = ""
    #: A query for its version, where the dialect tells that of another product.
    version: str = ""
    processes: int | None = None
    #: Key of `dialects` in a suite, where it is not SQLAlchemy's name.
    dialect: str = ""


_PRODUCTS = {
    "sqlite": Product("SQLite", "dbbench_plugins.sqlite:SQLite", "EXPLAIN QUERY PLAN"),
    "postgresql": Product("PostgreSQL", explain="EXPLAIN"),
    "mysql": Product("MySQL", explain="EXPLAIN"),
    "mariadb": Product("MariaDB", explain="EXPLAIN", dialect="mysql"),
    "duckdb": Product("DuckDB", "dbbench_plugins.duckdb:DuckDB", "EXPLAIN", "SELECT version()", processes=1),
    "firebird": Product("Firebird", "dbbench_plugins.firebird:Firebird"),
    "cockroachdb": Product("CockroachDB", explain="EXPLAIN"),
    "oracle": Product("Oracle", "dbbench_plugins.oracle:Oracle"),
    "mssql": Product("SQL Server", "dbbench_plugins.sqlserver:SQLServer", dialect="sqlserver"),
}
#: Those whose database is a file, named by its path.
_FILES = ("sqlite", "duckdb")


class SQLAlchemy(KeepsSessions, SQLEngine):
    name = "sqlalchemy"
    title = "SQLAlchemy Core"
    license = "MIT; the database's own"
    publication = Publication.UNKNOWN
    publication_note = "the licence of the database at the URL says it"
    dialect = "sqlalchemy"
    session_class = CoreSession
    modules = ("sqlalchemy",)
    url_example = "postgresql+psycopg://me@host/database"
    url_required = True
    unverified = "run against PostgreSQL, MariaDB, SQLite and DuckDB; of the other dialects none was tried"
    concurrency = Concurrency(threads=None, processes=None)
    # The server commits as it is configured; dbbench doesn't set it, and the settings of a result say so.
    durability: ClassVar = {tier: {"durability": "as the database has it, not set by dbbench"} for tier in Tier}
    #: The names of the tables that were made here, whose size is reported.
    made: Sequence[str] = ()

    @classmethod
    def versions(cls) -> dict[str, str]:
        return {"SQLAlchemy": version("sqlalchemy")}

    def open(self) -> None:
        """Connect. Raises Unavailable without the dialect or its driver, ServerFailed if there is no connection."""
        self.alchemy = _engine(self.url)
        core = self.alchemy.dialect
        with self._first_connection() as connection:
            self.product = product = _product(core)
            found = ".".join(map(str, core.server_version_info or ()))
            if product.version:
                found = connection.exec_driver_sql(product.version).scalar().removeprefix("v")
                connection.rollback()
            self.level = _transaction_level(connection)
        self.server = {product.title: found} if found else {}

    @property
    def sql(self) -> CoreDialect:  # type: ignore[override]  # that of the database that was found
        return CoreDialect(core=self.alchemy.dialect, explain=self.product.explain)

    def info(self) -> EngineInfo:
        named = " ".join([self.product.title, *self.server.values()])
        title = f"{named} (SQLAlchemy, {self.alchemy.dialect.driver})"
        told = resolve_name(self.product.licence) if self.product.licence else self
        return EngineInfo(
            title,
            told.publication,
            told.publication_note,
            self.product.dialect or self.alchemy.dialect.name,
            Concurrency(threads=None, processes=self.product.processes),
            self.tier,
        )

    def server_versions(self) -> dict[str, str]:
        core = self.alchemy.dialect
        driver = getattr(core.dbapi, "__version__", None)
        return {**self.server, **({core.driver: driver} if isinstance(driver, str) else {})}

    def connect(self) -> Session:
        connection = self.alchemy.connect()
        if self.level:
            connection.execution_options(isolation_level="AUTOCOMMIT")
        return self.kept(CoreSession(connection, self.sql, self.level))

    def create(self, tables: Mapping[str, Table]) -> None:
        super().create(tables)
        self.made = list(tables)

    def create_store(self, records: Records) -> None:
        super().create_store(records)
        self.made = [RECORD_TABLE]

    def settings(self) -> dict[str, Any]:
        core = self.alchemy.dialect
        level = {"isolation_level": self.level} if self.level else {}
        return {**super().settings(), "dialect": f"{core.name}+{core.driver}", **level}

    def size(self) -> Size:
        """What the server says, or the file. Raises Unsupported for a database whose own words aren't known here."""
        name = self.alchemy.dialect.name
        if name == "postgresql":
            return self._reported("SELECT pg_table_size({0}), pg_indexes_size({0})", "'{0}'::regclass")
        if name in ("mysql", "mariadb"):
            for table in self.made:
                self._fetch(f"ANALYZE TABLE {self.sql.quoted(table)}")  # it tells what it last counted
            where = "table_schema = DATABASE() AND table_name = {0}"
            return self._reported(
                f"SELECT data_length, index_length FROM information_schema.tables WHERE {where}", "'{0}'"
            )
        path = self.alchemy.url.database
        if name in _FILES and path and not path.startswith(":"):
            return _files(Path(path))
        raise Unsupported(f"dbbench doesn't know how {self.product.title} tells its size through SQLAlchemy")

    def _first_connection(self) -> Any:
        try:
            return self.alchemy.connect()
        except Exception as exc:
            said = str(getattr(exc, "orig", None) or exc).strip().split("\n", 1)[0]
            # Without its cause, which may tell more of the URL than this.
            raise ServerFailed(f"no connection to {_place(self.alchemy.url)}: {said}") from None

    def _reported(self, query: str, table: str) -> Size:
        data = index = 0
        for name in self.made:
            quoted = table.format((self.sql.quoted(name) if "regclass" in table else name).replace("'", "''"))
            ((of_data, of_index),) = self._fetch(query.format(quoted))
            data, index = data + int(of_data), index + int(of_index)
        parts = {"tables (as the server says)": data, "indexes (as the server says)": index}
        return Size(tuple(File(name, "data", size, size) for name, size in parts.items()), index or None)

    def _fetch(self, sql: str) -> list[tuple[Any, ...]]:
        session = self.connect()
        rows = fetch(session, sql)
        session.close()
        return rows


def _files(path: Path) -> Size:
    """The database's file, and those beside it that begin with its name: its journals."""
    files = []
    for file in sorted(path.parent.glob(f"{path.name}*")):
        status = file.lstat()
        part: Literal["data", "journal"] = "data" if file.name == path.name else "journal"
        files.append(File(file.name, part, status.st_size, getattr(status, "st_blocks", 0) * 512))
    return Size(tuple(files))


def _engine(url: str) -> Any:
    """SQLAlchemy's engine, each of whose connections is a new one. Errors are reported without the URL."""
    import sqlalchemy as sa
    from sqlalchemy.pool import NullPool

    try:
        parsed = sa.make_url(url)
    except sa.exc.ArgumentError:
        raise Unsupported(f"it is given no SQLAlchemy URL, which looks like {SQLAlchemy.url_example}") from None
    if parsed.get_backend_name() in _FILES and parsed.database and not parsed.database.startswith((":", "file:")):
        parsed = parsed.set(database=local(parsed.database))
    try:
        return sa.create_engine(parsed, poolclass=NullPool)
    except sa.exc.NoSuchModuleError as exc:
        raise Unavailable(
            f"SQLAlchemy has no dialect {parsed.drivername}",
            f"pip install the package that brings it, like sqlalchemy-{parsed.get_backend_name()}",
        ) from exc
    except ModuleNotFoundError as exc:
        raise Unavailable(
            f"the dialect {parsed.drivername} needs the Python module {exc.name}", f"pip install {exc.name}"
        ) from exc


def _transaction_level(connection: Any) -> str:
    """The isolation level of the database's transactions; empty if the dialect has no autocommit mode that works."""
    level: str | None = connection.default_isolation_level
    if not level:
        return ""
    try:
        connection.execution_options(isolation_level="AUTOCOMMIT")
    except Exception:  # each dialect has its own
        return ""
    return level


def _product(core: Any) -> Product:
    name = "mariadb" if getattr(core, "is_mariadb", False) else core.name.partition(".")[0]
    return _PRODUCTS.get(name, Product(core.name))


def _place(url: Any) -> str:
    """Target of a URL, without user and password."""
    return f"{url.drivername}://{url.host or ''}{f':{url.port}' if url.port else ''}/{url.database or ''}"
