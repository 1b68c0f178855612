"""Loops over rows as functions of C, for any provider of ADO.NET. Import it when the runtime runs.

A call of .NET from Python takes 10 microseconds, so rows and parameters cross over many at a time. A value is a byte for
its kind in one array and 8 bytes, its slot, in another, row after row:

    NULL     -
    INTEGER  the number, as an Int64
    FLOAT    the number, as a Double
    MOMENT   the ticks of a DateTime
    TEXT     where it begins in the heap (the upper 4 bytes) and how long it is: in UTF-8 where it is bound, and in units
             of UTF-16 where it is read
    BINARY   likewise; where it is read, the beginning counts pairs of bytes
    DECIMAL  where it is bound: its digits, as an Int64; the kind is DECIMAL and the number of decimal places together.
             Where it is read: like BINARY, the four numbers of Decimal.GetBits
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import clr
from System import (
    Array,
    BitConverter,
    Boolean,
    Buffer,
    Byte,
    Char,
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
    Math,
    Single,
    String,
    Type,
)
from System import Tuple as Pair
from System.Data import IsolationLevel
from System.Data.Common import DbCommand, DbConnection, DbDataReader, DbParameter, DbTransaction
from System.Globalization import CultureInfo
from System.Linq.Expressions import Expression
from System.Text import Encoding

from dbbench_plugins.dotnet.context import DATA, FFI, HANDLE, STATE, USED, compiled, get, handle_of, held, put, room
from dbbench_plugins.dotnet.trees import (
    BYTES,
    INT,
    LONG,
    MARSHAL,
    OBJECT,
    POINTER,
    Signature,
    Tree,
    block,
    call,
    constant,
    loop,
    variable,
)

NULL, INTEGER, FLOAT, MOMENT, TEXT, BINARY, DECIMAL = range(7)
FFI.cdef("""
    struct values { char *kinds; int64_t *slots; const char *heap; int heap_bytes; int rows; };
    struct reader { intptr_t handle; int columns; };
    struct room { char *kinds; int64_t *slots; int size; int rows; int first; int last; };
