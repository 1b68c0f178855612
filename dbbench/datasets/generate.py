"""Rows from a seed. Any chunk of any table can be drawn alone, from seed, table and chunk number.

Only the raw 64-bit output of numpy's PCG64 is used (its stream is promised to stay as it is) and
only whole-number arithmetic after it, so that every machine and version draws the same bits.
"""

import datetime
import functools
import zlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dbbench.datasets import documents
from dbbench.datasets.computed import numbers
from dbbench.errors import UserError
from dbbench.host import spared_pandas  # noqa: F401 - whatever makes rows imports this module
from dbbench.host.ahead import in_order
from dbbench.suite.data_types import DataType
from dbbench.suite.dataset import Column, Dataset, Table
from dbbench.suite.documents import Document, Leaf
from dbbench.suite.values import Choice, Computed, Days, Listed, Moments, Pattern, Quantiles, Reference, Words
from dbbench.suite.values import Sequence as Series

#: Rows in a chunk. Part of the data's definition: another number would draw other data.
CHUNK_ROWS = 32_768
#: Raised whenever the same suite would draw other data than before; part of the cache's key.
GENERATION = 1

#: Marks a column of documents in an Arrow schema.
DOCUMENTS = {b"holds": b"documents"}

Ints = npt.NDArray[np.int64]
Randoms = npt.NDArray[np.uint64]

#: The digit, as a letter, that a random 16-bit number stands for.
_DIGITS = ((np.arange(1 << 16) * 10 >> 16) + ord("0")).astype(np.uint8)
_EPOCH = datetime.date(1970, 1, 1)
_MIDNIGHT = datetime.datetime(1970, 1, 1)


def arrow_type(data_type: DataType) -> pa.DataType:
    """The Arrow type that holds a column's values in a batch."""
    match data_type:
        case ("decimal", (precision, scale)):
            return pa.decimal128(precision, scale)
        case ("char" | "varchar" | "json", _):
            return pa.string()
        case (name, _):
            return {
                "integer": pa.int32(),
                "bigint": pa.int64(),
                "real": pa.float32(),
                "double": pa.float64(),
                "date": pa.date32(),
                "datetime": pa.timestamp("s"),
            }[name]


def arrow_schema(table: Table) -> pa.Schema:
    """The Arrow schema of a table's batches."""
    return pa.schema(
        [
            pa.field(
                name, arrow_type(column.data_type), metadata=DOCUMENTS if column.data_type.name == "json" else None
            )
            for name, column in table.columns.items()
        ]
    )


