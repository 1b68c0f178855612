"""RaptorDB 2, the key-value store: records in a file in the order of their writing, and an index of pages."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from dbbench.engine import Concurrency, Publication
from dbbench.suite import Tier
from dbbench_plugins.dotnet.engine import STAND_IN, AssemblyEngine
from dbbench_plugins.dotnet.store import Store, Tree


class RaptorDB(AssemblyEngine):
    name = "raptordb"
    title = "RaptorDB 2 (.NET)"
    license = "CPOL-1.02; bridge: MIT (pythonnet)"
    publication = Publication.ALLOWED
    concurrency = Concurrency(threads=None, processes=1)
    kinds = ("int64", "guid")
    longest_key = 16
    durability: ClassVar = {Tier.MEMORY: {"index": "saved every minute and at the end"}}
    unverified = STAND_IN

    def make_store(self, kind: str, folder: Path, sizes: tuple[int, int]) -> Store:
        from System import Array, Type
        from System.Linq.Expressions import Expression

        from dbbench_plugins.dotnet.keys import KINDS
        from dbbench_plugins.dotnet.trees import INT, call, invoked
        from dbbench_plugins.dotnet.walks import Enumerated

        assert self.assembly is not None
        key = KINDS[kind]()
        made = self.assembly.type("RaptorDB.RaptorDB`1").MakeGenericType(Array[Type]([key.type]))
        # It puts a backslash between folder and file: below our own folder these are names of files with one in them.
        database = invoked(made, "Open", str(folder / "records"), False)

        class Records(Enumerated):
            held = Expression.Constant(database)

            def insert(self, key: Tree, value: Tree) -> Tree:
                return call(self.held, "Set", key, value)

            def remove(self, key: Tree) -> Tree:
                return call(self.held, "RemoveKey", key)

            def find(self, key: Tree, value: Tree) -> Tree:
                return call(self.held, "Get", key, value)

            def enumerable(self, key: Tree | None) -> Tree:
                return call(self.held, "Enumerate", self.key.least if key is None else key)

            def value_at(self, state: Tree) -> Tree:
                return call(self.held, "FetchRecordBytes", super().value_at(state))

            def flush(self) -> None:
                database.SaveIndex()

            def close(self) -> None:
                database.Shutdown()

        return Records(key, INT)
