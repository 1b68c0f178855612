"""Loops over rows as functions of C, for any provider of ADO.NET. Import it when the runtime runs.

A call of .NET from Python takes 10 microseconds, so rows and parameters cross over many at a time. A value is a byte
for its kind in one array and 8 bytes, its slot, in another. Those that are bound stand column after column, those that
are read row after row:

    NULL     -
    INTEGER  the number, as an Int64
    FLOAT    the number, as a Double
    MOMENT   the ticks of a DateTime
    TEXT     where it begins in the heap (the upper 4 bytes) and how long it is: if bound in bytes of UTF-8,
             if read in units of UTF-16
    BINARY   likewise, but where it is read, its length is in bytes
    DECIMAL  like TEXT: its digits
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

from System import (
    Array,
    BitConverter,
    Boolean,
    Buffer,
    Byte,
    Convert,
    DateTime,
    DBNull,
    Decimal,
    Double,
    IDisposable,
    Int16,
    Int32,
    Int64,
    IntPtr,
    Object,
    Single,
    String,
)
from System import Tuple as Pair
from System.Collections.Generic import List
from System.Data import IsolationLevel
from System.Data.Common import DbCommand, DbConnection, DbDataReader, DbParameter, DbTransaction
from System.Globalization import CultureInfo, NumberStyles
from System.Linq.Expressions import Expression
from System.Runtime.InteropServices import Marshal
from System.Text import Encoding

from dbbench_plugins.dotnet.context import DATA, FFI, USED, compiled, freed, get, handle_of, held, put, room
from dbbench_plugins.dotnet.trees import (
    Signature,
    Tree,
    add,
    array,
    assign,
    block,
    call,
    constant,
    convert,
    count_up,
    loop,
    new,
    type_of,
    variable,
)

NULL, INTEGER, FLOAT, MOMENT, TEXT, BINARY, DECIMAL = range(7)
FFI.cdef("""
    struct values { char *kinds; int64_t *slots; const char *heap; int heap_bytes; int rows; };
    struct reader { intptr_t handle; int columns; };
    struct room { char *kinds; int64_t *slots; int size; int rows; int first; intptr_t list; };