""")
_KINDS, _SLOTS, _HEAP = 0, 8, 16
_HEAP_BYTES, _ROWS = 24, 28
_COLUMNS = 8
_SIZE, _MOST, _FIRST, _LAST = 16, 20, 24, 28

COMMAND, CONNECTION, READER, TRANSACTION, PARAMETERS, CHARS = (
    clr.GetClrType(each)
    for each in (DbCommand, DbConnection, DbDataReader, DbTransaction, Array[DbParameter], Array[Char])
)
#: A command, and its parameters in an array.
STATEMENT = clr.GetClrType(Pair[DbCommand, Array[DbParameter]])
_CHAR, _BYTE, _DOUBLE, _MOMENT, _TEXT, _DECIMAL = (
    clr.GetClrType(each) for each in (Char, Byte, Double, DateTime, String, Decimal)
)
_CONVERT, _BITS, _BUFFER, _ARRAY, _MATH = (
    clr.GetClrType(each) for each in (Convert, BitConverter, Buffer, Array, Math)
)
_INVARIANT, _UTF8, _NOTHING = (
    Expression.Constant(each) for each in (CultureInfo.InvariantCulture, Encoding.UTF8, DBNull.Value)
)
_CALL = Signature(
    "AdoCall",
    "int(*)(struct context *, intptr_t, intptr_t, struct values *, struct reader *, struct room *)",
    *[POINTER] * 6,
)
_kept: list[Any] = []  # a function pointer is good as long as its delegate


@cache
def function(name: str) -> Callable[..., int]:
    """A function, compiled for the process when it is first asked for. All take the same; 0 stands for what one doesn't need.

    execute(context, statement, transaction, values)           runs the statement for each row of values
    query(context, statement, transaction, values, reader)     runs it with one row of values, and opens a reader
    first(context, statement, transaction, values, reader, room)   the same, reads a row and closes the reader
    fetch(context, 0, 0, 0, reader, room)                      reads further rows; closes the reader at its end
    close(context, 0, 0, 0, reader)                            closes the reader
    begin(context, connection, isolation, 0, reader)           begins a transaction; its handle is put into `reader`
    commit, rollback(context, transaction)                     ends it and frees the handle
    """
    functions: dict[str, Callable[..., Tree]] = {
        "execute": _execute,
        "query": _query,
        "first": _first,
        "fetch": _fetch,
        "close": _close,
        "begin": _begin,
        "commit": partial(_end, "Commit"),
        "rollback": partial(_end, "Rollback"),
    }
    delegate, made = compiled(_CALL, functions[name])
    _kept.append(delegate)
    return made


def heap() -> Any:
    """Where the functions of one client collect what they read of texts and bytes: the state of its context."""
    return Array.CreateInstance(_CHAR, 1 << 15)


def _execute(context: Tree, statement: Tree, transaction: Tree, values: Tree, *_: Tree) -> Tree:
    row = variable(INT)

    def runs(command: Tree, bind: Callable[[Tree], Tree]) -> list[Tree]:
        steps = [bind(row), call(command, "ExecuteNonQuery"), Expression.AddAssign(row, constant(1))]
        return [loop(Expression.LessThan(row, _number(values, _ROWS)), *steps), constant(0)]

    return block((row,), _zero(row), _with(statement, transaction, values, runs))


def _query(context: Tree, statement: Tree, transaction: Tree, values: Tree, reader: Tree, *_: Tree) -> Tree:
    opened = variable(READER)

    def runs(command: Tree, bind: Callable[[Tree], Tree]) -> list[Tree]:
        return [
            bind(constant(0)),
            Expression.Assign(opened, call(command, "ExecuteReader")),
            call(MARSHAL, "WriteIntPtr", reader, handle_of(opened)),
            call(MARSHAL, "WriteInt32", reader, constant(_COLUMNS), Expression.Property(opened, "FieldCount")),
            constant(0),
        ]

    return block((opened,), _with(statement, transaction, values, runs))


def _first(context: Tree, statement: Tree, transaction: Tree, values: Tree, reader: Tree, space: Tree) -> Tree:
    rows = variable(INT)
    return block(
        (rows,),
        _query(context, statement, transaction, values, reader),
        Expression.Assign(rows, _read(context, reader, space)),
        _close(context, statement, transaction, values, reader, space),
        rows,
    )


def _fetch(context: Tree, one: Tree, two: Tree, values: Tree, reader: Tree, space: Tree) -> Tree:
    rows = variable(INT)
    end = _close(context, one, two, values, reader, space)
    return block(
        (rows,),
        Expression.Assign(rows, _read(context, reader, space)),
        Expression.IfThen(Expression.LessThan(rows, _number(space, _MOST)), end),
        rows,
    )


def _close(context: Tree, one: Tree, two: Tree, values: Tree, reader: Tree, *_: Tree) -> Tree:
    handle, opened = variable(HANDLE), variable(READER)
    return block(
        (handle, opened),
        Expression.Assign(opened, held(_pointer(reader), READER)),
        Expression.Assign(handle, call(HANDLE, "FromIntPtr", _pointer(reader))),
        call(handle, "Free"),
        call(MARSHAL, "WriteIntPtr", reader, Expression.Constant(IntPtr.Zero)),
        _dispose(opened),
        constant(0),
    )


def _begin(context: Tree, connection: Tree, isolation: Tree, values: Tree, reader: Tree, *_: Tree) -> Tree:
    level = Expression.Convert(call(isolation, "ToInt32"), clr.GetClrType(IsolationLevel))
    begun = call(held(connection, CONNECTION), "BeginTransaction", level)
    return block((), call(MARSHAL, "WriteIntPtr", reader, handle_of(begun)), constant(0))


def _end(how: str, context: Tree, transaction: Tree, *_: Tree) -> Tree:
    handle, ended = variable(HANDLE), variable(TRANSACTION)
    return block(
        (handle, ended),
        Expression.Assign(ended, held(transaction, TRANSACTION)),
        call(ended, how),
        Expression.Assign(handle, call(HANDLE, "FromIntPtr", transaction)),
        call(handle, "Free"),
        _dispose(ended),
        constant(0),
    )


def _with(
    statement: Tree, transaction: Tree, values: Tree, runs: Callable[[Tree, Callable[[Tree], Tree]], list[Tree]]
) -> Tree:
    """What is done with a command in its transaction, and with a way to give its parameters the values of a row."""
    both, command, parameters, data = variable(STATEMENT), variable(COMMAND), variable(PARAMETERS), variable(BYTES)
    given = Expression.Condition(
        Expression.Equal(transaction, Expression.Constant(IntPtr.Zero)),
        Expression.Constant(None, TRANSACTION),
        held(transaction, TRANSACTION),
    )
    return block(
        (both, command, parameters, data),
        Expression.Assign(both, held(statement, STATEMENT)),
        Expression.Assign(command, Expression.Property(both, "Item1")),
        Expression.Assign(parameters, Expression.Property(both, "Item2")),
        Expression.Assign(Expression.Property(command, "Transaction"), given),
        Expression.Assign(data, Expression.NewArrayBounds(_BYTE, Array[Expression]([_number(values, _HEAP_BYTES)]))),
        Expression.IfThen(
            Expression.GreaterThan(Expression.ArrayLength(data), constant(0)),
            call(MARSHAL, "Copy", _pointer(values, _HEAP), data, constant(0), Expression.ArrayLength(data)),
        ),
        *runs(command, partial(_bind, parameters, values, data)),
    )


def _bind(parameters: Tree, values: Tree, data: Tree, row: Tree) -> Tree:
    """Give the parameters the values of a row."""
    column, at, kind, slot = (variable(each) for each in (INT, INT, INT, LONG))
    count = Expression.ArrayLength(parameters)
    start = Expression.Convert(Expression.RightShift(slot, constant(32)), INT)
    length = Expression.Convert(slot, INT)
    piece = variable(BYTES)
    binary = block(
        (piece,),
        Expression.Assign(piece, Expression.NewArrayBounds(_BYTE, Array[Expression]([length]))),
        call(_BUFFER, "BlockCopy", data, start, piece, constant(0), length),
        _boxed(piece),
    )
    size = call(_MATH, "Abs", slot)
    digits = [Expression.Convert(size, INT), Expression.Convert(Expression.RightShift(size, constant(32)), INT)]
    places = Expression.Convert(Expression.Subtract(kind, constant(DECIMAL)), _BYTE)
    maker = _DECIMAL.GetConstructor(Array[Type]([INT, INT, INT, clr.GetClrType(Boolean), _BYTE]))
    negative = Expression.LessThan(slot, Expression.Constant(Int64(0)))
    made: Tree = Expression.New(maker, Array[Expression]([*digits, constant(0), negative, places]))
    value = _boxed(made)
    for number, tree in (
        (BINARY, binary),
        (MOMENT, Expression.New(_MOMENT.GetConstructor(Array[Type]([LONG])), Array[Expression]([slot]))),
        (NULL, _NOTHING),
        (FLOAT, call(_BITS, "Int64BitsToDouble", slot)),
        (TEXT, call(_UTF8, "GetString", data, start, length)),
        (INTEGER, slot),
    ):
        value = Expression.Condition(Expression.Equal(kind, constant(number)), _boxed(tree), value)
    return block(
        (column, at, kind, slot),
        _zero(column),
        Expression.Assign(at, Expression.Multiply(row, count)),
        loop(
            Expression.LessThan(column, count),
            Expression.Assign(kind, Expression.Convert(call(MARSHAL, "ReadByte", _pointer(values, _KINDS), at), INT)),
            Expression.Assign(
                slot, call(MARSHAL, "ReadInt64", _pointer(values, _SLOTS), Expression.Multiply(at, constant(8)))
            ),
            Expression.Assign(Expression.Property(Expression.ArrayIndex(parameters, column), "Value"), value),
            Expression.AddAssign(column, constant(1)),
            Expression.AddAssign(at, constant(1)),
        ),
    )


def _read(context: Tree, reader: Tree, space: Tree) -> Tree:
    """Put some columns of the next rows into the space, and into the context's data; returns how many rows."""
    opened, kinds, slots, heap = (variable(each) for each in (READER, POINTER, POINTER, CHARS))
    row, column, first, last, at, used = (variable(INT) for _ in range(6))
    value = variable(OBJECT)
    return block(
        (opened, kinds, slots, heap, row, column, first, last, at, used, value),
        *map(_zero, (row, at, used)),
        Expression.Assign(opened, held(_pointer(reader), READER)),
        Expression.Assign(kinds, _pointer(space, _KINDS)),
        Expression.Assign(slots, _pointer(space, _SLOTS)),
        Expression.Assign(heap, held(get(context, STATE), CHARS)),
        Expression.Assign(first, _number(space, _FIRST)),
        Expression.Assign(last, _number(space, _LAST)),
        loop(
            Expression.AndAlso(Expression.LessThan(row, _number(space, _MOST)), call(opened, "Read")),
            Expression.Assign(column, first),
            loop(
                Expression.LessThan(column, last),
                Expression.Assign(value, call(opened, "GetValue", column)),
                _keep(context, value, (kinds, slots, at), heap, used),
                Expression.AddAssign(at, constant(1)),
                Expression.AddAssign(column, constant(1)),
            ),
            Expression.AddAssign(row, constant(1)),
        ),
        room(context, Expression.Multiply(used, constant(2))),
        call(MARSHAL, "Copy", heap, constant(0), get(context, DATA), used),
        put(context, USED, Expression.Multiply(used, constant(2))),
        row,
    )


