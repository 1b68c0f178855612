"""Objects out of any SQL engine, over statements with parameters: what an application does without an ORM."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from dbbench.engine.objects import object_getter, object_maker
from dbbench.engine.sql.keyvalue import SQLKeyValue

if TYPE_CHECKING:
    from dbbench.engine.driver_timer import DriverTimer
    from dbbench.suite.dataset import Table


class SQLObjects(SQLKeyValue):
    """The operations on objects, over what a SQL session has: `prepare_call`."""

    connection: Any

    def prepare_get(self, name: str, table: Table) -> Callable[[Any], Any]:
        """A callable that gives the object with a key, or None."""
        key = self.sql.quoted(table.single_key)
        read = self.prepare_call(f"{self._select(name, table)} WHERE {key} = {self.sql.placeholder}", 1)
        return object_getter(name, table, self.declared, read)

    def prepare_get_many(self, name: str, table: Table) -> Callable[[list[Any] | None], list[Any]]:
        """A callable that gives the objects with some keys, by one IN for all of them; or all objects."""
        select, made = self._select(name, table), object_maker(name, table, self.declared)
        every = self.prepare_call(select)
        prepared: dict[int, Callable[..., Iterable[Any]]] = {}

        def get_many(keys: list[Any] | None) -> list[Any]:
            if keys is None:
                return list(map(made, every()))
            if len(keys) not in prepared:
                values = ", ".join([self.sql.placeholder] * len(keys))
                query = f"{select} WHERE {self.sql.quoted(table.single_key)} IN ({values})"
                prepared[len(keys)] = self.prepare_call(query)
            return list(map(made, prepared[len(keys)](*keys)))

        return get_many

    def watch(self, timer: DriverTimer) -> None:
        """Have the driver's calls seen."""
        self.connection = timer.over(self.connection)

    def _select(self, name: str, table: Table) -> str:
        return f"SELECT {', '.join(map(self.sql.quoted, table.columns))} FROM {self.sql.quoted(name)}"
