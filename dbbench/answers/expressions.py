"""The values of an expression over the columns of an Arrow table, with decimals kept exact.

A missing value makes arithmetic and comparisons missing, as in SQL, and a condition that is missing takes `else`.
Only a division leaves the decimals: its result is a float.
"""

from __future__ import annotations

import ast
import datetime
import functools
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dbbench.answers.scaled import (
    MOST_DIGITS,
    SHORT_DIGITS,
    Values,
    common,
    computed,
    decimals,
    largest,
    plain,
    scale,
)
from dbbench.errors import UserError
from dbbench.suite.answer import parsed
from dbbench.suite.expressions import name_of

_MIDNIGHT = datetime.time()

_ARITHMETIC: Mapping[type[ast.operator], Callable[..., Any]] = {
    ast.Add: pc.add, ast.Sub: pc.subtract, ast.Mult: pc.multiply,
}  # fmt: skip
_COMPARISONS: Mapping[type[ast.cmpop], Callable[..., Any]] = {
    ast.Eq: pc.equal, ast.NotEq: pc.not_equal, ast.Lt: pc.less, ast.LtE: pc.less_equal,
    ast.Gt: pc.greater, ast.GtE: pc.greater_equal,
}  # fmt: skip


def column(text: str, rows: pa.Table) -> pa.ChunkedArray | pa.Array:
    """The values of an expression, one for each row; decimals may be short ones (see `scaled`).

    Raises UserError if types don't fit, or a number gets too long.
    """
    try:
        found = _value(parsed(text), rows)
        if pa.types.is_decimal128(found.type):  # of one type, whatever the rows: answers may be computed in parts
            found = found.cast(pa.decimal128(MOST_DIGITS, found.type.scale))
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as exc:
        raise UserError(f"an answer's expression `{text}` can't be computed: {exc}") from exc
    return pa.repeat(found, rows.num_rows) if isinstance(found, pa.Scalar) else found


def _value(node: ast.expr, rows: pa.Table) -> Values:
    match node:
        case ast.Name() | ast.Attribute():
            return _whole(rows.column(name_of(node)))
        case ast.Constant(value=value):
            return _constant(value)
        case ast.BinOp(left=left, op=operator, right=right):
            return _arithmetic(operator, _value(left, rows), _value(right, rows))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return pc.invert(_value(operand, rows))
        case ast.UnaryOp(operand=operand):
            return pc.negate(plain(_value(operand, rows)))
        case ast.BoolOp(op=operator, values=values):
            combine = pc.and_kleene if isinstance(operator, ast.And) else pc.or_kleene
            found = _value(values[0], rows)
            for each in values[1:]:
                found = combine(found, _value(each, rows))
            return found
        case ast.Compare(left=left, ops=[comparison], comparators=[right]):
            return _compared(_COMPARISONS[type(comparison)], _value(left, rows), _value(right, rows))
        case ast.IfExp(test=test, body=body, orelse=other):
            holds = pc.fill_null(_value(test, rows), False)
            return _chosen(functools.partial(pc.if_else, holds), _value(body, rows), _value(other, rows))
        case ast.Call(func=ast.Name(id=name), args=arguments):
            return _called(name, arguments, rows)
    raise AssertionError(ast.dump(node))


def _called(name: str, arguments: list[ast.expr], rows: pa.Table) -> Values:
    first = _value(arguments[0], rows)
    match name:
        case "year" | "month" | "day" | "hour":
            return getattr(pc, name)(first)
        case "length":
            return pc.utf8_length(first).cast(pa.int64())
        case "missing":
            return pc.is_null(first)
        case "coalesce":
            return _chosen(pc.coalesce, first, _value(arguments[1], rows))
        case "like":
            return pc.match_like(first, ast.literal_eval(arguments[1]))
        case "part":
            start, length = (ast.literal_eval(each) for each in arguments[1:])
            return pc.utf8_slice_codeunits(first, start - 1, start - 1 + length)
    raise AssertionError(name)


def _constant(value: Any) -> pa.Scalar:
    if isinstance(value, str):
        return pa.scalar(value)
    if isinstance(value, int):
        return pa.scalar(value, pa.int64())
    return pa.scalar(Decimal(repr(value)))


def _whole(values: Values) -> Values:
    """Whole numbers with 8 bytes, and reals as doubles, so that no result is too long for the type of a column."""
    if pa.types.is_integer(values.type):
        return values.cast(pa.int64())
    return values.cast(pa.float64()) if pa.types.is_floating(values.type) else values