""")
_KINDS, _SLOTS, _HEAP, _HEAP_BYTES, _ROWS = 0, 8, 16, 24, 28
_COLUMNS = 8
_MOST, _FIRST, _LIST = 20, 24, 32

#: A command, and its parameters in an array.
STATEMENT = Pair[DbCommand, Array[DbParameter]]
_INVARIANT, _UTF8 = Expression.Constant(CultureInfo.InvariantCulture), Expression.Constant(Encoding.UTF8)
_CALL = Signature(
    "AdoCall",
    "int(*)(struct context *, intptr_t, intptr_t, struct values *, struct reader *, struct room *)",
    *[IntPtr] * 6,
)
_kept: list[Any] = []  # a function pointer is good as long as its delegate


@cache
def function(name: str) -> Callable[..., int]:
    """A function, compiled for the process when it is first asked for. All take the same; 0 for what isn't needed.

    execute(context, statement, transaction, values)           runs the statement for each row of values
    query(context, statement, transaction, values, reader)     runs it with one row of values, and opens a reader
    first(context, statement, transaction, values, reader, room)   the same, reads a row and closes the reader
    fetch(context, 0, 0, 0, reader, room)                      reads further rows; closes the reader at its end
    column(context, 0, 0, 0, reader, room)                     reads a column of all further rows into a list, whose
                                                               handle is put into `room`; closes the reader
    lay(context, list, 0, 0, 0, room)                          lays out values of such a list
    close(context, 0, 0, 0, reader)                            closes the reader
    begin(context, connection, isolation, 0, reader)           begins a transaction; its handle is put into `reader`
    commit, rollback(context, transaction)                     ends it and frees the handle
    """
    functions: dict[str, Callable[..., Tree]] = {
        "execute": _execute,
        "query": _query,
        "first": _first,
        "fetch": _fetch,
        "column": _column,
        "lay": _lay,
        "close": _close,
        "begin": _begin,
        "commit": partial(_end, "Commit"),
        "rollback": partial(_end, "Rollback"),
    }
    delegate, made = compiled(_CALL, functions[name])
    _kept.append(delegate)
    return made


def _execute(context: Tree, statement: Tree, transaction: Tree, values: Tree, *_: Tree) -> Tree:
    row = variable(Int32)

    def runs(command: Tree, rows: Tree, bind: Callable[[Tree], Tree]) -> Tree:
        return block((row,), count_up(row, rows, bind(row), call(command, "ExecuteNonQuery")), constant(0))

    return _with(statement, transaction, values, runs)


def _query(context: Tree, statement: Tree, transaction: Tree, values: Tree, reader: Tree, *_: Tree) -> Tree:
    opened = variable(DbDataReader)

    def runs(command: Tree, rows: Tree, bind: Callable[[Tree], Tree]) -> Tree:
        return block(
            (opened,),
            bind(constant(0)),
            assign(opened, call(command, "ExecuteReader")),
            call(Marshal, "WriteIntPtr", reader, handle_of(opened)),
            call(Marshal, "WriteInt32", reader, constant(_COLUMNS), Expression.Property(opened, "FieldCount")),
            constant(0),
        )

    return _with(statement, transaction, values, runs)


def _first(context: Tree, statement: Tree, transaction: Tree, values: Tree, reader: Tree, space: Tree) -> Tree:
    return block(
        (),
        _query(context, statement, transaction, values, reader),
        _read(context, reader, space, lambda _: _close(context, statement, transaction, values, reader)),
    )


def _fetch(context: Tree, one: Tree, two: Tree, values: Tree, reader: Tree, space: Tree) -> Tree:
    end = _close(context, one, two, values, reader)
    return _read(
        context, reader, space, lambda rows: Expression.IfThen(Expression.LessThan(rows, _number(space, _MOST)), end)
    )


def _close(context: Tree, one: Tree, two: Tree, values: Tree, reader: Tree, *_: Tree) -> Tree:
    opened = variable(DbDataReader)
    return block(
        (opened,),
        assign(opened, held(_pointer(reader), DbDataReader)),
        freed(_pointer(reader)),
        call(Marshal, "WriteIntPtr", reader, Expression.Constant(IntPtr.Zero)),
        call(convert(opened, IDisposable), "Dispose"),
        constant(0),
    )


def _begin(context: Tree, connection: Tree, isolation: Tree, values: Tree, reader: Tree, *_: Tree) -> Tree:
    level = convert(call(isolation, "ToInt32"), IsolationLevel)
    begun = call(held(connection, DbConnection), "BeginTransaction", level)
    return block((), call(Marshal, "WriteIntPtr", reader, handle_of(begun)), constant(0))


def _end(how: str, context: Tree, transaction: Tree, *_: Tree) -> Tree:
    ended = variable(DbTransaction)
    return block(
        (ended,),
        assign(ended, held(transaction, DbTransaction)),
        call(ended, how),
        freed(transaction),
        call(convert(ended, IDisposable), "Dispose"),
        constant(0),
    )


def _with(
    statement: Tree, transaction: Tree, values: Tree, runs: Callable[[Tree, Tree, Callable[[Tree], Tree]], Tree]
) -> Tree:
    """What is done with a command in its transaction, a number of rows, and a way to give its parameters a row's."""
    both, command, parameters = variable(STATEMENT), variable(DbCommand), variable(Array[DbParameter])
    data, size = variable(Array[Byte]), _number(values, _HEAP_BYTES)
    kinds, slots, rows = variable(IntPtr), variable(IntPtr), variable(Int32)
    given = Expression.Condition(
        Expression.Equal(transaction, Expression.Constant(IntPtr.Zero)),
        Expression.Constant(None, type_of(DbTransaction)),
        held(transaction, DbTransaction),
    )
    return block(
        (both, command, parameters, data, kinds, slots, rows),
        assign(both, held(statement, STATEMENT)),
        assign(command, Expression.Property(both, "Item1")),
        assign(parameters, Expression.Property(both, "Item2")),
        assign(Expression.Property(command, "Transaction"), given),
        assign(data, array(Byte, size)),
        Expression.IfThen(
            Expression.GreaterThan(size, constant(0)),
            call(Marshal, "Copy", _pointer(values, _HEAP), data, constant(0), size),
        ),
        assign(kinds, _pointer(values, _KINDS)),
        assign(slots, _pointer(values, _SLOTS)),
        assign(rows, _number(values, _ROWS)),
        runs(command, rows, partial(_bind, parameters, (kinds, slots, rows), data)),
    )


