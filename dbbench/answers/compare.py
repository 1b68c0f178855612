"""An engine's answer against the right one, outside the clock.

Both sides are brought to the types of the right answer and compared column by column. The rules:
- order counts where the answer has ranks (see `ranks`), or the suite says so; rows of one rank may come in any order,
  and any of a rank that a limit cuts through;
- a number that comes as another numeric type is the same number if it has the same value; so is 0 or 1 for a boolean;
- a decimal is compared exactly; one that comes as a float is equal within half a unit of its last
  place, or one part in 10^9 (a float can't hold more of a large sum);
- a real (4 bytes) is equal within one part in 10^6, a double within one in 10^12;
- a date or time may come as ISO text or YYYYMMDD; a date is its midnight;
- spaces at the end of a text are ignored (CHAR columns are padded by some systems);
- a fraction that was computed, such as a mean or a sum, is the same within one part in 10^9, or in 10^12 of the
  column's largest value, or of the largest sum of magnitudes behind it (what is left of a sum whose parts cancel out);
  with other numbers of decimal places, within a unit of the last place of the coarser if that is the fourth or a later
  one (MySQL has four of a mean, and some cut off, others round); where it was divided or is a mean, with the same
  number of places too.

Which types the values may come in is another question: see `value_types`.
"""

import datetime
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dbbench.answers.stored import COMPUTED, COMPUTED_KEY, MAGNITUDE, ranks_of, row_count
from dbbench.answers.value_types import Declared, form, other_form
from dbbench.datasets.documents import canonical
from dbbench.datasets.generate import DOCUMENTS, arrow_type
from dbbench.errors import WrongAnswer
from dbbench.suite.data_types import DataType

_ROWS_AT_ONCE = 8_192
#: The fewest decimal places of a mean that any engine keeps; the others are rounded to as many.
_PLACES_OF_MEANS = 4
#: Characters of a value in a message.
_SHOWN = 200
#: Differing rows that an error carries.
_ROWS_SHOWN = 3
_Numbers = npt.NDArray[np.int64]
_Floats = npt.NDArray[np.float64]


def check_rows(
    rows: Iterable[Sequence[Any]], expected: pa.Table, *, ordered: bool = False, declared: Declared | None = None
) -> set[str]:
    """Compare rows of Python values. Raises WrongAnswer with the first difference. See `check_batches`."""
    return check_batches(as_batches(rows, ranks_of(expected)[0].schema), expected, ordered=ordered, declared=declared)


def check_batches(
    batches: Iterable[pa.RecordBatch], expected: pa.Table, *, ordered: bool = False, declared: Declared | None = None
) -> set[str]:
    """Compare Arrow batches, whose columns go by their place. Raises WrongAnswer with the first difference.

    `ordered` says of an answer without ranks whether its order counts. Gives the columns' other forms, by what is
    declared. With None any form of the right values will do.
    """
    count = row_count(expected)
    expected, ranks, skipped = ranks_of(expected, ordered=ordered)
    names = [str(index) for index in range(expected.num_columns)]
    pieces = []
    others: set[str] = set()
    fields = list(expected.schema)
    for batch in map(arrow_batch, batches):
        if not (batch.num_rows or names):  # without rows nobody knows the columns
            continue
        if batch.num_columns != expected.num_columns:
            raise WrongAnswer(f"{batch.num_columns} columns instead of {expected.num_columns}")
        if declared is not None:
            others |= {other_form(*pair, declared) for pair in zip(batch.schema.types, expected.schema, strict=True)}
        fields = [_comparable(field, kind) for field, kind in zip(fields, batch.schema.types, strict=True)]
        columns = [normal(batch.column(index), field) for index, field in enumerate(fields)]
        pieces.append(pa.table(columns, names))
    rows = sum(piece.num_rows for piece in pieces)
    if rows != count:
        raise WrongAnswer(f"{rows:,} rows instead of {count:,}")
    others.discard("")
    if not rows:
        return others
    left = pa.concat_tables(pieces, promote_options="permissive")  # of decimals and floats, floats
    right = pa.table([normal(column, field) for column, field in zip(expected.columns, fields, strict=True)], names)
    right = right.cast(left.schema)  # a decimal to a float, if that is what came
    _compare(left, right, fields, ranks[skipped : skipped + rows], ranks)
    return others


