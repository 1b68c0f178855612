"""A client of ESENT: what each operation calls."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Iterable
from ctypes import byref, c_uint32, c_uint64, sizeof
from typing import TYPE_CHECKING, Any

from dbbench.engine import Session
from dbbench_plugins.esent.library import (
    CANCEL,
    CURRENCY,
    FIRST,
    INSERT,
    LONGEST_BINARY,
    NEW_KEY,
    NEXT,
    NO_RECORD,
    NOT_EQUAL,
    NOT_FOUND,
    REPLACE,
    SEEK_EQUAL,
    SEEK_GREATER_OR_EQUAL,
    TRUNCATED,
    ZERO_LENGTH,
    ColumnDefinition,
    ESENTError,
    RetrieveColumn,
    utf16,
)

if TYPE_CHECKING:
    from dbbench_plugins.esent import ESENT

Pair = tuple[bytes, bytes]

_SIGN = 1 << 63
_from_bytes, _to_bytes = struct.Struct(">Q").unpack, struct.Struct(">Q").pack
_from_number, _to_number = struct.Struct("<Q").unpack, struct.Struct("<Q").pack


class ESENTSession(Session):
    """A session of the system's, with a cursor on the table that every operation moves for itself."""

    def __init__(self, engine: ESENT) -> None:
        self.library = library = engine.library
        self.commit_bits = engine.durability[engine.tier]["commit"]
        self.id, self.database = engine.begin_session(), c_uint32()
        library.do("JetOpenDatabaseW", self.id, utf16(engine.file), None, byref(self.database), 0)
        self.table = self._open_table()
        self.key_column, key_type = self._column("key")
        self.value_column, _ = self._column("value")
        self.as_key = _as_currency if key_type == CURRENCY else bytes
        self.from_key = _from_currency if key_type == CURRENCY else bytes
        self.fields = Fields(self, self.table)

    def prepare_insert(self) -> Callable[[bytes, bytes], None]:
        return self._committed(self._insert())

    def prepare_update(self) -> Callable[[bytes, bytes], None]:
        return self._committed(self._update())

    def prepare_delete(self) -> Callable[[bytes], None]:
        return self._committed(self._delete())

    def prepare_insert_many(self) -> Callable[[list[Pair]], None]:
        insert = self._insert()
        return self._committed(lambda pairs: next((status for pair in pairs if (status := insert(*pair))), 0))

    def prepare_update_many(self) -> Callable[[list[Pair]], None]:
        update = self._update()
        return self._committed(lambda pairs: next((status for pair in pairs if (status := update(*pair))), 0))

    def prepare_delete_many(self) -> Callable[[list[bytes]], None]:
        delete = self._delete()
        return self._committed(lambda keys: next((status for key in keys if (status := delete(key))), 0))

    def prepare_read(self, *, snapshot: bool = False) -> Callable[[bytes], bytes | None]:
        seek, value = self._seek(SEEK_EQUAL), self.fields.value

        def read(key: bytes) -> bytes | None:
            if status := seek(key):
                _missing(status)
                return None
            return value()

        return read

    def prepare_seek(self, *, snapshot: bool = False) -> Callable[[bytes], Pair | None]:
        seek, both = self._seek(SEEK_GREATER_OR_EQUAL), self.fields.both

        def seek_next(key: bytes) -> Pair | None:
            if (status := seek(key)) not in (0, NOT_EQUAL):
                _missing(status)
                return None
            return both()

        return seek_next

    def prepare_range(self, *, snapshot: bool = False) -> Callable[[bytes, int], list[Pair]]:
        seek, both = self._seek(SEEK_GREATER_OR_EQUAL), self.fields.both
        move, session, table = self.library.calls.JetMove, self.id, self.table

        def read_range(key: bytes, count: int) -> list[Pair]:
            found: list[Pair] = []
            status = seek(key)
            while status in (0, NOT_EQUAL) and len(found) < count:
                found.append(both())
                status = move(session, table, NEXT, 0)
            if status not in (0, NOT_EQUAL):
                _missing(status)
            return found

        return read_range

    def prepare_scan(self) -> Callable[[], Iterable[Pair]]:
        """Scan with a cursor of its own, since others move the session's."""
        move, session = self.library.calls.JetMove, self.id

        def scan() -> Iterable[Pair]:
            table = self._open_table()
            both = Fields(self, table).both
            try:
                status = move(session, table, FIRST, 0)
                while not status:
                    yield both()
                    status = move(session, table, NEXT, 0)
                _missing(status)
            finally:
                self.library.do("JetCloseTable", session, table)

        return scan

    def close(self) -> None:
        if self.id.value:
            self.library.do("JetCloseTable", self.id, self.table)
            self.library.do("JetEndSession", self.id, 0)
            self.id = c_uint64()

    def _committed(self, operation: Callable[..., int]) -> Callable[..., None]:
        """The operation in a transaction of its own; rolled back if it fails or raises."""
        calls = self.library.calls
        begin, commit, session, table = calls.JetBeginTransaction, calls.JetCommitTransaction, self.id, self.table
        bits = self.commit_bits

        def run(*given: Any) -> None:
            status = begin(session)
            try:
                if status := status or operation(*given) or commit(session, bits):
                    raise ESENTError(status, "a write")  # noqa: TRY301 - rolled back below, as after any other fault
            except BaseException:
                calls.JetPrepareUpdate(session, table, CANCEL)  # a record half written would hinder the next
                calls.JetRollback(session, 0)
                raise

        return run

    def _insert(self) -> Callable[[bytes, bytes], int]:
        calls = self.library.calls
        prepare, set_column, update = calls.JetPrepareUpdate, calls.JetSetColumn, calls.JetUpdate
        session, table, as_key, in_key, in_value = self.id, self.table, self.as_key, self.key_column, self.value_column

        def insert(key: bytes, value: bytes) -> int:
            key = as_key(key)
            status: int = (
                prepare(session, table, INSERT)
                or set_column(session, table, in_key, key, len(key), 0, None)
                or set_column(session, table, in_value, value, len(value), 0 if value else ZERO_LENGTH, None)
                or update(session, table, None, 0, None)
            )
            return status

        return insert

    def _update(self) -> Callable[[bytes, bytes], int]:
        calls = self.library.calls
        prepare, set_column, update = calls.JetPrepareUpdate, calls.JetSetColumn, calls.JetUpdate
        session, table, seek, in_value = self.id, self.table, self._seek(SEEK_EQUAL), self.value_column

        def replace(key: bytes, value: bytes) -> int:
            return (
                seek(key)
                or prepare(session, table, REPLACE)
                or set_column(session, table, in_value, value, len(value), 0 if value else ZERO_LENGTH, None)
                or update(session, table, None, 0, None)
            )

        return replace

    def _delete(self) -> Callable[[bytes], int]:
        seek, delete, session, table = self._seek(SEEK_EQUAL), self.library.calls.JetDelete, self.id, self.table
        return lambda key: seek(key) or delete(session, table)

    def _seek(self, bits: int) -> Callable[[bytes], int]:
        calls = self.library.calls
        make_key, seek, session, table, as_key = calls.JetMakeKey, calls.JetSeek, self.id, self.table, self.as_key

        def find(key: bytes) -> int:
            key = as_key(key)
            status: int = make_key(session, table, key, len(key), NEW_KEY) or seek(session, table, bits)
            return status

        return find

    def _open_table(self) -> c_uint64:
        table = c_uint64()
        self.library.do("JetOpenTableW", self.id, self.database, utf16("records"), None, 0, 0, byref(table))
        return table

    def _column(self, name: str) -> tuple[int, int]:
        """A column's id and its type."""
        found = ColumnDefinition(sizeof(ColumnDefinition))
        self.library.do("JetGetTableColumnInfoW", self.id, self.table, utf16(name), byref(found), sizeof(found), 0)
        return found.column, found.type


