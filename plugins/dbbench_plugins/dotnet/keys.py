"""How bytes become keys of .NET's types, so that these compare as the bytes do, and bytes again."""

from __future__ import annotations

from typing import Any

import clr
from System import ArgumentException, Byte, Guid, Int16, Int32, Int64, String
from System.Linq.Expressions import Expression
from System.Net import IPAddress
from System.Text import Encoding

from dbbench_plugins.dotnet.trees import (
    BYTES,
    LONG,
    MARSHAL,
    Tree,
    add,
    array,
    assign,
    block,
    call,
    constant,
    convert,
    new,
    variable,
)


def copied(pointer: Tree, length: Tree) -> Tree:
    """A new array with the bytes at a pointer."""
    made = variable(BYTES)
    return block(
        (made,), assign(made, array(Byte, length)), call(MARSHAL, "Copy", pointer, made, constant(0), length), made
    )


def copy(data: Tree, pointer: Tree) -> Tree:
    """Write all of an array to a pointer."""
    return call(MARSHAL, "Copy", data, constant(0), pointer, Expression.ArrayLength(data))


def _number(pointer: Tree) -> Tree:
    """The 8 bytes at a pointer, its most significant byte first."""
    return call(IPAddress, "NetworkToHostOrder", call(MARSHAL, "ReadInt64", pointer))


def _part(number: Tree, shift: int, kind: Any) -> Tree:
    return convert(Expression.RightShift(number, constant(shift)), kind)


def _of_length(length: Tree, wanted: int) -> Tree:
    """Throws for a key that isn't as long as all the others."""
    wrong = ArgumentException(f"not a key of {wanted} bytes")
    return Expression.IfThen(
        Expression.NotEqual(length, constant(wanted)), Expression.Throw(Expression.Constant(wrong))
    )


class Int64Key:
    """Keys of 8 bytes. The sign bit is turned over, for numbers are compared as signed ones."""

    type = LONG
    least = Expression.Constant(Int64(-(2**63)))

    def read(self, pointer: Tree, length: Tree) -> Tree:
        return block((), _of_length(length, 8), Expression.ExclusiveOr(_number(pointer), self.least))

    def size(self, key: Tree) -> Tree:
        return constant(8)

    def write(self, key: Tree, pointer: Tree) -> Tree:
        turned = Expression.ExclusiveOr(key, self.least)
        return call(MARSHAL, "WriteInt64", pointer, call(IPAddress, "HostToNetworkOrder", turned))


class GuidKey:
    """Keys of 16 bytes. A Guid is a number of 4 bytes, two of 2, and 8 bytes, compared in that order."""

    type = clr.GetClrType(Guid)
    _numbers = ((0, "ReadInt32", "WriteInt32"), (4, "ReadInt16", "WriteInt16"), (6, "ReadInt16", "WriteInt16"))

    def read(self, pointer: Tree, length: Tree) -> Tree:
        high, low = variable(LONG), variable(LONG)
        rest = [_part(low, 56 - 8 * at, Byte) for at in range(8)]
        numbers = [_part(high, 32, Int32), _part(high, 16, Int16), _part(high, 0, Int16)]
        return block(
            (high, low),
            _of_length(length, 16),
            assign(high, _number(pointer)),
            assign(low, _number(add(pointer, constant(8)))),
            new(self.type, *numbers, *rest),
        )

    def size(self, key: Tree) -> Tree:
        return constant(16)

    def write(self, key: Tree, pointer: Tree) -> Tree:
        turned = [
            call(
                MARSHAL,
                write,
                pointer,
                constant(at),
                call(IPAddress, "HostToNetworkOrder", call(MARSHAL, read, pointer, constant(at))),
            )
            for at, read, write in self._numbers
        ]
        return block((), copy(call(key, "ToByteArray"), pointer), *turned)


class TextKey:
    """Keys of any length, a character of the first 256 for each byte: to be compared by their numbers."""

    type = clr.GetClrType(String)
    _latin = Expression.Constant(Encoding.GetEncoding("iso-8859-1"))

    def read(self, pointer: Tree, length: Tree) -> Tree:
        return call(self._latin, "GetString", copied(pointer, length))

    def size(self, key: Tree) -> Tree:
        return Expression.Property(key, "Length")

    def write(self, key: Tree, pointer: Tree) -> Tree:
        return copy(call(self._latin, "GetBytes", key), pointer)


class BytesKey:
    """Keys of any length as they are, for a store that knows how to compare arrays."""

    type = BYTES

    def read(self, pointer: Tree, length: Tree) -> Tree:
        return copied(pointer, length)

    def size(self, key: Tree) -> Tree:
        return Expression.ArrayLength(key)

    def write(self, key: Tree, pointer: Tree) -> Tree:
        return copy(key, pointer)


KINDS: dict[str, Any] = {"int64": Int64Key, "guid": GuidKey, "text": TextKey, "bytes": BytesKey}
#: The kinds whose keys have one length.
LENGTHS = {"int64": 8, "guid": 16}
