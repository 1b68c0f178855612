"""What the databases reached by ADO.NET share: a session over a connection, and an engine over a provider."""

from __future__ import annotations

import importlib
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from dbbench.engine import (
    Concurrency,
    Options,
    Retry,
    Rows,
    Session,
    Setup,
    SQLEngine,
    SQLSession,
    Unavailable,
    Unsupported,
)
from dbbench_plugins.ado.errors import ProviderFailed
from dbbench_plugins.ado.provider import Provider
from dbbench_plugins.dotnet import host
from dbbench_plugins.dotnet.engine import AssemblyOptions, OnDotNet

if TYPE_CHECKING:
    from dbbench.engine import Table

#: Of System.Data.IsolationLevel.
UNSPECIFIED, READ_COMMITTED = -1, 4096


class ADOSession(SQLSession):
    """Loops inside .NET read rows, thousands in a call; of a query's answer only the column read crosses over."""

    load_format = "batches"
    result_format = "columns"
    #: What a provider calls an error after which a transaction is to be made again, by number or by a word of its text
    #: -> why.
    reasons: ClassVar[Mapping[str, Retry]] = {}
    #: The isolation levels of a transaction that writes, and of one that only reads.
    isolation: ClassVar[tuple[int, int]] = (UNSPECIFIED, UNSPECIFIED)

    def execute(self, sql: str) -> Any:
        """Run one statement; its rows."""
        return self.connection.execute(sql)

    def begin(self) -> None:
        self.connection.begin(self.isolation[0])

    def begin_reading(self) -> None:
        self.connection.begin(self.isolation[1])

    def commit(self) -> None:
        self.connection.commit()

    def rollback(self) -> None:
        if self.connection.transaction:
            self.connection.rollback()

    def retry_reason(self, exc: BaseException) -> Retry | None:
        """Retry reason by the provider's number of an error, or a word of its text."""
        if not isinstance(exc, ProviderFailed):
            return None
        found = (why for told, why in self.reasons.items() if told == exc.code or (told.isalpha() and told in str(exc)))
        return next(found, None)

    def alone(self, run: Callable[..., Any]) -> Callable[..., Any]:
        """A statement that changes something, as it commits by itself."""
        return run

    def prepare_load(self, name: str, table: Table) -> Callable[[Any], object]:
        memory: Any = importlib.import_module("dbbench_plugins.ado.memory")
        statement = self.connection.statement(self.sql.insert(name, table))
        return lambda batch: statement.run_many([*map(memory.column_of, batch.columns)], batch.num_rows)

    def prepare_query(self, sql: str) -> Callable[[], Rows]:
        return self.connection.statement(sql).query  # type: ignore[no-any-return]

    def prepare_statement(self, sql: str) -> Callable[[], object]:
        statement = self.connection.statement(sql)

        def run() -> bool:
            statement.query()
            statement.stop()
            return bool(statement.columns)

        return self.alone(run)

    def returned_rows(self, given: Any) -> bool:
        """True if the reader had columns."""
        return bool(given)

    def prepare_call(self, sql: str, rows: int | None = None) -> Callable[..., Any]:
        statement = self.connection.statement(sql)
        if rows == 0:
            return self.alone(lambda *values: statement.run(values))
        if rows == 1:
            return lambda *values: statement.first(values)
        return lambda *values: list(statement.query(values))

    def prepare_rows(self, sql: str) -> Callable[..., Any]:
        statement = self.connection.statement(sql)
        return lambda *values: statement.query(values)

    def prepare_many(self, sql: str) -> Callable[[Sequence[Sequence[Any]]], object]:
        return self.connection.statement(sql).run_rows  # type: ignore[no-any-return]

    @property
    def column_forms(self) -> Mapping[str, str]:
        """A declared column has its own type, whatever those have that are computed."""
        return {}

    def watch(self, timer: Any) -> None:
        """Refused: its loops are one call."""
        Session.watch(self, timer)


class ADOEngine(OnDotNet, SQLEngine):
    """A database in this process, through a provider in an assembly."""

    session_class: ClassVar[type[Session]] = ADOSession
    options_class: ClassVar[type[Options]] = AssemblyOptions
    extras = ("dotnet",)
    concurrency = Concurrency(threads=None, processes=1)
    #: The full name of its DbProviderFactory, where an assembly may have several.
    factory: ClassVar[str] = ""
    #: Whether a parameter is known by its name, @p1, and not by a question mark.
    named: ClassVar[bool] = False

    @classmethod
    def assembly(cls, options: Mapping[str, Any]) -> Path:
        """The provider's file. Raises Unavailable."""
        return host.named(cls.name, options.get("assembly", ""))

    @classmethod
    def available_with(cls, options: Mapping[str, Any]) -> None:
        runtime = str(options.get("runtime", ""))
        host.find(runtime)
        assembly = cls.assembly(options)
        try:
            host.start(runtime)
            provider = Provider(assembly, cls.factory)
        except Unsupported:  # another runtime, or assembly of this name, in this process: the trial has one of its own
            return
        with tempfile.TemporaryDirectory() as folder:
            engine = cls(Setup(Path(folder), next(iter(cls.durability)), options))
            try:
                engine.open()
            except (Unavailable, Unsupported):
                raise
            except Exception as exc:
                raise provider.unusable(exc) from exc
            finally:
                engine.close()

    def server_versions(self) -> dict[str, str]:
        return {"runtime": self.runtime, "provider": self.provider.version, "database": self.database}

    def connection_string(self) -> str:
        """What a connection is opened with."""
        raise NotImplementedError

    def open(self) -> None:
        self._open: list[Any] = []
        self.database = ""
        self.runtime = host.start(self.options.runtime)
        self.provider = Provider(self.assembly(self.options.model_dump()), self.factory)
        super().open()

    def raw_connection(self) -> Any:
        """A new connection; it is closed with the engine at the latest."""
        module: Any = importlib.import_module("dbbench_plugins.ado.connection")
        raw = self.provider.connection(self.connection_string())
        self.database = str(raw.ServerVersion)
        self._open.append(module.Connection(raw, named=self.named))
        return self._open[-1]

    def connect(self) -> Session:
        return self.session_class(self.raw_connection(), self.sql)  # type: ignore[call-arg]

    def close(self) -> None:
        for connection in getattr(self, "_open", ()):
            connection.close()
        self._open = []
