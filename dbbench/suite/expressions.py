"""Arithmetic of whole numbers that a suite writes as text, such as `TripId * 7 % 365 + random(0, 3)`.

It is written as in Python: names, numbers, operators, and functions by their name. Python's parser reads it; only the
nodes below are let through, and nothing is ever run as code.
"""

import ast
import functools

from dbbench.message import did_you_mean

#: Characters of an expression, and levels of it, one in another.
LONGEST = 500
DEEPEST = 50
#: What an expression may call, with the number of its arguments.
_FUNCTIONS = {"rows": 1, "random": 2}


@functools.lru_cache(1_000)
def parsed(text: str) -> ast.expr:
    """The tree of a column's expression. Raises ValueError with what was expected."""
    if len(text) > LONGEST:
        raise ValueError(f"an expression of at most {LONGEST} characters")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as exc:
        raise ValueError("an expression such as `TripId * 7 % 365`") from exc
    _check(tree, DEEPEST)
    return tree


def _check(node: ast.expr, levels: int) -> None:
    if not levels:
        raise ValueError(f"an expression of at most {DEEPEST} levels, one in another")
    match node:
        case ast.Name() | ast.UnaryOp(op=ast.USub()):
            pass
        case ast.Constant(value=value) if type(value) is int:
            pass
        case ast.BinOp(op=ast.Add() | ast.Sub() | ast.Mult() | ast.FloorDiv() | ast.Mod()):
            pass
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
            if name not in _FUNCTIONS:
                known = ", ".join(_FUNCTIONS)
                raise ValueError(f"one of the functions {known}, not {name}{did_you_mean(name, _FUNCTIONS)}")
            if len(arguments) != (due := _FUNCTIONS[name]):
                raise ValueError(f"{due} argument{'' if due == 1 else 's'} for {name}, not {len(arguments)}")
            if name == "rows" and not isinstance(arguments[0], ast.Name):
                raise ValueError("rows(Table), with the name of a table")
        case ast.BinOp(op=ast.Div()):
            raise ValueError("// for whole numbers, not /")
        case ast.Attribute(value=ast.Name()):
            raise ValueError("columns of the same table, by their names alone")
        case ast.Compare():
            raise ValueError("arithmetic without comparisons")
        case _:
            raise ValueError(f"an expression of arithmetic of whole numbers, unlike `{ast.unparse(node)}`")
    for each in ast.iter_child_nodes(node):
        if isinstance(each, ast.expr):
            _check(each, levels - 1)
