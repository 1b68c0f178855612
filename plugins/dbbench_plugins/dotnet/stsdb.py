"""STSdb 4: a waterfall tree, in which writes sink towards the leaves."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from dbbench.engine import Concurrency, Publication, Tier
from dbbench_plugins.dotnet.engine import STAND_IN, AssemblyEngine
from dbbench_plugins.dotnet.store import Store, Tree


class STSdb(AssemblyEngine):
    name = "stsdb"
    title = "STSdb 4 (.NET)"
    license = "GPL-2.0; bridge: MIT (pythonnet)"
    publication = Publication.ALLOWED
    concurrency = Concurrency(threads=None, processes=1)
    kinds = ("int64", "guid", "bytes")
    missing_features: ClassVar = {"transactions": "Commit keeps what all clients have written"}
    # Not `process` with a Commit after each operation: a crash check failed.
    durability: ClassVar = {Tier.MEMORY: {"Commit": "at the end"}}
    uses: ClassVar = {
        "STSdb4.Database.STSdb": ("FromFile",),
        "STSdb4.Database.IStorageEngine": ("OpenXTable", "Commit", "Close"),
        "STSdb4.Database.ITable`2": ("Replace", "Delete", "TryGet", "Forward"),
    }
    unverified = STAND_IN

    def make_store(self, kind: str, folder: Path, sizes: tuple[int, int]) -> Store:
        from System import Array, Object, Type
        from System.Linq.Expressions import Expression

        from dbbench_plugins.dotnet.keys import KINDS
        from dbbench_plugins.dotnet.trees import BYTES, call, constant, done, invoked
        from dbbench_plugins.dotnet.walks import Enumerated

        assert self.assembly is not None
        found = self.assembly.type
        key = KINDS[kind]()
        generic = Array[Type]([key.type, BYTES])
        engine = invoked(found("STSdb4.Database.STSdb"), "FromFile", str(folder / "records.stsdb4"))
        engines = found("STSdb4.Database.IStorageEngine")
        opener = engines.GetMethod("OpenXTable").MakeGenericMethod(generic)
        table = opener.Invoke(engine, Array[Object](["records"]))

        def do(name: str) -> None:
            engines.GetMethod(name).Invoke(engine, Array[Object]([]))

        class Records(Enumerated):
            held = Expression.Constant(table, found("STSdb4.Database.ITable`2").MakeGenericType(generic))

            def insert(self, key: Tree, value: Tree) -> Tree:
                return done(call(self.held, "Replace", key, value))

            def remove(self, key: Tree) -> Tree:
                return done(call(self.held, "Delete", key))

            def find(self, key: Tree, value: Tree) -> Tree:
                return call(self.held, "TryGet", key, value)

            def enumerable(self, key: Tree | None) -> Tree:
                if key is None:
                    return call(self.held, "Forward")
                to_the_end = (Expression.Default(self.key.type), constant(value=False))
                return call(self.held, "Forward", key, constant(value=True), *to_the_end)

            def flush(self) -> None:
                do("Commit")

            def close(self) -> None:
                do("Commit")
                do("Close")

        return Records(key)
