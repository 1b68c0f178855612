"""BplusDotNet: a B+tree of text keys in one file, and the values in another."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from dbbench.engine import Publication, Tier
from dbbench_plugins.dotnet.engine import STAND_IN, AssemblyEngine
from dbbench_plugins.dotnet.store import Store, Tree

#: Bytes that a tree is made for where the length of the keys isn't known.
_ANY_LENGTH = 512
#: The most that a character of ours takes in the tree, which keeps UTF-8.
_UTF8 = 2


class BplusDotNet(AssemblyEngine):
    name = "bplusdotnet"
    title = "BplusDotNet (.NET)"
    license = "BSD; bridge: MIT (pythonnet)"
    publication = Publication.ALLOWED
    kinds = ("text",)
    missing_features: ClassVar = {"transactions": "Commit keeps what all clients have written"}
    # Not `process` with a Commit after each operation: a crash check failed.
    durability: ClassVar = {Tier.MEMORY: {"Commit": "at the end"}}
    uses: ClassVar = {
        "BplusDotNet.BplusTreeBytes": (
            "Initialize", "ReOpen", "NoCulture", "Item", "Get", "ContainsKey", "RemoveKey", "FirstKey", "NextKey",
            "Commit", "Shutdown",
        )
    }  # fmt: skip
    unverified = STAND_IN

    def make_store(self, kind: str, folder: Path, sizes: tuple[int, int]) -> Store:
        from System.Linq.Expressions import Expression

        from dbbench_plugins.dotnet.keys import KINDS
        from dbbench_plugins.dotnet.trees import BYTES, OBJECT, assign, call, done, invoked

        assert self.assembly is not None
        made = self.assembly.type("BplusDotNet.BplusTreeBytes")
        files = [str(folder / "keys.bplus"), str(folder / "values.bplus")]
        if Path(files[0]).exists():
            tree = invoked(made, "ReOpen", *files)
        else:
            tree = invoked(made, "Initialize", *files, (sizes[0] or _ANY_LENGTH) * _UTF8)
        tree.NoCulture()

        class Records(Store):
            key = KINDS[kind]()
            walk_type = key.type
            held = Expression.Constant(tree)

            def insert(self, key: Tree, value: Tree) -> Tree:
                return done(call(self.held, "set_Item", key, value))

            def remove(self, key: Tree) -> Tree:
                return done(call(self.held, "RemoveKey", key))

            def find(self, key: Tree, value: Tree) -> Tree:
                nothing = Expression.Constant(None, OBJECT)
                given = Expression.TypeAs(call(self.held, "Get", key, nothing), BYTES)
                return Expression.NotEqual(assign(value, given), Expression.Constant(None, BYTES))

            def walk(self, key: Tree | None) -> Tree:
                if key is None:
                    return call(self.held, "FirstKey")
                return Expression.Condition(call(self.held, "ContainsKey", key), key, call(self.held, "NextKey", key))

            def there(self, state: Tree) -> Tree:
                return Expression.NotEqual(state, Expression.Constant(None, self.walk_type))

            def key_at(self, state: Tree) -> Tree:
                return state

            def value_at(self, state: Tree) -> Tree:
                return call(self.held, "get_Item", state)

            def further(self, state: Tree) -> list[Tree]:
                return [assign(state, call(self.held, "NextKey", state))]

            def flush(self) -> None:
                tree.Commit()

            def close(self) -> None:
                tree.Commit()
                tree.Shutdown()

        return Records()
