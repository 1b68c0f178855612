"""libmdbx: what grew out of LMDB. Its file grows and shrinks by itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar

from dbbench.engine import FileRole, Publication, Tier
from dbbench_plugins.lmdb import LMDB, READERS, LMDBSession, Pair

if TYPE_CHECKING:
    from dbbench.engine import Records

_FILE = "data.mdbx"


class LibMDBXSession(LMDBSession):
    """A session like LMDB's. The driver has one call for a read in its own transaction, and one for a range."""

    def prepare_insert_many(self) -> Callable[[list[Pair]], object]:
        begin = self.environment.begin

        def put(pairs: list[Pair]) -> None:
            with begin(write=True) as transaction:
                transaction.put_many(pairs)

        return put

    def prepare_delete_many(self) -> Callable[[list[bytes]], object]:
        begin = self.environment.begin

        def delete(keys: list[bytes]) -> None:
            with begin(write=True) as transaction:
                transaction.delete_many(keys)

        return delete

    def prepare_read(self, *, snapshot: bool = False) -> Callable[[bytes], bytes | None]:
        return self.environment.begin().get if snapshot else self.environment.get  # type: ignore[no-any-return]

    def prepare_seek(self, *, snapshot: bool = False) -> Callable[[bytes], Pair | None]:
        begin = self.environment.begin
        if snapshot:
            return begin().cursor().set_range  # type: ignore[no-any-return]

        def seek(key: bytes) -> Pair | None:
            with begin() as transaction, transaction.cursor() as cursor:
                return cursor.set_range(key)  # type: ignore[no-any-return]

        return seek

    def prepare_range(self, *, snapshot: bool = False) -> Callable[[bytes, int], list[Pair]]:
        begin = self.environment.begin

        def read_range(key: bytes, count: int) -> list[Pair]:
            with begin() as transaction, transaction.cursor() as cursor:
                return cursor.items(start=key, limit=count)  # type: ignore[no-any-return]

        return read_range

    def prepare_compact(self, tables: Sequence[str]) -> Callable[[], object]:
        """Defragment in place; the file shrinks by whole steps of its own."""
        return self.environment.defrag  # type: ignore[no-any-return]


class LibMDBX(LMDB):
    name = "libmdbx"
    title = "libmdbx (clibmdbx)"
    license = "Apache-2.0; driver: Apache-2.0"
    publication = Publication.ALLOWED
    modules = ("clibmdbx",)
    session_class = LibMDBXSession
    longest_key = 2_022  # with pages of 4 KiB
    # UTTERLY_NOSYNC promises what LMDB's sync=False does. SAFE_NOSYNC promises more, and syncs now and then for it.
    durability: ClassVar = {Tier.POWER: {"flags": "MDBX_ENV_DEFAULTS"}, Tier.PROCESS: {"flags": "MDBX_UTTERLY_NOSYNC"}}

    @classmethod
    def versions(cls) -> dict[str, str]:
        import clibmdbx

        return {"libmdbx": clibmdbx.LIBMDBX_VERSION, "clibmdbx": clibmdbx.__version__}

    def open(self) -> None:
        known = (self.directory / _FILE).exists()  # then the file says how far it may grow
        self._open(None if known else self.options.most())

    def create_store(self, records: Records) -> None:
        """Let the file grow as far as the records need: more than what it was opened with, which can't be stretched."""
        self.environment.close()
        self._open(self.options.most(records))

    def _open(self, most: int | None) -> None:
        import clibmdbx

        self.environment = clibmdbx.Environment(
            str(self.directory / _FILE),
            subdir=False,
            max_readers=READERS,
            flags=getattr(clibmdbx, self.durability[self.tier]["flags"]),
            # Least, present and most size, steps of growing and shrinking, page size; -1 is the default.
            geometry=None if most is None else (-1, -1, most, -1, -1, 4096),
        )

    def file_role(self, name: str) -> FileRole:
        return "other" if name == f"{_FILE}-lck" else "data"

    def flush(self) -> None:
        self.environment.sync(force=True)