def _keep(context: Tree, value: Tree, place: tuple[Tree, Tree, Tree], heap: Tree, used: Tree) -> Tree:
    """Keep a value by the type that it has. What has no kind of its own is kept as its text."""
    kinds, slots, at = place

    def slot(kind: int, number: Tree) -> Tree:
        return block(
            (),
            call(MARSHAL, "WriteByte", kinds, at, Expression.Constant(Byte(kind))),
            call(MARSHAL, "WriteInt64", slots, Expression.Multiply(at, constant(8)), number),
        )

    def heaped(kind: int, length: Tree, units: Tree, copy: Tree) -> Tree:
        """What goes to the heap: how long it is, how many units it takes there, and how it is copied."""
        begin = Expression.LeftShift(Expression.Convert(used, LONG), constant(32))
        return block(
            (),
            _grown(context, heap, used, units),
            copy,
            slot(kind, Expression.Or(begin, Expression.Convert(length, LONG))),
            Expression.AddAssign(used, units),
        )

    def text(tree: Tree) -> Tree:
        held_text, length = variable(_TEXT), variable(INT)
        return block(
            (held_text, length),
            Expression.Assign(held_text, tree),
            Expression.Assign(length, Expression.Property(held_text, "Length")),
            heaped(TEXT, length, length, call(held_text, "CopyTo", constant(0), heap, used, length)),
        )

    def copied(kind: int, tree: Tree, type_: Any, width: int) -> Tree:
        array, size = variable(type_), variable(INT)
        units = Expression.Divide(Expression.Add(size, constant(1)), constant(2))
        there = Expression.Multiply(used, constant(2))
        return block(
            (array, size),
            Expression.Assign(array, tree),
            Expression.Assign(size, Expression.Multiply(Expression.ArrayLength(array), constant(width))),
            heaped(kind, size, units, call(_BUFFER, "BlockCopy", array, constant(0), heap, there, size)),
        )

    def typed(kind: Any) -> Tree:
        return Expression.Convert(value, clr.GetClrType(kind))

    def number(kind: Any) -> Tree:
        return slot(INTEGER, Expression.Convert(typed(kind), LONG))

    def real(kind: Any) -> Tree:
        return slot(FLOAT, call(_BITS, "DoubleToInt64Bits", Expression.Convert(typed(kind), _DOUBLE)))

    step = text(call(_CONVERT, "ToString", value, _INVARIANT))
    for kind, tree in (
        (Boolean, slot(INTEGER, Expression.Convert(call(_CONVERT, "ToInt32", typed(Boolean)), LONG))),
        (Byte, number(Byte)),
        (Int16, number(Int16)),
        (Single, real(Single)),
        (DBNull, slot(NULL, Expression.Constant(Int64(0)))),
        (Array[Byte], copied(BINARY, typed(Array[Byte]), BYTES, 1)),
        (DateTime, slot(MOMENT, Expression.Property(typed(DateTime), "Ticks"))),
        (Decimal, copied(DECIMAL, call(_DECIMAL, "GetBits", typed(Decimal)), clr.GetClrType(Array[Int32]), 4)),
        (Int32, number(Int32)),
        (Double, real(Double)),
        (Int64, number(Int64)),
        (String, text(typed(String))),
    ):
        step = Expression.IfThenElse(Expression.TypeIs(value, clr.GetClrType(kind)), tree, step)
    return step


