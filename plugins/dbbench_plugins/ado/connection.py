"""A connection of ADO.NET's and its prepared commands, in Python. Import it when the runtime runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Any

import pyarrow as pa
from System import Array, IntPtr
from System import Exception as DotNetException
from System import Tuple as Pair
from System.Data import DbType
from System.Data.Common import DbCommand, DbParameter
from System.Runtime.InteropServices import GCHandle

from dbbench_plugins.ado.errors import ProviderFailed
from dbbench_plugins.ado.loops import BINARY, DECIMAL, FLOAT, INTEGER, MOMENT, NULL, TEXT, function, heap
from dbbench_plugins.ado.memory import Column, Piece, Values, column_of
from dbbench_plugins.dotnet.context import FFI, free, new_context, thrown_in

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
    """One open connection, used by one thread at a time. `named`: its provider knows parameters by a name, not by a `?`."""

    def __init__(self, raw: Any, *, named: bool = False, seconds: int | None = None) -> None:
        self.raw, self.named, self.seconds = raw, named, seconds
        self.context = new_context()
        self.context.state = _handle(heap())
        self.handle = _handle(raw)
        self.transaction = 0
        self.readers: dict[Any, Any] = {}  # those that may be open
        self._statements: list[Statement] = []

    def call(self, name: str, *given: Any) -> int:
        """Call a function of the loops. Raises ProviderFailed for what the provider threw."""
        status = function(name)(self.context, *given, *[0, 0, _NULL, _NULL, _NULL][len(given) :])
        if status < 0:
            self.fail()
        return status

    def fail(self) -> None:
        """Raise ProviderFailed for what was thrown in the last call."""
        raise _failed(thrown_in(self.context))

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
            raise _failed(exc) from exc
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
        if connection.seconds is not None:
            self.command.CommandTimeout = connection.seconds
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

    def types(self, kinds: Sequence[int], sizes: Sequence[int] = ()) -> None:
        """Say of which types the parameters are: a provider may else go by the first value that it sees."""
        for parameter, kind in zip(self.parameters, kinds, strict=True):
            if kind != NULL:
                parameter.DbType = _TYPES[min(kind, DECIMAL)]
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
        space.set(1, 0, self.columns)
        try:
            rows = connection.call(
                "first", self.handle, connection.transaction, self.values.struct, self.reader, space.struct
            )
        except ProviderFailed:
            self.stop()
            raise
        return next(space.piece(connection.context, rows).tuples()) if rows else None

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

    def set(self, rows: int, first: int, last: int) -> None:
        """Have space for columns of rows."""
        made, size = self.struct, rows * (last - first)
        if made.size < size:
            self._kept = FFI.new("char[]", size), FFI.new("int64_t[]", size)
            (made.kinds, made.slots), made.size = self._kept, size
        made.rows, made.first, made.last = rows, first, last

    def piece(self, context: Any, rows: int) -> Piece:
        """What was read, in memory of its own."""
        made, buffer = self.struct, FFI.buffer
        columns = made.last - made.first
        count = rows * columns
        return Piece(
            rows,
            columns,
            buffer(made.kinds, count)[:],
            buffer(made.slots, 8 * count)[:],
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
        pieces = self._pieces(0, self.columns, FIRST)
        try:
            yield from chain.from_iterable(map(Piece.tuples, pieces))
        finally:
            pieces.close()

    def column(self, number: int) -> OneColumn:
        """Step to the end and read one column of each row."""
        return OneColumn(list(self._pieces(number, number + 1, ROWS)))

    def _pieces(self, first: int, last: int, wanted: int) -> Any:
        fetch = partial(self.connection.call, "fetch", 0, 0, _NULL, self.reader)
        try:
            while self.reader.handle:
                self._space.set(wanted, first, last)
                if rows := fetch(self._space.struct):
                    yield self._space.piece(self.connection.context, rows)
                wanted = ROWS
        finally:
            self.connection.stop(self.reader)


class OneColumn:
    """The values of a column, which become Python's when they are asked for."""

    def __init__(self, pieces: list[Piece]) -> None:
        self._pieces = pieces

    def __len__(self) -> int:
        return sum(piece.rows for piece in self._pieces)

    def __iter__(self) -> Iterator[Any]:
        return chain.from_iterable(piece.column(0) for piece in self._pieces)


def _failed(thrown: Any) -> ProviderFailed:
    failed = ProviderFailed(f"{thrown.GetType().FullName}: {' '.join(str(thrown.Message).split())}")
    failed.thrown = thrown
    failed.add_note(str(thrown.ToString()))  # with the stack of .NET, for the trial's folder
    return failed


def _handle(thing: Any) -> int:
    return int(GCHandle.ToIntPtr(GCHandle.Alloc(thing)).ToInt64())
