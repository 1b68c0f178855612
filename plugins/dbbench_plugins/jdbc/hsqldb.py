"""HSQLDB, inside the process, with its rows on disk."""

from typing import Annotated, Any, ClassVar

from pydantic import Field

from dbbench.engine import Dialect, FileRole, MemoryShare, Tier, chosen
from dbbench_plugins.jdbc.session import JDBCEngine, JDBCOptions, JDBCSession

#: The most rows in the cache, unless its size in bytes limits them first.
_CACHE_ROWS = 1_000_000
_PROPERTY = "SELECT {0} FROM INFORMATION_SCHEMA.SYSTEM_PROPERTIES WHERE PROPERTY_NAME = '{1}'"


class HSQLDBOptions(JDBCOptions):
    cache_mib: Annotated[int | None, MemoryShare(most=4096)] = Field(default=None, description="row cache, MiB")


class HSQLDBSession(JDBCSession):
    reasons: ClassVar = {"40001": "conflict", "40502": "lock timeout"}


class HSQLDB(JDBCEngine):
    name = "hsqldb"
    title = "HSQLDB (JDBC)"
    license = "HSQLDB licence (BSD); JPype: Apache-2.0"
    dialect = "hsqldb"
    sql = Dialect(
        explain="EXPLAIN PLAN FOR",
        compact="CHECKPOINT DEFRAG",
        read_only=tuple(f"SET SESSION CHARACTERISTICS AS TRANSACTION READ {what}" for what in ("ONLY", "WRITE")),
    )
    options_class = HSQLDBOptions
    session_class = HSQLDBSession
    heap_part = 8  # it counts rows in their binary form, and as objects they take two to four times as much
    # A commit is a line in data.log, synced at once or, with a delay, twice a second.
    durability: ClassVar = {Tier.POWER: {"hsqldb.write_delay": False}, Tier.MEMORY: {"hsqldb.write_delay": True}}
    sync_queries: ClassVar = {
        "hsqldb.write_delay": _PROPERTY.format(
            "TRIM(CASE PROPERTY_VALUE WHEN 'false' THEN 'False' ELSE 'True' END)", "hsqldb.write_delay"
        )
    }
    option_queries: ClassVar = {
        "cache_mib": _PROPERTY.format("CAST(PROPERTY_VALUE AS INTEGER) / 1024", "hsqldb.cache_size")
    }

    def address(self) -> str:
        return f"jdbc:hsqldb:file:{self.directory}/data"

    def properties(self) -> dict[str, Any]:
        mib = chosen(self.options.cache_mib)
        return {
            "user": "SA",
            "hsqldb.default_table_type": "cached",
            **({"hsqldb.cache_size": mib * 1024, "hsqldb.cache_rows": _CACHE_ROWS} if mib else {}),
            "hsqldb.reconfig_logging": False,
            **self.durability[self.tier],
        }

    def file_role(self, name: str) -> FileRole:
        if name.endswith(".log"):
            return "journal"
        return "data" if name.endswith((".data", ".script", ".lobs")) else "other"

    def shut_down(self) -> None:
        self.run("SHUTDOWN")
        super().shut_down()