def _bind(parameters: Tree, values: tuple[Tree, Tree, Tree], data: Tree, row: Tree) -> Tree:
    """Give the parameters the values of a row, which stand in column after column."""
    kinds, slots, rows = values
    column, at, kind, slot = (variable(each) for each in (Int32, Int32, Byte, Int64))
    start, length = convert(Expression.RightShift(slot, constant(32)), Int32), convert(slot, Int32)
    text, piece = call(_UTF8, "GetString", data, start, length), variable(Array[Byte])
    binary = block(
        (piece,),
        assign(piece, array(Byte, length)),
        call(Buffer, "BlockCopy", data, start, piece, constant(0), length),
        piece,
    )
    value: Tree = convert(Expression.Constant(DBNull.Value), Object)
    for number, tree in (
        (DECIMAL, call(Decimal, "Parse", text, Expression.Constant(NumberStyles.Float), _INVARIANT)),
        (BINARY, binary),
        (MOMENT, new(DateTime, slot)),
        (FLOAT, call(BitConverter, "Int64BitsToDouble", slot)),
        (TEXT, text),
        (INTEGER, slot),
    ):
        same = Expression.Equal(kind, Expression.Constant(Byte(number)))
        value = Expression.Condition(same, convert(tree, Object), value)
    return block(
        (column, at, kind, slot),
        assign(at, row),
        count_up(
            column,
            Expression.ArrayLength(parameters),
            assign(kind, call(Marshal, "ReadByte", kinds, at)),
            assign(slot, call(Marshal, "ReadInt64", slots, Expression.Multiply(at, constant(8)))),
            assign(Expression.Property(Expression.ArrayIndex(parameters, column), "Value"), value),
            Expression.AddAssign(at, rows),
        ),
    )


def _read(context: Tree, reader: Tree, space: Tree, then: Callable[[Tree], Tree]) -> Tree:
    """Lay out the next rows in the space; returns how many, when `then` is done with that number."""
    opened = variable(DbDataReader)
    row, most, column, columns = (variable(Int32) for _ in range(4))

    def rows(keep: Callable[[Tree], Tree]) -> Tree:
        there = Expression.AndAlso(Expression.LessThan(row, most), call(opened, "Read"))
        cells = count_up(column, columns, keep(call(opened, "GetValue", column)))
        return loop(there, cells, Expression.PreIncrementAssign(row))

    return block(
        (opened, row, most, column, columns),
        assign(opened, held(_pointer(reader), DbDataReader)),
        assign(row, constant(0)),
        assign(most, _number(space, _MOST)),
        assign(columns, _number(reader, _COLUMNS)),
        _laid_out(context, space, rows),
        then(row),
        row,
    )


def _column(context: Tree, one: Tree, two: Tree, values: Tree, reader: Tree, space: Tree) -> Tree:
    """Collect the values of the column `first` of all rows, as a program does that keeps them."""
    opened, found, column = variable(DbDataReader), variable(List[Object]), variable(Int32)
    return block(
        (opened, found, column),
        assign(opened, held(_pointer(reader), DbDataReader)),
        assign(found, new(List[Object])),
        assign(column, _number(space, _FIRST)),
        loop(call(opened, "Read"), call(found, "Add", call(opened, "GetValue", column))),
        _close(context, one, two, values, reader),
        call(Marshal, "WriteIntPtr", space, constant(_LIST), handle_of(found)),
        Expression.Property(found, "Count"),
    )