def _arithmetic(operator: ast.operator, left: Values, right: Values) -> Values:
    if isinstance(operator, ast.Div):
        # By 0 there is no result, as in most systems' SQL; an answer that needs one isn't portable.
        left, right = _float(left), _float(right)
        zero = pc.equal(right, pa.scalar(0.0))
        return pc.divide(left, pc.if_else(zero, pa.scalar(None, pa.float64()), right))
    if type(operator) not in _ARITHMETIC:
        raise ValueError("whole division and remainders differ between systems; use +, -, *, /")
    compute = _ARITHMETIC[type(operator)]
    kinds = (left.type, right.type)
    if any(map(pa.types.is_floating, kinds)):
        return compute(_float(left), _float(right))
    if any(map(pa.types.is_decimal, kinds)):
        found = computed(compute, left, right)
        return compute(_short(plain(left)), _short(plain(right))) if found is None else found
    return getattr(pc, f"{compute.__name__}_checked")(left, right)


def _short(values: Values) -> Values:
    """A decimal with no more digits than its longest value needs, so that products stay within 38."""
    scale = values.type.scale if pa.types.is_decimal(values.type) else 0
    found = [values.as_py()] if isinstance(values, pa.Scalar) else pc.min_max(values).as_py().values()
    largest = max((abs(Decimal(each)) for each in found if each is not None), default=Decimal(0))
    digits = max(len(str(int(largest.scaleb(scale)))), scale, 1)
    wide = (
        values if scale else values.cast(pa.decimal128(MOST_DIGITS, 0))
    )  # a whole number's type asks for all its digits
    return wide.cast(pa.decimal128(min(digits, MOST_DIGITS), scale))


def _float(values: Values) -> Values:
    return plain(values).cast(pa.float64())


def _compared(test: Callable[..., Any], left: Values, right: Values) -> Values:
    pair = common(left, right) if _are_decimals(left, right) else None
    return test(pair[0], pair[1]) if pair else test(*_alike(left, right))


def _chosen(choose: Callable[..., Any], left: Values, right: Values) -> Values:
    """What `choose` takes from either."""
    pair = common(left, right) if _are_decimals(left, right) else None
    if pair is None:
        return choose(*_alike(left, right))
    found = choose(pair[0], pair[1])
    short = largest(found) < 10**SHORT_DIGITS
    return decimals(found, (pa.decimal64 if short else pa.decimal128)(SHORT_DIGITS if short else MOST_DIGITS, pair[2]))


def _are_decimals(left: Values, right: Values) -> bool:
    kinds = (left.type, right.type)
    return any(map(pa.types.is_decimal, kinds)) and not any(map(pa.types.is_floating, kinds))


def _alike(left: Values, right: Values) -> tuple[Values, Values]:
    """Both in one type that holds the values of either."""
    left, right = plain(left), plain(right)
    kinds = (left.type, right.type)
    if kinds[0] == kinds[1]:
        return left, right
    if any(map(pa.types.is_temporal, kinds)):
        return _days(left, right) or (_moment(left), _moment(right))
    if any(map(pa.types.is_floating, kinds)):
        return _float(left), _float(right)
    if any(map(pa.types.is_decimal, kinds)):
        wide = pa.decimal128(MOST_DIGITS, max(map(scale, kinds)))
        return left.cast(wide), right.cast(wide)
    return left, right


def _days(left: Values, right: Values) -> tuple[Values, Values] | None:
    """A column of dates and a text that is a day; None if they aren't."""
    if isinstance(left, pa.Scalar):
        turned = _days(right, left) if not isinstance(right, pa.Scalar) else None
        return turned and turned[::-1]
    if not (pa.types.is_date32(left.type) and isinstance(right, pa.Scalar) and pa.types.is_string(right.type)):
        return None
    day = day_of(right.as_py())
    return None if day is None else (left, day)


def day_of(value: Any) -> pa.Scalar | None:
    """The day that a suite writes; None if it has a time."""
    moment = datetime.datetime.fromisoformat(str(value))
    return (
        pa.scalar(moment.date(), pa.date32()) if moment == datetime.datetime.combine(moment.date(), _MIDNIGHT) else None
    )


def _moment(values: Values) -> Values:
    kind = pa.timestamp("s")
    if isinstance(values, pa.Scalar) and pa.types.is_string(values.type):
        return pa.scalar(datetime.datetime.fromisoformat(values.as_py()), kind)
    return values.cast(kind)
