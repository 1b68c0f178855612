"""The dbm libraries that Python binds: GDBM, and whatever provides ndbm."""

import importlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from dbbench.engine import Concurrency, Engine, EngineInfo, Publication, Session, Tier, Unavailable
from dbbench_plugins import gdbm
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

    #: Python's module.
    module: ClassVar[str]
    database: Any = None

    def connect(self) -> Session:
        return self.session_class(self.database)  # type: ignore[call-arg]

    def close(self) -> None:
        if self.database is not None:
            self.database.close()
            self.database = None


class GNU(DBM):
    """Through Python's own `dbm.gnu`; by ctypes where Python was built without it."""

    name = "dbm.gnu"
    title = "GDBM (dbm.gnu)"
    license = "GPL-3.0; dbm.gnu: PSF-2.0"
    debian = ("libgdbm6",)
    session_class = GDBMSession
    # A process that is killed in the middle of a change leaves a file that can't be relied on.
    durability: ClassVar = {Tier.MEMORY: {"flags": "fast"}}

    @classmethod
    def available(cls) -> None:
        try:
            importlib.import_module("dbm.gnu")
        except ImportError:
            gdbm.library()

    @classmethod
    def versions(cls) -> dict[str, str]:
        try:
            built = importlib.import_module("_gdbm")  # dbm.gnu hides it
        except ImportError:
            return {"GDBM": gdbm.version()}
        return {"GDBM": ".".join(map(str, getattr(built, "_GDBM_VERSION", ("unknown",))))}

    def info(self) -> EngineInfo:
        known = super().info()
        return replace(known, title="GDBM (ctypes)") if isinstance(self.database, gdbm.Database) else known

    def open(self) -> None:
        path = str(self.directory / "records.gdbm")
        try:
            opener = importlib.import_module("dbm.gnu").open
        except ImportError:
            self.database = gdbm.Database(path)
        else:
            self.database = opener(path, "cf", 0o600)

    def flush(self) -> None:
        self.database.sync()


class NDBM(DBM):
    name = "dbm.ndbm"
    missing_features: ClassVar = {**DBM.missing_features, "empty values": "one may read as if its key weren't there"}
    title = "ndbm (dbm.ndbm)"
    license = "of the library behind it: Berkeley DB's Sleepycat, or GDBM's GPL-3.0; dbm.ndbm: PSF-2.0"
    session_class = DBMSession
    unverified = "run by hand on Debian's Python only, which has Berkeley DB behind it"
    durability: ClassVar = {Tier.MEMORY: {}}

    @classmethod
    def available(cls) -> None:
        try:
            importlib.import_module("dbm.ndbm")
        except ImportError as exc:
            raise Unavailable(
                "this Python was built without dbm.ndbm", "use a Python that has it, as Debian's python3 does"
            ) from exc

    @classmethod
    def versions(cls) -> dict[str, str]:
        return {"library": str(importlib.import_module("dbm.ndbm").library)}

    def open(self) -> None:
        self.database = importlib.import_module("dbm.ndbm").open(str(self.directory / "records"), "c", 0o600)
