"""A paged file with a cache of its own: a small store of blocks in plain Python, the counterpart of CloudGraph's."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field

from dbbench.engine import (
    Concurrency,
    Engine,
    FileRole,
    MemoryShare,
    Options,
    Publication,
    Session,
    Tier,
    Unsupported,
    chosen,
    disk,
)
from dbbench_plugins.blocks.file import KEY_BYTES, BlockFile, Pair, refuse_what_is_no_block, wrong_size
from dbbench_plugins.virtualfile.page import HEAD, PAGE_BYTES, Layout
from dbbench_plugins.virtualfile.store import DOUBLE, LOG, PAGES, Store

if TYPE_CHECKING:
    from dbbench.engine import Records

_MIB = 2**20
#: Its own default.
_CACHE_MIB = 64
#: Names the sizes of the blocks and pages.
_SIZE = "block-size"


class VirtualFileOptions(Options):
    cache_mib: Annotated[int | None, MemoryShare()] = Field(default=None, description="page cache, MiB")
    page_kib: Literal["2", "4", "8", "16", "32"] = Field(default="8", description="page, KiB")
    log_mib: int = Field(default=16, ge=1, description="log, MiB; when it is full the changed pages are written")


class VirtualFileSession(Session):
    def __init__(self, store: Store) -> None:
        self.store = store

    def prepare_update(self) -> Callable[[bytes, bytes], object]:
        size, number, commit = self.store.layout.size, int.from_bytes, self.store.commit

        def update(key: bytes, value: bytes) -> None:
            if len(value) != size:
                raise wrong_size(value, size)
            commit(((number(key, "big"), value),))

        return update

    def prepare_insert(self) -> Callable[[bytes, bytes], object]:
        return self.prepare_update()

    def prepare_update_many(self) -> Callable[[list[Pair]], object]:
        size, number, commit = self.store.layout.size, int.from_bytes, self.store.commit

        def update(pairs: list[Pair]) -> None:
            blocks = [(number(key, "big"), value) for key, value in pairs]
            if wrong := [value for _, value in blocks if len(value) != size]:
                raise wrong_size(wrong[0], size)
            if blocks:
                commit(blocks)

        return update

    def prepare_insert_many(self) -> Callable[[list[Pair]], object]:
        return self.prepare_update_many()

    def prepare_read(self, *, snapshot: bool = False) -> Callable[[bytes], bytes | None]:
        layout, page, number = self.store.layout, self.store.page, int.from_bytes
        place, get = layout.place, layout.get

        def read(key: bytes) -> bytes | None:
            where, bit, at = place(number(key, "big"))
            return get(page(where), bit, at)

        return read

    def prepare_seek(self, *, snapshot: bool = False) -> Callable[[bytes], Pair | None]:
        return lambda key: next(self._from(key), None)

    def prepare_range(self, *, snapshot: bool = False) -> Callable[[bytes, int], list[Pair]]:
        return lambda key, count: list(islice(self._from(key), count))

    def prepare_scan(self) -> Callable[[], Iterable[Pair]]:
        return lambda: self._from(bytes(KEY_BYTES))

    def _from(self, key: bytes) -> Iterator[Pair]:
        for number, block in self.store.blocks(int.from_bytes(key, "big")):
            yield number.to_bytes(KEY_BYTES, "big"), block


class VirtualFile(Engine):
    name = "virtualfile"
    title = "virtual file (paged, Python)"
    license = "Apache-2.0"
    publication = Publication.ALLOWED
    options_class = VirtualFileOptions
    session_class = VirtualFileSession
    concurrency = Concurrency(threads=None, processes=1)
    blocks = True
    longest_value = PAGE_BYTES - HEAD.size
    durability: ClassVar = {
        Tier.POWER: {"log": "fdatasync"},
        Tier.PROCESS: {"log": "no sync"},  # its pages are the system's: they outlive the process
    }
    unsupported_reasons: ClassVar = BlockFile.unsupported_reasons

    store: Store | None = None

    @classmethod
    def versions(cls) -> dict[str, str]:
        return {"Python": platform.python_version()}

    def open(self) -> None:
        if (self.directory / _SIZE).exists():
            self._open(Layout(*map(int, (self.directory / _SIZE).read_text("ascii").split())))

    def create_store(self, records: Records) -> None:
        """Make the files whole, of zeros, as those of the raw files are."""
        refuse_what_is_no_block(self, records)
        size = records.value_bytes
        layout = Layout(size, int(self.options.page_kib) * 1024)
        if not layout.per_page:
            longest = layout.page_bytes - HEAD.size
            raise Unsupported(f"{self.name} takes values of up to {longest:,} bytes, and these have {size:,}")
        Store.make(self.directory, layout, records.count, self.options.log_mib * _MIB)
        (self.directory / _SIZE).write_text(f"{size} {layout.page_bytes}", "ascii")
        self._open(layout)

    def _open(self, layout: Layout) -> None:
        capacity = (chosen(self.options.cache_mib) or _CACHE_MIB) * _MIB // layout.page_bytes
        self.store = Store(self.directory, layout, capacity, sync=self.tier is Tier.POWER)

    def connect(self) -> Session:
        return (
            Session() if self.store is None else VirtualFileSession(self.store)
        )  # before create_store it has no blocks

    def flush(self) -> None:
        if self.store is not None:
            self.store.checkpoint()

    def settings(self) -> dict[str, Any]:
        return {**super().settings(), "disk": disk(self.directory)}

    def file_role(self, name: str) -> FileRole:
        return {PAGES: "data", LOG: "reserved", DOUBLE: "reserved"}.get(name, "other")  # type: ignore[return-value]

    def close(self) -> None:
        if self.store is not None:
            store, self.store = self.store, None
            store.close()