class Fields:
    """Reads the columns of the record that a cursor is on. What a call takes is bound once."""

    def __init__(self, session: ESENTSession, table: c_uint64) -> None:
        self.retrieve, self.from_key = session.library.calls.JetRetrieveColumns, session.from_key
        self.id, self.table = session.id, table
        self.columns = (RetrieveColumn * 2)()
        self.in_value, self.in_key = self.columns
        for column, number in zip(self.columns, (session.value_column, session.key_column), strict=True):
            column.column, column.tag = number, 1
        self._make_room(4_096)

    def value(self) -> bytes:
        """The value alone, which is the first of the two columns."""
        if status := self.retrieve(self.id, self.table, self.columns, 1):
            self._again(status, 1)
        return self.value_bytes[: self.in_value.actual].tobytes()

    def both(self) -> Pair:
        """Key and value."""
        if status := self.retrieve(self.id, self.table, self.columns, 2):
            self._again(status, 2)
        key = self.key_bytes[: self.in_key.actual].tobytes()
        return self.from_key(key), self.value_bytes[: self.in_value.actual].tobytes()

    def _again(self, status: int, count: int) -> None:
        """Retrieve again with more room, if that was missing. Raises ESENTError for anything else."""
        if status == TRUNCATED:
            self._make_room(2 * self.in_value.actual)
            status = self.retrieve(self.id, self.table, self.columns, count)
        if status:
            raise ESENTError(status, "JetRetrieveColumns")

    def _make_room(self, size: int) -> None:
        buffers = [ctypes.create_string_buffer(each) for each in (size, LONGEST_BINARY)]
        self.value_bytes, self.key_bytes = (memoryview(buffer) for buffer in buffers)
        for column, buffer in zip(self.columns, buffers, strict=True):
            column.data, column.room = ctypes.addressof(buffer), len(buffer)


def _missing(status: int) -> None:
    """None for a record that doesn't exist, or no longer does. Raises ESENTError for anything else."""
    if status not in (NOT_FOUND, NO_RECORD):
        raise ESENTError(status, "a seek")


def _as_currency(key: bytes) -> bytes:
    """8 bytes as a signed number that is as large among its like."""
    if len(key) != 8:
        raise ValueError(f"a key of {len(key)} bytes instead of 8")
    return _to_number(_from_bytes(key)[0] ^ _SIGN)


def _from_currency(number: bytes) -> bytes:
    return _to_bytes(_from_number(number)[0] ^ _SIGN)
