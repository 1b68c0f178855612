"""Decimals as whole numbers of 8 bytes: Arrow computes with these far faster than with its decimals of 16, and as exactly.

A column computed from decimals is a `decimal64` as long as its values fit, and `plain` before it leaves the oracle. Sums and
products are taken by Arrow's checked functions: what is too long raises ArrowInvalid, and is then computed with 38 digits.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

#: A column of values, or one value for all rows.
Values = Any
#: Digits of the longest decimal that an answer holds, and of one that always fits into 8 bytes.
MOST_DIGITS, SHORT_DIGITS = 38, 18
_LIMIT = 10**SHORT_DIGITS


def integers(values: Values) -> Values | None:
    """Whole numbers or decimals without their point, as int64; None if one is too long."""
    kind = values.type
    if isinstance(values, pa.Scalar):
        known = values.as_py()
        number = None if known is None else int(Decimal(known).scaleb(scale(kind)))
        return None if number is not None and abs(number) >= _LIMIT else pa.scalar(number, pa.int64())
    if pa.types.is_integer(kind):
        return values.cast(pa.int64())
    if pa.types.is_decimal64(kind):
        return _each(values, lambda piece: piece.view(pa.int64()))
    if not pa.types.is_decimal128(kind):
        return None
    try:
        return _each(values, _low_words)
    except OverflowError:
        return None


def decimals(values: Values, kind: pa.DataType) -> Values:
    """int64 values as decimals of a type, the opposite of `integers`; of a short one only if they have no more digits."""
    if isinstance(values, pa.Scalar):
        number = values.as_py()
        return pa.scalar(None if number is None else Decimal(number).scaleb(-kind.scale), kind)
    if pa.types.is_decimal64(kind):
        return _each(values, lambda piece: piece.view(kind))
    return _each(values, lambda piece: _with_high_words(piece, kind))


def scale(kind: pa.DataType) -> int:
    """The decimal places of a type of numbers."""
    return kind.scale if pa.types.is_decimal(kind) else 0


def common(left: Values, right: Values) -> tuple[Values, Values, int] | None:
    """Two numbers without their points, and the places that both then have; None if that takes more than 8 bytes."""
    places = max(scale(left.type), scale(right.type))
    found = []
    for values in (left, right):
        whole = integers(values)
        if whole is None:
            return None
        missing = places - scale(values.type)
        try:
            found.append(pc.multiply_checked(whole, 10**missing) if missing else whole)
        except (pa.ArrowInvalid, OverflowError):
            return None
    return found[0], found[1], places


def computed(symbol: Callable[..., Any], left: Values, right: Values) -> Values | None:
    """A sum, difference (`pc.add`, `pc.subtract`) or product (`pc.multiply`) of decimals; None if it needs more than 8 bytes."""
    try:
        if symbol is pc.multiply:
            first, second = integers(left), integers(right)
            if first is None or second is None:
                return None
            found, places = pc.multiply_checked(first, second), scale(left.type) + scale(right.type)
        else:
            pair = common(left, right)
            if pair is None:
                return None
            exact = {pc.add: pc.add_checked, pc.subtract: pc.subtract_checked}[symbol]
            found, places = exact(pair[0], pair[1]), pair[2]
    except pa.ArrowInvalid:
        return None
    if places > SHORT_DIGITS or largest(found) >= _LIMIT:
        return None
    return decimals(found, pa.decimal64(SHORT_DIGITS, places))


def largest(values: Values) -> int:
    """The greatest absolute value of whole numbers; 0 of none."""
    bounds = (values.as_py(),) if isinstance(values, pa.Scalar) else pc.min_max(values).as_py().values()
    return max((abs(each) for each in bounds if each is not None), default=0)


def short_table(rows: pa.Table, columns: Collection[str]) -> pa.Table:
    """Rows with short decimals in these columns, so that each is made a whole number only once."""
    for index, field in enumerate(rows.schema):
        # The type that is a sign of computed values is none of a column's.
        if field.name in columns and pa.types.is_decimal128(field.type) and field.type.precision < SHORT_DIGITS:
            kind = pa.decimal64(field.type.precision, field.type.scale)
            rows = rows.set_column(index, field.with_type(kind), decimals(integers(rows.column(index)), kind))
    return rows


def plain(values: Values) -> Values:
    """Values as they were, but short decimals as long ones: of the type of their column, or of that of computed ones."""
    if not pa.types.is_decimal64(values.type):
        return values
    return decimals(integers(values), plain_type(values.type))


def plain_type(kind: pa.DataType) -> pa.DataType:
    """The type of decimals that are `plain`."""
    if not pa.types.is_decimal64(kind):
        return kind
    return pa.decimal128(kind.precision if kind.precision < SHORT_DIGITS else MOST_DIGITS, kind.scale)


def plain_table(rows: pa.Table) -> pa.Table:
    """Rows of which all columns are `plain`."""
    for index, field in enumerate(rows.schema):
        if pa.types.is_decimal64(field.type):
            values = plain(rows.column(index))
            rows = rows.set_column(index, field.with_type(values.type), values)
    return rows


def _each(values: Values, change: Callable[[pa.Array], pa.Array]) -> Values:
    if isinstance(values, pa.Array):
        return change(values)
    if values.num_chunks:
        return pa.chunked_array([change(piece) for piece in values.chunks])
    return pa.chunked_array([change(pa.array([], values.type))])


def _low_words(piece: pa.Array) -> pa.Array:
    words = np.frombuffer(piece.buffers()[1], np.int64).reshape(-1, 2)[piece.offset : piece.offset + len(piece)]
    low = np.ascontiguousarray(words[:, 0])
    # A type of few digits says it of all its values; of the others the high word must be no more than the sign.
    if piece.type.precision > SHORT_DIGITS and not np.array_equal(words[:, 1], low >> 63):
        raise OverflowError
    if not piece.null_count:
        return pa.array(low)
    return pa.array(low, mask=pc.is_null(piece).to_numpy(zero_copy_only=False))


def _with_high_words(piece: pa.Array, kind: pa.DataType) -> pa.Array:
    low = pc.fill_null(piece, 0).to_numpy()
    words = np.empty((len(low), 2), np.int64)
    words[:, 0] = low
    np.right_shift(low, 63, out=words[:, 1])
    found = pa.Array.from_buffers(kind, len(low), [None, pa.py_buffer(words)])
    return pc.if_else(pc.is_valid(piece), found, pa.scalar(None, kind)) if piece.null_count else found