def arrow_batch(given: object) -> pa.RecordBatch:
    """Return it, if it is an Arrow batch: another class could make its values when they are looked at.

    Raises WrongAnswer.
    """
    if not isinstance(given, pa.RecordBatch):
        raise WrongAnswer(f"a query returned {type(given).__name__} in place of an Arrow batch")
    return given


def with_keys_of(batches: Iterable[pa.RecordBatch], expected: pa.Table, column: int) -> Iterator[pa.RecordBatch]:
    """Batches without the rows that have a key, in this column, that no expected row has. Raises WrongAnswer."""
    field = expected.schema.field(column)
    keys = normal(expected.column(column), field).combine_chunks()
    for batch in map(arrow_batch, batches):
        if batch.num_columns != expected.num_columns:
            raise WrongAnswer(f"{batch.num_columns} columns instead of {expected.num_columns}")
        found = normal(batch.column(column), field)
        yield batch.filter(pc.is_in(found, keys.cast(found.type)))


def _comparable(field: pa.Field, found: pa.DataType) -> pa.Field:
    """A computed fraction that has other decimal places than expected, or is text, as a float with a tolerance."""
    known = field.metadata or {}
    if COMPUTED_KEY in known and pa.types.is_decimal(field.type) and form(found) == "text":
        places = min(field.type.scale, int(known.get(b"places", field.type.scale)))
        return pa.field(field.name, pa.float64(), metadata={**known, **COMPUTED, "places": str(places)})
    if COMPUTED_KEY not in known or not pa.types.is_decimal(found) or pa.types.is_integer(field.type):
        return field
    places = found.scale
    if pa.types.is_decimal(field.type):
        if field.type.scale == places and known[COMPUTED_KEY] != b"divided":
            return field
        places = min(places, field.type.scale)
    places = min(places, int(known.get(b"places", places)))
    return pa.field(field.name, pa.float64(), metadata={**known, **COMPUTED, "places": str(places)})


def normal(column: pa.Array | pa.ChunkedArray, field: pa.Field) -> pa.Array | pa.ChunkedArray:
    """A column in the form to compare it in: int64, float64, decimal, text, or microseconds. Raises WrongAnswer."""
    wanted = field.type
    try:
        if (field.metadata or {}).items() >= DOCUMENTS.items():
            return canonical(column)
        if pa.types.is_integer(wanted) or pa.types.is_boolean(wanted):
            return column.cast(pa.int64())
        if pa.types.is_decimal(wanted) and not pa.types.is_floating(column.type):
            return column.cast(pa.decimal128(38, wanted.scale))
        if pa.types.is_decimal(wanted) or pa.types.is_floating(wanted):
            return column.cast(pa.float64())
        if pa.types.is_temporal(wanted):
            if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
                column = _moments(column)
            return column.cast(pa.timestamp("us"))
        return pc.utf8_rtrim(column.cast(pa.string()), " ")
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError, ValueError, TypeError) as exc:
        raise WrongAnswer(f"column {field.name}: {column.type} where {wanted} was expected ({exc})") from exc


def as_table(given: Any, *, keep_nulls: bool = False) -> pa.Table:
    """What a prepared query gave, rows or Arrow batches, as a table with the types that came.

    A column without a value becomes one of texts, or with `keep_nulls` of nulls. Raises WrongAnswer for values of one
    column that have no common type.
    """
    pieces = list(given)
    if pieces and isinstance(pieces[0], pa.RecordBatch):
        names = list(map(str, range(pieces[0].num_columns)))  # two columns may have one name
        try:
            tables = [pa.Table.from_batches([piece]).rename_columns(names) for piece in pieces]
            columns = pa.concat_tables(tables, promote_options="permissive").columns
        except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError, ValueError) as exc:
            raise WrongAnswer(f"batches that don't fit together: {exc}") from exc
    else:
        widths = _widths(pieces)
        if len(widths) > 1:
            raise WrongAnswer(f"rows of {min(widths)} and of {max(widths)} columns")
        columns = [_inferred(values, number) for number, values in enumerate(zip(*pieces, strict=True), 1)]
        if not keep_nulls:
            columns = [column.cast(pa.string()) if pa.types.is_null(column.type) else column for column in columns]
    fields = [pa.field(str(number), column.type, metadata=COMPUTED) for number, column in enumerate(columns, 1)]
    return pa.table(columns, schema=pa.schema(fields))


def _widths(rows: Sequence[Any]) -> set[int]:
    try:
        return {len(row) for row in rows}
    except TypeError as exc:
        raise WrongAnswer(f"an answer has something that is no row: {exc}") from exc


