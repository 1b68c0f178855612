"""WiredTiger: a B-tree with a log, MongoDB's storage engine. It builds for minutes, so `all` leaves it out."""

from collections.abc import Callable, Iterable
from itertools import islice
from typing import Annotated, Any, ClassVar

from pydantic import Field

from dbbench.engine import Concurrency, Engine, FileRole, MemoryShare, Options, Publication, Session, Tier, chosen

Pair = tuple[bytes, bytes]

_TABLE = "table:records"


class WiredTigerOptions(Options):
    cache_mib: Annotated[int | None, MemoryShare()] = Field(
        default=None, description="cache of uncompressed pages, MiB"
    )


class WiredTigerSession(Session):
    """One cursor for all. While it stands on a record it keeps a snapshot, so that it is reset after each read."""

    def __init__(self, session: Any) -> None:
        from wiredtiger import WT_NOTFOUND, WiredTigerRollbackError

        self.session = session
        self.cursor = session.open_cursor(_TABLE)
        self.missing = WT_NOTFOUND
        self.conflict = WiredTigerRollbackError

    def prepare_insert(self) -> Callable[[bytes, bytes], object]:
        put, conflict = self.cursor.__setitem__, self.conflict

        def insert(key: bytes, value: bytes) -> None:
            while True:
                try:
                    put(key, value)
                except conflict:
                    continue
                return

        return insert

    prepare_update = prepare_insert

    def prepare_delete(self) -> Callable[[bytes], object]:
        set_key, remove, conflict = self.cursor.set_key, self.cursor.remove, self.conflict

        def delete(key: bytes) -> None:
            while True:
                try:
                    set_key(key)
                    remove()
                except conflict:
                    continue
                return

        return delete

    def prepare_insert_many(self) -> Callable[[list[Pair]], object]:
        put = self.cursor.__setitem__

        def write(pairs: list[Pair]) -> None:
            for key, value in pairs:
                put(key, value)

        return self._in_one(write)

    prepare_update_many = prepare_insert_many

    def prepare_delete_many(self) -> Callable[[list[bytes]], object]:
        set_key, remove = self.cursor.set_key, self.cursor.remove

        def write(keys: list[bytes]) -> None:
            for key in keys:
                set_key(key)
                remove()

        return self._in_one(write)

    def prepare_read(self, *, snapshot: bool = False) -> Callable[[bytes], bytes | None]:
        cursor = self.cursor
        set_key, search, value, reset = cursor.set_key, cursor.search, cursor.get_value, cursor.reset

        def read(key: bytes) -> bytes | None:
            set_key(key)
            if search():
                return None
            found: bytes = value()
            reset()
            return found

        return read

    def prepare_seek(self, *, snapshot: bool = False) -> Callable[[bytes], Pair | None]:
        place, cursor = self._placed(), self.cursor
        held_key, held_value, reset = cursor.get_key, cursor.get_value, cursor.reset

        def seek(key: bytes) -> Pair | None:
            if not place(key):
                return None
            found = held_key(), held_value()
            reset()
            return found

        return seek

    def prepare_range(self, *, snapshot: bool = False) -> Callable[[bytes, int], list[Pair]]:
        place, cursor = self._placed(), self.cursor

        def read_range(key: bytes, count: int) -> list[Pair]:
            if not place(key):
                return []
            found = [(cursor.get_key(), cursor.get_value()), *islice(cursor, count - 1)]
            cursor.reset()
            return [(key, value) for key, value in found]

        return read_range

    def prepare_scan(self) -> Callable[[], Iterable[Pair]]:
        def scan() -> Iterable[Pair]:
            self.cursor.reset()
            yield from self.cursor
            self.cursor.reset()

        return scan

    def close(self) -> None:
        self.session.close()

    def _placed(self) -> Callable[[bytes], bool]:
        """Places the cursor on the key or the next above it; false if there is none."""
        set_key, near, following, missing = self.cursor.set_key, self.cursor.search_near, self.cursor.next, self.missing

        def place(key: bytes) -> bool:
            set_key(key)
            where = near()
            return bool(where != missing and (where >= 0 or following() == 0))

        return place

    def _in_one(self, write: Callable[[list[Any]], None]) -> Callable[[list[Any]], object]:
        session, conflict = self.session, self.conflict

        def run(many: list[Any]) -> None:
            while True:
                session.begin_transaction()
                try:
                    write(many)
                except conflict:
                    session.rollback_transaction()
                    continue
                except BaseException:
                    session.rollback_transaction()
                    raise
                session.commit_transaction()
                return

        return run


class WiredTiger(Engine):
    name = "wiredtiger"
    title = "WiredTiger (wiredtiger)"
    license = "GPL-2.0 or GPL-3.0"
    publication = Publication.ALLOWED
    modules = ("wiredtiger",)
    built_on = ("swig",)
    options_class = WiredTigerOptions
    session_class = WiredTigerSession
    concurrency = Concurrency(threads=None, processes=1)
    unverified = "run by hand only: its package builds for minutes"
    durability: ClassVar = {
        Tier.POWER: {"log": "(enabled=true)", "transaction_sync": "(enabled=true,method=fsync)"},
        Tier.PROCESS: {"log": "(enabled=true)", "transaction_sync": "(enabled=true,method=none)"},
        Tier.MEMORY: {"log": "(enabled=false)"},
    }

    connection: Any = None

    @classmethod
    def versions(cls) -> dict[str, str]:
        import wiredtiger

        numbers = (getattr(wiredtiger, f"WIREDTIGER_VERSION_{part}") for part in ("MAJOR", "MINOR", "PATCH"))
        return {"WiredTiger": ".".join(map(str, numbers))}

    def open(self) -> None:
        from wiredtiger import wiredtiger_open

        settings = {"session_max": "1024", **self.durability[self.tier]}
        if mib := chosen(self.options.cache_mib):
            settings["cache_size"] = f"{mib}MB"
        said = ",".join(f"{name}={value}" for name, value in settings.items())
        self.connection = wiredtiger_open(str(self.directory), f"create,{said}")
        session = self.connection.open_session()
        session.create(_TABLE, "key_format=u,value_format=u")
        session.close()

    def connect(self) -> Session:
        return WiredTigerSession(self.connection.open_session())

    def file_role(self, name: str) -> FileRole:
        if name.startswith(("WiredTigerLog", "WiredTigerPreplog")):
            return "reserved"
        return "data" if name == "records.wt" else "other"

    def flush(self) -> None:
        session = self.connection.open_session()
        session.checkpoint()
        session.close()

    def close(self) -> None:
        if self.connection is not None:
            self.connection.close()
            self.connection = None
