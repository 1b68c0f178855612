"""Redis that keeps what was written in the server's memory, or in the client's own process.

And a database at a URL that can't be reached between two steps.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar

from dbbench.engine import Session, Table, Tier
from dbbench_faulty.family import Named
from dbbench_plugins.redis import Redis, RedisSession
from dbbench_plugins.sqlalchemy import SQLAlchemy


class Forgets(Named, Redis):
    """Promises power and writes nothing; its folder has many empty files."""

    durability: ClassVar = {Tier.POWER: {"appendonly": "no"}}

    def open(self) -> None:
        super().open()
        (self.directory / "many").mkdir(exist_ok=True)
        for number in range(4_001):
            (self.directory / "many" / str(number)).touch()


class Alone(Named, Redis):
    """Clients of one process see what they have written; others don't."""

    written: ClassVar[dict[bytes, bytes]] = {}

    class session_class(RedisSession):
        def prepare_insert(self) -> Callable[[bytes, bytes], object]:
            return Alone.written.__setitem__

        def prepare_read(self, *, snapshot: bool = False) -> Callable[[bytes], bytes | None]:
            return Alone.written.get

        def prepare_scan(self) -> Callable[[], Iterable[Any]]:
            return Alone.written.items


class Waits(Named, Redis):
    """Clients of one process send what they have written when the next connects, or the processes are asked for."""

    waiting: ClassVar[list[tuple[bytes, bytes]]] = []

    class session_class(RedisSession):
        def prepare_insert(self) -> Callable[[bytes, bytes], object]:
            return lambda key, value: Waits.waiting.append((key, value))

        prepare_update = prepare_insert

    def connect(self) -> Session:
        session = super().connect()
        assert isinstance(session, RedisSession)
        send = RedisSession.prepare_insert(session)
        while self.waiting:
            send(*self.waiting.pop(0))
        return session

    def processes(self) -> Sequence[int]:
        if self.waiting:
            self.connect().close()
        return super().processes()


class Lost(Named, SQLAlchemy):
    """Makes its tables, and can't connect any more."""

    created = False

    def create(self, tables: Mapping[str, Table]) -> None:
        super().create(tables)
        self.created = True

    def connect(self) -> Session:
        if self.created:
            raise ConnectionError("the network is down")
        return super().connect()
