"""Berkeley DB's B-tree, with transactions and without."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import islice
from typing import Annotated, Any, ClassVar

from pydantic import Field

from dbbench.engine import Concurrency, Engine, FileRole, MemoryShare, Options, Publication, Session, Tier, chosen

Pair = tuple[bytes, bytes]


class PlainOptions(Options):
    cache_mib: Annotated[int | None, MemoryShare()] = Field(default=None, description="page cache, MiB")


class TransactionalOptions(PlainOptions):
    max_locks: int | None = Field(
        default=None, ge=1, description="most locks held at once, one for each page; as many as are needed if not given"
    )


class BerkeleyDBSession(Session):
    """Without transactions and locks: the driver's own calls."""

    def __init__(self, environment: Any, database: Any) -> None:
        self.environment = environment
        self.database = database
        self.cursor: Any = None

    def prepare_insert(self) -> Callable[[bytes, bytes], object]:
        return self.database.put  # type: ignore[no-any-return]

    def prepare_update(self) -> Callable[[bytes, bytes], object]:
        return self.prepare_insert()

    def prepare_delete(self) -> Callable[[bytes], object]:
        return self.database.delete  # type: ignore[no-any-return]

    def prepare_insert_many(self) -> Callable[[list[Pair]], object]:
        put = self.database.put

        def insert(pairs: list[Pair]) -> None:
            for key, value in pairs:
                put(key, value)

        return insert

    def prepare_update_many(self) -> Callable[[list[Pair]], object]:
        return self.prepare_insert_many()

    def prepare_delete_many(self) -> Callable[[list[bytes]], object]:
        delete = self.database.delete

        def run(keys: list[bytes]) -> None:
            for key in keys:
                delete(key)

        return run

    def prepare_read(self, *, snapshot: bool = False) -> Callable[[bytes], bytes | None]:
        return self.database.get  # type: ignore[no-any-return]

    def prepare_seek(self, *, snapshot: bool = False) -> Callable[[bytes], Pair | None]:
        """One cursor for all: it locks nothing, and sees what is there."""
        self.close()
        self.cursor = self.database.cursor()
        return self.cursor.set_range  # type: ignore[no-any-return]

    def prepare_range(self, *, snapshot: bool = False) -> Callable[[bytes, int], list[Pair]]:
        open_cursor = self.database.cursor

        def read_range(key: bytes, count: int) -> list[Pair]:
            cursor = open_cursor()
            try:
                first = cursor.set_range(key)
                return [first, *islice(iter(cursor.next, None), count - 1)] if first else []
            finally:
                cursor.close()

        return read_range

    def prepare_scan(self) -> Callable[[], Iterable[Pair]]:
        def scan() -> Iterable[Pair]:
            cursor = self.database.cursor()
            try:
                yield from iter(cursor.next, None)
            finally:
                cursor.close()

        return scan

    def prepare_compact(self, tables: Sequence[str]) -> Callable[[], object]:
        """Compact, and give the pages that are free then back to the file system."""
        from berkeleydb import db

        return partial(self.database.compact, flags=db.DB_FREE_SPACE)

    def close(self) -> None:
        if self.cursor is not None:
            self.cursor.close()
            self.cursor = None


class TransactionalSession(BerkeleyDBSession):
    """A write that loses a deadlock between threads begins anew, as the documentation asks of every caller.

    A read never loses one: whoever has locked most for writing does (DB_LOCK_MAXWRITE).
    """

    def __init__(self, environment: Any, database: Any) -> None:
        from berkeleydb.db import DBLockDeadlockError

        super().__init__(environment, database)
        self.deadlock = DBLockDeadlockError

    def prepare_insert(self) -> Callable[[bytes, bytes], object]:
        put, deadlock = self.database.put, self.deadlock

        def insert(key: bytes, value: bytes) -> None:
            while True:
                try:
                    put(key, value)
                except deadlock:
                    continue
                return

        return insert

    def prepare_delete(self) -> Callable[[bytes], object]:
        delete, deadlock = self.database.delete, self.deadlock

        def run(key: bytes) -> None:
            while True:
                try:
                    delete(key)
                except deadlock:
                    continue
                return

        return run

    def prepare_seek(self, *, snapshot: bool = False) -> Callable[[bytes], Pair | None]:
        """A cursor for each: where it stands, it keeps a page locked."""
        open_cursor = self.database.cursor

        def seek(key: bytes) -> Pair | None:
            cursor = open_cursor()
            try:
                return cursor.set_range(key)  # type: ignore[no-any-return]
            finally:
                cursor.close()

        return seek

    def prepare_insert_many(self) -> Callable[[list[Pair]], object]:
        put = self.database.put

        def insert(pairs: list[Pair], transaction: Any) -> None:
            for key, value in pairs:
                put(key, value, transaction)

        return self._in_one(insert)

    def prepare_delete_many(self) -> Callable[[list[bytes]], object]:
        delete = self.database.delete

        def run(keys: list[bytes], transaction: Any) -> None:
            for key in keys:
                delete(key, transaction)

        return self._in_one(run)

    def _in_one(self, write: Callable[[list[Any], Any], None]) -> Callable[[list[Any]], object]:
        begin, deadlock = self.environment.txn_begin, self.deadlock

        def run(many: list[Any]) -> None:
            while True:
                transaction = begin()
                try:
                    write(many, transaction)
                except deadlock:
                    transaction.abort()
                    continue
                except BaseException:
                    transaction.abort()
                    raise
                transaction.commit()
                return

        return run


