"""The dbm libraries that Python binds: GDBM, and whatever provides ndbm."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar

from dbbench.engine import Concurrency, Engine, Publication, Session, Tier
from dbbench_plugins.debian import debian_module
from dbbench_plugins.dict import DictSession, Pair


class DBMSession(DictSession):
    """A session like that of a dict, which most of its methods are named after."""

    held: Any

    def prepare_insert_many(self) -> Callable[[list[Pair]], object]:
        put = self.held.__setitem__

        def insert(pairs: list[Pair]) -> None:
            for key, value in pairs:
                put(key, value)

        return insert

    prepare_update_many = prepare_insert_many

    def prepare_scan(self) -> Callable[[], Iterable[Pair]]:
        database = self.held
        return lambda: ((key, database[key]) for key in database.keys())  # noqa: SIM118 - it is no mapping


class GDBMSession(DBMSession):
    def prepare_scan(self) -> Callable[[], Iterable[Pair]]:
        """Iterate from key to key: a list of them all could be larger than memory."""
        first, following, fetch = self.held.firstkey, self.held.nextkey, self.held.get

        def scan() -> Iterable[Pair]:
            key = first()
            while key is not None:
                yield key, fetch(key)
                key = following(key)

        return scan

    def prepare_compact(self, tables: Sequence[str]) -> Callable[[], object]:
        return self.held.reorganize  # type: ignore[no-any-return]


class DBM(Engine):
    """What both have in common: a hash file of one client."""

    publication = Publication.ALLOWED
    concurrency = Concurrency(threads=1, processes=1)
    ordered = False
    missing_features: ClassVar = {"transactions": "what was written before a failure stays"}
    unsupported_reasons: ClassVar = {"seek": "a hash has no order of keys", "range": "a hash has no order of keys"}

    #: The compiled module below `dbm.gnu` or `dbm.ndbm`.
    binding: ClassVar[str]
    #: How a file is opened: made if it isn't there.
    flags: ClassVar[str] = "c"
    database: Any = None

    @classmethod
    def available(cls) -> None:
        debian_module(cls.binding)

    def open(self) -> None:
        self.database = debian_module(self.binding).open(str(self.directory / "records"), self.flags, 0o600)

    def connect(self) -> Session:
        return self.session_class(self.database)  # type: ignore[call-arg]

    def close(self) -> None:
        if self.database is not None:
            self.database.close()
            self.database = None


class GNU(DBM):
    name = "dbm.gnu"
    title = "GDBM (dbm.gnu)"
    license = "GPL-3.0; dbm.gnu: PSF-2.0"
    debian = ("python3-gdbm",)
    binding, flags = "_gdbm", "cf"
    session_class = GDBMSession
    # A process that is killed in the middle of a change leaves a file that can't be relied on.
    durability: ClassVar = {Tier.MEMORY: {"flags": "fast"}}

    @classmethod
    def versions(cls) -> dict[str, str]:
        version = getattr(debian_module(cls.binding), "_GDBM_VERSION", ("unknown",))
        return {"GDBM": ".".join(map(str, version))}

    def flush(self) -> None:
        self.database.sync()


class NDBM(DBM):
    name = "dbm.ndbm"
    missing_features: ClassVar = {**DBM.missing_features, "empty values": "one may read as if its key weren't there"}
    title = "ndbm (dbm.ndbm)"
    license = "of the library behind it: Berkeley DB's Sleepycat, or GDBM's GPL-3.0; dbm.ndbm: PSF-2.0"
    debian = ("libpython3-stdlib",)
    binding = "_dbm"
    session_class = DBMSession
    durability: ClassVar = {Tier.MEMORY: {}}

    @classmethod
    def versions(cls) -> dict[str, str]:
        return {"library": str(debian_module(cls.binding).library)}

    def connect(self) -> Session:
        self.session: Any = super().connect()
        return self.session

    def flush(self) -> None:
        """Close the file and open it again: ndbm has no other call that writes what it holds in memory."""
        self.database.close()
        self.open()
        self.session.held = self.database
