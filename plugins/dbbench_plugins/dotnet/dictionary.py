"""Dictionary, .NET's own: what it costs to reach .NET, and to hold records in memory there. No database."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from dbbench.engine import Publication, Size, Tier, Unsupported
from dbbench_plugins.dotnet.engine import DotNetEngine, DotNetSession
from dbbench_plugins.dotnet.store import Store, Tree


class DictionarySession(DotNetSession):
    prepare_seek = None  # type: ignore[assignment]
    prepare_range = None  # type: ignore[assignment]


class DotNetDictionary(DotNetEngine):
    name = "dotnet-dictionary"
    title = "Dictionary (.NET, in memory)"
    license = "MIT (Mono, .NET); bridge: MIT (pythonnet)"
    publication = Publication.ALLOWED
    session_class = DictionarySession
    durability: ClassVar = {Tier.MEMORY: {}}
    ordered = False
    unsupported_reasons: ClassVar = {
        "seek": "a Dictionary has no order of keys",
        "range": "a Dictionary has no order of keys",
    }

    def size(self) -> Size:
        raise Unsupported("a Dictionary keeps nothing on disk")

    def make_store(self, kind: str, folder: Path, sizes: tuple[int, int]) -> Store:
        from System import Activator
        from System.Linq.Expressions import Expression

        from dbbench_plugins.dotnet.keys import KINDS
        from dbbench_plugins.dotnet.trees import BYTES, call, done, named
        from dbbench_plugins.dotnet.walks import Enumerated

        class Dictionary(Enumerated):
            def __init__(self) -> None:
                super().__init__(KINDS[kind]())
                made = named("System.Collections.Generic.Dictionary", self.key.type, BYTES)
                self.held = Expression.Constant(Activator.CreateInstance(made))

            def insert(self, key: Tree, value: Tree) -> Tree:
                return done(call(self.held, "set_Item", key, value))

            def remove(self, key: Tree) -> Tree:
                return call(self.held, "Remove", key)

            def find(self, key: Tree, value: Tree) -> Tree:
                return call(self.held, "TryGetValue", key, value)

            def enumerable(self, key: Tree | None) -> Tree:
                return self.held

        return Dictionary()
