"""What the databases reached by JDBC share: a session over a connection, and an engine in the process's JVM."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from importlib.metadata import version
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import Field

from dbbench.engine import (
    Concurrency,
    Dialect,
    MemoryShare,
    Options,
    Program,
    Publication,
    Retry,
    Rows,
    SQLEngine,
    SQLSession,
    Unsupported,
    chosen,
)
from dbbench_plugins.dbapi import KeepsSessions
from dbbench_plugins.jdbc import jars, jvm

if TYPE_CHECKING:
    from dbbench.engine import Setup, Table


class JDBCOptions(Options):
    heap_mib: Annotated[int | None, MemoryShare("memory", least=32, most=2**20)] = Field(
        default=None, description="the JVM's heap, MiB"
    )
    jar: Program = Field(
        default="",
        description="path of the database's jar, or of a folder with it and others; the pinned ones if not given",
    )


class JDBCSession(SQLSession):
    """Rows come as tuples, by a helper in the JVM that fetches thousands in a call, and go in as JDBC batches."""

    load_format = "batches"
    prepare_get: ClassVar = None  # type: ignore[assignment]  # not yet tried with columns in which values are missing
    prepare_get_many: ClassVar = None  # type: ignore[assignment]
    #: Error number or SQLSTATE -> why a transaction is to be made again.
    reasons: ClassVar[Mapping[str, Retry]] = {}

    def __init__(self, connection: Any, dialect: Dialect) -> None:
        super().__init__(connection, dialect)
        self.begun = False

    def execute(self, sql: str) -> None:
        statement = self.connection.createStatement()
        statement.execute(sql)
        statement.close()
        self.settle()

    def begin(self) -> None:
        self.connection.setAutoCommit(False)
        self.begun = True

    def commit(self) -> None:
        self.connection.commit()
        self.connection.setAutoCommit(True)
        self.begun = False
        self.settle()

    def rollback(self) -> None:
        self.connection.rollback()
        self.connection.setAutoCommit(True)
        self.begun = False

    @classmethod
    def retry_reason(cls, exc: BaseException) -> Retry | None:
        """Retry reason by SQLSTATE, or by the database's own number where it has one there."""
        for name in ("getErrorCode", "getSQLState"):
            told = getattr(exc, name, None)
            if told is not None and (reason := cls.reasons.get(str(told()))):
                return reason
        return None

    def settle(self) -> None:
        """What makes a commit as durable as the tier asks, if the commit itself doesn't; nothing in a transaction."""

    def prepare_load(self, name: str, table: Table) -> Callable[[Any], object]:
        from dbbench_plugins.jdbc.columns import Writer

        return Writer(self.connection.prepareStatement(self.sql.insert(name, table))).batch

    def prepare_query(self, sql: str) -> Callable[[], Rows]:
        from dbbench_plugins.jdbc.columns import Reader

        return Reader(self.connection.prepareStatement(sql)).run

    def prepare_statement(self, sql: str) -> Callable[[], object]:
        execute, settle = self.connection.prepareStatement(sql).execute, self.settle

        def run() -> object:
            rows = execute()
            settle()
            return rows

        return run

    def returned_rows(self, given: Any) -> bool:
        """JDBC's `execute` says whether what it gives first are rows."""
        return bool(given)

    def prepare_call(self, sql: str, rows: int | None = None) -> Callable[..., Any]:
        import jpype

        from dbbench_plugins.jdbc.columns import Reader

        statement, settle = self.connection.prepareStatement(sql), self.settle
        execute, to_date = statement.execute, jpype.JClass("java.sql.Date").valueOf
        to_decimal, to_moment = jpype.JClass("java.math.BigDecimal"), jpype.JClass("java.sql.Timestamp").valueOf
        bind: dict[type, Callable[[int, Any], object]] = {
            bytes: statement.setBytes,
            int: statement.setLong,
            float: statement.setDouble,
            str: statement.setString,
            Decimal: lambda index, number: statement.setBigDecimal(index, to_decimal(str(number))),
            datetime.date: lambda index, day: statement.setDate(index, to_date(day.isoformat())),
            datetime.datetime: lambda index, moment: statement.setTimestamp(index, to_moment(moment.isoformat(" "))),
        }
        reader = None if rows == 0 else Reader(statement)

        def run(*values: bytes | float | str | Decimal | datetime.date) -> Any:
            for index, value in enumerate(values, 1):
                bind[type(value)](index, value)
            if reader is None:
                execute()
                return settle()
            return next(reader.run(), None) if rows == 1 else reader.all()

        return run

    def prepare_many(self, sql: str) -> Callable[[Sequence[Sequence[Any]]], object]:
        from dbbench_plugins.jdbc.columns import Writer

        return Writer(self.connection.prepareStatement(sql)).rows

    def indexed(self, name: str) -> set[str] | None:
        """First columns of the indexes, by what every JDBC driver reports of its database."""
        found = self.connection.getMetaData().getIndexInfo(None, None, name, False, True)
        columns = set()
        while found.next():
            if found.getShort("ORDINAL_POSITION") == 1:
                columns.add(str(found.getString("COLUMN_NAME")))
        found.close()
        return columns

    def close(self) -> None:
        """Undo what is not committed, and close the connection."""
        if not self.connection.isClosed():
            if self.begun:
                self.connection.rollback()
            self.connection.close()
            jvm.leave()


