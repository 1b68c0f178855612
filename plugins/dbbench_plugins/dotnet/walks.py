"""Stores that can be walked as .NET walks anything: an enumerator of pairs. Import it when the runtime runs."""

from __future__ import annotations

from typing import Any

from System.Linq.Expressions import Expression

from dbbench_plugins.dotnet.store import Store, Tree
from dbbench_plugins.dotnet.trees import BYTES, call, convert, named


class Enumerated(Store):
    """A store whose records, or those from a key on, are an IEnumerable of KeyValuePairs."""

    def __init__(self, key: Any, second: Any = BYTES) -> None:
        self.key = key
        pair = named("System.Collections.Generic.KeyValuePair", key.type, second)
        self.records = named("System.Collections.Generic.IEnumerable", pair)
        self.walk_type = named("System.Collections.Generic.IEnumerator", pair)

    def enumerable(self, key: Tree | None) -> Tree:
        """The records from a key on, or all."""
        raise NotImplementedError

    def walk(self, key: Tree | None) -> Tree:
        return call(convert(self.enumerable(key), self.records), "GetEnumerator")

    def there(self, state: Tree) -> Tree:
        return call(convert(state, named("System.Collections.IEnumerator")), "MoveNext")

    def key_at(self, state: Tree) -> Tree:
        return Expression.Property(Expression.Property(state, "Current"), "Key")

    def value_at(self, state: Tree) -> Tree:
        return Expression.Property(Expression.Property(state, "Current"), "Value")

    def walked(self, state: Tree) -> list[Tree]:
        return [call(convert(state, named("System.IDisposable")), "Dispose")]
