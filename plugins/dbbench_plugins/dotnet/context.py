"""Functions of C over expression trees, each with a context to put what it reads. Import it when the runtime runs.

Every function takes a context first, which belongs to one client:

    {data, capacity, used, error, state}    where what is read is put; an exception; what the functions keep

and gives FAILED if it threw, with the exception in `error`. The data grow in .NET.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cffi
from System import IntPtr
from System.Linq.Expressions import Expression
from System.Runtime.InteropServices import GCHandle, Marshal

from dbbench_plugins.dotnet.store import StoreFailed
from dbbench_plugins.dotnet.trees import (
    INT,
    MARSHAL,
    OBJECT,
    POINTER,
    Signature,
    Tree,
    assign,
    block,
    call,
    constant,
    convert,
    guarded,
    variable,
)

FFI = cffi.FFI()
FFI.cdef("struct context { char *data; int capacity; int used; intptr_t error; intptr_t state; };")
DATA, CAPACITY, USED, ERROR, STATE = 0, 8, 12, 16, 24
FAILED = -1
_FIRST_CAPACITY = 1 << 16


def compiled(signature: Signature, make: Callable[..., Tree]) -> tuple[Any, Callable[..., int]]:
    """The delegate, to be kept as long as the function, and the function of `make`: no exception gets out of it."""

    def safe(context: Tree, *given: Tree) -> Tree:
        def keep(thrown: Tree) -> Tree:
            return block((), put(context, ERROR, handle_of(thrown)), constant(FAILED))

        return guarded(make(context, *given), keep)

    delegate, address = signature.compiled(safe)
    function: Callable[..., int] = FFI.cast(signature.c, address)
    return delegate, function


def handle_of(thing: Tree) -> Tree:
    """A number for an object, which keeps it until the handle is freed."""
    return call(GCHandle, "ToIntPtr", call(GCHandle, "Alloc", convert(thing, OBJECT)))


def held(handle: Tree, kind: Any) -> Tree:
    """The object of a handle, by its number."""
    return convert(Expression.Property(call(GCHandle, "FromIntPtr", handle), "Target"), kind)


def freed(handle: Tree) -> Tree:
    """Let go of the object of a handle."""
    return call(call(GCHandle, "FromIntPtr", handle), "Free")


def get(context: Tree, at: int) -> Tree:
    """A field of the context."""
    return call(MARSHAL, "ReadInt32" if at in (CAPACITY, USED) else "ReadIntPtr", context, constant(at))


def put(context: Tree, at: int, value: Tree) -> Tree:
    """Set a field of the context."""
    return call(MARSHAL, "WriteInt32" if at in (CAPACITY, USED) else "WriteIntPtr", context, constant(at), value)


def room(context: Tree, needed: Tree) -> Tree:
    """Let the data have space for `needed` bytes; what it holds stays where it is."""
    more = variable(INT)
    size = convert(more, POINTER)
    return Expression.IfThen(
        Expression.LessThan(get(context, CAPACITY), needed),
        block(
            (more,),
            assign(more, Expression.Multiply(needed, constant(2))),
            put(context, DATA, call(MARSHAL, "ReAllocHGlobal", get(context, DATA), size)),
            put(context, CAPACITY, more),
        ),
    )


def new_context() -> Any:
    """A context with data of its own."""
    made = FFI.new("struct context *")
    made.data = FFI.cast("char *", Marshal.AllocHGlobal(_FIRST_CAPACITY).ToInt64())
    made.capacity = _FIRST_CAPACITY
    return made


def free(context: Any) -> None:
    """Give back its data, and let go of its state."""
    if context.data:
        Marshal.FreeHGlobal(IntPtr(int(FFI.cast("intptr_t", context.data))))
        context.data = FFI.NULL
    if context.state:
        GCHandle.FromIntPtr(IntPtr(context.state)).Free()
        context.state = 0


def thrown_in(context: Any, kind: type[StoreFailed]) -> StoreFailed:
    """The exception that a function has kept, to be raised."""
    handle = GCHandle.FromIntPtr(IntPtr(context.error))
    failed = failure(handle.Target, kind)
    handle.Free()
    return failed


def failure(thrown: Any, kind: type[StoreFailed]) -> StoreFailed:
    """An exception of .NET's, to be raised."""
    failed = kind(f"{thrown.GetType().FullName}: {' '.join(str(thrown.Message).split())}")
    failed.thrown = thrown
    failed.add_note(str(thrown.ToString()))  # with the stack of .NET, for the trial's folder
    return failed
