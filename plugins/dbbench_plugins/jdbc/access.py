"""Access files, .mdb and .accdb, by UCanAccess: Jackcess writes them, and SQL runs in an HSQLDB mirror."""

from typing import Any, ClassVar, Literal

from pydantic import Field

from dbbench.engine import STANDARD_TYPES, Dialect, Tier, WithoutRecords
from dbbench_plugins.jdbc.session import JDBCEngine, JDBCOptions, JDBCSession


class AccessOptions(JDBCOptions):
    format: Literal["V2003", "V2010"] = Field(default="V2003", description="V2003 is Jet 4 in .mdb, V2010 .accdb")


class AccessSession(WithoutRecords, JDBCSession):  # see `unsupported_reasons`
    def __init__(self, connection: Any, dialect: Dialect) -> None:
        from jpype import JClass, synchronized

        super().__init__(connection, dialect)
        self.alone = synchronized(JClass("net.ucanaccess.jdbc.UcanaccessDriver").class_)

    def commit(self) -> None:
        """Commit while no session looks at the file's time: it would take it for a stranger's and close all of them."""
        with self.alone:
            super().commit()

    def indexed(self, name: str) -> set[str] | None:
        """UCanAccess tells of none where the table's name is a reserved word, so it isn't asked."""
        return None

    def explain(self, sql: str) -> str:
        """The plan that the mirror has."""
        from dbbench_plugins.jdbc.columns import Reader

        mirror = self.connection.getHSQLDBConnection()
        rows = Reader(mirror.prepareStatement(f"EXPLAIN PLAN FOR {self.connection.nativeSQL(sql)}")).run()
        return "In the HSQLDB mirror:\n" + "\n".join(str(row[0]) for row in rows)


class Access(JDBCEngine):
    name = "access"
    title = "Access file (UCanAccess)"
    license = "Apache-2.0; HSQLDB: BSD"
    dialect = "access"
    sql = Dialect(
        types={
            **STANDARD_TYPES,
            "integer": "LONG",
            # Jet 4 has no such number, UCanAccess makes a BIGINT four bytes, and without a decimal 18 digits are the
            # most.
            "bigint": "NUMERIC(20, 1)",
            "real": "SINGLE",
            "double": "DOUBLE",
            "decimal": "NUMERIC({0}, {1})",  # a CURRENCY of UCanAccess's own tables has four digits before its point
            "char": "TEXT({0})",
            "varchar": "TEXT({0})",
            "date": "DATETIME",
            "datetime": "DATETIME",
        },
        quotes=("[", "]"),
    )
    options_class = AccessOptions
    session_class = AccessSession
    # A commit writes its pages in place and then syncs the file (counted with strace; there is no switch for it). So a
    # commit that has returned is on the disk, but `dbbench durability access` fails the tier where a kill comes upon
    # a commit between two pages: one transaction in 20 kills was there in half, none that was acknowledged was lost.
    durability: ClassVar = {Tier.POWER: {"commit": "synced, without a journal"}}
    missing_features: ClassVar = {
        "atomic commits": "without a journal, one that the process's end comes upon may stay in part"
    }
    # Tried with 5.1.5: an UPDATE WHERE the key is some bytes goes to another row, or fails.
    unsupported_reasons: ClassVar = dict.fromkeys(
        ("insert", "update", "delete", "read", "seek", "range", "scan", "insert_many", "update_many", "delete_many"),
        "UCanAccess finds the wrong row under a key of bytes",
    )

    def address(self) -> str:
        suffix = "mdb" if self.options.format == "V2003" else "accdb"
        return f"jdbc:ucanaccess://{self.directory}/data.{suffix}"

    def properties(self) -> dict[str, Any]:
        return {"newDatabaseVersion": self.options.format, "immediatelyReleaseResources": True}

    def flush(self) -> None:
        """Every commit has flushed already."""
