"""Expression trees in few words, compiled to function pointers. Import it when the runtime runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import clr
from System import Array, Byte, Int32, Int64, IntPtr, MulticastDelegate, Object, Type
from System import Exception as DotNetException
from System.Linq.Expressions import CatchBlock, Expression, ParameterExpression
from System.Reflection import AssemblyName, CallingConventions, MethodAttributes, MethodImplAttributes, TypeAttributes
from System.Reflection.Emit import AssemblyBuilder, AssemblyBuilderAccess
from System.Runtime.InteropServices import Marshal

Tree = Any  # an Expression

INT, LONG, POINTER, BYTES = (clr.GetClrType(each) for each in (Int32, Int64, IntPtr, Array[Byte]))
MARSHAL, EXCEPTION, OBJECT = (clr.GetClrType(each) for each in (Marshal, DotNetException, Object))


def named(name: str, *of: Any) -> Any:
    """A type of the runtime's own by its full name; a generic one of these types."""
    found = Type.GetType(f"{name}`{len(of)}" if of else name)
    if found is None:
        raise LookupError(name)
    return found.MakeGenericType(Array[Type](list(of))) if of else found


def invoked(on: Any, name: str, *given: Any) -> Any:
    """What a static method of a type gives: called now, not compiled."""
    values = [Int32(each) if isinstance(each, int) and not isinstance(each, bool) else each for each in given]
    kinds = {str: named("System.String"), int: INT, bool: named("System.Boolean")}
    method = on.GetMethod(name, Array[Type]([kinds[type(each)] for each in given]))
    if method is None:
        raise LookupError(f"{on.FullName}.{name}")
    return method.Invoke(None, Array[Object](values))


def type_of(kind: Any) -> Any:
    """A type as the runtime has it, of a class as Python has it."""
    return clr.GetClrType(kind) if isinstance(kind, type) else kind


def constant(value: Any) -> Tree:
    """A number, or an object of .NET's."""
    return Expression.Constant(Int32(value) if isinstance(value, int) and not isinstance(value, bool) else value)


def variable(kind: Any) -> Tree:
    return Expression.Variable(type_of(kind))


def assign(to: Tree, value: Tree) -> Tree:
    return Expression.Assign(to, value)


def convert(value: Tree, kind: Any) -> Tree:
    return Expression.Convert(value, type_of(kind))


def new(kind: Any, *given: Tree) -> Tree:
    """A new object, by the constructor that takes what is given."""
    maker = type_of(kind).GetConstructor(Array[Type]([each.Type for each in given]))
    return Expression.New(maker, Array[Expression](list(given)))


def array(kind: Any, length: Tree) -> Tree:
    """A new array."""
    return Expression.NewArrayBounds(type_of(kind), Array[Expression]([length]))


def call(on: Any, name: str, *given: Tree) -> Tree:
    """A method of an object's, or a static one if `on` is a type."""
    return Expression.Call(type_of(on), name, Array[Type]([]), Array[Expression](list(given)))


def block(variables: Sequence[Tree], *steps: Tree) -> Tree:
    """One after the other; the value of the last."""
    return Expression.Block(Array[ParameterExpression](list(variables)), Array[Expression](list(steps)))


def done(*steps: Tree) -> Tree:
    """Steps that can't be refused: true."""
    return block((), *steps, constant(value=True))


def loop(test: Tree, *steps: Tree) -> Tree:
    """Over and over while the test holds."""
    end = Expression.Label()
    return Expression.Loop(Expression.IfThenElse(test, block((), *steps), Expression.Break(end)), end)


def count_up(number: Tree, end: Tree, *steps: Tree) -> Tree:
    """The steps for each number from 0 to before the end."""
    again = loop(Expression.LessThan(number, end), *steps, Expression.PreIncrementAssign(number))
    # A variable may have the place of another one, whose value it then has, and keeps its own in a loop.
    return block((), assign(number, constant(0)), again)


def add(pointer: Tree, count: Tree) -> Tree:
    return call(POINTER, "Add", pointer, count)


def guarded(body: Tree, caught: Callable[[Tree], Tree]) -> Tree:
    """The body, and what is done instead if it throws: no exception may pass into C."""
    thrown = Expression.Parameter(EXCEPTION)
    return Expression.TryCatch(body, Array[CatchBlock]([Expression.Catch(thrown, caught(thrown))]))


class Signature:
    """A delegate type of its own name, which a function pointer needs and which must not be generic; and its C type."""

    _module: Any = None

    def __init__(self, name: str, c: str, *of: Any) -> None:
        if Signature._module is None:
            assembly = AssemblyBuilder.DefineDynamicAssembly(AssemblyName("dbbench"), AssemblyBuilderAccess.Run)
            Signature._module = assembly.DefineDynamicModule("dbbench")
        self.c, self.of = c, [type_of(each) for each in of]
        how = MethodAttributes.Public | MethodAttributes.HideBySig
        defined = Signature._module.DefineType(
            name, TypeAttributes.Sealed | TypeAttributes.Public, clr.GetClrType(MulticastDelegate)
        )
        maker = defined.DefineConstructor(
            how | MethodAttributes.RTSpecialName, CallingConventions.Standard, Array[Type]([OBJECT, POINTER])
        )
        invoke = defined.DefineMethod(
            "Invoke", how | MethodAttributes.NewSlot | MethodAttributes.Virtual, INT, Array[Type](self.of)
        )
        for method in (maker, invoke):
            method.SetImplementationFlags(MethodImplAttributes.Runtime)
        self.type = defined.CreateType()

    def compiled(self, make: Callable[..., Tree]) -> tuple[Any, int]:
        """The delegate that `make` writes for its parameters, to be kept, and its address."""
        parameters = [Expression.Parameter(each) for each in self.of]
        written = Expression.Lambda(self.type, make(*parameters), Array[ParameterExpression](parameters))
        delegate = written.Compile()
        return delegate, Marshal.GetFunctionPointerForDelegate(delegate).ToInt64()
