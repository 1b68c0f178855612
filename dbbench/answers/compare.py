"""Answers against the oracle, outside the clock.

Both sides are brought to the oracle's types and compared column by column. The rules:
- order counts only where the suite's answer has an `order_by`; rows that it leaves tied may come in any order, and of those
  tied at a `limit` any may come;
- a number that comes as another numeric type is the same number if it has the same value;
- a decimal is compared exactly; one that comes as a float is equal within half a unit of its last
  place, or one part in 10^9 (a float can't hold more of a large sum);
- a real (4 bytes) is equal within one part in 10^6, a double within one in 10^12;
- a date or time may come as ISO text or YYYYMMDD; a date is its midnight;
- spaces at the end of a text are ignored (CHAR columns are padded by some systems);
- a fraction that was computed, such as a mean, is the same within one part in 10^9; with other numbers of decimal places,
  or half a unit of the last place of the coarser if that is the fourth or a later one (MySQL has four of a mean).

Which types the values may come in is another question: see `forms`.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbbench.answers import ties
from dbbench.answers.value_types import Declared, other_form
from dbbench.datasets.generate import arrow_type
from dbbench.errors import WrongAnswer
from dbbench.suite.data_types import DataType

_ROWS_AT_ONCE = 8_192
#: Marks a column that an engine has computed: the suite says nothing of its type.
COMPUTED = {"computed": "yes"}
COMPUTED_KEY = b"computed"
#: The fewest decimal places of a mean that any engine keeps; the others are rounded to as many.
_PLACES_OF_MEANS = 4
#: Characters of a value in a message.
_SHOWN = 200


def check_rows(
    rows: Iterable[Sequence[Any]], expected: pa.Table, *, ordered: bool, declared: Declared | None = None
) -> set[str]:
    """Compare rows of Python values. Raises WrongAnswer with the first difference. See `check_batches`."""
    own, _ = ties.parted(expected, ordered=ordered)
    return check_batches(as_batches(rows, own.schema), expected, ordered=ordered, declared=declared)


def check_batches(
    batches: Iterable[pa.RecordBatch], expected: pa.Table, *, ordered: bool, declared: Declared | None = None
) -> set[str]:
    """Compare Arrow batches, whose columns go by their place. Raises WrongAnswer with the first difference.

    Gives the columns' other forms, by what is declared. With None any form of the right values will do.
    """
    expected, alike = ties.parted(expected, ordered=ordered)
    names = [str(index) for index in range(expected.num_columns)]
    pieces = []
    others: set[str] = set()
    fields = list(expected.schema)
    for batch in batches:
        if batch.num_columns != expected.num_columns:
            raise WrongAnswer(f"{batch.num_columns} columns instead of {expected.num_columns}")
        if declared is not None:
            others |= {other_form(*pair, declared) for pair in zip(batch.schema.types, expected.schema, strict=True)}
        fields = [_comparable(field, kind) for field, kind in zip(fields, batch.schema.types, strict=True)]
        columns = [normal(batch.column(index), field) for index, field in enumerate(fields)]
        pieces.append(pa.record_batch(columns, names=names))
    rows = sum(piece.num_rows for piece in pieces)
    if rows != (wanted := alike.count if alike else expected.num_rows):
        raise WrongAnswer(f"{rows:,} rows instead of {wanted:,}")
    others.discard("")
    if not rows:
        return others
    left = pa.Table.from_batches(_alike(pieces))
    right = pa.table([normal(column, field) for column, field in zip(expected.columns, fields, strict=True)], names)
    right = right.cast(left.schema)  # a decimal to a float, if that is what came
    if not ordered:
        left, right = _sorted(left), _sorted(right)
    elif alike:
        left, right = alike.aligned(left, right)
    for index, field in enumerate(fields):
        _compare(left.column(index), right.column(index), field)
    return others


def with_keys_of(batches: Iterable[pa.RecordBatch], expected: pa.Table, column: int) -> Iterator[pa.RecordBatch]:
    """Batches without the rows that have a key, in this column, that no expected row has. Raises WrongAnswer."""
    field = expected.schema.field(column)
    keys = normal(expected.column(column), field).combine_chunks()
    for batch in batches:
        if batch.num_columns != expected.num_columns:
            raise WrongAnswer(f"{batch.num_columns} columns instead of {expected.num_columns}")
        found = normal(batch.column(column), field)
        yield batch.filter(pc.is_in(found, keys.cast(found.type)))


def _comparable(field: pa.Field, found: pa.DataType) -> pa.Field:
    """A computed fraction that comes with other decimal places than expected becomes a float with a tolerance."""
    if COMPUTED_KEY not in (field.metadata or {}):
        return field
    kinds = [kind for kind in (field.type, found) if pa.types.is_decimal(kind)]
    if not kinds or (len(kinds) == 2 and kinds[0].scale == kinds[1].scale):
        return field
    known = (field.metadata or {}).get(b"places")
    places = min([kind.scale for kind in kinds] + ([int(known)] if known else []))
    return pa.field(field.name, pa.float64(), metadata={**COMPUTED, "places": str(places)})


def normal(column: pa.Array | pa.ChunkedArray, field: pa.Field) -> pa.Array | pa.ChunkedArray:
    """A column in the form that it is compared in: int64, float64, decimal, text, or seconds. Raises WrongAnswer."""
    wanted = field.type
    try:
        if pa.types.is_integer(wanted):
            return column.cast(pa.int64())
        if pa.types.is_decimal(wanted) and not pa.types.is_floating(column.type):
            return column.cast(pa.decimal128(38, wanted.scale))
        if pa.types.is_decimal(wanted) or pa.types.is_floating(wanted):
            return column.cast(pa.float64())
        if pa.types.is_temporal(wanted):
            if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
                return _moments(column)
            return column.cast(pa.timestamp("s"))
        return pc.utf8_rtrim(column.cast(pa.string()), " ")
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError) as exc:
        raise WrongAnswer(f"column {field.name}: {column.type} where {wanted} was expected ({exc})") from exc


def as_table(given: Any, *, keep_nulls: bool = False) -> pa.Table:
    """What a prepared query gave, rows or Arrow batches, as a table with the types that came.

    A column without a value becomes one of texts, or with `keep_nulls` of nulls. Raises WrongAnswer for values of one column that have no common type.
    """
    pieces = list(given)
    if pieces and isinstance(pieces[0], pa.RecordBatch):
        whole = pa.Table.from_batches(pieces)
        return pa.table(whole.columns, schema=_computed(whole.schema.types))
    widths = {len(row) for row in pieces}
    if len(widths) > 1:
        raise WrongAnswer(f"rows of {min(widths)} and of {max(widths)} columns")
    columns = [
        _inferred(values, number, keep_nulls=keep_nulls) for number, values in enumerate(zip(*pieces, strict=True), 1)
    ]
    return pa.table(columns, schema=_computed([column.type for column in columns]))


def _computed(kinds: Sequence[pa.DataType]) -> pa.Schema:
    return pa.schema([pa.field(str(number), kind, metadata=COMPUTED) for number, kind in enumerate(kinds, 1)])


def _inferred(values: Sequence[Any], number: int, *, keep_nulls: bool) -> pa.Array:
    """Whole numbers among decimals or floats are such; any other mixture has no type."""
    kinds = {type(value) for value in values} - {type(None)}
    if kinds == {int, Decimal}:
        values = [Decimal(value) if isinstance(value, int) else value for value in values]
    elif kinds in ({int, float}, {Decimal, float}, {int, Decimal, float}):
        values = [None if value is None else float(value) for value in values]
    elif kinds == {datetime.date, datetime.datetime}:
        values = [_moment(value) for value in values]
    try:
        array = pa.array(values)
        return array.cast(pa.string()) if pa.types.is_null(array.type) and not keep_nulls else array
    except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError, ValueError, OverflowError) as exc:
        raise WrongAnswer(f"column {number}: {exc}") from exc


def as_batches(rows: Iterable[Sequence[Any]], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Rows as batches, a few thousand at a time, so that a large answer stays small in memory."""
    iterator = iter(rows)
    while piece := list(islice(iterator, _ROWS_AT_ONCE)):
        widths = {len(row) for row in piece}
        if wrong := widths - {len(schema)}:
            raise WrongAnswer(f"{min(wrong)} columns instead of {len(schema)}")
        arrays = [_array(values, field) for values, field in zip(zip(*piece, strict=True), schema, strict=True)]
        yield pa.record_batch(arrays, names=[str(index) for index in range(len(schema))])


