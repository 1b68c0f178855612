"""peewee: instances of its models."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from dbbench.engine import Layer, Session, raw_connection
from dbbench_plugins.layers.bases import PeeweeBase

if TYPE_CHECKING:
    from dbbench.engine import DriverTimer, SQLEngine, Table


class PeeweeSession(Session):
    """A database of peewee's over one connection."""

    def __init__(self, engine: SQLEngine, reach: PeeweeBase) -> None:
        self.database = _database(engine, reach)
        self.database.connect()

    def prepare_get(self, name: str, table: Table) -> Callable[[Any], Any]:
        model = self._model(name, table)
        key, get = getattr(model, table.single_key), model.get_or_none
        return lambda wanted: get(key == wanted)

    def prepare_get_many(self, name: str, table: Table) -> Callable[[list[Any] | None], list[Any]]:
        model = self._model(name, table)
        key, select = getattr(model, table.single_key), model.select
        return lambda keys: list(select() if keys is None else select().where(key.in_(keys)))

    def watch(self, timer: DriverTimer) -> None:
        cursor = self.database.cursor
        self.database.cursor = lambda *values, **named: timer.over(cursor(*values, **named))

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
                *column.data_type.arguments, column_name=key, primary_key=key == table.single_key, null=column.nullable
            )
            for key, column in table.columns.items()
        }
        members["Meta"] = type("Meta", (), {"database": self.database, "table_name": name})
        return type(name, (peewee.Model,), members)


def _database(engine: SQLEngine, reach: PeeweeBase) -> Any:
    """Peewee's database, whose connection is one of the engine's own."""
    import peewee

    database = getattr(peewee, reach.database)("dbbench", **reach.arguments)
    database._connect = partial(raw_connection, engine)  # noqa: SLF001 - where its own classes differ
    return database


class Peewee(Layer):
    """peewee's models."""

    layer = "peewee"
    package = "peewee"
    layer_license = "MIT"
    extra = "peewee"
    session_class = PeeweeSession
    reach: ClassVar[PeeweeBase]

    def objects(self) -> Session:
        return PeeweeSession(self.base_engine, self.reach)
