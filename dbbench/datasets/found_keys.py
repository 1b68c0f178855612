"""The primary key of a table in files that is two or three columns together.

Rows are compared by 64-bit hashes of what would be loaded. Where all hashes differ the rows do; two rows with the same
hash are taken for the same, which costs a key once in many millions of files and never gives a wrong one.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dbbench.datasets.own_files import rows_from
from dbbench.suite.dataset import Column

#: Ends of names that parts of keys often have.
_ENDS = r"(id|key|pk|no|nr|num|number|code|date|day|week|month|year|time|hour|line|item|seq|position|version|at)$"
#: Columns that are tried: those with such names and some leftmost ones; at most this number in all.
_LEFTMOST, _TRIED = 3, 6
#: Columns of a key at most.
_MOST = 3
#: Texts longer than these are no part of a key.
_LONGEST = 64
#: Hashes that are held at a time, 8 bytes each. A table of more rows is read several times.
_HASHES = 1 << 24

Hashes = npt.NDArray[np.uint64]


def parts_of_a_key(columns: Mapping[str, Column]) -> list[str]:
    """The columns that may be part of a key of several, the likeliest first."""
    able = [name for name, column in columns.items() if not column.nullable and _may_be_part(column)]
    likely = [name for name in able if re.search(_ENDS, name.lower())]
    return [*likely, *(name for name in able[:_LEFTMOST] if name not in likely)][:_TRIED]


def key_of_several(columns: Mapping[str, Column], paths: Sequence[Path], rows: int) -> tuple[str, ...]:
    """Two columns, or three, that together have no values twice, in the order of the table; empty if there are none."""
    tried = parts_of_a_key(columns)
    groups = [group for size in range(2, _MOST + 1) for group in combinations(tried, size)]
    if not rows or not groups:
        return ()
    groups.insert(0, tuple(tried))  # where all of them have values twice, so has each group
    for hashes in _hashes(columns, tried, paths):
        groups = [group for group in groups if not _twice(_together(hashes, group))]
        if not groups:
            return ()
    everything, *groups = groups
    if not _unique(columns, everything, paths, rows):
        return ()
    for group in groups:
        if _unique(columns, group, paths, rows):
            return tuple(name for name in columns if name in group)
    return ()


def _may_be_part(column: Column) -> bool:
    name, arguments = column.data_type
    return name in ("integer", "bigint", "date", "datetime") or (name == "varchar" and arguments[0] <= _LONGEST)


def _unique(columns: Mapping[str, Column], group: Sequence[str], paths: Sequence[Path], rows: int) -> bool:
    """Whether no two rows have the same values in these columns."""
    passes = rows // _HASHES + 1
    for number in range(passes):
        found = [_together(hashes, group) for hashes in _hashes(columns, group, paths)]
        if passes > 1:
            found = [some[some % np.uint64(passes) == number] for some in found]
        if _twice(np.concatenate(found)):
            return False
    return True


def _hashes(columns: Mapping[str, Column], names: Iterable[str], paths: Sequence[Path]) -> Iterator[dict[str, Hashes]]:
    """Hashes of some columns' values, for each batch of rows."""
    for batch in rows_from({name: columns[name] for name in names}, paths):
        yield {name: _numbers(batch.column(name)) for name in batch.schema.names}


def _numbers(values: pa.Array) -> Hashes:
    """A number of 64 bits for each value: other numbers, days and moments have others, texts their hashes."""
    if pa.types.is_string(values.type):
        encoded = values.dictionary_encode()
        of_each = np.fromiter(map(hash, encoded.dictionary.to_pylist()), np.int64, len(encoded.dictionary))
        codes: npt.NDArray[np.int64] = np.asarray(encoded.indices, np.int64)
        return of_each[codes].view(np.uint64)
    if pa.types.is_date(values.type):
        values = values.cast(pa.int32())
    return np.asarray(values.cast(pa.int64())).view(np.uint64)


def _together(hashes: Mapping[str, Hashes], group: Iterable[str]) -> Hashes:
    """One hash for the values of several columns, mixed as SplitMix64 does."""
    mixed = np.zeros(1, np.uint64)
    for name in group:
        mixed = (mixed ^ hashes[name]) + np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        mixed ^= mixed >> np.uint64(31)
    return mixed


def _twice(hashes: Hashes) -> bool:
    ordered = np.sort(hashes)
    return bool((ordered[1:] == ordered[:-1]).any())
