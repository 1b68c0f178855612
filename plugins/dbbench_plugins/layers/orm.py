"""SQLAlchemy's ORM: instances of a mapped class, kept in the identity map of a session."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from dbbench_plugins.layers.alchemy import Alchemy, AlchemySession
from dbbench_plugins.sqlalchemy.core import core_table

if TYPE_CHECKING:
    from dbbench.engine import Table


_classes: dict[tuple[type, str, str], Any] = {}


class ORMSession(AlchemySession):
    """A session on one connection. It holds objects weakly, so an identity map is warm while somebody holds them."""

    def __init__(self, engine: Any) -> None:
        from sqlalchemy.orm import Session

        super().__init__(engine)
        self.unit = Session(self.connection, autoflush=False)

    def prepare_get(self, name: str, table: Table) -> Callable[[Any], Any]:
        return partial(self.unit.get, self.mapped(name, table))

    def prepare_get_many(self, name: str, table: Table) -> Callable[[list[Any] | None], list[Any]]:
        from sqlalchemy import select

        mapped, scalars = self.mapped(name, table), self.unit.scalars
        every, key = select(mapped), getattr(mapped, table.single_key)

        def get_many(keys: list[Any] | None) -> list[Any]:
            return list(scalars(every if keys is None else every.where(key.in_(keys))))

        return get_many

    def mapped(self, name: str, table: Table) -> Any:
        """The mapped class of a table, made once: sessions after the first find it."""
        known = (type(self), name, table.model_dump_json())
        if known not in _classes:
            _classes[known] = self.new_class(name, table)
        return _classes[known]

    @staticmethod
    def new_class(name: str, table: Table) -> Any:
        """A plain class, mapped."""
        from sqlalchemy.orm import registry

        mapped = type(name, (), {})
        registry().map_imperatively(mapped, core_table(name, table))
        return mapped

    def forget(self) -> None:
        self.unit.expunge_all()

    def close(self) -> None:
        self.unit.close()
        super().close()


class ORM(Alchemy):
    """Mapped instances."""

    layer = "SQLAlchemy ORM"
    session_class = ORMSession
