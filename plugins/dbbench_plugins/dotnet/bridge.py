"""Operations of a store of .NET's as functions of C. Import it when the runtime runs.

What is walked over is put into the context's data as the lengths of a key and a value, the key and the value, one
record after the other. The context's state says how far a scan has come.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Any

from System import IntPtr
from System.Linq.Expressions import Expression

from dbbench_plugins.dotnet import keys
from dbbench_plugins.dotnet.context import DATA, STATE, USED, compiled, freed, get, handle_of, held, put, room
from dbbench_plugins.dotnet.store import Store
from dbbench_plugins.dotnet.trees import (
    BYTES,
    INT,
    MARSHAL,
    POINTER,
    Signature,
    Tree,
    add,
    assign,
    block,
    call,
    constant,
    loop,
    variable,
)

_ONE = Signature(
    "One", "int(*)(struct context *, const char *, int, const char *, int)", POINTER, POINTER, INT, POINTER, INT
)
_MANY = Signature(
    "Many", "int(*)(struct context *, const char *, const int *, const char *, const int *, int)", *[POINTER] * 5, INT
)
REFUSED = -2


class Functions:
    """The functions of one store, for all its clients: each is compiled when it is first asked for, and kept."""

    def __init__(self, store: Store) -> None:
        self.store, self.key = store, store.key
        self._kept: list[Any] = []  # a function pointer is good as long as its delegate
        self._compiling = Lock()
        self._compiled: dict[str, Callable[..., int]] = {}

    def __getitem__(self, name: str) -> Callable[..., int]:
        with self._compiling:
            if name not in self._compiled:
                self._compiled[name] = self._compile(*self._written(name))
            return self._compiled[name]

    def _written(self, name: str) -> tuple[Signature, Callable[..., Tree]]:
        operations = {
            "insert": self.store.insert,
            "update": self.store.update,
            "delete": lambda key, _: self.store.remove(key),
        }
        if name in operations:
            return _ONE, self._write(operations[name])
        if name.endswith("_many"):
            return _MANY, self._write_many(operations[name.removesuffix("_many")])
        return _ONE, {"read": self._read, "range": self._range, "start": self._start, "next": self._next}[name]

    def _compile(self, signature: Signature, make: Callable[..., Tree]) -> Callable[..., int]:
        delegate, function = compiled(signature, make)
        self._kept.append(delegate)
        return function

    def _write(self, operation: Callable[[Tree, Tree], Tree]) -> Callable[..., Tree]:
        def make(context: Tree, key: Tree, key_length: Tree, value: Tree, value_length: Tree) -> Tree:
            one = operation(self.key.read(key, key_length), keys.copied(value, value_length))
            return Expression.Condition(one, constant(0), constant(REFUSED))

        return make

    def _write_many(self, operation: Callable[[Tree, Tree], Tree]) -> Callable[..., Tree]:
        def make(context: Tree, key: Tree, key_lengths: Tree, value: Tree, value_lengths: Tree, count: Tree) -> Tree:
            at, key_at, value_at, key_length, value_length, refused = (variable(INT) for _ in range(6))
            each = call(MARSHAL, "ReadInt32", key_lengths, Expression.Multiply(at, constant(4)))
            of_it = call(MARSHAL, "ReadInt32", value_lengths, Expression.Multiply(at, constant(4)))
            one = operation(
                self.key.read(add(key, key_at), key_length), keys.copied(add(value, value_at), value_length)
            )
            return block(
                (at, key_at, value_at, key_length, value_length, refused),
                loop(
                    Expression.AndAlso(Expression.LessThan(at, count), Expression.Equal(refused, constant(0))),
                    assign(key_length, each),
                    assign(value_length, of_it),
                    Expression.IfThen(Expression.Not(one), assign(refused, constant(REFUSED))),
                    Expression.AddAssign(key_at, key_length),
                    Expression.AddAssign(value_at, value_length),
                    Expression.AddAssign(at, constant(1)),
                ),
                refused,
            )

        return make

    def _read(self, context: Tree, key: Tree, key_length: Tree, *_: Tree) -> Tree:
        value = variable(BYTES)
        return block(
            (value,),
            Expression.Condition(
                self.store.find(self.key.read(key, key_length), value),
                block(
                    (),
                    room(context, Expression.ArrayLength(value)),
                    keys.copy(value, get(context, DATA)),
                    Expression.ArrayLength(value),
                ),
                constant(REFUSED),
            ),
        )

    def _start(self, context: Tree, *_: Tree) -> Tree:
        return block((), self._put_away(context, self.store.walk(None)), constant(0))

    def _put_away(self, context: Tree, state: Tree) -> Tree:
        return put(context, STATE, handle_of(state))

    def _next(self, context: Tree, _key: Tree, count: Tree, *_: Tree) -> Tree:
        state, walked = variable(self.store.walk_type), variable(INT)
        return block(
            (state, walked),
            assign(state, held(get(context, STATE), self.store.walk_type)),
            freed(get(context, STATE)),
            put(context, STATE, Expression.Constant(IntPtr.Zero)),
            assign(walked, self._walk(context, state, count)),
            self._put_away(context, state),
            walked,
        )

    def _range(self, context: Tree, key: Tree, key_length: Tree, _value: Tree, count: Tree) -> Tree:
        state, walked = variable(self.store.walk_type), variable(INT)
        return block(
            (state, walked),
            assign(state, self.store.walk(self.key.read(key, key_length))),
            assign(walked, self._walk(context, state, count)),
            *self.store.walked(state),
            walked,
        )

    def _walk(self, context: Tree, state: Tree, most: Tree) -> Tree:
        """Put up to `most` records into the data; returns how many there were."""
        count, used, key_size, pointer = variable(INT), variable(INT), variable(INT), variable(POINTER)
        key, value = variable(self.key.type), variable(BYTES)
        length = Expression.ArrayLength(value)
        whole = Expression.Add(Expression.Add(key_size, length), constant(8))
        return block(
            (count, used, key_size, pointer, key, value),
            loop(
                Expression.AndAlso(Expression.LessThan(count, most), self.store.there(state)),
                assign(key, self.store.key_at(state)),
                assign(value, self.store.value_at(state)),
                assign(key_size, self.key.size(key)),
                room(context, Expression.Add(used, whole)),
                assign(pointer, add(get(context, DATA), used)),
                call(MARSHAL, "WriteInt32", pointer, key_size),
                call(MARSHAL, "WriteInt32", pointer, constant(4), length),
                self.key.write(key, add(pointer, constant(8))),
                keys.copy(value, add(pointer, Expression.Add(key_size, constant(8)))),
                Expression.AddAssign(used, whole),
                Expression.AddAssign(count, constant(1)),
                *self.store.further(state),
            ),
            put(context, USED, used),
            count,
        )
