"""What a library is to the bridge: expression trees of its operations. Needs no runtime to be imported."""

from __future__ import annotations

from typing import Any

Pair = tuple[bytes, bytes]
Tree = Any  # a System.Linq.Expressions.Expression


class StoreFailed(Exception):
    """What a store threw, or refused."""

    #: The exception of .NET's, if there is one.
    thrown: Any = None


class Store:
    """One open store. Operations are trees that are true if they were done; keys are of the type of `key`."""

    #: One of dbbench_plugins.dotnet.keys.
    key: Any
    #: What a walk over its records knows of how far it has come.
    walk_type: Any

    def insert(self, key: Tree, value: Tree) -> Tree:
        """A key that is new."""
        raise NotImplementedError

    def update(self, key: Tree, value: Tree) -> Tree:
        """A key that is there."""
        return self.insert(key, value)

    def remove(self, key: Tree) -> Tree:
        """A key that is there."""
        raise NotImplementedError

    def find(self, key: Tree, value: Tree) -> Tree:
        """Whether the key is there; then the variable `value` gets its value."""
        raise NotImplementedError

    def walk(self, key: Tree | None) -> Tree:
        """A walk from a key on, or from the first."""
        raise NotImplementedError

    def there(self, state: Tree) -> Tree:
        """Whether there is a record here."""
        raise NotImplementedError

    def key_at(self, state: Tree) -> Tree:
        """Its key."""
        raise NotImplementedError

    def value_at(self, state: Tree) -> Tree:
        """Its value."""
        raise NotImplementedError

    def further(self, state: Tree) -> list[Tree]:
        """Steps that go on to the next."""
        return []

    def walked(self, state: Tree) -> list[Tree]:
        """Steps that end a walk before its end."""
        return []

    def flush(self) -> None:
        """Keep everything written so far."""

    def close(self) -> None:
        """Keep everything and let go of the files."""
