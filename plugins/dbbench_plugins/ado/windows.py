"""SQL Server Compact, VistaDB and, by OLE DB, Access files: providers of Windows. Nobody has run them yet."""

from __future__ import annotations

import importlib
import platform
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import Field

from dbbench.engine import STANDARD_TYPES, Dialect, Publication, Records, Tier, Unavailable
from dbbench_plugins.ado.session import ADOEngine, ADOSession
from dbbench_plugins.dotnet.engine import STAND_IN, DotNetOptions

#: The longest VARBINARY of SQL Server and of what takes after it.
_MOST_BYTES = 8_000


_TYPES = {
    **STANDARD_TYPES,
    "integer": "INT",
    "double": "FLOAT",
    "decimal": "NUMERIC({0}, {1})",
    "char": "NCHAR({0})",
    "varchar": "NVARCHAR({0})",
    "date": "DATETIME",
    "datetime": "DATETIME",
}


class CompactDialect(Dialect):
    """Dialect of SQL Server, as far as SQL Server Compact has it."""

    def create_records(self, records: Records) -> str:
        if records.value_bytes <= _MOST_BYTES:
            return super().create_records(records)
        return Dialect(quotes=self.quotes, binary=("VARBINARY({0})", "IMAGE")).create_records(records)


class TopDialect(CompactDialect):
    """Its first rows are asked for at the beginning of a query."""

    def limited(self, query: str, count: int) -> str:
        return query.replace("SELECT ", f"SELECT TOP {count} ", 1)


class CompactSession(ADOSession):
    """Its commit waits for the disk if that is said, and a statement's own commit can't be told so."""

    reasons: ClassVar = {"25090": "lock timeout"}  # SSCE_M_LOCKTIMEOUT
    immediate = True

    def commit(self) -> None:
        if not self.immediate:
            super().commit()
            return
        made = self.connection.transaction_object()
        mode = (
            made.GetType().Assembly.GetType("System.Data.SqlServerCe.CommitMode").GetField("Immediate").GetValue(None)
        )
        self.connection.end(lambda: made.Commit(mode))

    def alone(self, run: Callable[..., Any]) -> Callable[..., Any]:
        """Run in a transaction of its own, whose commit can be immediate."""

        def made(*values: Any) -> Any:
            if self.connection.transaction or not self.immediate:
                return run(*values)
            self.begin()
            try:
                given = run(*values)
                self.commit()
            except Exception:
                self.rollback()
                raise
            return given

        return made


class SQLServerCompact(ADOEngine):
    name = "sqlce"
    title = "SQL Server Compact (ADO.NET)"
    license = "proprietary, free of charge; out of support since 2021"
    publication = Publication.FORBIDDEN
    publication_note = (
        "Microsoft's licence terms, Scope of License: the results of a benchmark test may be disclosed to a third party "
        "with Microsoft's prior written approval only"
    )
    dialect = "sqlce"
    sql = CompactDialect(types=_TYPES, quotes=("[", "]"), limit="OFFSET 0 ROWS FETCH NEXT {0} ROWS ONLY")
    session_class = CompactSession
    unverified = STAND_IN
    factory = "System.Data.SqlServerCe.SqlCeProviderFactory"
    named = True
    # A commit is written within the flush interval, unless it gets CommitMode.Immediate.
    durability: ClassVar = {Tier.POWER: {"commit": "Immediate"}, Tier.MEMORY: {"commit": "Deferred"}}

    def connection_string(self) -> str:
        return f"Data Source={self.directory / 'data.sdf'};Max Database Size=4091"

    def open(self) -> None:
        super().open()
        if not (self.directory / "data.sdf").exists():
            made = self.provider.assembly.type("System.Data.SqlServerCe.SqlCeEngine")
            creator = importlib.import_module("System").Activator.CreateInstance(made, self.connection_string())
            creator.CreateDatabase()
            creator.Dispose()

    def connect(self) -> Any:
        session: Any = super().connect()
        session.immediate = self.tier is Tier.POWER
        return session


