"""SQLAlchemy Core: rows of a statement written as text, or of a select that was built, made into plain objects."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from dbbench.engine import object_maker
from dbbench_plugins.layers.alchemy import Alchemy, AlchemySession
from dbbench_plugins.sqlalchemy.core import core_table

if TYPE_CHECKING:
    from dbbench.engine import Table


class CoreSession(AlchemySession):
    """A select that is built once; a call binds its key."""

    def prepare_get(self, name: str, table: Table) -> Callable[[Any], Any]:
        execute, construct = self.connection.execute, object_maker(name, table, {})
        statement, _, _ = self.statements(core_table(name, table), table.single_key)

        def get(key: Any) -> Any:
            row = execute(statement, {"key": key}).first()
            return None if row is None else construct(row)

        return get

    def prepare_get_many(self, name: str, table: Table) -> Callable[[list[Any] | None], list[Any]]:
        execute, construct = self.connection.execute, object_maker(name, table, {})
        _, several, whole = self.statements(core_table(name, table), table.single_key)

        def get_many(keys: list[Any] | None) -> list[Any]:
            result = execute(whole) if keys is None else execute(several, {"keys": keys})
            return list(map(construct, result))

        return get_many

    def statements(self, table: Any, key: str) -> tuple[Any, Any, Any]:
        """Statements for one row by its key, for several by theirs, and for all."""
        from sqlalchemy import bindparam, select

        every = select(*table.c)
        several = every.where(table.c[key].in_(bindparam("keys", expanding=True)))
        return every.where(table.c[key] == bindparam("key")), several, every


class TextSession(CoreSession):
    """Statements as text, with the types of their columns."""

    def statements(self, table: Any, key: str) -> tuple[Any, Any, Any]:
        from sqlalchemy import bindparam, text

        quoted = self.connection.dialect.identifier_preparer.quote_identifier
        every = f"SELECT {', '.join(map(quoted, table.c.keys()))} FROM {quoted(table.name)}"
        several = text(f"{every} WHERE {quoted(key)} IN :keys").bindparams(bindparam("keys", expanding=True))
        one = text(f"{every} WHERE {quoted(key)} = :key")
        return one.columns(*table.c), several.columns(*table.c), text(every).columns(*table.c)


class Core(Alchemy):
    """A select that was built."""

    layer = "SQLAlchemy Core"
    session_class = CoreSession


class CoreText(Alchemy):
    """A statement as text."""

    layer = "SQLAlchemy Core, text"
    session_class = TextSession