def _lay(context: Tree, collected: Tree, two: Tree, values: Tree, reader: Tree, space: Tree) -> Tree:
    """Lay out values of a list from `first` on."""
    found, at, first, count = variable(List[Object]), variable(Int32), variable(Int32), variable(Int32)

    def rows(keep: Callable[[Tree], Tree]) -> Tree:
        return count_up(at, count, keep(call(found, "get_Item", Expression.Add(first, at))))

    return block(
        (found, at, first, count),
        assign(found, held(collected, List[Object])),
        assign(first, _number(space, _FIRST)),
        assign(count, _number(space, _MOST)),
        _laid_out(context, space, rows),
        count,
    )


def _laid_out(context: Tree, space: Tree, rows: Callable[[Callable[[Tree], Tree]], Tree]) -> Tree:
    """Put the values that `rows` gives to a step into the space, and texts and bytes into the context's data."""
    value, kinds, slots, at, used = (variable(each) for each in (Object, IntPtr, IntPtr, Int32, Int32))

    def keep(given: Tree) -> Tree:
        kept = _keep(context, value, (kinds, slots, at), used)
        return block((), assign(value, given), kept, Expression.PreIncrementAssign(at))

    return block(
        (value, kinds, slots, at, used),
        assign(at, constant(0)),
        assign(used, constant(0)),
        assign(kinds, _pointer(space, _KINDS)),
        assign(slots, _pointer(space, _SLOTS)),
        rows(keep),
        put(context, USED, Expression.Multiply(used, constant(2))),
    )


def _keep(context: Tree, value: Tree, place: tuple[Tree, Tree, Tree], used: Tree) -> Tree:
    """Keep a value by the type that it has. What has no kind of its own is kept as its text."""
    kinds, slots, at = place

    def slot(kind: int, number: Tree) -> Tree:
        return block(
            (),
            call(Marshal, "WriteByte", kinds, at, Expression.Constant(Byte(kind))),
            call(Marshal, "WriteInt64", slots, Expression.Multiply(at, constant(8)), number),
        )

    def heaped(kind: int, tree: Tree, width: int) -> Tree:
        """An array of elements of some width, which goes to the heap; its room there is counted in pairs of bytes."""
        elements, start = variable(tree.Type), Expression.Multiply(used, constant(2))
        length = Expression.ArrayLength(elements)
        size = Expression.Multiply(length, constant(width))
        begin = Expression.LeftShift(convert(used, Int64), constant(32))
        return block(
            (elements,),
            assign(elements, tree),
            room(context, Expression.Add(start, size)),
            call(Marshal, "Copy", elements, constant(0), add(get(context, DATA), start), length),
            slot(kind, Expression.Or(begin, convert(length, Int64))),
            Expression.AddAssign(used, Expression.Divide(Expression.Add(size, constant(1)), constant(2))),
        )

    def text(kind: int, tree: Tree) -> Tree:
        return heaped(kind, call(tree, "ToCharArray"), 2)

    def real(number: Tree) -> Tree:
        return slot(FLOAT, call(BitConverter, "DoubleToInt64Bits", number))

    whole, said = slot(INTEGER, call(Convert, "ToInt64", value)), call(Convert, "ToString", value, _INVARIANT)
    step = text(TEXT, said)
    for kind, tree in (
        *((kind, whole) for kind in (Boolean, Byte, Int16, Int32)),
        (Single, real(call(Convert, "ToDouble", value))),
        (DBNull, slot(NULL, Expression.Constant(Int64(0)))),
        (Array[Byte], heaped(BINARY, convert(value, Array[Byte]), 1)),
        (DateTime, slot(MOMENT, Expression.Property(convert(value, DateTime), "Ticks"))),
        (Decimal, text(DECIMAL, said)),
        (Double, real(convert(value, Double))),
        (Int64, slot(INTEGER, convert(value, Int64))),
        (String, text(TEXT, convert(value, String))),
    ):
        step = Expression.IfThenElse(Expression.TypeIs(value, type_of(kind)), tree, step)
    return step


def _number(struct: Tree, at: int) -> Tree:
    return call(Marshal, "ReadInt32", struct, constant(at))


def _pointer(struct: Tree, at: int = 0) -> Tree:
    return call(Marshal, "ReadIntPtr", struct, constant(at))
