"""SQLAlchemy as the layers over it use it: an engine whose connections are those of the engine beneath."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from dbbench.engine import Session
from dbbench_plugins.layers.layer import Layer, raw

if TYPE_CHECKING:
    from dbbench.sql import SQLEngine
    from dbbench.watch import Watch

#: Key of `dialects` -> SQLAlchemy's dialect and driver.
_URLS = {
    "sqlite": "sqlite+pysqlite://",
    "postgresql": "postgresql+psycopg://",
    "mysql": "mysql+mysqldb://",
    "firebird": "firebird+firebird://",
}
#: Those that SQLAlchemy doesn't bring -> the package, and extra, that does.
_DIALECTS = {"firebird": "sqlalchemy-firebird"}
#: Where every statement is in a transaction: the first one begins it, and reads go on in it.
_NO_AUTOCOMMIT = ("firebird",)


class AlchemySession(Session):
    """One connection in autocommit mode, as the drivers alone are measured; and its driver's cursors."""

    def __init__(self, engine: Any) -> None:
        self.connection = engine.connect()

    def watch(self, watch: Watch) -> None:
        """By SQLAlchemy's own events: a cursor is put under the watch when its statement has been executed."""
        from sqlalchemy import event

        starts: list[int] = []

        def before(*_: Any) -> None:
            starts.append(watch.clock())

        def after(_connection: Any, cursor: Any, _sql: Any, _values: Any, context: Any, _many: Any) -> None:
            watch.execute += watch.clock() - starts.pop()
            watch.executes += 1
            context.cursor = watch.over(cursor)

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

    def __init_subclass__(cls, over: type[SQLEngine] | None = None, **more: Any) -> None:
        super().__init_subclass__(over=over, **more)
        if over is not None and over.dialect in _DIALECTS:
            package = _DIALECTS[over.dialect]
            cls.modules = (*cls.modules, package.replace("-", "_"))
            cls.extras = (*cls.extras, package)

    def open(self) -> None:
        super().open()
        self.alchemy = engine_over(self.beneath)

    def objects(self) -> Session:
        made: Any = self.session_class
        session: Session = made(self.alchemy)
        return session

    def close(self) -> None:
        if hasattr(self, "alchemy"):
            self.alchemy.dispose()
        super().close()


def engine_over(engine: SQLEngine) -> Any:
    """SQLAlchemy's engine over the connections of another; each of them is a new one."""
    from sqlalchemy import create_engine
    from sqlalchemy.pool import NullPool

    creator = partial(raw, engine)
    level: Any = {} if engine.dialect in _NO_AUTOCOMMIT else {"isolation_level": "AUTOCOMMIT"}
    return create_engine(_URLS[engine.dialect], creator=creator, poolclass=NullPool, **level)
