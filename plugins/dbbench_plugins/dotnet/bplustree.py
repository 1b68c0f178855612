"""BPlusTree of CSharpTest.Net: a B+tree in a file, with or without a log."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import Field

from dbbench.engine import Concurrency, FileRole, Publication, Tier
from dbbench_plugins.dotnet.engine import STAND_IN, AssemblyEngine, AssemblyOptions
from dbbench_plugins.dotnet.store import Store, Tree

_SERIALIZERS = {"int64": "Int64", "guid": "Guid", "text": "String"}


class BPlusTreeOptions(AssemblyOptions):
    cache: Literal["Recent", "All", "None"] = Field(
        default="Recent", description="nodes that stay in memory: CachePolicy"
    )


class BPlusTree(AssemblyEngine):
    name = "bplustree"
    title = "BPlusTree (CSharpTest.Net, .NET)"
    license = "Apache-2.0; bridge: MIT (pythonnet)"
    publication = Publication.ALLOWED
    options_class = BPlusTreeOptions
    concurrency = Concurrency(threads=None, processes=1)
    duplicates = "refused"
    # Mono opens a file for writing through like any other, so LogFileNoCache would sync nothing: no tier `power`.
    durability: ClassVar = {
        Tier.PROCESS: {"StoragePerformance": "LogFileInCache"},
        Tier.MEMORY: {"StoragePerformance": "Fastest"},
    }
    uses: ClassVar = {
        "CSharpTest.Net.Serialization.PrimitiveSerializer": (*_SERIALIZERS.values(), "Bytes"),
        "CSharpTest.Net.Collections.BPlusTree`2+OptionsV2": ("CalcBTreeOrder", "StoragePerformance"),
        "CSharpTest.Net.Collections.CreatePolicy": ("IfNeeded",),
        "CSharpTest.Net.Collections.CachePolicy": ("Recent",),
        "CSharpTest.Net.Collections.BPlusTree`2": (
            "TryAdd", "TryUpdate", "Remove", "TryGetValue", "EnumerateFrom", "Commit", "Dispose",
        ),
    }  # fmt: skip
    unverified = STAND_IN

    def file_role(self, name: str) -> FileRole:
        return "journal" if name.endswith(".tlog") else "data"

    def settings(self) -> dict[str, Any]:
        return {**super().settings(), "StoragePerformance": self._performance()}

    def _performance(self) -> str:
        """The log is written by BeginInvoke of a delegate, which .NET itself no longer has."""
        wanted: str = self.durability[self.tier]["StoragePerformance"]
        return wanted if self.runtime.startswith("Mono") else "CommitToCache"

    def make_store(self, kind: str, folder: Path, sizes: tuple[int, int]) -> Store:
        from System import Activator, Array, Enum, Object, StringComparer, Type
        from System.Linq.Expressions import Expression

        from dbbench_plugins.dotnet.keys import KINDS
        from dbbench_plugins.dotnet.trees import BYTES, call
        from dbbench_plugins.dotnet.walks import Enumerated

        assert self.assembly is not None
        found = self.assembly.type
        key = KINDS[kind]()
        generic = Array[Type]([key.type, BYTES])
        serializers = found("CSharpTest.Net.Serialization.PrimitiveSerializer")
        pair = [serializers.GetField(name).GetValue(None) for name in (_SERIALIZERS[kind], "Bytes")]
        options = Activator.CreateInstance(
            found("CSharpTest.Net.Collections.BPlusTree`2+OptionsV2").MakeGenericType(generic), Array[Object](pair)
        )
        if any(sizes):
            options.CalcBTreeOrder(*sizes)
        if kind == "text":
            options.KeyComparer = StringComparer.Ordinal
        options.FileName = str(folder / "records.bpt")
        for name, kinds, value in (
            ("CreateFile", "CreatePolicy", "IfNeeded"),
            ("CachePolicy", "CachePolicy", self.options.cache),
            ("StoragePerformance", "StoragePerformance", self._performance()),
        ):
            setattr(options, name, Enum.Parse(found(f"CSharpTest.Net.Collections.{kinds}"), value))
        made = found("CSharpTest.Net.Collections.BPlusTree`2").MakeGenericType(generic)
        tree = Activator.CreateInstance(made, Array[Object]([options]))

        class Records(Enumerated):
            held = Expression.Constant(tree)

            def insert(self, key: Tree, value: Tree) -> Tree:
                return call(self.held, "TryAdd", key, value)

            def update(self, key: Tree, value: Tree) -> Tree:
                return call(self.held, "TryUpdate", key, value)

            def remove(self, key: Tree) -> Tree:
                return call(self.held, "Remove", key)

            def find(self, key: Tree, value: Tree) -> Tree:
                return call(self.held, "TryGetValue", key, value)

            def enumerable(self, key: Tree | None) -> Tree:
                return self.held if key is None else call(self.held, "EnumerateFrom", key)

            def flush(self) -> None:
                tree.Commit()

            def close(self) -> None:
                tree.Dispose()

        return Records(key)
