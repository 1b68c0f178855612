"""UnQLite: a hash file with a rollback journal."""

from collections import deque
from collections.abc import Callable, Iterable
from importlib.metadata import version
from itertools import starmap
from typing import Any, ClassVar

from dbbench.engine import Concurrency, Engine, Publication, Session, Tier

Pair = tuple[bytes, bytes]


class UnQLiteSession(Session):
    """A write opens a transaction of the database by itself; what isn't committed is committed when it is closed."""

    def __init__(self, database: Any, *, commits: bool) -> None:
        self.database = database
        self.commits = commits

    def prepare_insert(self) -> Callable[[bytes, bytes], object]:
        if not self.commits:
            return self.database.store  # type: ignore[no-any-return]
        store, commit = self.database.store, self.database.commit

        def insert(key: bytes, value: bytes) -> None:
            store(key, value)
            commit()

        return insert

    prepare_update = prepare_insert

    def prepare_delete(self) -> Callable[[bytes], object]:
        if not self.commits:
            return self.database.delete  # type: ignore[no-any-return]
        delete, commit = self.database.delete, self.database.commit

        def run(key: bytes) -> None:
            delete(key)
            commit()

        return run

    def prepare_insert_many(self) -> Callable[[list[Pair]], object]:
        store = self.database.store
        return self._in_one(lambda pairs: starmap(store, pairs))

    prepare_update_many = prepare_insert_many

    def prepare_delete_many(self) -> Callable[[list[bytes]], object]:
        delete = self.database.delete
        return self._in_one(lambda keys: map(delete, keys))

    def prepare_read(self, *, snapshot: bool = False) -> Callable[[bytes], bytes | None]:
        return self.database.get  # type: ignore[no-any-return]

    def prepare_scan(self) -> Callable[[], Iterable[Pair]]:
        items = self.database.items

        def scan() -> Iterable[Pair]:
            for key, value in items():  # the driver makes text of a key that looks like it
                yield key if key.__class__ is bytes else key.encode(), value

        return scan

    def _in_one(self, calls: Callable[[list[Any]], Iterable[object]]) -> Callable[[list[Any]], object]:
        """One transaction. Committed before it is what was not: a rollback would undo that too."""
        database = self.database

        def run(many: list[Any]) -> None:
            database.commit()
            database.begin()
            try:
                deque(calls(many), maxlen=0)
            except BaseException:
                database.rollback()
                raise
            database.commit()

        return run


class UnQLite(Engine):
    name = "unqlite"
    title = "UnQLite (unqlite)"
    license = "BSD-2-Clause; driver: MIT"
    publication = Publication.ALLOWED
    modules = ("unqlite",)
    session_class = UnQLiteSession
    concurrency = Concurrency(threads=1, processes=1)  # a transaction is one of the database, not of a client
    ordered = False
    unsupported_reasons: ClassVar = {
        "seek": "a hash has no order of keys",
        "range": "a hash has no order of keys",
        "compact": "nothing gives room of its file back",
    }
    # Nothing turns the syncs of a commit off. Without one, records stay in memory until the database is closed.
    durability: ClassVar = {Tier.POWER: {"commit": "each write"}, Tier.MEMORY: {"commit": "when it is closed"}}

    @classmethod
    def versions(cls) -> dict[str, str]:
        import unqlite

        said = unqlite.UnQLite(":mem:").lib_version()
        return {"UnQLite": said.decode() if isinstance(said, bytes) else said, "unqlite": version("unqlite")}

    def open(self) -> None:
        import unqlite

        self.database = unqlite.UnQLite(str(self.directory / "records.unqlite"))

    def connect(self) -> Session:
        return UnQLiteSession(self.database, commits=self.tier is Tier.POWER)

    def flush(self) -> None:
        self.database.commit()  # its method of that name removes every record

    def close(self) -> None:
        self.database.close()
