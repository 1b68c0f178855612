"""peewee: instances of its models."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from dbbench.engine import Session
from dbbench_plugins.layers.layer import Layer, raw
from dbbench_plugins.mysql import MySQL
from dbbench_plugins.postgresql import PostgreSQL
from dbbench_plugins.sqlite import SQLite

if TYPE_CHECKING:
    from dbbench.schema import Table
    from dbbench.sql import SQLEngine
    from dbbench.watch import Watch


class PeeweeSession(Session):
    """A database of peewee's over one connection."""

    def __init__(self, engine: SQLEngine) -> None:
        self.database = _database(engine)
        self.database.connect()

    def prepare_get(self, name: str, table: Table) -> Callable[[Any], Any]:
        model = self._model(name, table)
        key, get = getattr(model, table.primary_key), model.get_or_none
        return lambda wanted: get(key == wanted)

    def prepare_get_many(self, name: str, table: Table) -> Callable[[list[Any] | None], list[Any]]:
        model = self._model(name, table)
        key, select = getattr(model, table.primary_key), model.select
        return lambda keys: list(select() if keys is None else select().where(key.in_(keys)))

    def watch(self, watch: Watch) -> None:
        cursor = self.database.cursor
        self.database.cursor = lambda *values, **named: watch.over(cursor(*values, **named))

    def close(self) -> None:
        self.database.close()

    def _model(self, name: str, table: Table) -> Any:
        import peewee

        kinds: dict[str, Callable[..., Any]] = {
            "integer": peewee.IntegerField,
            "bigint": peewee.BigIntegerField,
            "real": peewee.FloatField,
            "double": peewee.DoubleField,
            "decimal": peewee.DecimalField,
            "char": peewee.FixedCharField,
            "varchar": peewee.CharField,
            "date": peewee.DateField,
            "datetime": peewee.DateTimeField,
        }
        members: dict[str, Any] = {
            key: kinds[column.data_type.name](
                *column.data_type.arguments, column_name=key, primary_key=key == table.primary_key, null=column.nullable
            )
            for key, column in table.columns.items()
        }
        members["Meta"] = type("Meta", (), {"database": self.database, "table_name": name})
        return type(name, (peewee.Model,), members)


def _database(engine: SQLEngine) -> Any:
    """Peewee's database, whose connection is one of the engine's own."""
    import peewee

    kind, arguments = {
        "sqlite": (peewee.SqliteDatabase, {}),
        "postgresql": (peewee.PostgresqlDatabase, {"prefer_psycopg3": True}),
        "mysql": (peewee.MySQLDatabase, {}),
    }[engine.dialect]
    database = kind("dbbench", **arguments)
    database._connect = partial(raw, engine)  # noqa: SLF001 - where its own classes differ
    return database


class Peewee(Layer):
    """peewee's models."""

    layer = "peewee"
    package = "peewee"
    layer_license = "MIT"
    extra = "peewee"
    session_class = PeeweeSession

    def objects(self) -> Session:
        return PeeweeSession(self.beneath)


class SQLitePeewee(Peewee, over=SQLite):
    name = "sqlite+peewee"


class PostgreSQLPeewee(Peewee, over=PostgreSQL):
    name = "postgresql+peewee"


class MySQLPeewee(Peewee, over=MySQL):
    name = "mysql+peewee"
