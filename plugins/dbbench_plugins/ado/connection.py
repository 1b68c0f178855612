"""A connection of ADO.NET's and its prepared commands, in Python. Import it when the runtime runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any
from weakref import finalize

import pyarrow as pa
from System import Array, IntPtr
from System import Exception as DotNetException
from System import Tuple as Pair
from System.Data import DbType
from System.Data.Common import DbCommand, DbParameter
from System.Runtime.InteropServices import GCHandle

from dbbench_plugins.ado.errors import ProviderFailed
from dbbench_plugins.ado.loops import BINARY, DECIMAL, FLOAT, INTEGER, MOMENT, NULL, TEXT, function
from dbbench_plugins.ado.memory import Column, Piece, Values, column_of
from dbbench_plugins.dotnet.context import FFI, failure, free, new_context, thrown_in

#: Rows fetched in a crossing; and those of the first, so that a query of a row or two touches little.
ROWS, FIRST = 4_096, 64
_NULL = FFI.NULL
_TYPES = {
    INTEGER: DbType.Int64,
    FLOAT: DbType.Double,
    MOMENT: DbType.DateTime,
    TEXT: DbType.String,
    BINARY: DbType.Binary,
    DECIMAL: DbType.Decimal,
}
_PLACEHOLDER = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|\[[^\]]*\]|\?")


class Connection:
    """One open connection, used by one thread at a time. `named`: its provider knows parameters by a name, not `?`."""

    def __init__(self, raw: Any, *, named: bool = False) -> None:
        self.raw, self.named = raw, named
        self.context = new_context()
        self.handle = _handle(raw)
        self.transaction = 0
        self.readers: dict[Any, Any] = {}  # those that may be open
        self._statements: list[Statement] = []

    def call(self, name: str, *given: Any) -> int:
        """Call a function of the loops. Raises ProviderFailed for what the provider threw."""
        status = function(name)(self.context, *given, *[0, 0, _NULL, _NULL, _NULL][len(given) :])
        if status < 0:
            raise thrown_in(self.context, ProviderFailed)
        return status

    def statement(self, sql: str) -> Statement:
        """A prepared command; it is closed with the connection."""
        self._statements.append(Statement(self, sql))
        return self._statements[-1]

    def execute(self, sql: str) -> Rows:
        """Run one statement: its rows, all of them."""
        statement = Statement(self, sql)
        try:
            return Rows(list(statement.query()))
        finally:
            statement.close()

    def stop(self, reader: Any) -> None:
        """Close a reader, if it is open."""
        if reader.handle:
            self.call("close", 0, 0, _NULL, reader)
        self.readers.pop(reader, None)

    def begin(self, isolation: Any) -> None:
        """Begin a transaction of some isolation level."""
        made = FFI.new("struct reader *")
        self.call("begin", self.handle, int(isolation), _NULL, made)
        self.transaction = made.handle

    def commit(self) -> None:
        """Commit it. One that fails is still to be rolled back."""
        self.stop_all()
        self.call("commit", self.transaction)
        self.transaction = 0

    def rollback(self) -> None:
        """Undo it, and forget it whatever comes of it."""
        self.stop_all()
        transaction = self.transaction
        try:
            self.call("rollback", transaction)
        except ProviderFailed:
            self.end(lambda: None)
            raise
        finally:
            self.transaction = 0

    def transaction_object(self) -> Any:
        """The transaction that is open."""
        return GCHandle.FromIntPtr(IntPtr(self.transaction)).Target

    def end(self, how: Callable[[], object]) -> None:
        """End the transaction in a way of the provider's own, and forget it. Raises ProviderFailed."""
        self.stop_all()
        made, handle = self.transaction_object(), GCHandle.FromIntPtr(IntPtr(self.transaction))
        try:
            how()
        except DotNetException as exc:
            raise failure(exc, ProviderFailed) from exc
        handle.Free()
        self.transaction = 0
        made.Dispose()

    def stop_all(self) -> None:
        """Close the readers that were left open: with one of them a provider may refuse to end a transaction."""
        for reader in list(self.readers.values()):
            self.stop(reader)

    def close(self) -> None:
        """Undo what isn't committed, and close the commands and the connection."""
        if not self.handle:
            return
        try:
            if self.transaction:
                self.rollback()
            for statement in self._statements:
                statement.close()
        finally:
            GCHandle.FromIntPtr(IntPtr(self.handle)).Free()
            self.handle = 0
            self.raw.Close()
            self.raw.Dispose()
            free(self.context)


class Rows(list[tuple[Any, ...]]):
    """Rows of a small statement, as DB-API has them."""

    def fetchall(self) -> list[tuple[Any, ...]]:
        """All rows."""
        return self


