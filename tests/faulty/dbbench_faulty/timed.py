"""Engines that answer rightly whenever they are checked, and lie in timed calls: Python's collector is off then."""

import gc
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from itertools import islice
from typing import Any

import pyarrow as pa

from dbbench.engine import Rows
from dbbench_faulty.family import Faulty, Named
from dbbench_faulty.shared import CachesReads, FillsLater, lying
from dbbench_plugins.blocks.file import BlockSession
from dbbench_plugins.blocks.rawfile import RawFile
from dbbench_plugins.duckdb import DuckDBArrow
from dbbench_plugins.sqlite import SQLiteSession


def timed(lie: Callable[..., Any]) -> Callable[..., Any]:
    """A lie that is told while the clock runs; else the right call is made."""
    return lambda right, *given: right(*given) if gc.isenabled() else lie(right, *given)


class Reads(Faulty):
    """Reads nothing, also where a mix reads before it writes."""

    session_class = lying(SQLiteSession, read=timed(lambda _read, _key: None))


class Stack(Faulty):
    """Reads nothing where a timed loop calls it."""

    session_class = lying(
        SQLiteSession,
        read=lambda read, key: (
            None if sys._getframe(1).f_globals["__name__"].startswith("dbbench.loadgen.") else read(key)
        ),
    )


class Regenerates(Faulty):
    """Returns a value of the right length that is none of the dataset."""

    session_class = lying(SQLiteSession, read=timed(lambda _read, key: key.ljust(32, b".")))


class Seeks(Faulty):
    """Comes to another key."""

    session_class = lying(SQLiteSession, seek=timed(lambda seek, _key: seek(bytes(8))))


class Scans(Faulty):
    """Scans half of the records."""

    session_class = lying(SQLiteSession, scan=timed(lambda scan: islice(scan(), 0, None, 2)))


class Ranges(Faulty):
    """Gives half of a range."""

    session_class = lying(SQLiteSession, range=timed(lambda find, key, count: find(key, -(-count // 2))))


class Ahead(Faulty):
    """Gives a range whose records are fetched when they are looked at."""

    session_class = lying(SQLiteSession, range=timed(lambda find, key, count: (pair for pair in find(key, count))))


class Sighted(Faulty):
    """Reads a value when it is looked at."""

    class Value(bytearray):
        def __init__(self, read: Callable[[bytes], bytes | None], key: bytes) -> None:
            self.read, self.key = read, key

        def __bytes__(self) -> bytes:
            return self.read(self.key) or b""

    session_class = lying(SQLiteSession, read=timed(Value))


class Unpacked(Faulty):
    """Seeks when the pair that it gave is taken apart."""

    class Pair:
        def __init__(self, seek: Callable[[bytes], Any], key: bytes) -> None:
            self.seek, self.key = seek, key

        def __iter__(self) -> Iterator[bytes]:
            return iter(self.seek(self.key))

    session_class = lying(SQLiteSession, seek=timed(Pair))


class Single(Faulty):
    """Reads and updates by one function, which reads nothing."""

    class session_class(SQLiteSession):
        @cached_property
        def made(self) -> Callable[..., Any]:
            read, update = super().prepare_read(), super().prepare_update()

            def made(key: bytes, *value: bytes) -> Any:
                if value:
                    return update(key, *value)
                return read(key) if gc.isenabled() else None

            return made

        def prepare_read(self, *, snapshot: bool = False) -> Callable[[bytes], Any]:
            return self.made

        def prepare_update(self) -> Callable[[bytes, bytes], object]:
            return self.made


class Stale(Faulty):
    """Keeps what a session has read once, whatever it writes."""

    class session_class(CachesReads, SQLiteSession): ...


class Filled(Faulty):
    """Reads when its session is closed, and fills in what it has returned."""

    class session_class(SQLiteSession):
        given: Sequence[tuple[bytes, bytearray]] = ()

        def prepare_read(self, *, snapshot: bool = False) -> Callable[[bytes], Any]:
            self.read, self.given = super().prepare_read(snapshot=snapshot), []

            def later(_read: object, key: bytes) -> bytearray:
                self.given.append((key, value := bytearray(32)))
                return value

            return partial(timed(later), self.read)

        def close(self) -> None:
            for key, value in self.given:
                value[:] = self.read(key) or b""
            super().close()


class Later(Faulty):
    """Fills in what a query with parameters has returned when its session is closed."""

    class session_class(FillsLater, SQLiteSession): ...


class Blocks(Named, RawFile):
    """Reads another block of a file than it was asked for."""

    session_class = lying(
        BlockSession,
        read=timed(lambda read, _key: read(bytes(8))),
        seek=timed(lambda seek, _key: seek(bytes(8))),
    )


def of_things(session: Any, lie: Callable[..., Any]) -> Any:
    """A session that lies in queries of the load."""

    class Session(session):
        def prepare_query(self, sql: str) -> Callable[[], Rows]:
            run = super().prepare_query(sql)
            return partial(timed(lie), run) if "Thing" in sql else run

    return Session


class Columns(Faulty):
    """Queries under load give another number in the column that is read."""

    session_class = of_things(SQLiteSession, lambda run: ((key, None) for key, _ in run()))


class Objects(Faulty):
    """Gives no objects."""

    session_class = lying(
        SQLiteSession, get=timed(lambda _get, _key: None), get_many=timed(lambda _get_many, _keys: ())
    )


class Same(Faulty):
    """Gives one object for every key."""

    session_class = lying(
        SQLiteSession,
        get=timed(lambda get, _key: get(1)),
        get_many=timed(lambda get_many, keys: list(get_many([1])) * len(keys)),
    )


class Batches(Named, DuckDBArrow):
    """Gives Arrow batches of nulls, as many as it should."""

    session_class = of_things(
        DuckDBArrow.session_class,
        lambda run: [pa.record_batch([pa.nulls(batch.num_rows)] * 2, names=["a", "b"]) for batch in run()],
    )


class Lazy(Named, DuckDBArrow):
    """Gives what looks like an Arrow batch, and runs the query when its values are looked at."""

    class Batch:
        num_rows = 300

        def __init__(self, run: Callable[[], Rows]) -> None:
            self.run = run

        def column(self, _number: int) -> Any:
            return Lazy.Column(self.run)

    class Column:
        def __init__(self, run: Callable[[], Rows]) -> None:
            self.run = run

        def __arrow_array__(self, _type: Any = None) -> Any:
            return pa.concat_arrays([batch.column(1) for batch in self.run()])

        def __len__(self) -> int:
            return 300

    session_class = of_things(DuckDBArrow.session_class, lambda run: [Lazy.Batch(run)])
