"""H2, inside the process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import Field

from dbbench.engine import Dialect, FileRole, MemoryShare, Tier, chosen
from dbbench_plugins.jdbc.session import JDBCEngine, JDBCOptions, JDBCSession

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


_SETTING = "SELECT MAX(SETTING_VALUE) FROM INFORMATION_SCHEMA.SETTINGS WHERE SETTING_NAME = '{0}'"


class H2Options(JDBCOptions):
    cache_mib: Annotated[int | None, MemoryShare()] = Field(default=None, description="page cache, MiB")


class H2Session(JDBCSession):
    # DEADLOCK_1, LOCK_TIMEOUT_1, CONCURRENT_UPDATE_1
    reasons: ClassVar = {"40001": "deadlock", "50200": "lock timeout", "90131": "conflict"}
    #: Run after each commit, where the tier asks for it.
    sync: Callable[[], object] | None = None

    def prepare_compact(self, tables: Sequence[str]) -> Callable[[], object]:
        """Close the database as well: nothing may be synced after it."""
        return self.connection.prepareStatement("SHUTDOWN COMPACT").execute  # type: ignore[no-any-return]

    def settle(self) -> None:
        if self.sync and not self.begun:
            self.sync()


class H2(JDBCEngine):
    name = "h2"
    title = "H2 (JDBC)"
    license = "MPL 2.0 or EPL 1.0; JPype: Apache-2.0"
    dialect = "h2"
    sql = Dialect(explain="EXPLAIN")
    options_class = H2Options
    session_class = H2Session
    # A commit with WRITE_DELAY 0 hands its pages to the system and calls no fsync (counted with strace); CHECKPOINT
    # SYNC does. A longer delay keeps them in the process until it is over; 500 ms is the default.
    durability: ClassVar = {
        Tier.POWER: {"WRITE_DELAY": 0, "after each commit": "CHECKPOINT SYNC"},
        Tier.PROCESS: {"WRITE_DELAY": 0},
        Tier.MEMORY: {"WRITE_DELAY": 500},
    }
    # The catalogue has some settings twice.
    sync_queries: ClassVar = {"WRITE_DELAY": _SETTING.format("WRITE_DELAY")}
    option_queries: ClassVar = {"cache_mib": _SETTING.format("info.CACHE_MAX_SIZE")}

    def address(self) -> str:
        # A prepared query that is run again would give the rows it kept. Traces stay out of the database's size.
        return f"jdbc:h2:{self.directory}/data;OPTIMIZE_REUSE_RESULTS=FALSE;TRACE_LEVEL_FILE=0"

    def properties(self) -> dict[str, Any]:
        delay = self.durability[self.tier]["WRITE_DELAY"]
        mib = chosen(self.options.cache_mib)
        return {"user": "sa", "WRITE_DELAY": delay, **({"CACHE_SIZE": mib * 1024} if mib else {})}

    def connect(self) -> JDBCSession:
        session = super().connect()
        if self.tier is Tier.POWER:
            assert isinstance(session, H2Session)
            session.sync = session.connection.prepareStatement("CHECKPOINT SYNC").execute
        return session

    def flush(self) -> None:
        self.run("CHECKPOINT SYNC")

    def file_role(self, name: str) -> FileRole:
        return "data" if name.endswith(".mv.db") else "other"