class BerkeleyDB(Engine):
    """Its cache and its locks are in this process's memory, so that no other process can join in."""

    name = "berkeleydb"
    title = "Berkeley DB, transactional (berkeleydb)"
    license = "Sleepycat (Berkeley DB 5.3); driver: BSD-3-Clause"
    publication = Publication.ALLOWED
    modules = ("berkeleydb",)
    debian = ("libdb5.3",)
    built_on = ("libdb5.3-dev",)
    options_class: ClassVar[type[PlainOptions]] = TransactionalOptions
    session_class: ClassVar[type[BerkeleyDBSession]] = TransactionalSession
    concurrency = Concurrency(threads=None, processes=1)
    durability: ClassVar = {
        Tier.POWER: {"flags": ""},
        Tier.PROCESS: {"flags": "DB_TXN_WRITE_NOSYNC"},  # the log is written, not synced
        Tier.MEMORY: {"flags": "DB_TXN_NOSYNC"},  # the log stays in memory until its buffer is full
    }

    database: Any = None

    @classmethod
    def versions(cls) -> dict[str, str]:
        from berkeleydb import db

        return {"Berkeley DB": ".".join(map(str, db.version())), "berkeleydb": db.__version__}

    def open(self) -> None:
        from berkeleydb import db

        common = db.DB_CREATE | db.DB_PRIVATE | db.DB_INIT_MPOOL
        self.environment = db.DBEnv()
        if mib := chosen(self.options.cache_mib):
            self.environment.set_cachesize(mib // 1024, mib % 1024 * 2**20, 1)
        self.environment.open(str(self.directory), common | self._transactions(db))
        self.database = db.DB(self.environment)
        self.database.open("records.db", dbtype=db.DB_BTREE, flags=db.DB_CREATE | self._handle(db))

    def _transactions(self, db: Any) -> int:
        """Set up what transactions need, before the environment is opened; the flags to open it with."""
        self.environment.set_lk_detect(db.DB_LOCK_MAXWRITE)
        self.environment.log_set_config(db.DB_LOG_AUTO_REMOVE, True)  # of what no recovery needs any more
        if name := self.durability[self.tier]["flags"]:
            self.environment.set_flags(getattr(db, name), True)
        if most := self.options.max_locks:
            self.environment.set_lk_max_locks(most)
            self.environment.set_lk_max_objects(most)
        return int(db.DB_INIT_TXN | db.DB_INIT_LOCK | db.DB_INIT_LOG | db.DB_RECOVER | db.DB_THREAD)

    def _handle(self, db: Any) -> int:
        return int(db.DB_AUTO_COMMIT | db.DB_THREAD)

    def connect(self) -> Session:
        return self.session_class(self.environment, self.database)

    def file_role(self, name: str) -> FileRole:
        return "reserved" if name.startswith("log.") else "data"  # all of it from before the checkpoint

    def flush(self) -> None:
        self.environment.txn_checkpoint()

    def close(self) -> None:
        if self.database is not None:
            self.database.close()
            self.environment.close()
            self.database = None


class BerkeleyDBPlain(BerkeleyDB):
    name = "berkeleydb+nontxn"
    title = "Berkeley DB, no transactions (berkeleydb)"
    options_class = PlainOptions
    session_class = BerkeleyDBSession
    concurrency = Concurrency(threads=1, processes=1)
    missing_features: ClassVar = {"transactions": "what was written before a failure stays"}
    durability: ClassVar = {Tier.MEMORY: {}}  # a killed process may leave a file that can't be read

    def _transactions(self, db: Any) -> int:
        return 0

    def _handle(self, db: Any) -> int:
        return 0

    def flush(self) -> None:
        self.database.sync()
