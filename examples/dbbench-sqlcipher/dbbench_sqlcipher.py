"""SQLCipher: SQLite that encrypts every page. A whole plugin."""

from pydantic import Field
from sqlcipher3 import dbapi2

from dbbench.engine import Dialect, Options, Publication, SQLEngine, SQLSession, Tier


class CipherOptions(Options):
    kdf_iter: int = Field(default=256_000, ge=1, description="rounds of key derivation when a connection opens")


class CipherSession(SQLSession):
    bind = {"decimal": "float", "datetime": "text", "date": "text"}  # SQLite has neither decimals nor dates


class SQLCipher(SQLEngine):
    name = "sqlcipher"
    title = "SQLCipher (sqlcipher3)"
    license = "BSD-3-Clause; driver: zlib"
    publication = Publication.ALLOWED
    dialect = "sqlite"  # takes what a suite has written for SQLite
    sql = Dialect()
    options_class = CipherOptions
    session_class = CipherSession
    durability = {Tier.POWER: {"synchronous": "FULL"}, Tier.PROCESS: {"synchronous": "OFF"}}

    @classmethod
    def versions(cls):
        with dbapi2.connect(":memory:") as connection:
            (cipher,) = connection.execute("PRAGMA cipher_version").fetchone()
        connection.close()
        return {"SQLCipher": cipher.split()[0], "SQLite": dbapi2.sqlite_version}

    def connect(self):
        connection = dbapi2.connect(str(self.directory / "data.sqlcipher"), isolation_level=None)
        for pragma in (
            "key = 'dbbench'",
            f"kdf_iter = {self.options.kdf_iter}",
            "journal_mode = WAL",
            f"synchronous = {self.durability[self.tier]['synchronous']}",
        ):
            connection.execute(f"PRAGMA {pragma}").fetchall()
        return self.session_class(connection, self.sql)

    def flush(self):
        session = self.connect()
        session.execute(
            "SELECT COUNT(*) FROM sqlite_schema"
        ).fetchall()  # opens the log, which the checkpoint would wait for
        ((busy, *_),) = session.execute("PRAGMA wal_checkpoint(RESTART)").fetchall()
        session.close()
        if busy:
            raise RuntimeError("the checkpoint is not complete: another connection uses the log")
