"""Whole numbers by an expression over a row's other columns, the rows of tables, and numbers at random."""

import ast
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from dbbench.errors import UserError
from dbbench.suite.expressions import parsed

Ints = npt.NDArray[np.int64]
_TOO_LARGE = 2**63
_COMPUTED: Mapping[type[ast.operator], Callable[..., Any]] = {
    ast.Add: np.add, ast.Sub: np.subtract, ast.Mult: np.multiply,
}  # fmt: skip


def numbers(
    text: str, column: Callable[[str], Ints], rows: Callable[[str], int], draw: Callable[[int], Ints], count: int
) -> Ints:
    """`count` numbers. `column` gives those of another column, `draw(limit)` numbers from 0 to limit - 1.

    Raises UserError for a division by 0, and for a number that 64 bits can't hold.
    """

    def value(node: ast.expr) -> Any:
        match node:
            case ast.Name(id=name):
                return column(name)
            case ast.Constant(value=int(number)) if number < _TOO_LARGE:
                return number
            case ast.Constant():
                raise _too_large()
            case ast.UnaryOp(operand=operand):
                return -value(operand)
            case ast.BinOp(left=left, op=operator, right=right):
                return _arithmetic(operator, value(left), value(right))
            case ast.Call(func=ast.Name(id="rows"), args=[ast.Name(id=table)]):
                return rows(table)
            case ast.Call(args=[low, high]):
                least = value(low)
                return draw(max(value(high) - least, 0) + 1) + least
        raise AssertionError(ast.dump(node))

    def _arithmetic(operator: ast.operator, left: Any, right: Any) -> Any:
        if compute := _COMPUTED.get(type(operator)):
            if np.any(
                np.abs(compute(left, right, dtype=np.float64)) >= _TOO_LARGE
            ):  # of whole numbers bits would be lost
                raise _too_large()
            return compute(left, right)
        if np.any(right == 0):
            raise UserError(f"a column's expression `{text}` divides by 0 at this scale")
        return left // right if isinstance(operator, ast.FloorDiv) else left % right

    def _too_large() -> UserError:
        return UserError(f"a column's expression `{text}` has a number that 64 bits can't hold at this scale")

    return np.broadcast_to(np.asarray(value(parsed(text)), np.int64), (count,))
