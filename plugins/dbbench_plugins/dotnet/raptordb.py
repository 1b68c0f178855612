"""RaptorDB 2, the key-value store: records in a file in the order of their writing, and an index of pages.

Its Enumerate can't be used (2.3, tried and read in its source): it looks for its start by a binary search of the
start's page and throws where no such key is stored, and of 22,500 records it gave 3,750 to 5,637, those of one page.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from dbbench.engine import Concurrency, Publication, Tier
from dbbench_plugins.dotnet.engine import STAND_IN, AssemblyEngine, DotNetSession
from dbbench_plugins.dotnet.store import Store, Tree

_ENUMERATE = "its Enumerate throws where the start is not a stored key, and stops at the end of a page"


class RaptorDBSession(DotNetSession):
    prepare_seek = None  # type: ignore[assignment]
    prepare_range = None  # type: ignore[assignment]
    prepare_scan = None  # type: ignore[assignment]


class RaptorDB(AssemblyEngine):
    name = "raptordb"
    title = "RaptorDB 2 (.NET)"
    license = "CPOL-1.02; bridge: MIT (pythonnet)"
    publication = Publication.ALLOWED
    session_class = RaptorDBSession
    concurrency = Concurrency(threads=None, processes=1)
    unsupported_reasons: ClassVar = dict.fromkeys(("seek", "range", "scan"), _ENUMERATE)
    one_client: ClassVar = {"delete": "its RemoveKey takes no lock"}
    kinds: ClassVar[tuple[str, ...]] = ("int64", "guid")
    longest_key = 16
    durability: ClassVar = {Tier.MEMORY: {"index": "saved every 3,000 s and at the end"}}
    uses: ClassVar = {"RaptorDB.RaptorDB`1": ("Open", "Set", "Get", "RemoveKey", "SaveIndex", "Shutdown")}
    unverified = STAND_IN

    def make_store(self, kind: str, folder: Path, sizes: tuple[int, int]) -> Store:
        from System import Array, Type
        from System.Linq.Expressions import Expression

        from dbbench_plugins.dotnet.trees import call

        assert self.assembly is not None
        of = self._key(kind)
        made = self.assembly.type("RaptorDB.RaptorDB`1").MakeGenericType(Array[Type]([of.type]))
        # It puts a backslash between folder and file: below our own folder these are names of files with one in them.
        database = self._database(made, str(folder / "records"), sizes[0])

        class Records(Store):
            key = of
            held = Expression.Constant(database)

            def insert(self, key: Tree, value: Tree) -> Tree:
                return call(self.held, "Set", key, value)

            def remove(self, key: Tree) -> Tree:
                return call(self.held, "RemoveKey", key)

            def find(self, key: Tree, value: Tree) -> Tree:
                return call(self.held, "Get", key, value)

            def flush(self) -> None:
                database.SaveIndex()

            def close(self) -> None:
                database.SaveIndex()
                database.Shutdown()

        return Records()

    def _key(self, kind: str) -> Any:
        """How keys of a kind are given to it."""
        from dbbench_plugins.dotnet.keys import KINDS

        return KINDS[kind]()

    def _database(self, made: Any, path: str, key_bytes: int) -> Any:
        from dbbench_plugins.dotnet.trees import invoked

        return invoked(made, "Open", path, False)
