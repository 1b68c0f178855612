"""Arithmetic of whole numbers that a suite writes as text, such as `TripId * 7 % 365 + random(0, 3)`.

It is written as in Python: names, numbers, operators, and functions by their name. Python's parser reads it; only the nodes
below are let through, and nothing is ever run as code.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Mapping

from dbbench.did_you_mean import did_you_mean

#: Characters of an expression, and levels of it, one in another.
LONGEST = 500
DEEPEST = 50
_OPERATORS: tuple[type[ast.operator], ...] = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod)


def parse(text: str, functions: Mapping[str, int]) -> ast.expr:
    """The tree of an expression; `functions` are those that it may call, with the number of their arguments.

    Raises ValueError, which says what was expected.
    """
    tree = _tree(text)
    _check(tree, functions, DEEPEST)
    return tree


@functools.lru_cache(1_000)
def _tree(text: str) -> ast.expr:
    if len(text) > LONGEST:
        raise ValueError(f"an expression of at most {LONGEST} characters")
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as exc:
        raise ValueError("an expression such as `TripId * 7 % 365`") from exc


def _check(node: ast.expr, functions: Mapping[str, int], levels: int) -> None:
    if not levels:
        raise ValueError(f"an expression of at most {DEEPEST} levels, one in another")
    inner: list[ast.expr]
    match node:
        case ast.Name() | ast.Attribute(value=ast.Name()):
            inner = []
        case ast.Constant(value=value) if type(value) is int:
            inner = []
        case ast.BinOp(left=left, op=operator, right=right) if isinstance(operator, _OPERATORS):
            inner = [left, right]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            inner = [operand]
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
            if name not in functions:
                known = ", ".join(functions)
                raise ValueError(f"one of the functions {known}, not {name}{did_you_mean(name, functions)}")
            if len(arguments) != (due := functions[name]):
                raise ValueError(f"{due} argument{'' if due == 1 else 's'} for {name}, not {len(arguments)}")
            inner = list(arguments)
        case ast.Compare():
            raise ValueError("arithmetic without comparisons")
        case _:
            raise ValueError(f"an expression of arithmetic of whole numbers, unlike `{ast.unparse(node)}`")
    for each in inner:
        _check(each, functions, levels - 1)