def batches(dataset: Dataset, table: str, *, scale: float = 1.0, seed: int | None = None) -> Iterator[pa.RecordBatch]:
    """All rows of a table, a batch of CHUNK_ROWS at a time (the last may be shorter), drawn on all cores."""
    rows = dataset.rows(table, scale)
    drawn = functools.partial(chunk, dataset, table, scale=scale, seed=seed)
    return in_order(drawn, range(-(-rows // CHUNK_ROWS)))


def chunk(dataset: Dataset, table: str, number: int, *, scale: float = 1.0, seed: int | None = None) -> pa.RecordBatch:
    """Chunk `number` (from 0) of a table. The dataset's own seed is used unless `seed` is given."""
    first = number * CHUNK_ROWS
    count = min(CHUNK_ROWS, dataset.rows(table, scale) - first)
    model = dataset.tables[table]
    arrays = []
    known, whole = dataset.seed if seed is None else seed, dict[str, Ints]()
    for name, column in model.columns.items():
        if isinstance(column.values, Document):
            draw = functools.partial(_drawn, dataset, table, number, scale, known)
            drawn = documents.texts(column.values.root, name, count, draw)
        elif isinstance(column.values, Computed):
            steps = _whole(dataset, table, name, number, scale, known, whole)
            drawn = _from_numbers(steps, column.values, column.data_type)
        else:
            source = random_source(known, table, name, number)
            drawn = _column(dataset, scale, column, source, first, count, dataset.rows(table, scale))
        arrays.append(_with_nulls(drawn, column.null_every, first))
    whole.clear()  # what computes with them refers to itself, and stays for a while
    return pa.record_batch(arrays, schema=arrow_schema(model))


def _drawn(
    dataset: Dataset, table: str, number: int, scale: float, seed: int, values: Leaf, kind: str, path: str, count: int
) -> pa.Array:
    """Values of documents, of which a chunk may have more or fewer than rows."""
    source, column = random_source(seed, table, path, number), Column.model_construct(type=kind, values=values)
    return _column(dataset, scale, column, source, 0, count, count)


def random_source(seed: int, table: str, column: str, number: int) -> np.random.PCG64:
    """The random bits of one column of one chunk."""
    words = [seed, zlib.crc32(table.encode()), zlib.crc32(column.encode()), number]
    return np.random.PCG64(np.random.SeedSequence(words))


def _whole(
    dataset: Dataset, table: str, name: str, number: int, scale: float, seed: int, made: dict[str, Ints]
) -> Ints:
    """The whole numbers behind a column's values in a chunk, drawn once more: what an expression may name.

    Those that it names are `made` once.
    """
    column = dataset.tables[table].columns[name]
    source = random_source(seed, table, name, number)

    def column_of(other: str) -> Ints:
        if other not in made:
            made[other] = _whole(dataset, table, other, number, scale, seed, made)
        return made[other]

    first, rows = number * CHUNK_ROWS, dataset.rows(table, scale)
    count = min(CHUNK_ROWS, rows - first)
    match column.values:
        case Series(start=start):
            return np.arange(first + start, first + start + count, dtype=np.int64)
        case Reference():
            return _keys(dataset, scale, column.values, source, first, count, rows)
        case Quantiles():
            return quantiles(source, count, column.values)
        case Computed(text=text):
            return numbers(
                text,
                column_of,
                lambda other: dataset.rows(other, scale),
                lambda limit: below(source, count, limit),
                count,
            )
    raise AssertionError(f"{name} has no whole numbers")


def _keys(
    dataset: Dataset, scale: float, values: Reference, source: np.random.PCG64, first: int, count: int, rows: int
) -> Ints:
    """Keys of another table."""
    keys = dataset.tables[values.table].columns[dataset.tables[values.table].single_key].values
    assert isinstance(keys, Series)
    parents = dataset.rows(values.table, scale)
    if values.spread == "even":
        return np.arange(first, first + count, dtype=np.int64) * parents // rows + keys.start
    return below(source, count, parents) + keys.start


def _from_numbers(whole: Ints, values: Computed, data_type: DataType) -> pa.Array:
    """Numbers in steps, or days or seconds after the first."""
    if values.first is None:
        return _steps(whole, values.step, data_type)
    days = (values.first - _EPOCH).days
    if data_type.name == "datetime":
        return pa.array(whole + days * 86_400).cast(pa.timestamp("s"))
    return _numbers(whole + days, DataType("integer", ())).cast(pa.date32())


def _column(
    dataset: Dataset, scale: float, column: Column, source: np.random.PCG64, first: int, count: int, rows: int
) -> pa.Array:
    values, data_type = column.values, column.data_type
    match values:
        case Series(start=start):
            return _numbers(np.arange(first + start, first + start + count, dtype=np.int64), data_type)
        case Reference():
            return _numbers(_keys(dataset, scale, values, source, first, count, rows), data_type)
        case Quantiles():
            return _steps(quantiles(source, count, values), values.step, data_type)
        case Choice(weights=weights):
            picked = pick(source, count, list(weights.values()))
            return _chosen(list(weights), picked)
        case Pattern(text=text, repeat=repeat):
            return _digits(source, count, text * repeat)
        case Days(first=start, last=last):
            days = below(source, count, (last - start).days + 1) + (start - _EPOCH).days
            return pa.array(days.astype(np.int32)).cast(pa.date32()).cast(arrow_type(data_type))
        case Moments(first=moment, seconds=seconds, null_every=null_every):
            numbers = np.arange(first, first + count, dtype=np.int64)
            times = numbers * seconds + round((moment - _MIDNIGHT).total_seconds())
            return _with_nulls(pa.array(times).cast(pa.timestamp("s")), null_every, first)
        case Words(of=lists):
            words = [_chosen(list(each), below(source, count, len(each))) for each in lists]
            return pc.binary_join_element_wise(*words, " ")
        case Listed(texts=texts):
            return _chosen(list(texts), np.arange(first, first + count, dtype=np.int64) % len(texts))
        case _:
            raise AssertionError("computed ones are made elsewhere, and a file's rows have none")


def _with_nulls(drawn: pa.Array, every: int, first: int) -> pa.Array:
    """Without each `every`th value of the table; `first` is the number of the first row here, from 0."""
    if not every:
        return drawn
    missing = (np.arange(first, first + len(drawn), dtype=np.int64) + 1) % every == 0
    return pc.if_else(pa.array(missing.view(np.uint8)).cast(pa.bool_()), pa.scalar(None, drawn.type), drawn)


def _raw(source: np.random.PCG64, count: int) -> Randoms:
    """`count` random 32-bit numbers, each in a uint64."""
    drawn: Randoms = np.frombuffer(source.random_raw((count + 1) // 2), np.uint32)[:count].astype(np.uint64)
    return drawn


def below(source: np.random.PCG64, count: int, limit: int) -> Ints:
    """Whole numbers from 0 to limit - 1."""
    if limit < 1 << 31:
        return ((_raw(source, count) * np.uint64(limit)) >> np.uint64(32)).astype(np.int64)
    return (source.random_raw(count) % np.uint64(limit)).astype(np.int64)


def quantiles(source: np.random.PCG64, count: int, values: Quantiles) -> Ints:
    """Numbers of steps, by linear interpolation of the quantile function in whole numbers."""
    shares = np.array([round(share * (1 << 32)) for share in values.points], np.int64)
    levels = np.array([round(point / values.step) for point in values.points.values()], np.int64)
    drawn = _raw(source, count).astype(np.int64)
    segment = _segments(drawn, shares[1:-1])
    rises = np.diff(levels)
    rises[-1] += 1  # so that the greatest is drawn as often as any other
    drawn -= shares.take(segment)
    drawn *= rises.take(segment)
    drawn //= np.diff(shares).take(segment)
    return np.asarray(drawn + levels.take(segment), np.int64)


def pick(source: np.random.PCG64, count: int, weights: Sequence[float]) -> Ints:
    """Positions in `weights`, each as often as its weight says."""
    cumulative = np.cumsum(weights) / sum(weights)
    limits = np.array([round(share * (1 << 32)) for share in cumulative[:-1]], np.int64)
    return _segments(_raw(source, count).astype(np.int64), limits)


def _chosen(texts: list[str], picked: Ints) -> pa.Array:
    """The texts at these positions."""
    letters = [text.encode() for text in texts]
    ends = np.cumsum([0, *map(len, letters)], dtype=np.int32)
    known = pa.StringArray.from_buffers(len(texts), pa.py_buffer(ends), pa.py_buffer(b"".join(letters)))
    return known.take(pa.array(picked))


def _segments(drawn: Ints, limits: Ints) -> Ints:
    """How many of a few ascending limits each number reaches: a search that is quicker than searchsorted."""
    segment = np.zeros(len(drawn), np.int64)
    for limit in limits:
        segment += drawn >= limit
    return segment


def _steps(steps: Ints, step: float, data_type: DataType) -> pa.Array:
    """`steps` times `step`, exactly. Raises UserError for numbers that the type can't hold."""
    if data_type.name in ("real", "double"):
        return _numbers(steps * step if step != int(step) else steps * int(step), data_type)
    digits, places = data_type.arguments or (19, 0)
    units = round(step * 10**places)
    largest = max(-int(steps.min(initial=0)), int(steps.max(initial=0)))
    if largest * units >= min(10**digits, 2**63):
        raise UserError(f"{data_type.name} is too small for the data at this scale: {largest:,} steps of {step:g}")
    return (_decimals if data_type.arguments else _numbers)(steps * units, data_type)


def _numbers(values: npt.NDArray[Any], data_type: DataType) -> pa.Array:
    wanted = arrow_type(data_type)
    try:
        return pa.array(values).cast(wanted, safe=pa.types.is_integer(wanted))
    except pa.ArrowInvalid as exc:
        raise UserError(f"{data_type.name} is too small for the data at this scale: {exc}") from exc


def _decimals(units: Ints, data_type: DataType) -> pa.Array:
    """128-bit decimals from their unscaled values, without going through Python objects."""
    words = np.empty((len(units), 2), np.int64)
    words[:, 0] = units
    words[:, 1] = units >> 63  # the sign, extended
    return pa.Array.from_buffers(arrow_type(data_type), len(units), [None, pa.py_buffer(words)])


def _digits(source: np.random.PCG64, count: int, text: str) -> pa.Array:
    """Strings of one length, with a random digit for each `#`."""
    letters = np.frombuffer(text.encode("ascii"), np.uint8)
    holes = np.flatnonzero(letters == ord("#"))
    table = np.tile(letters, (count, 1))
    random = np.frombuffer(source.random_raw(-(-count * len(holes) // 4)), np.uint16)[: count * len(holes)]
    digits = _DIGITS.take(random).reshape(count, len(holes))
    for run in np.split(np.arange(len(holes)), np.flatnonzero(np.diff(holes) != 1) + 1):
        if len(run):  # a slice is written much faster than the same columns by their numbers
            table[:, holes[run[0]] : holes[run[-1]] + 1] = digits[:, run[0] : run[-1] + 1]
    offsets = np.arange(0, (count + 1) * len(text), len(text), dtype=np.int32)
    return pa.StringArray.from_buffers(count, pa.py_buffer(offsets), pa.py_buffer(table))