def _inferred(values: Sequence[Any], name: object) -> pa.Array:
    """Whole numbers among decimals or floats are such, and decimals beyond 64 bits; other mixtures have no type."""
    kinds = {type(value) for value in values} - {type(None)}
    if kinds == {int, Decimal}:
        values = [Decimal(value) if isinstance(value, int) else value for value in values]
    elif float in kinds and kinds <= {int, float, Decimal}:
        values = [None if value is None else float(value) for value in values]
    elif kinds == {datetime.date, datetime.datetime}:
        values = [
            datetime.datetime(*value.timetuple()[:3]) if type(value) is datetime.date else value for value in values
        ]
    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError, ValueError, OverflowError) as exc:
        if kinds == {int}:
            return _inferred([None if value is None else Decimal(value) for value in values], name)
        raise WrongAnswer(f"column {name}: {exc}") from exc


def as_batches(rows: Iterable[Sequence[Any]], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Rows as batches, a few thousand at a time, so that a large answer stays small in memory."""
    iterator = iter(rows)
    while piece := list(islice(iterator, _ROWS_AT_ONCE)):
        widths = _widths(piece)
        if wrong := widths - {len(schema)}:
            raise WrongAnswer(f"{min(wrong)} columns instead of {len(schema)}")
        arrays = [_inferred(values, name) for values, name in zip(zip(*piece, strict=True), schema.names, strict=True)]
        yield pa.record_batch(arrays, names=[str(index) for index in range(len(schema))])


def _moments(text: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Texts such as 20050131, 2005-01-31 and 2005-01-31 13:00:00.000 as seconds."""
    digits = pc.replace_substring_regex(pc.utf8_rtrim(text, " "), r"[-:T ]|\.0+$", "")
    return pc.strptime(pc.utf8_rpad(digits, 14, "0"), format="%Y%m%d%H%M%S", unit="s")


def _compare(left: pa.Table, right: pa.Table, fields: Sequence[pa.Field], ours: _Numbers, theirs: _Numbers) -> None:
    """Compare rows of which each has a rank. On the right may be more of a rank. Raises WrongAnswer."""
    if left.num_rows != right.num_rows or any(_differ(*each).any() for each in zip(left, right, fields, strict=True)):
        places = _paired(left, right, fields, ours, theirs)
        left, right = (side.take(chosen) for side, chosen in zip((left, right), places, strict=True))
    found = np.array([_differ(*each) for each in zip(left, right, fields, strict=True)])
    if not found.any():
        return
    wrong = np.flatnonzero(found.any(axis=0))
    column = int(np.argmax(found[:, wrong[0]]))
    given, wanted = (side.take(wrong[:_ROWS_SHOWN]).to_pylist() for side in (left, right))
    raise WrongAnswer(
        f"column {fields[column].name}: {_shown(given[0][str(column)])} instead of {_shown(wanted[0][str(column)])} "
        f"({len(wrong):,} of {left.num_rows:,} rows differ)",
        [f"{_row(mine)} instead of {_row(right)}" for mine, right in zip(given, wanted, strict=True)],
    )


def _paired(
    left: pa.Table, right: pa.Table, fields: Sequence[pa.Field], ours: _Numbers, theirs: _Numbers
) -> tuple[_Numbers, _Numbers]:
    """Places of rows that belong together, on both sides: the same rows of a rank, then what is left of the rank."""
    kinds = np.concatenate((ours, theirs))
    floats = [pa.types.is_floating(kind) for kind in left.schema.types]
    for column in sorted(range(len(floats)), key=floats.__getitem__):
        codes = _codes(pa.chunked_array([*left.column(column).chunks, *right.column(column).chunks]), fields[column])
        kinds = np.unique(kinds * (int(codes.max()) + 1) + codes, return_inverse=True)[1]
    kind = (kinds[: len(ours)], kinds[len(ours) :])
    orders = [
        np.lexsort([*(column.to_numpy() for column, is_float in zip(side, floats, strict=True) if is_float), known])
        for side, known in zip((left.columns, right.columns), kind, strict=True)
    ]
    same = _matched(kind[0][orders[0]], kind[1][orders[1]])
    rest = [np.delete(order, chosen) for order, chosen in zip(orders, same, strict=True)]
    others = _matched(ours[rest[0]], theirs[rest[1]])
    mine, other = (
        np.concatenate((order[chosen], left_over[more]))
        for order, chosen, left_over, more in zip(orders, same, rest, others, strict=True)
    )
    order = np.argsort(mine)
    return mine[order], other[order]


def _matched(ours: _Numbers, theirs: _Numbers) -> tuple[_Numbers, _Numbers]:
    """Places of equal numbers in two sorted arrays, each number as often as both have it."""
    size = len(ours) + len(theirs)
    mine, other = (side * size + np.arange(len(side)) - np.searchsorted(side, side) for side in (ours, theirs))
    _, found, partners = np.intersect1d(mine, other, assume_unique=True, return_indices=True)
    return found, partners


def _codes(column: pa.ChunkedArray, field: pa.Field) -> _Numbers:
    """Numbers for the values of a column, the same for the same, and for floats that are as good as the same."""
    if not pa.types.is_floating(column.type):
        return np.asarray(column.combine_chunks().dictionary_encode("encode").indices, np.int64)
    values = column.to_numpy()
    order = np.argsort(values)
    before, after = values[order][:-1], values[order][1:]
    codes = np.zeros(len(values), np.int64)
    codes[order[1:]] = np.cumsum(~_near(before, after, field))
    return codes


def _differ(left: pa.ChunkedArray, right: pa.ChunkedArray, field: pa.Field) -> npt.NDArray[np.bool_]:
    """True for each row whose two values differ."""
    if pa.types.is_floating(right.type):
        near = _near(left.to_numpy(), right.to_numpy(), field)
        return np.asarray(pc.or_(pc.xor(left.is_null(), right.is_null()), pa.array(~near)), bool)
    both_null = pc.and_(left.is_null(), right.is_null())
    return ~np.asarray(pc.or_(pc.fill_null(pc.equal(left, right), False), both_null), bool)


def _near(left: _Floats, right: _Floats, field: pa.Field) -> npt.NDArray[np.bool_]:
    """Whether floats are as good as the same; what is no number is near the same only."""
    with np.errstate(invalid="ignore"):
        near = np.isfinite(right) & (np.abs(left - right) <= _tolerance(field, np.abs(right)))
    return np.asarray(near | (left == right) | (np.isnan(left) & np.isnan(right)), bool)


def _tolerance(field: pa.Field, size: _Floats) -> _Floats:
    known, wanted = field.metadata or {}, field.type
    computed, is_decimal = COMPUTED_KEY in known, pa.types.is_decimal(wanted)
    added = float(known.get(MAGNITUDE, 0.0))
    if wanted == pa.float32():
        return np.maximum(size * 1e-6, added * 1e-12)
    if not (computed or is_decimal):
        return np.maximum(size, added) * 1e-12
    places = int(known.get(b"places", wanted.scale if is_decimal else 0))
    if computed and places >= _PLACES_OF_MEANS:
        unit = 1.000001 * 10.0**-places
    else:
        unit = 0.5 * 10.0**-places if is_decimal and b"places" not in known else 0.0
    largest = np.max(size, where=np.isfinite(size), initial=added) if computed else added
    return np.maximum(np.maximum(unit, largest * 1e-12), size * 1e-9)


def _row(row: Mapping[str, Any]) -> str:
    return f"({', '.join(map(_shown, row.values()))})"


def _shown(value: Any) -> str:
    shown = f"{value:.15g}" if isinstance(value, float) else "null" if value is None else repr(value)
    return shown if len(shown) <= _SHOWN else f"{shown[: _SHOWN - 3]}..."


def check_value(found: Any, expected: str, data_type: DataType, what: str, magnitude: float | None = None) -> None:
    """Compare one value with its text, by the rules above. Of a sum `magnitude` says of what size, if of both signs.

    Raises WrongAnswer.
    """
    kind = arrow_type(data_type)
    if pa.types.is_decimal(kind):
        kind = pa.decimal128(38, kind.scale)  # a sum may be wider than its column
    elif pa.types.is_temporal(kind):
        kind = pa.timestamp("s")
    field = pa.field(what, kind, metadata={MAGNITUDE: repr(magnitude or 0.0)})
    if magnitude is not None and pa.types.is_float64(kind):
        field = field.with_metadata({**field.metadata, **COMPUTED})
    try:
        check_rows([(found,)], pa.table([pa.array([expected]).cast(kind)], pa.schema([field])), ordered=True)
    except WrongAnswer as exc:
        raise WrongAnswer(str(exc).removeprefix("column ").removesuffix(" (1 of 1 rows differ)")) from exc