class Statement:
    """One command with its parameters. A query that is run again closes the reader of the call before."""

    def __init__(self, connection: Connection, sql: str) -> None:
        self.connection = connection
        self.command = connection.raw.CreateCommand()
        names: list[str] = []

        def placed(match: re.Match[str]) -> str:
            if match[0] != "?":
                return match[0]
            names.append(f"@p{len(names) + 1}")
            return names[-1] if connection.named else "?"

        self.command.CommandText = _PLACEHOLDER.sub(placed, sql)
        self.parameters = [self.command.CreateParameter() for _ in names]
        for name, parameter in zip(names, self.parameters, strict=True):
            if connection.named:
                parameter.ParameterName = name
            self.command.Parameters.Add(parameter)
        both = Pair[DbCommand, Array[DbParameter]](self.command, Array[DbParameter](self.parameters))
        self.handle = _handle(both)
        self.values = Values(len(names))
        self.reader = FFI.new("struct reader *")
        self.columns = 0  # of its rows, known from the first run on
        self._kinds = bytes(len(names))
        self._space = Space()

    def bind(self, values: Sequence[Any]) -> None:
        """Set the parameters for the next call."""
        kinds = self.values.row(values)
        if kinds != self._kinds:
            self.types(kinds)

    def types(self, kinds: Sequence[int]) -> None:
        """Say of which types the parameters are: a provider may else go by the first value that it sees."""
        for parameter, kind in zip(self.parameters, kinds, strict=True):
            if kind != NULL:
                parameter.DbType = _TYPES[kind]
        self._kinds = bytes(kinds)

    def run(self, values: Sequence[Any] = ()) -> None:
        """Run it once."""
        self.bind(values)
        self._run()

    def _run(self) -> None:
        connection = self.connection
        connection.call("execute", self.handle, connection.transaction, self.values.struct)

    def run_many(self, columns: Sequence[Column], count: int) -> None:
        """Run it for rows out of columns."""
        kinds = bytes(column.kind for column in columns)
        if kinds != self._kinds:
            self.types(kinds)
        self.values.rows(columns, count)
        self._run()

    def run_rows(self, rows: Sequence[Sequence[Any]]) -> None:
        """Run it for rows of Python values: at once, if each column has one kind of them."""
        try:
            columns = [column_of(pa.array(column)) for column in zip(*rows, strict=True)]
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            for row in rows:
                self.run(row)
            return
        if rows:
            self.run_many(columns, len(rows))

    def query(self, values: Sequence[Any] = ()) -> Result:
        """Run it, and open a reader."""
        self.stop()
        self.bind(values)
        connection = self.connection
        self.reader = FFI.new("struct reader *")
        connection.call("query", self.handle, connection.transaction, self.values.struct, self.reader)
        self.columns = self.reader.columns
        connection.readers[self.reader] = self.reader
        return Result(connection, self.reader, self._space)

    def first(self, values: Sequence[Any]) -> tuple[Any, ...] | None:
        """Run it; its first row, or None."""
        if not self.columns:
            return next(iter(self.query(values)), None)
        self.stop()
        self.bind(values)
        connection, space = self.connection, self._space
        space.set(1, self.columns)
        try:
            rows = connection.call(
                "first", self.handle, connection.transaction, self.values.struct, self.reader, space.struct
            )
        except ProviderFailed:
            self.stop()
            raise
        return next(space.piece(connection.context, rows, self.columns).tuples()) if rows else None

    def stop(self) -> None:
        """Close the reader, if one is open."""
        self.connection.stop(self.reader)

    def close(self) -> None:
        """Close it, and its reader."""
        if self.handle:
            try:
                self.stop()
            finally:
                GCHandle.FromIntPtr(IntPtr(self.handle)).Free()
                self.handle = 0
                self.command.Dispose()


class Space:
    """Memory for the values of some rows."""

    def __init__(self) -> None:
        self.struct = FFI.new("struct room *")
        self._kept: Any = None

    def set(self, rows: int, columns: int, first: int = 0) -> None:
        """Have space for rows; of a list's values those from `first` on."""
        made, size = self.struct, rows * columns
        if made.size < size:
            self._kept = FFI.new("char[]", size), FFI.new("int64_t[]", size)
            (made.kinds, made.slots), made.size = self._kept, size
        made.rows, made.first = rows, first

    def piece(self, context: Any, rows: int, columns: int) -> Piece:
        """What was read, in memory of its own."""
        made, buffer, size = self.struct, FFI.buffer, rows * columns
        return Piece(
            rows,
            columns,
            buffer(made.kinds, size)[:],
            buffer(made.slots, 8 * size)[:],
            buffer(context.data, context.used)[:],
        )


class Result:
    """The rows of a query, read as they are asked for: as tuples, or one column of each."""

    def __init__(self, connection: Connection, reader: Any, space: Space) -> None:
        self.connection, self.reader, self._space = connection, reader, space

    @property
    def columns(self) -> int:
        """How many columns it has; a statement that gives no rows has none."""
        return int(self.reader.columns)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        connection, space, wanted = self.connection, self._space, FIRST
        try:
            while self.reader.handle:
                space.set(wanted, self.columns)
                rows = connection.call("fetch", 0, 0, _NULL, self.reader, space.struct)
                yield from space.piece(connection.context, rows, self.columns).tuples()
                wanted = ROWS
        finally:
            connection.stop(self.reader)

    def column(self, number: int) -> OneColumn:
        """Step to the end and read one column of each row."""
        connection, space = self.connection, self._space.struct
        space.first = number
        try:
            return OneColumn(connection, connection.call("column", 0, 0, _NULL, self.reader, space), space.list)
        finally:
            connection.stop(self.reader)


class OneColumn:
    """The values of a column in a list of .NET's, which become Python's when they are asked for."""

    def __init__(self, connection: Connection, count: int, handle: int) -> None:
        self._connection, self._count, self._handle = connection, count, handle
        finalize(self, _free, handle).atexit = False

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Any]:
        return iter(self._values)

    @cached_property
    def _values(self) -> list[Any]:
        found: list[Any] = []
        space = Space()
        for first in range(0, self._count, ROWS):
            rows = min(ROWS, self._count - first)
            space.set(rows, 1, first)
            self._connection.call("lay", self._handle, 0, _NULL, _NULL, space.struct)
            found += space.piece(self._connection.context, rows, 1).column(0)
        return found


def _free(handle: int) -> None:
    GCHandle.FromIntPtr(IntPtr(handle)).Free()


def _handle(thing: Any) -> int:
    return int(GCHandle.ToIntPtr(GCHandle.Alloc(thing)).ToInt64())
