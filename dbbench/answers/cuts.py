"""How the large tables of an answer are cut: by their rows, or each by ranges of the key that they are joined by."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbbench.answers import oracle
from dbbench.answers.joins import Held
from dbbench.datasets.cache import Files
from dbbench.datasets.generate import Ints
from dbbench.suite.answer import Answer

#: Bytes of the columns of large tables that an answer holds at a time.
PART_BYTES = 32 * 2**20
#: A table smaller than this part of them is held whole while parts go by.
_SMALL = 8
#: Joins that keep each row of their left side in the part that it is in.
KEEPING = ("inner", "left", "semi", "anti", "cross")
#: Batches lie along a key if together they span at most this many times its range.
_ALONG = 2
#: Batches that are mapped at a time to look at their keys.
_LOOKED_AT = 64


class Sizes:
    """The columns of each table that an answer reads, and how large they are."""

    def __init__(self, answer: Answer, files: Files, made: Mapping[str, Held]) -> None:
        self.files = files
        #: What stands before the names of columns -> the table; of the dataset's tables alone.
        self.prefixes = {answer.table: answer.table, **{join.prefix: join.table for join in answer.join}}
        self.prefixes = {prefix: table for prefix, table in self.prefixes.items() if table not in made}
        self.names: dict[str, set[str]] = {table: set() for table in self.prefixes.values()}
        for column in oracle.columns_read(answer):
            prefix, _, name = column.partition(".")
            if prefix in self.prefixes:
                self.names[self.prefixes[prefix]].add(name)
        self.of = {table: self._bytes(table) for table in self.names}
        self.total = sum(self.of.values())

    def _bytes(self, table: str) -> int:
        rows = int(self.files.manifest["tables"][table]["rows"])
        first = next(self.files.stream(table), None)
        if first is None or not first.num_rows:
            return 0
        width: int = sum(int(first.column(name).nbytes) for name in self.columns(table))
        return int(width * rows / first.num_rows)

    @property
    def large(self) -> dict[str, str]:
        """What stands before the names of columns -> the table, of those that are cut."""
        return {prefix: table for prefix, table in self.prefixes.items() if self.of[table] > PART_BYTES // _SMALL}

    def columns(self, table: str) -> list[str]:
        """The columns of a table that are read; its first one if only its rows count."""
        names = self.files.schema(table).names
        return [name for name in names if name in self.names[table]] or names[:1]


@dataclass(frozen=True)
class Cut:
    """How large tables are cut: each by ranges of a column, or one by its rows."""

    sizes: Sizes
    #: Large table -> the column that the tables are joined by; "" for one that is cut by its rows.
    keys: Mapping[str, str]
    #: Large table -> the least and the greatest key of each of its batches.
    ranges: Mapping[str, Ints] = field(default_factory=dict)

    def parts(self) -> Iterator[Files]:
        """The dataset's files with as much of the large tables as belongs together."""
        files = self.sizes.files
        count = max(1, -(-sum(self.sizes.of[name] for name in self.keys) // PART_BYTES))
        if not self.ranges:
            (name,) = self.keys
            batches = files.batches(name)
            for each in np.array_split(np.arange(batches), max(1, min(count, batches))):
                yield Part(files.directory, {name: _Piece(each)}, self.sizes)
            return
        least = min(int(bounds[:, 0].min()) for bounds in self.ranges.values())
        end = max(int(bounds[:, 1].max()) for bounds in self.ranges.values()) + 1
        edges = [least + (end - least) * number // count for number in range(count + 1)]
        for low, high in pairwise(edges):
            held = {name: _piece(self.keys[name], bounds, low, high) for name, bounds in self.ranges.items()}
            yield Part(files.directory, held, self.sizes)

    def in_order_of(self, column: str) -> bool:
        """Whether the parts follow one another in the order of a column."""
        prefix, _, name = column.partition(".")
        return bool(self.ranges) and self.keys.get(self.sizes.prefixes.get(prefix, "")) == name


@dataclass(frozen=True)
class _Piece:
    """Some batches of a table, and of some of these only the rows with keys from `low` to below `high`."""

    batches: Ints
    key: str = ""
    low: int = 0
    high: int = 0
    #: Batches that have other keys, too.
    mixed: frozenset[int] = frozenset()

    def rows(self, number: int, batch: pa.RecordBatch, columns: list[str]) -> pa.RecordBatch:
        """What belongs to the piece of one of its batches."""
        if number not in self.mixed:
            return batch.select(columns)
        keys = batch.column(self.key)
        first, last = (pa.scalar(bound, keys.type) for bound in (self.low, self.high - 1))
        return batch.select(columns).filter(pc.and_(pc.greater_equal(keys, first), pc.less_equal(keys, last)))


def _piece(key: str, bounds: Ints, low: int, high: int) -> _Piece:
    batches = np.flatnonzero((bounds[:, 1] >= low) & (bounds[:, 0] < high))
    mixed = np.flatnonzero((bounds[:, 0] < low) | (bounds[:, 1] >= high))
    return _Piece(batches, key, low, high, frozenset(mixed.tolist()))


@dataclass(frozen=True)
class Part(Files):
    """A dataset's files with some rows of its large tables."""

    held: Mapping[str, _Piece]
    sizes: Sizes

    def table(self, name: str) -> pa.Table:
        """A table, or what is held of a large one: its columns that are read."""
        if name not in self.held:
            return super().table(name)
        piece, columns, schema = self.held[name], self.sizes.columns(name), self.schema(name)
        # Of mixed batches little is kept: they are read one at a time, as the pages of mapped ones would stay till the end.
        mixed = [int(number) for number in piece.batches if int(number) in piece.mixed]
        read = self.some(name, mixed, list(dict.fromkeys([*columns, piece.key])))
        mapped = iter(self.mapped(name, [number for number in piece.batches if int(number) not in piece.mixed]))
        rows = [
            piece.rows(int(number), next(read if int(number) in piece.mixed else mapped), columns)
            for number in piece.batches
        ]
        return pa.Table.from_batches(rows, pa.schema([schema.field(column) for column in columns]))


@functools.lru_cache(100)
def ranges(files: Files, table: str, key: str) -> Ints | None:
    """The least and the greatest key of each batch; None where keys are missing."""
    found = []
    for first in range(0, count := files.batches(table), _LOOKED_AT):
        for batch in files.mapped(table, range(first, min(first + _LOOKED_AT, count))):
            keys = batch.column(key)
            if keys.null_count:
                return None
            bounds = pc.min_max(keys).as_py()
            found.append([bounds["min"], bounds["max"]])
    return np.array(found, np.int64)


def _along(bounds: Ints) -> bool:
    """Whether the rows lie in about the order of the key, so that a range of it is in few batches."""
    span = int(bounds[:, 1].max()) - int(bounds[:, 0].min()) + 1
    return int((bounds[:, 1] - bounds[:, 0] + 1).sum()) <= _ALONG * span


def cut_of(answer: Answer, sizes: Sizes, *, along: bool = False) -> Cut | None:
    """How the tables of an answer can be cut so that each row of its joins comes from one part; None if they can't.

    With `along` only so that each part is read from few batches.
    """
    large = sizes.large
    if len({*large.values()}) < len(large):
        return None  # a large table that is there twice
    cut_already = answer.table in large
    for join in answer.join:
        now = join.prefix in large
        if join.kind not in KEEPING or (now and not cut_already and join.kind != "inner"):
            return None
        cut_already = cut_already or now
    if len(large) == 1:
        return _of_one(answer, sizes)
    keys = _common_key(answer, large)
    if not keys or not all(pa.types.is_integer(sizes.files.schema(each).field(keys[each]).type) for each in keys):
        return None
    found = {table: ranges(sizes.files, table, key) for table, key in keys.items()}
    known = {table: each for table, each in found.items() if each is not None}
    if len(known) < len(found) or (along and not all(map(_along, known.values()))):
        return None
    return Cut(sizes, keys, known)


def _of_one(answer: Answer, sizes: Sizes) -> Cut:
    """One large table by its rows; along a key by which its rows are grouped or ordered, if they lie so."""
    ((prefix, table),) = sizes.large.items()
    for column in (*answer.group_by, *answer.order_by[:1]):
        before, _, name = column.partition(".")
        if before == prefix and pa.types.is_integer(sizes.files.schema(table).field(name).type):
            bounds = ranges(sizes.files, table, name)
            if bounds is not None and _along(bounds):
                return Cut(sizes, {table: name}, {table: bounds})
    return Cut(sizes, {table: ""})


def _common_key(answer: Answer, large: Mapping[str, str]) -> dict[str, str] | None:
    """Large table -> its column, all of which are equal in each row of the joins; None if there is no such."""
    classes: list[set[str]] = []
    for join in answer.join:
        for pair in join.pairs.items():
            joined = [each for each in classes if each & {*pair}]
            classes = [each for each in classes if each not in joined] + [{*pair}.union(*joined)]
    for each in classes:
        columns = [column.split(".") for column in sorted(each) if column.partition(".")[0] in large]
        if len(columns) == len(large) == len({prefix for prefix, _ in columns}):
            return {large[prefix]: column for prefix, column in columns}
    return None
