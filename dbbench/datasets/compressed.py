"""The minimum of bytes of data: each column compressed, numbers by their differences where that is less, and texts
by their places in a list of different ones.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from math import log2

import numpy as np
import pyarrow as pa

from dbbench.datasets.absent import Absent
from dbbench.datasets.cache import Files
from dbbench.datasets.records import NAMED, RecordSet
from dbbench.host import atomic_json
from dbbench.suite.dataset import TEXT_KEY

#: How much better than a general compressor an engine may be that knows its columns.
BETTER = 4
#: Of how columns are compressed here; another gives another number.
_VERSION = 2
#: A check of loaded vectors looks for each among ten neighbours.
SOUGHT = 10
_NONE = Absent()
_CODEC = pa.Codec("zstd", compression_level=3)


def too_few(files: Files, columns: Mapping[str, Collection[str]], count: int, absent: Absent = _NONE) -> int:
    """The fewest bytes that these tables' columns could take, without absent texts, if `count` is less; else 0.

    It takes no time as a rule.
    """
    if not columns or count * BETTER >= files.manifest["csv_bytes"]:
        return 0
    sizes = ((_columns(files, name, absent), names) for name, names in columns.items())
    least = sum(found[name] for found, names in sizes for name in names) // BETTER
    return least if count < least else 0


def too_few_of_records(records: RecordSet, records_kept: int, count: int) -> int:
    """Return the fewest bytes that the records could take, if `count` is less, else 0: most of a value is random."""
    least = records_kept * max(records.spec.value_bytes - NAMED, 0) // BETTER
    return least if count < least else 0


def too_few_of_vectors(files: Files, left: int, count: int) -> int:
    """Return the fewest bytes that a number of the vectors could take, if `count` is less; else 0.

    However lossy its codes, who finds a vector by itself among the first `SOUGHT` must tell `left` / `SOUGHT` of them
    apart. That takes the logarithm as bits for each; half of it, as some may be missed. Dimensions don't matter, nor do
    they to codes of product quantisation. Vectors that are alike take no more than compressed.
    """
    least = int(left * log2(max(left / SOUGHT, 1)) / 8 / 2)
    if count >= least:
        return 0
    compressed = sum(_column(batch.column("vector")) for batch in files.stream("vectors"))
    least = min(least, compressed * left // files.manifest["tables"]["vectors"]["rows"] // BETTER)
    return least if count < least else 0


def _columns(files: Files, name: str, absent: Absent) -> dict[str, int]:
    """Compressed bytes of a table's columns; without absent rows they are computed once and stored beside it."""
    if len(absent):
        return _summed(_without(absent, batch) for batch in files.stream(name))
    known = files.directory / f"compressed-{_VERSION}-{name}.json"
    with suppress(OSError, ValueError):
        return dict(atomic_json.read(known))
    found = _summed(files.stream(name))
    with suppress(OSError):  # a cache that this user may only read
        atomic_json.write(known, found)
    return found


def _without(absent: Absent, batch: pa.RecordBatch) -> pa.RecordBatch:
    return batch.filter(pa.array(~absent.has(batch.column(TEXT_KEY).to_numpy())))


def _summed(batches: Iterable[pa.RecordBatch]) -> dict[str, int]:
    found: Counter[str] = Counter()
    for batch in batches:
        found.update({field.name: _column(each) for field, each in zip(batch.schema, batch.columns, strict=True)})
    return found


def _column(column: pa.Array) -> int:
    """Compressed bytes of a column."""
    buffers = [buffer for buffer in column.buffers() if buffer]
    kind = column.type
    if pa.types.is_integer(kind) or pa.types.is_temporal(kind) or pa.types.is_decimal(kind):
        *rest, numbers = buffers
        words = np.frombuffer(numbers, f"<i{min(kind.byte_width, 8)}")
        smallest = min(_compressed(numbers), _compressed(np.diff(words).tobytes()))
        return smallest + sum(map(_compressed, rest))
    if pa.types.is_string(kind) or pa.types.is_binary(kind):
        return min(_texts(column), _places(column))
    return sum(map(_compressed, buffers))


def _texts(column: pa.Array) -> int:
    """Compressed bytes of texts, and of their lengths."""
    nulls, offsets, texts = column.buffers()
    lengths = np.diff(np.frombuffer(offsets, np.int32))
    return sum(map(_compressed, filter(None, (nulls, texts, lengths.tobytes()))))


def _places(column: pa.Array) -> int:
    """Compressed bytes of the different texts, and the fewest of which of them stands in each row: its entropy."""
    coded = column.dictionary_encode()
    places = coded.indices.fill_null(len(coded.dictionary)).to_numpy()
    shares = np.bincount(places) / max(len(places), 1)
    shares = shares[shares > 0]
    entropy = -float(np.sum(shares * np.log2(shares))) * len(places) / 8
    return _texts(coded.dictionary) + min(int(entropy), _compressed(np.diff(places).tobytes()))


def _compressed(given: pa.Buffer | bytes) -> int:
    return len(_CODEC.compress(given, asbytes=True))
