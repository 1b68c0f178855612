"""The minimum of bytes of data: each column compressed, numbers by their differences where that is less, and texts
by their places in a list of different ones.
"""

from collections.abc import Iterable
from contextlib import suppress

import numpy as np
import pyarrow as pa

from dbbench.datasets.cache import Files
from dbbench.datasets.records import NAMED, RecordSet
from dbbench.host import atomic_json

#: How much better than a general compressor an engine may be that knows its columns.
BETTER = 4
#: Of how columns are compressed here; another gives another number.
_VERSION = 1
_CODEC = pa.Codec("zstd", compression_level=3)


def too_few(files: Files, tables: Iterable[str], count: int) -> int:
    """The fewest bytes that these tables could take, if `count` is less; else 0, which takes no time as a rule."""
    if not tables or count * BETTER >= files.manifest["csv_bytes"]:
        return 0
    least = sum(_table(files, name) for name in tables) // BETTER
    return least if count < least else 0


def too_few_of_records(records: RecordSet, records_kept: int, count: int) -> int:
    """Return the fewest bytes that the records could take, if `count` is less, else 0: most of a value is random."""
    least = records_kept * max(records.spec.value_bytes - NAMED, 0) // BETTER
    return least if count < least else 0


def _table(files: Files, name: str) -> int:
    """Compressed bytes of a table, which are computed once and stored beside it."""
    known = files.directory / f"compressed-{_VERSION}-{name}.json"
    with suppress(OSError, ValueError):
        return int(atomic_json.read(known))
    found = sum(_column(each) for batch in files.stream(name) for each in batch.columns)
    with suppress(OSError):  # a cache that this user may only read
        atomic_json.write(known, found)
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