def _grown(context: Tree, heap: Tree, used: Tree, units: Tree) -> Tree:
    """Let the heap have space for some units more; a larger one takes its place in the context."""
    handle, larger, needed = variable(HANDLE), variable(CHARS), Expression.Add(used, units)
    return Expression.IfThen(
        Expression.LessThan(Expression.ArrayLength(heap), needed),
        block(
            (handle, larger),
            Expression.Assign(
                larger,
                Expression.NewArrayBounds(_CHAR, Array[Expression]([Expression.Multiply(needed, constant(2))])),
            ),
            call(_ARRAY, "Copy", heap, larger, used),
            Expression.Assign(heap, larger),
            Expression.Assign(handle, call(HANDLE, "FromIntPtr", get(context, STATE))),
            Expression.Assign(Expression.Property(handle, "Target"), larger),
        ),
    )


def _zero(number: Tree) -> Tree:
    """A variable may have the place of another one, whose value it then has, and keeps its own in a loop."""
    return Expression.Assign(number, constant(0))


def _dispose(thing: Tree) -> Tree:
    return call(Expression.Convert(thing, clr.GetClrType(IDisposable)), "Dispose")


def _boxed(value: Tree) -> Tree:
    return Expression.Convert(value, OBJECT)


def _number(struct: Tree, at: int) -> Tree:
    return call(MARSHAL, "ReadInt32", struct, constant(at))


def _pointer(struct: Tree, at: int = 0) -> Tree:
    return call(MARSHAL, "ReadIntPtr", struct, constant(at))