class VistaDBSession(ADOSession):
    """Its errors have numbers that nobody here has seen, so that one of a lock is known by its text."""

    reasons: ClassVar = {"lock": "lock timeout", "conflict": "conflict", "deadlock": "deadlock"}


class VistaDB(ADOEngine):
    name = "vistadb"
    title = "VistaDB (ADO.NET)"
    license = "commercial"
    publication = Publication.FORBIDDEN
    publication_note = (
        "VistaDB's licence agreement forbids to post results of benchmarks of the engine, as the comparison of 2006 says, "
        "which withheld its figures"
    )
    dialect = "vistadb"
    sql = TopDialect(types=_TYPES, quotes=("[", "]"))
    session_class = VistaDBSession
    unverified = f"{STAND_IN}; nobody has tried whether its commits reach the disk"
    factory = "VistaDB.Provider.VistaDBProviderFactory"
    named = True
    durability: ClassVar = {Tier.POWER: {"commit": "as VistaDB makes it"}}

    @property
    def path(self) -> Path:
        return Path(self.directory) / "data.vdb6"

    def connection_string(self) -> str:
        return f"Data Source={self.path};Open Mode=NonexclusiveReadWrite"

    def open(self) -> None:
        super().open()
        if not self.path.exists():
            engines = self.provider.assembly.type("VistaDB.DDA.VistaDBEngine").GetField("Connections").GetValue(None)
            maker = engines.OpenDDA()
            maker.CreateDatabase(str(self.path), False, None, 0, 0, True).Close()
            maker.Dispose()


class JetOptions(DotNetOptions):
    provider: Literal["Microsoft.ACE.OLEDB.12.0", "Microsoft.ACE.OLEDB.16.0", "Microsoft.Jet.OLEDB.4.0"] = Field(
        default="Microsoft.ACE.OLEDB.12.0", description="the OLE DB provider; Jet's own is for processes of 32 bits"
    )


class Jet(ADOEngine):
    name = "jet"
    title = "Access file (OLE DB)"
    license = "proprietary, part of Windows or Office"
    dialect = "access"
    sql = TopDialect(
        types={
            **_TYPES,
            "integer": "LONG",
            "bigint": "DECIMAL(20, 0)",
            "double": "DOUBLE",
            "decimal": "DECIMAL({0}, {1})",
            "char": "TEXT({0})",
            "varchar": "TEXT({0})",
        },
        quotes=("[", "]"),
        binary=("BINARY({0})", "LONGBINARY"),
    )
    options_class = JetOptions
    debian = ()
    unverified = "not run: it needs Windows and its OLE DB provider"
    factory = "System.Data.OleDb.OleDbFactory"
    durability: ClassVar = {Tier.POWER: {"commit": "as the provider makes it"}}

    @classmethod
    def available(cls) -> None:
        if platform.system() != "Windows":
            raise Unavailable(
                "OLE DB is a part of Windows", "run it there; `access` reaches such files on every system"
            )
        super().available()

    @classmethod
    def assembly(cls, options: Mapping[str, Any]) -> Path:
        """The runtime's own System.Data."""
        common: Any = importlib.import_module("System.Data.Common")
        return Path(str(importlib.import_module("clr").GetClrType(common.DbProviderFactory).Assembly.Location))

    def connection_string(self) -> str:
        return f"Provider={self.options.provider};Data Source={self.directory / 'data.mdb'}"

    def open(self) -> None:
        super().open()
        if not (self.directory / "data.mdb").exists():
            system: Any = importlib.import_module("System")
            catalog = system.Type.GetTypeFromProgID("ADOX.Catalog")
            flags = importlib.import_module("System.Reflection").BindingFlags.InvokeMethod
            maker = system.Activator.CreateInstance(catalog)
            # Engine Type 5 is the format of Jet 4, that of the published comparison.
            text = f"{self.connection_string()};Jet OLEDB:Engine Type=5"
            catalog.InvokeMember("Create", flags, None, maker, system.Array[system.Object]([text]))
