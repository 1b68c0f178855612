"""Records and objects in any SQL engine, over statements with parameters. Written once, for all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar

from dbbench.engine.base import Session
from dbbench.engine.objects import object_getter, object_maker
from dbbench.engine.sql.dialect import RECORD_KEY, RECORD_TABLE, RECORD_VALUE, Dialect

if TYPE_CHECKING:
    from dbbench.engine.driver_timer import DriverTimer
    from dbbench.suite.dataset import Table

Call = Callable[..., Any]


class SQLKeyValue(Session):
    """The key-value operations, over what a SQL session has: `prepare_call`, `prepare_many`, begin and commit."""

    #: That of the engine.
    sql: Dialect
    #: Whether rows of the driver are tuples or lists; else a seek and a range make tuples of them, within the clock.
    plain_rows: ClassVar[bool] = True

    def prepare_call(self, sql: str, rows: int | None = None) -> Call:
        """A statement with placeholders -> call(*values). It commits by itself and gives nothing if `rows` is 0,
        the first row or None if 1, and otherwise a list of all rows.
        """
        raise NotImplementedError

    def prepare_many(self, sql: str) -> Callable[[Sequence[Sequence[Any]]], object]:
        """A statement with placeholders -> run(list of values), inside the transaction that is open."""
        raise NotImplementedError

    def prepare_insert(self) -> Call:
        """A callable that inserts a key and its value."""
        return self.prepare_call(self._insert(), 0)

    def prepare_update(self) -> Call:
        """A callable that gives a key another value."""
        update = self.prepare_call(self._update(), 0)
        return lambda key, value: update(value, key)

    def prepare_delete(self) -> Call:
        """A callable that deletes a key."""
        return self.prepare_call(self._delete(), 0)

    def prepare_read(self, *, snapshot: bool = False) -> Call:
        """A callable that gives a key's value, or None."""
        table, key, value = self._names()
        read = self.prepare_call(f"SELECT {value} FROM {table} WHERE {key} = {self.sql.placeholder}", 1)

        def first(wanted: bytes) -> bytes | None:
            row = read(wanted)
            return None if row is None else row[0]

        return first

    def prepare_seek(self, *, snapshot: bool = False) -> Call:
        """A callable that gives the first pair from a key on, or None."""
        seek = self.prepare_call(self._from_key(1), 1)
        if self.plain_rows:
            return seek

        def first(wanted: bytes) -> Any:
            row = seek(wanted)
            return None if row is None else tuple(row)

        return first

    def prepare_range(self, *, snapshot: bool = False) -> Call:
        """A callable that gives up to `count` pairs from a key on."""
        # A statement for each length: a limit can't be a parameter everywhere, nor is it planned alike.
        prepared: dict[int, Call] = {}

        def read_range(key: bytes, count: int) -> Any:
            if count not in prepared:
                prepared[count] = self.prepare_call(self._from_key(count))
            return prepared[count](key)

        if self.plain_rows:
            return read_range
        return lambda key, count: list(map(tuple, read_range(key, count)))

    def prepare_scan(self) -> Callable[[], Iterable[Any]]:
        """A callable that gives all pairs in the order of the keys."""
        table, key, value = self._names()
        run = self.prepare_query(f"SELECT {key}, {value} FROM {table} ORDER BY {key}")  # type: ignore[attr-defined]
        if self.result_format != "batches":
            return run  # type: ignore[no-any-return]
        return lambda: chain.from_iterable(
            zip(batch.column(0).to_pylist(), batch.column(1).to_pylist(), strict=True) for batch in run()
        )

    def prepare_insert_many(self) -> Call:
        """A callable that inserts pairs in one transaction."""
        return self.in_one(self._insert())

    def prepare_update_many(self) -> Call:
        """A callable that updates pairs in one transaction."""
        update = self.in_one(self._update())
        return lambda pairs: update([(value, key) for key, value in pairs])

    def prepare_delete_many(self) -> Call:
        """A callable that deletes keys in one transaction."""
        delete = self.in_one(self._delete())
        return lambda keys: delete([(key,) for key in keys])

    def in_one(self, sql: str) -> Callable[[Sequence[Sequence[Any]]], object]:
        """A statement with placeholders -> run(list of values), which is a transaction of its own."""
        many = self.prepare_many(sql)

        def run(values: Sequence[Sequence[Any]]) -> None:
            self.begin()
            many(values)
            self.commit()

        return run

    def _names(self) -> tuple[str, str, str]:
        return self.sql.quoted(RECORD_TABLE), self.sql.quoted(RECORD_KEY), self.sql.quoted(RECORD_VALUE)

    def _insert(self) -> str:
        table, key, value = self._names()
        return f"INSERT INTO {table} ({key}, {value}) VALUES ({self.sql.placeholder}, {self.sql.placeholder})"

    def _update(self) -> str:
        table, key, value = self._names()
        return f"UPDATE {table} SET {value} = {self.sql.placeholder} WHERE {key} = {self.sql.placeholder}"

    def _delete(self) -> str:
        table, key, _ = self._names()
        return f"DELETE FROM {table} WHERE {key} = {self.sql.placeholder}"

    def _from_key(self, count: int) -> str:
        table, key, value = self._names()
        query = f"SELECT {key}, {value} FROM {table} WHERE {key} >= {self.sql.placeholder} ORDER BY {key}"
        return self.sql.limited(query, count)


class SQLObjects(SQLKeyValue):
    """The operations on objects, over `prepare_call`: what an application does without an ORM."""

    connection: Any

    def prepare_get(self, name: str, table: Table) -> Callable[[Any], Any]:
        """A callable that gives the object with a key, or None."""
        key = self.sql.quoted(table.single_key)
        read = self.prepare_call(f"{self._select(name, table)} WHERE {key} = {self.sql.placeholder}", 1)
        return object_getter(name, table, self.column_forms, read)

    def prepare_get_many(self, name: str, table: Table) -> Callable[[list[Any] | None], list[Any]]:
        """A callable that gives the objects with some keys, by one IN for all of them; or all objects."""
        select, made = self._select(name, table), object_maker(name, table, self.column_forms)
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

    #: Types -> the form in which a table's own columns come back. Computed columns may have more: see its overrides.
    column_forms = Session.declared

    def _select(self, name: str, table: Table) -> str:
        return f"SELECT {', '.join(map(self.sql.quoted, table.columns))} FROM {self.sql.quoted(name)}"


class WithoutRecords:
    """Before SQLSession among a session's bases: for a system that can't keep records, or nobody has written it yet."""

    prepare_insert: ClassVar[Any] = None
    prepare_update: ClassVar[Any] = None
    prepare_delete: ClassVar[Any] = None
    prepare_read: ClassVar[Any] = None
    prepare_seek: ClassVar[Any] = None
    prepare_range: ClassVar[Any] = None
    prepare_scan: ClassVar[Any] = None
    prepare_insert_many: ClassVar[Any] = None
    prepare_update_many: ClassVar[Any] = None
    prepare_delete_many: ClassVar[Any] = None
