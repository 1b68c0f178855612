"""RocksDB: a log-structured merge tree, out of LevelDB."""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from importlib.metadata import version
from itertools import islice
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from dbbench.engine import Concurrency, Engine, FileRole, MemoryShare, Options, Publication, Session, Tier, chosen
from dbbench_plugins.leveldb import LevelDBSession, Pair, table_part

_VERSION = re.compile(r"RocksDB version: (\d[\d.]*)")


class RocksDBOptions(Options):
    cache_mib: Annotated[int | None, MemoryShare()] = Field(
        default=None, description="cache of uncompressed blocks, MiB"
    )
    write_buffer_mib: int = Field(
        default=64, ge=1, description="records held in memory before they become a table, MiB"
    )
    compression: Literal["none", "snappy", "lz4", "zstd"] = Field(default="snappy", description="of the tables")
    bloom_bits: int = Field(default=10, ge=0, le=64, description="of a table's Bloom filter for each key; 0 for none")


class RocksDBSession(LevelDBSession):
    """A session like LevelDB's. How a write is synced is set on the database, once for all."""

    def __init__(self, database: Any) -> None:
        super().__init__(database, sync=False)

    def batches(self) -> tuple[Callable[[], Any], Callable[[Any], object]]:
        from rocksdict import WriteBatch

        return partial(WriteBatch, raw_mode=True), self.database.write

    def prepare_seek(self, *, snapshot: bool = False) -> Callable[[bytes], Pair | None]:
        """An iterator sees what was there when it was made."""
        items = self.database.items

        def seek_anew(key: bytes) -> Pair | None:
            return next(items(from_key=key), None)

        if not snapshot:
            return seek_anew
        one = self.database.iter()
        position, found, value = one.seek, one.key, one.value

        def seek(key: bytes) -> Pair | None:
            position(key)
            at = found()
            return None if at is None else (at, value())

        return seek

    def prepare_range(self, *, snapshot: bool = False) -> Callable[[bytes, int], list[Pair]]:
        items = self.database.items
        return lambda key, count: list(islice(items(from_key=key), count))

    def prepare_scan(self) -> Callable[[], Iterable[Pair]]:
        return self.database.items  # type: ignore[no-any-return]

    def prepare_compact(self, tables: Sequence[str]) -> Callable[[], object]:
        """Compact all keys, in the lowest level too, which it leaves alone unless asked."""
        import rocksdict

        options = rocksdict.CompactOptions()
        options.set_bottommost_level_compaction(rocksdict.BottommostLevelCompaction.force())
        return partial(self.database.compact_range, None, None, options)


class RocksDB(Engine):
    name = "rocksdb"
    title = "RocksDB (rocksdict)"
    license = "Apache-2.0 or GPL-2.0; driver: MIT"
    publication = Publication.ALLOWED
    modules = ("rocksdict",)
    options_class = RocksDBOptions
    session_class = RocksDBSession
    concurrency = Concurrency(threads=None, processes=1)
    durability: ClassVar = {
        Tier.POWER: {"sync": True, "disable_wal": False},
        Tier.PROCESS: {"sync": False, "disable_wal": False},  # each write is in the log's file when it returns
        Tier.MEMORY: {"sync": False, "disable_wal": True},
    }

    database: Any = None

    @classmethod
    def versions(cls) -> dict[str, str]:
        return {"rocksdict": version("rocksdict")}

    def server_versions(self) -> dict[str, str]:
        """The RocksDB inside, which names itself nowhere but at the head of its log."""
        with (self.directory / "data" / "LOG").open(encoding="utf-8", errors="replace") as log:
            found = _VERSION.search(log.read(4_096))
        return {"RocksDB": found[1]} if found else {}

    def open(self) -> None:
        import rocksdict

        blocks = rocksdict.BlockBasedOptions()
        if mib := chosen(self.options.cache_mib):
            blocks.set_block_cache(rocksdict.Cache(mib * 2**20))
        if self.options.bloom_bits:
            blocks.set_bloom_filter(self.options.bloom_bits, False)  # of a whole table, as its guide advises
        options = rocksdict.Options(raw_mode=True)
        options.create_if_missing(True)
        options.set_block_based_table_factory(blocks)
        options.set_write_buffer_size(self.options.write_buffer_mib * 2**20)
        options.set_compression_type(getattr(rocksdict.DBCompressionType, self.options.compression)())
        settings = self.durability[self.tier]
        writes = rocksdict.WriteOptions()
        writes.sync = settings["sync"]
        writes.disable_wal = settings["disable_wal"]  # type: ignore[method-assign]  # its stub takes it for a method
        self.database = rocksdict.Rdict(str(self.directory / "data"), options)
        self.database.set_write_options(writes)

    def connect(self) -> Session:
        return RocksDBSession(self.database)

    def file_role(self, name: str) -> FileRole:
        return table_part(name)

    def flush(self) -> None:
        self.database.flush()

    def close(self) -> None:
        if self.database is not None:
            self.database.close()
            self.database = None
