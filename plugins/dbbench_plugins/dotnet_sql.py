"""SQL Server Compact and VistaDB: .NET libraries that are known by name, with the reason why they can't be used yet."""

from __future__ import annotations

from dbbench.engine import Publication, SQLEngine, Unavailable


class SQLServerCompact(SQLEngine):
    name = "sqlce"
    title = "SQL Server Compact (ADO.NET)"
    license = "proprietary, free of charge; out of support since 2021"
    publication = Publication.FORBIDDEN
    publication_note = (
        "Microsoft's licence terms, Scope of License: the results of a benchmark test may be disclosed to a third party "
        "with Microsoft's prior written approval only"
    )
    dialect = "sqlce"
    unverified = "not written: it waits for a session over ADO.NET"

    @classmethod
    def available(cls) -> None:
        raise Unavailable(
            "it is a Windows library, reached through OLE DB or its assembly System.Data.SqlServerCe (ADO.NET), "
            "and dbbench has no session over ADO.NET yet",
            "see docs/engines/windows.md",
        )


class VistaDB(SQLEngine):
    name = "vistadb"
    title = "VistaDB (ADO.NET)"
    license = "commercial"
    publication = Publication.FORBIDDEN
    publication_note = (
        "VistaDB's licence agreement forbids to post results of benchmarks of the engine, as the comparison of 2006 says, "
        "which withheld its figures"
    )
    dialect = "vistadb"
    unverified = "not written: it waits for a session over ADO.NET"

    @classmethod
    def available(cls) -> None:
        raise Unavailable(
            "it is a commercial .NET library, reached through an assembly that its user must have (ADO.NET), "
            "and dbbench has no session over ADO.NET yet",
            "see docs/engines/windows.md",
        )
