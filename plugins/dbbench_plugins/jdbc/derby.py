"""Apache Derby, inside the process."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import Field

from dbbench.engine import Dialect, FileRole, MemoryShare, Size, Tier, chosen
from dbbench_plugins.jdbc.session import JDBCEngine, JDBCOptions, JDBCSession

if TYPE_CHECKING:
    from dbbench.engine import Records

#: Of its tables and indexes, unless a row is too long for it.
_PAGE = 4096
#: Of a VARCHAR FOR BIT DATA.
_MOST_BYTES = 32_672
_INDEX_BYTES = """
    SELECT SUM(CAST(A.NUMALLOCATEDPAGES AS BIGINT) * A.PAGESIZE) FROM SYS.SYSTABLES T,
    TABLE (SYSCS_DIAG.SPACE_TABLE(T.TABLENAME)) A WHERE T.TABLETYPE = 'T' AND A.ISINDEX = 1
"""


class DerbyOptions(JDBCOptions):
    cache_mib: Annotated[int | None, MemoryShare()] = Field(default=None, description="page cache, MiB")


class DerbyDialect(Dialect):
    def create_records(self, records: Records) -> str:
        fits = records.value_bytes <= _MOST_BYTES
        value = "VARCHAR({0}) FOR BIT DATA" if fits else "BLOB({0})"
        return Dialect(binary=("VARCHAR({0}) FOR BIT DATA", value)).create_records(records)


class DerbySession(JDBCSession):
    reasons: ClassVar = {"40001": "deadlock", "40XL1": "lock timeout", "40XL2": "lock timeout"}

    def explain(self, sql: str) -> str:
        """Plan of a run of the query: Derby gives a plan in no other way."""
        self.execute("CALL SYSCS_UTIL.SYSCS_SET_RUNTIMESTATISTICS(1)")
        try:
            for _ in self.prepare_query(sql)():
                pass
            ((told,),) = self.prepare_query("VALUES SYSCS_UTIL.SYSCS_GET_RUNTIMESTATISTICS()")()
        finally:
            self.execute("CALL SYSCS_UTIL.SYSCS_SET_RUNTIMESTATISTICS(0)")
        return str(told).strip()


class Derby(JDBCEngine):
    name = "derby"
    title = "Derby (JDBC)"
    license = "Apache-2.0; JPype: Apache-2.0"
    dialect = "derby"
    sql = DerbyDialect(
        limit="FETCH FIRST {0} ROWS ONLY", compact="CALL SYSCS_UTIL.SYSCS_COMPRESS_TABLE(CURRENT SCHEMA, '{name}', 0)"
    )
    options_class = DerbyOptions
    session_class = DerbySession
    oldest_java = 17
    # Its cache counts pages, whose size it isn't told: that of a table with long columns is eight times as large. With
    # all pages as large as that, the cache has half of the heap.
    heap_part = 16
    # The log is written through (O_DSYNC). The one switch there is, derby.system.durability=test, may leave a
    # database that can't be opened, as its documentation says.
    durability: ClassVar = {Tier.POWER: {"derby.system.durability": "default"}}

    def address(self) -> str:
        return f"jdbc:derby:{self.directory}/data"

    def properties(self) -> dict[str, Any]:
        return {"create": True}

    def system_properties(self) -> dict[str, Any]:
        mib = chosen(self.options.cache_mib)
        return {
            "derby.storage.pageCacheSize": mib and mib * 2**20 // _PAGE,
            "derby.locks.deadlockTimeout": 1,  # seconds; after 20, its default, a transaction has no time for more tries
            "derby.stream.error.field": "java.lang.System.err",  # and not derby.log in the current folder
        }

    def file_role(self, name: str) -> FileRole:
        folder = name.split("/")[1] if name.count("/") > 1 else ""
        known: dict[str, FileRole] = {"log": "reserved", "seg0": "data"}
        return known.get(folder, "other")

    def flush(self) -> None:
        self.run("CALL SYSCS_UTIL.SYSCS_CHECKPOINT_DATABASE()")

    def size(self) -> Size:
        from dbbench_plugins.jdbc.columns import Reader

        ((index,),) = Reader(self.connection.prepareStatement(_INDEX_BYTES)).all()
        return Size(super().size().files, index)

    def shut_down(self) -> None:
        import jpype

        super().shut_down()
        with suppress(jpype.JException):  # which is how Derby says that it did so
            self.connected(self.address(), shutdown=True, deregister=False)
