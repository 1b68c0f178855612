"""LevelDB: a log-structured merge tree."""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import islice, starmap
from operator import methodcaller
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from dbbench.engine import Concurrency, Engine, FileRole, MemoryShare, Options, Publication, Session, Tier, chosen

Pair = tuple[bytes, bytes]


class LevelDBOptions(Options):
    cache_mib: Annotated[int | None, MemoryShare()] = Field(
        default=None, description="cache of uncompressed blocks, MiB"
    )
    write_buffer_mib: int = Field(default=4, ge=1, description="records held in memory before they become a table, MiB")
    compression: Literal["snappy", "none"] = Field(default="snappy", description="of the tables")
    bloom_bits: int = Field(default=0, ge=0, le=64, description="of a table's Bloom filter for each key; 0 for none")


class LevelDBSession(Session):
    def __init__(self, database: Any, *, sync: bool) -> None:
        self.database = database
        self.sync = sync

    def prepare_insert(self) -> Callable[[bytes, bytes], object]:
        return partial(self.database.put, sync=True) if self.sync else self.database.put

    prepare_update = prepare_insert

    def prepare_delete(self) -> Callable[[bytes], object]:
        return partial(self.database.delete, sync=True) if self.sync else self.database.delete

    def batches(self) -> tuple[Callable[[], Any], Callable[[Any], object]]:
        """What makes a batch, and what writes it."""
        return partial(self.database.write_batch, sync=self.sync), methodcaller("write")

    def prepare_insert_many(self) -> Callable[[list[Pair]], object]:
        begin, write = self.batches()

        def put(pairs: list[Pair]) -> None:
            batch = begin()
            deque(starmap(batch.put, pairs), maxlen=0)
            write(batch)

        return put

    prepare_update_many = prepare_insert_many

    def prepare_delete_many(self) -> Callable[[list[bytes]], object]:
        begin, write = self.batches()

        def delete(keys: list[bytes]) -> None:
            batch = begin()
            deque(map(batch.delete, keys), maxlen=0)
            write(batch)

        return delete

    def prepare_read(self, *, snapshot: bool = False) -> Callable[[bytes], bytes | None]:
        return self.database.get  # type: ignore[no-any-return]

    def prepare_seek(self, *, snapshot: bool = False) -> Callable[[bytes], Pair | None]:
        """An iterator sees what was there when it was made."""
        iterator = self.database.iterator

        def seek_anew(key: bytes) -> Pair | None:
            return next(iterator(start=key), None)

        if not snapshot:
            return seek_anew
        one = self.database.raw_iterator()
        position, valid, item = one.seek, one.valid, one.item

        def seek(key: bytes) -> Pair | None:
            position(key)
            return item() if valid() else None

        return seek

    def prepare_range(self, *, snapshot: bool = False) -> Callable[[bytes, int], list[Pair]]:
        iterator = self.database.iterator
        return lambda key, count: list(islice(iterator(start=key), count))

    def prepare_scan(self) -> Callable[[], Iterable[Pair]]:
        return self.database.iterator  # type: ignore[no-any-return]

    def prepare_compact(self, tables: Sequence[str]) -> Callable[[], object]:
        return self.database.compact_range  # type: ignore[no-any-return]


class LevelDB(Engine):
    name = "leveldb"
    title = "LevelDB (plyvel)"
    license = "BSD-3-Clause; driver: BSD-3-Clause"
    publication = Publication.ALLOWED
    modules = ("plyvel",)
    options_class = LevelDBOptions
    session_class = LevelDBSession
    concurrency = Concurrency(threads=None, processes=1)
    durability: ClassVar = {
        Tier.POWER: {"sync": True},
        Tier.PROCESS: {"sync": False},  # each write is in the log's file, though not on the disk, when it returns
    }

    @classmethod
    def versions(cls) -> dict[str, str]:
        import plyvel

        return {"LevelDB": plyvel.__leveldb_version__, "plyvel": plyvel.__version__}

    def open(self) -> None:
        import plyvel

        mib = chosen(self.options.cache_mib)
        self.database = plyvel.DB(
            str(self.directory / "data"),
            create_if_missing=True,
            lru_cache_size=mib and mib * 2**20,
            write_buffer_size=self.options.write_buffer_mib * 2**20,
            bloom_filter_bits=self.options.bloom_bits,
            compression=None if self.options.compression == "none" else self.options.compression,
        )

    def connect(self) -> Session:
        return LevelDBSession(self.database, **self.durability[self.tier])

    def file_role(self, name: str) -> FileRole:
        return table_part(name)

    def close(self) -> None:
        self.database.close()


def table_part(name: str) -> FileRole:
    """What a file of LevelDB or RocksDB is for: tables, logs of writes, or what tells of both."""
    if name.endswith(".log"):
        return "journal"
    return "data" if name.endswith((".ldb", ".sst")) else "other"
