"""Expressions that a suite writes as text, such as `Line.Price * (1 - Line.Discount)`.

They are written as in Python: names, numbers, texts, arithmetic, comparisons, `and`, `or`, `not`, `a if b else c`, and
functions by their name. Python's parser reads them; only the nodes below are let through, and nothing is ever run as code.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Mapping
from typing import Any

from dbbench.did_you_mean import did_you_mean

#: Characters of an expression, and levels of it, one in another.
LONGEST = 500
DEEPEST = 50
_ARITHMETIC: tuple[type[ast.operator], ...] = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod)
_COMPARISONS: tuple[type[ast.cmpop], ...] = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)


def parse(text: str, functions: Mapping[str, int], *, arithmetic_only: bool = False) -> ast.expr:
    """The tree of an expression; `functions` are those that it may call, with the number of their arguments.

    With `arithmetic_only` there are no texts, comparisons and conditions. Raises ValueError, which says what was expected.
    """
    tree = _tree(text)
    _check(tree, functions, arithmetic_only, DEEPEST)
    return tree


@functools.lru_cache(1_000)
def _tree(text: str) -> ast.expr:
    if len(text) > LONGEST:
        raise ValueError(f"an expression of at most {LONGEST} characters")
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as exc:
        raise ValueError("an expression such as `Line.Price * (1 - Line.Discount)`") from exc


def _check(node: ast.expr, functions: Mapping[str, int], arithmetic_only: bool, levels: int) -> None:
    if not levels:
        raise ValueError(f"an expression of at most {DEEPEST} levels, one in another")
    inner: list[ast.expr]
    match node:
        case ast.Name() | ast.Attribute(value=ast.Name()):
            inner = []
        case ast.Constant(value=value) if type(value) in ((int,) if arithmetic_only else (int, float, str)):
            inner = []
        case ast.BinOp(left=left, op=operator, right=right) if isinstance(operator, _ARITHMETIC):
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
        case ast.UnaryOp(op=ast.Not(), operand=operand) if not arithmetic_only:
            inner = [operand]
        case ast.BoolOp(values=values) if not arithmetic_only:
            inner = list(values)
        case ast.Compare(left=left, ops=[operator], comparators=[right]) if isinstance(operator, _COMPARISONS):
            if arithmetic_only:
                raise ValueError("arithmetic without comparisons")
            inner = [left, right]
        case ast.IfExp(test=test, body=body, orelse=other) if not arithmetic_only:
            inner = [test, body, other]
        case _:
            what = "arithmetic of whole numbers" if arithmetic_only else "arithmetic, comparisons and conditions"
            raise ValueError(f"an expression of {what}, unlike `{ast.unparse(node)}`")
    for each in inner:
        _check(each, functions, arithmetic_only, levels - 1)


def name_of(node: ast.expr) -> str:
    """The name that a node stands for: `Table.Column`, or a name alone; empty if it is none."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=ast.Name(id=table), attr=column):
            return f"{table}.{column}"
    return ""


def names(tree: ast.expr) -> list[str]:
    """The columns that an expression names, each once, in their order."""
    match tree:
        case ast.Name() | ast.Attribute():
            return [name_of(tree)]
        case ast.Call(args=arguments):
            inner: list[Any] = list(arguments)
        case _:
            inner = [node for node in ast.iter_child_nodes(tree) if isinstance(node, ast.expr)]
    return list(dict.fromkeys(name for node in inner for name in names(node)))
