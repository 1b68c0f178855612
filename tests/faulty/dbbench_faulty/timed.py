"""SQLite that answers rightly whenever it is checked, and lies in calls that are timed: Python's collector is off then."""

import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import pyarrow as pa

from dbbench.engine import Rows
from dbbench_faulty.family import Faulty, Named
from dbbench_plugins.duckdb import DuckDBArrow
from dbbench_plugins.sqlite import SQLiteSession


def timed(lie: Callable[..., Any], truth: Callable[..., Any]) -> Callable[..., Any]:
    """What lies while the clock runs."""
    return lambda *given: truth(*given) if gc.isenabled() else lie(*given)


class Reads(Faulty):
    """Reads nothing, also where a mix reads before it writes."""

    class session_class(SQLiteSession):
        def prepare_read(self, *, snapshot: bool = False) -> Callable[[bytes], bytes | None]:
            return timed(lambda _key: None, super().prepare_read(snapshot=snapshot))


class Regenerates(Faulty):
    """Returns a value of the right length that is none of the dataset."""

    class session_class(SQLiteSession):
        def prepare_read(self, *, snapshot: bool = False) -> Callable[[bytes], bytes | None]:
            return timed(lambda key: key.ljust(32, b"."), super().prepare_read(snapshot=snapshot))


class Seeks(Faulty):
    """Comes to another key."""

    class session_class(SQLiteSession):
        def prepare_seek(self, *, snapshot: bool = False) -> Callable[[bytes], Any]:
            seek = super().prepare_seek(snapshot=snapshot)
            first = b"\0" * 8
            return timed(lambda _key: seek(first), seek)


class Scans(Faulty):
    """Scans half of the records."""

    class session_class(SQLiteSession):
        def prepare_scan(self) -> Callable[[], Iterable[Any]]:
            scan = super().prepare_scan()
            return timed(lambda: islice(scan(), 0, None, 2), scan)


class Ranges(Faulty):
    """Gives half of a range."""

    class session_class(SQLiteSession):
        def prepare_range(self, *, snapshot: bool = False) -> Callable[[bytes, int], Any]:
            find = super().prepare_range(snapshot=snapshot)
            return timed(lambda key, count: find(key, -(-count // 2)), find)


class Ahead(Faulty):
    """Gives a range whose records are fetched when they are looked at."""

    class session_class(SQLiteSession):
        def prepare_range(self, *, snapshot: bool = False) -> Callable[[bytes, int], Any]:
            find = super().prepare_range(snapshot=snapshot)
            return timed(lambda key, count: (pair for pair in find(key, count)), find)


class Sighted(Faulty):
    """Reads a value when it is looked at."""

    class session_class(SQLiteSession):
        def prepare_read(self, *, snapshot: bool = False) -> Callable[[bytes], Any]:
            read = super().prepare_read(snapshot=snapshot)

            class Value(bytearray):
                key = b""

                def __bytes__(self) -> bytes:
                    return read(self.key) or b""

            def later(key: bytes) -> Value:
                value = Value()
                value.key = key
                return value

            return timed(later, read)


class Unpacked(Faulty):
    """Seeks when the pair that it gave is taken apart."""

    class session_class(SQLiteSession):
        def prepare_seek(self, *, snapshot: bool = False) -> Callable[[bytes], Any]:
            seek = super().prepare_seek(snapshot=snapshot)

            class Pair:
                def __init__(self, key: bytes) -> None:
                    self.key = key

                def __iter__(self) -> Iterator[bytes]:
                    return iter(seek(self.key))

            return timed(Pair, seek)


class Filled(Faulty):
    """Reads when its session is closed, and fills in what it has returned."""

    class session_class(SQLiteSession):
        given: Sequence[tuple[bytes, bytearray]] = ()

        def prepare_read(self, *, snapshot: bool = False) -> Callable[[bytes], Any]:
            self.read, self.given = super().prepare_read(snapshot=snapshot), []

            def later(key: bytes) -> bytearray:
                self.given.append((key, value := bytearray(32)))
                return value

            return timed(later, self.read)

        def close(self) -> None:
            for key, value in self.given:
                value[:] = self.read(key) or b""
            super().close()


class Columns(Faulty):
    """Queries under load give another number in the column that is read."""

    class session_class(SQLiteSession):
        def prepare_query(self, sql: str) -> Callable[[], Rows]:
            run = super().prepare_query(sql)
            return timed(lambda: ((key, None) for key, _ in run()), run) if "Thing" in sql else run


class Objects(Faulty):
    """Gives no objects."""

    class session_class(SQLiteSession):
        def prepare_get(self, name: str, table: Any) -> Callable[[Any], Any]:
            return timed(lambda _key: None, super().prepare_get(name, table))

        def prepare_get_many(self, name: str, table: Any) -> Callable[[Any], Any]:
            return timed(lambda _keys: (), super().prepare_get_many(name, table))


class Same(Faulty):
    """Gives one object for every key."""

    class session_class(SQLiteSession):
        def prepare_get(self, name: str, table: Any) -> Callable[[Any], Any]:
            get = super().prepare_get(name, table)
            return timed(lambda _key: get(1), get)

        def prepare_get_many(self, name: str, table: Any) -> Callable[[Any], Any]:
            many = super().prepare_get_many(name, table)
            return timed(lambda keys: list(many([1])) * len(keys), many)


class Batches(Named, DuckDBArrow):
    """Gives Arrow batches of nulls, as many as it should."""

    class session_class(DuckDBArrow.session_class):
        def prepare_query(self, sql: str) -> Callable[[], Rows]:
            run = super().prepare_query(sql)

            def nulls() -> Any:
                return [pa.record_batch([pa.nulls(batch.num_rows)] * 2, names=["a", "b"]) for batch in run()]

            return timed(nulls, run) if "Thing" in sql else run


class Lazy(Named, DuckDBArrow):
    """Gives what looks like an Arrow batch, and runs the query when its values are looked at."""

    class session_class(DuckDBArrow.session_class):
        def prepare_query(self, sql: str) -> Callable[[], Rows]:
            run = super().prepare_query(sql)

            class Batch:
                num_rows = 300

                def column(self, _number: int) -> Any:
                    return Column()

            class Column:
                def __arrow_array__(self, _type: Any = None) -> Any:
                    return pa.concat_arrays([batch.column(1) for batch in run()])

                def __len__(self) -> int:
                    return 300

            return timed(lambda: [Batch()], run) if "Thing" in sql else run
