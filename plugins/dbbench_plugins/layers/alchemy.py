"""SQLAlchemy as the layers over it use it: an engine whose connections are those of the base engine."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

from dbbench.engine import Layer, Session, raw_connection
from dbbench_plugins.layers.bases import AlchemyBase

if TYPE_CHECKING:
    from dbbench.engine import DriverTimer, SQLEngine


class AlchemySession(Session):
    """One connection in autocommit mode, as the drivers alone are measured; and its driver's cursors."""

    def __init__(self, engine: Any) -> None:
        self.connection = engine.connect()

    def watch(self, timer: DriverTimer) -> None:
        """Time the driver by SQLAlchemy's events: a cursor is timed once its statement has been executed."""
        from sqlalchemy import event

        starts: list[int] = []

        def before(*_: Any) -> None:
            starts.append(timer.clock())

        def after(_connection: Any, cursor: Any, _sql: Any, _values: Any, context: Any, _many: Any) -> None:
            timer.execute += timer.clock() - starts.pop()
            timer.executes += 1
            context.cursor = timer.over(cursor)

        event.listen(self.connection, "before_cursor_execute", before)
        event.listen(self.connection, "after_cursor_execute", after)

    def close(self) -> None:
        self.connection.close()


class Alchemy(Layer):
    """A layer over SQLAlchemy."""

    package = "SQLAlchemy"
    layer_license = "MIT"
    extra = "sqlalchemy"
    session_class: ClassVar[type[Session]] = AlchemySession

    reach: ClassVar[AlchemyBase]

    @classmethod
    def applied(cls, name: str, over: type[SQLEngine], reach: AlchemyBase, extras: Sequence[str]) -> type[Self]:
        engine = super().applied(name, over, reach, extras)
        if package := reach.package:
            engine.modules = (*engine.modules, package.replace("-", "_"))
            engine.extras = (*engine.extras, package)
        return engine

    def open(self) -> None:
        super().open()
        self.alchemy = engine_over(self.base_engine, self.reach)

    def objects(self) -> Session:
        made: Any = self.session_class
        session: Session = made(self.alchemy)
        return session

    def close(self) -> None:
        if hasattr(self, "alchemy"):
            self.alchemy.dispose()
        super().close()


def engine_over(engine: SQLEngine, reach: AlchemyBase) -> Any:
    """SQLAlchemy's engine over the connections of another; each of them is a new one."""
    from sqlalchemy import create_engine
    from sqlalchemy.pool import NullPool

    level: Any = {"isolation_level": "AUTOCOMMIT"} if reach.autocommit else {}
    return create_engine(reach.url, creator=partial(raw_connection, engine), poolclass=NullPool, **level)