def _array(values: Sequence[Any], field: pa.Field) -> pa.Array:
    """Python values of whatever numeric or date type a driver gave."""
    wanted = field.type
    try:
        if pa.types.is_decimal(wanted) and any(isinstance(value, float) for value in values):
            return pa.array([None if value is None else float(value) for value in values], pa.float64())
        if pa.types.is_temporal(wanted) and any(isinstance(value, datetime.date) for value in values):
            return pa.array([_moment(value) for value in values], pa.timestamp("us"))
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError, ValueError, OverflowError) as exc:
        raise WrongAnswer(f"column {field.name}: {exc}") from exc


def _moment(value: Any) -> Any:
    if value is None or isinstance(value, datetime.datetime):
        return value
    return datetime.datetime.combine(value, datetime.time())


def _moments(text: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Texts such as 20050131, 2005-01-31 and 2005-01-31 13:00:00.000 as seconds."""
    digits = pc.replace_substring_regex(pc.utf8_rtrim(text, " "), r"[-:T ]|\.0+$", "")
    return pc.strptime(pc.utf8_rpad(digits, 14, "0"), format="%Y%m%d%H%M%S", unit="s")


def _alike(pieces: list[pa.RecordBatch]) -> list[pa.RecordBatch]:
    """Batches of one schema: where one piece has floats and another decimals, all become floats."""
    schema = pieces[0].schema
    for index, field in enumerate(schema):
        if any(pa.types.is_floating(piece.schema.field(index).type) for piece in pieces):
            schema = schema.set(index, pa.field(field.name, pa.float64()))
    return [piece.cast(schema) for piece in pieces]


def _sorted(table: pa.Table) -> pa.Table:
    """Rows in one order."""
    return table.sort_by([(name, "ascending") for name in ties.row_order(table)])


def _compare(left: pa.ChunkedArray, right: pa.ChunkedArray, field: pa.Field) -> None:
    if left.null_count != right.null_count:
        raise WrongAnswer(f"column {field.name}: {left.null_count:,} nulls instead of {right.null_count:,}")
    both_null = pc.and_(pc.is_null(left), pc.is_null(right)).to_numpy()
    if pa.types.is_floating(right.type):
        ours, theirs = left.to_numpy(), right.to_numpy()
        same = np.abs(ours - theirs) <= _tolerance(field, np.abs(theirs))
    else:
        same = pc.fill_null(pc.equal(left, right), False).to_numpy()
    same = same | both_null
    if not same.all():
        row = int(np.argmin(same))
        wrong = int((~same).sum())
        raise WrongAnswer(
            f"column {field.name}: {_shown(left[row].as_py())} instead of {_shown(right[row].as_py())} "
            f"({wrong:,} of {len(same):,} rows differ)"
        )


def _shown(value: Any) -> str:
    shown = f"{value:.15g}" if isinstance(value, float) else repr(value)
    return shown if len(shown) <= _SHOWN else f"{shown[: _SHOWN - 3]}..."


def _tolerance(field: pa.Field, size: Any) -> Any:
    wanted = field.type
    if places := (field.metadata or {}).get(b"places"):
        unit = 10.0 ** -int(places) if int(places) >= _PLACES_OF_MEANS else 0.0
        return np.maximum(0.5000001 * unit, size * 1e-9)
    if COMPUTED_KEY in (field.metadata or {}):
        return size * 1e-9
    if pa.types.is_decimal(wanted):
        return np.maximum(0.5 * 10.0**-wanted.scale, size * 1e-9)
    return size * (1e-6 if wanted == pa.float32() else 1e-12)


def check_value(found: Any, expected: str, data_type: DataType, what: str) -> None:
    """Compare one value with its text, by the rules above. Raises WrongAnswer."""
    wanted = arrow_type(data_type)
    value: Any = expected
    if pa.types.is_integer(wanted):
        value = int(expected)
    elif pa.types.is_decimal(wanted):
        wanted, value = pa.decimal128(38, wanted.scale), Decimal(expected)
    elif pa.types.is_floating(wanted):
        value = float(expected)
    elif pa.types.is_temporal(wanted):
        wanted, value = pa.timestamp("s"), datetime.datetime.fromisoformat(expected)
    try:
        check_rows([(found,)], pa.table({what: pa.array([value], wanted)}), ordered=True)
    except WrongAnswer as exc:
        raise WrongAnswer(str(exc).removeprefix("column ").removesuffix(" (1 of 1 rows differ)")) from exc
