"""SQLite through ADO.NET: Mono.Data.Sqlite, or an assembly of the user's like System.Data.SQLite."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from pydantic import Field

from dbbench.engine import EngineInfo, Program, Unavailable
from dbbench_plugins.ado.errors import ProviderFailed
from dbbench_plugins.ado.session import READ_COMMITTED, UNSPECIFIED, ADOEngine, ADOSession
from dbbench_plugins.dotnet import host
from dbbench_plugins.dotnet.engine import DotNetOptions
from dbbench_plugins.sqlite import CommonOptions, SQLite, SQLiteSession

#: The one of Debian's Mono.
_MONO = Path("/usr/lib/mono/4.5/Mono.Data.Sqlite.dll")


class SQLiteADOOptions(CommonOptions, DotNetOptions):
    assembly: Program = Field(
        default="",
        description="path of a provider of yours, like System.Data.SQLite.dll; Mono.Data.Sqlite if not given",
    )


class SQLiteADOSession(ADOSession, SQLiteSession):
    # A transaction that is only to read is one that BEGIN starts, and any other one BEGIN IMMEDIATE.
    isolation: ClassVar = (UNSPECIFIED, READ_COMMITTED)
    retry_reason = SQLiteSession.retry_reason

    def rollback(self) -> None:
        try:
            super().rollback()
        except ProviderFailed as exc:
            if "no transaction is active" not in str(exc):  # an error like a full disk has ended it
                raise


class SQLiteADO(ADOEngine, SQLite):
    name = "sqlite+ado"
    title = "SQLite (ADO.NET)"
    license = "public domain; Mono.Data.Sqlite: MIT"
    options_class = SQLiteADOOptions
    debian = (*host.DEBIAN, "libmono-sqlite4.0-cil")
    session_class = SQLiteADOSession

    @classmethod
    def assembly(cls, options: Mapping[str, Any]) -> Path:
        if options.get("assembly"):
            return host.named(cls.name, options["assembly"])
        if not _MONO.is_file():
            raise Unavailable(f"there is no {_MONO.name} here")
        return _MONO

    def info(self) -> EngineInfo:
        """Title with the provider's name: SQLite through another one is another system."""
        return replace(super().info(), title=f"SQLite ({self.provider.version.removesuffix('.0')})")

    def connection_string(self) -> str:
        """Connection string with the pragmas that a provider would change as it opens, which may need a lock."""
        chosen = {
            "Data Source": self.path,
            "Pooling": False,
            "Default Timeout": self.options.busy_seconds,
            "Page Size": self.options.page_size,
            "Journal Mode": self.durability[self.tier]["journal_mode"],
            "Synchronous": self.durability[self.tier]["synchronous"],
        }
        return ";".join(f"{name}={value}" for name, value in chosen.items())

    def _raw(self) -> Any:
        return self.raw_connection()

    def connect(self) -> Any:
        return SQLite.connect(self)