class JDBCEngine(KeepsSessions, SQLEngine):
    """A database file, opened by a JDBC driver in this process."""

    session_class: ClassVar[type[JDBCSession]] = JDBCSession
    options_class = JDBCOptions
    publication = Publication.ALLOWED
    modules = ("jpype",)
    debian = ("default-jre-headless", "maven")  # Maven fetches the jars
    fetched_by = "dbbench_plugins.jdbc.jars"
    concurrency = Concurrency(threads=None, processes=1)  # the database is in the JVM of one process
    #: The oldest Java that it runs with.
    oldest_java: ClassVar[int] = 11
    #: A cache, as it counts it, has at most the heap divided by this.
    heap_part: ClassVar[int] = 2

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        #: Whether it has a cache of which the user left the size open.
        self.shared_cache = hasattr(self.options, "cache_mib") and "cache_mib" not in setup.options

    @classmethod
    def available(cls) -> None:
        jvm.java(cls.oldest_java)

    @classmethod
    def available_with(cls, options: Mapping[str, Any]) -> None:
        jars.find(cls.name, str(options.get("jar", "")))

    @classmethod
    def versions(cls) -> dict[str, str]:
        return {"Java": jvm.java(cls.oldest_java).version, "JPype1": version("JPype1")}

    def server_versions(self) -> dict[str, str]:
        return jars.versions(self.name, self.options.jar)

    def address(self) -> str:
        """The JDBC URL of the database."""
        raise NotImplementedError

    def properties(self) -> dict[str, Any]:
        """What a connection is made with."""
        return {}

    def system_properties(self) -> dict[str, Any]:
        """What the database reads from the JVM's own properties; None for one that may not be set."""
        return {}

    def open(self) -> None:
        import jpype

        if ";" in str(self.directory):
            raise Unsupported(f"a JDBC URL ends the path at its semicolon: {self.directory}")
        found = jars.find(self.name, self.options.jar)
        jvm.start(jvm.java(self.oldest_java), found, chosen(self.options.heap_mib))
        # A JVM's heap must hold more than the cache. The user may have chosen the heap alone.
        most = max(1, (jvm.heap() >> 20) // self.heap_part)
        if self.shared_cache and self.options.cache_mib > most:
            self.options = self.options.model_copy(update={"cache_mib": most})
        system = jpype.JClass("java.lang.System")
        for name, value in self.system_properties().items():
            if value is None:
                system.clearProperty(name)  # an engine before it in this process may have set it
            else:
                system.setProperty(name, str(value))
        self.driver = jpype.JClass(jars.driver(found[0]))()
        self.connection = self.connected(self.address())

    def connected(self, address: str, **properties: Any) -> Any:
        """A connection, by the driver itself: DriverManager sees none that came after the JVM's start."""
        import jpype

        asked = jpype.JClass("java.util.Properties")()
        for name, value in {**self.properties(), **properties}.items():
            asked.setProperty(name, str(value).lower() if isinstance(value, bool) else str(value))
        return self.driver.connect(address, asked)

    def connect(self) -> JDBCSession:
        return self.kept(self.session_class(self.connected(self.address()), self.sql))

    def flush(self) -> None:
        self.run("CHECKPOINT")

    def run(self, sql: str) -> None:
        """Run a statement on the engine's own connection."""
        statement = self.connection.createStatement()
        statement.execute(sql)
        statement.close()

    def settings(self) -> dict[str, Any]:
        return {**super().settings(), "heap_mib": jvm.heap() >> 20}

    def close(self) -> None:
        """Close the sessions that were left open, and the database."""
        super().close()
        if not self.connection.isClosed():
            self.shut_down()

    def shut_down(self) -> None:
        """Close the database with its last connection."""
        self.connection.close()
