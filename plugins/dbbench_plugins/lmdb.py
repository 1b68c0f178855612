"""LMDB: a B+tree in a memory-mapped file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field

from dbbench.engine import Concurrency, Engine, FileRole, Options, Publication, Session, Tier

if TYPE_CHECKING:
    from dbbench.engine import Records

Pair = tuple[bytes, bytes]

_MIB = 2**20
#: Clients that read at once; its own default is 126. Each takes 64 bytes of a file.
READERS = 1_024


class MapOptions(Options):
    map_size_mib: int | None = Field(
        default=None, ge=1, description="most the file may grow to, MiB; four times the records and 64 MiB if not given"
    )

    def most(self, records: Records | None = None) -> int:
        """The bytes that the file may grow to: address space, not memory."""
        if self.map_size_mib is not None:
            return self.map_size_mib * _MIB
        each = records.key_bytes + records.value_bytes + 16 if records else 0
        return 64 * _MIB + (4 * records.count * each if records else 0)


class LMDBSession(Session):
    """A read has a transaction of its own, unless one snapshot for all of them will do.

    A snapshot keeps the file from reusing what is deleted after it. So nothing holds it but the callable that reads
    from it: the driver ends it when that is gone.
    """

    def __init__(self, environment: Any) -> None:
        self.environment = environment

    def prepare_insert(self) -> Callable[[bytes, bytes], object]:
        begin = self.environment.begin

        def put(key: bytes, value: bytes) -> None:
            with begin(write=True) as transaction:
                transaction.put(key, value)

        return put

    prepare_update = prepare_insert

    def prepare_delete(self) -> Callable[[bytes], object]:
        begin = self.environment.begin

        def delete(key: bytes) -> None:
            with begin(write=True) as transaction:
                transaction.delete(key)

        return delete

    def prepare_insert_many(self) -> Callable[[list[Pair]], object]:
        begin = self.environment.begin

        def put(pairs: list[Pair]) -> None:
            with begin(write=True) as transaction, transaction.cursor() as cursor:
                cursor.putmulti(pairs)

        return put

    def prepare_update_many(self) -> Callable[[list[Pair]], object]:
        return self.prepare_insert_many()  # whichever a session derived from this one has

    def prepare_delete_many(self) -> Callable[[list[bytes]], object]:
        begin = self.environment.begin

        def delete(keys: list[bytes]) -> None:
            with begin(write=True) as transaction:
                for key in keys:
                    transaction.delete(key)

        return delete

    def prepare_read(self, *, snapshot: bool = False) -> Callable[[bytes], bytes | None]:
        if snapshot:
            return self.environment.begin().get  # type: ignore[no-any-return]
        begin = self.environment.begin

        def read(key: bytes) -> bytes | None:
            with begin() as transaction:
                return transaction.get(key)  # type: ignore[no-any-return]

        return read

    def prepare_seek(self, *, snapshot: bool = False) -> Callable[[bytes], Pair | None]:
        begin = self.environment.begin

        def seek_anew(key: bytes) -> Pair | None:
            with begin() as transaction, transaction.cursor() as cursor:
                return cursor.item() if cursor.set_range(key) else None

        if not snapshot:
            return seek_anew
        cursor = begin().cursor()
        position, item = cursor.set_range, cursor.item

        def seek(key: bytes) -> Pair | None:
            return item() if position(key) else None

        return seek

    def prepare_range(self, *, snapshot: bool = False) -> Callable[[bytes, int], list[Pair]]:
        begin = self.environment.begin

        def read_range(key: bytes, count: int) -> list[Pair]:
            with begin() as transaction, transaction.cursor() as cursor:
                return list(islice(cursor.iternext(), count)) if cursor.set_range(key) else []

        return read_range

    def prepare_scan(self) -> Callable[[], Iterable[Pair]]:
        """A cursor that is gone when it has been drained, and its transaction with it."""
        begin = self.environment.begin
        return lambda: begin().cursor()

    def prepare_compact(self, tables: Sequence[str]) -> Callable[[], object]:
        """Copy without the free pages, as `mdb_copy -c` does, and put the copy in the place of the file."""
        copy, file = self.environment.copy, Path(self.environment.path(), "data.mdb")

        def run() -> None:
            with TemporaryDirectory(dir=file.parent) as folder:
                copy(folder, compact=True)
                Path(folder, file.name).replace(file)

        return run


class LMDB(Engine):
    name = "lmdb"
    title = "LMDB (lmdb)"
    license = "OpenLDAP-2.8; driver: OpenLDAP-2.8"
    publication = Publication.ALLOWED
    modules = ("lmdb",)
    options_class = MapOptions
    session_class: ClassVar[type[LMDBSession]] = LMDBSession
    concurrency = Concurrency(threads=None, processes=None)  # one writer at a time
    longest_key = 511
    durability: ClassVar = {
        Tier.POWER: {"sync": True},
        Tier.PROCESS: {"sync": False},  # the file's pages are the system's: they outlive the process
    }

    @classmethod
    def versions(cls) -> dict[str, str]:
        import lmdb

        return {"LMDB": ".".join(map(str, lmdb.version())), "lmdb": lmdb.__version__}

    environment: Any = None

    def open(self) -> None:
        import lmdb

        # 0: as large as the file itself says, which another process may have made larger than we know.
        size = 0 if (self.directory / "data.mdb").exists() else self.options.most()
        self.environment = lmdb.open(
            str(self.directory), map_size=size, max_readers=READERS, **self.durability[self.tier]
        )

    def create_store(self, records: Records) -> None:
        """Let the file grow as far as the records need, and have it say so: with the next pages that are written."""
        self.environment.set_mapsize(self.options.most(records))
        with self.environment.begin(write=True) as transaction:
            transaction.put(b"0", b"")
            transaction.delete(b"0")

    def connect(self) -> Session:
        return self.session_class(self.environment)

    def file_role(self, name: str) -> FileRole:
        return "other" if name == "lock.mdb" else "data"  # who reads what

    def settings(self) -> dict[str, Any]:
        return {"map_size_mib": self.environment.info()["map_size"] // _MIB, **self.durability[self.tier]}

    def flush(self) -> None:
        self.environment.sync(True)

    def close(self) -> None:
        if self.environment is not None:
            self.environment.close()
