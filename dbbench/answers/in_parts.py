"""Answers on data of any size: the rows of large tables go by in parts, and what the parts give is put together.

A part is a number of rows of the one large table, or a range of the key that large tables are joined by. Small tables are whole
in each part. Groups that have rows in several parts are merged from sums, counts and extremes. What can't be done in parts
is computed as a whole, and a line in the log says so: its memory grows with the data.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.ipc

from dbbench.answers import oracle, ties
from dbbench.answers.compare import COMPUTED_KEY
from dbbench.datasets.cache import Files
from dbbench.datasets.generate import Ints
from dbbench.suite.answer import Answer, Condition, last_part

#: Bytes of the columns of large tables that an answer holds at a time.
PART_BYTES = 32 * 2**20
#: A table smaller than this part of them is whole in each part.
_SMALL = 8
_MERGED_BY = {"sum": "sum", "count": "sum", "min": "min", "max": "max"}
#: Joins that keep each row of their left side in the part that it is in.
_KEEPING = ("inner", "left", "semi", "anti", "cross")
_log = logging.getLogger(__name__)


def answer_file(answer: Answer, files: Files) -> Path:
    """The file of the rows of an answer in relational form; see `oracle.stored`."""
    return oracle.stored([answer.model_dump(mode="json")], lambda: rows_of(answer, files, with_ties=True), files)


def rows_of(
    answer: Answer, files: Files, made: Mapping[str, pa.Table] | None = None, *, with_ties: bool = False
) -> Iterator[pa.Table]:
    """The rows of `answer` in pieces, in its order if it has one. `with_ties`, and UserError, as in `oracle.expected`."""
    tables = dict(made or {})
    if sum(sealed["bytes"] for sealed in files.manifest["files"].values()) <= PART_BYTES:
        yield oracle.expected(answer, files, tables, with_ties=with_ties)
        return
    for name, subquery in answer.subqueries.items():
        rows = _whole(subquery, files, tables)
        tables[name] = rows.rename_columns([last_part(column) for column in rows.column_names])
    where = tuple(_known(each, files, tables) for each in answer.where)
    having = tuple(_known(each, files, tables) for each in answer.having)
    answer = answer.model_copy(update={"subqueries": {}, "where": where, "having": having})
    sizes = _Sizes(answer, files, tables)
    if sizes.total <= PART_BYTES:
        yield oracle.expected(answer, files, tables, with_ties=with_ties)
        return
    cut = _cut(answer, sizes)
    if cut is None:
        _log.warning(
            "dbbench: an answer on %s is computed as a whole, with %.1f GB in memory", answer.table, sizes.total / 1e9
        )
        yield oracle.expected(answer, files, tables, with_ties=with_ties)
        return
    yield from _put_together(answer, cut, tables, with_ties=with_ties)


def _whole(answer: Answer, files: Files, made: Mapping[str, pa.Table]) -> pa.Table:
    return pa.concat_tables(rows_of(answer, files, made), promote_options="default")


def _known(condition: Condition, files: Files, tables: dict[str, pa.Table]) -> Condition:
    """A condition without answers in it: those are computed on all rows, and stand in `tables` instead."""
    if condition.any_of:
        return condition.model_copy(update={"any_of": tuple(_known(each, files, tables) for each in condition.any_of)})
    if condition.among is None:
        return condition
    name = f"among_{len(tables)}"
    tables[name] = _whole(condition.among, files, tables).rename_columns(["value"])
    among = Answer(table=name, select=(f"{name}.value",))
    return condition.model_copy(update={"among": among})


class _Sizes:
    """The columns of each table that an answer reads, and how large they are."""

    def __init__(self, answer: Answer, files: Files, made: Mapping[str, pa.Table]) -> None:
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

    def columns(self, table: str) -> list[str]:
        """The columns of a table that are read; its first one if only its rows count."""
        names = self.files.schema(table).names
        return [name for name in names if name in self.names[table]] or names[:1]


@dataclass(frozen=True)
class _Cut:
    """How large tables are cut: each by ranges of a column, or one by its rows."""

    sizes: _Sizes
    #: Large table -> the column that the tables are joined by; "" for one that is cut by its rows.
    keys: Mapping[str, str]
    #: Large table -> the least and the greatest key of each of its batches.
    ranges: Mapping[str, Ints] = field(default_factory=dict)

    def parts(self) -> Iterator[Files]:
        """The dataset's files with as much of the large tables as belongs together."""
        files, count = self.sizes.files, -(-sum(self.sizes.of[name] for name in self.keys) // PART_BYTES)
        if not self.ranges:
            (name,) = self.keys
            for each in np.array_split(np.arange(files.batches(name)), min(count, files.batches(name))):
                yield _Part(files.directory, {name: (each, "", 0, 0)}, self.sizes)
            return
        least = min(int(bounds[:, 0].min()) for bounds in self.ranges.values())
        end = max(int(bounds[:, 1].max()) for bounds in self.ranges.values()) + 1
        edges = [least + (end - least) * number // count for number in range(count + 1)]
        for low, high in pairwise(edges):
            held = {
                name: (np.flatnonzero((bounds[:, 1] >= low) & (bounds[:, 0] < high)), self.keys[name], low, high)
                for name, bounds in self.ranges.items()
            }
            yield _Part(files.directory, held, self.sizes)

    def in_order_of(self, column: str) -> bool:
        """Whether the parts follow one another in the order of a column."""
        prefix, _, name = column.partition(".")
        return bool(self.ranges) and self.keys.get(self.sizes.prefixes.get(prefix, "")) == name


@dataclass(frozen=True)
class _Part(Files):
    """A dataset's files with some rows of its large tables: batches, column, its least value, and the first one above."""

    held: Mapping[str, tuple[Ints, str, int, int]]
    sizes: _Sizes

    def table(self, name: str) -> pa.Table:
        """A table, or what is held of a large one: its columns that are read."""
        if name not in self.held:
            return super().table(name)
        batches, key, first, end = self.held[name]
        columns = self.sizes.columns(name)
        pieces = []
        for batch in self.some(name, batches, [*columns, *([key] if key and key not in columns else [])]):
            if key:
                values = batch.column(key)
                batch = batch.filter(pc.and_(pc.greater_equal(values, first), pc.less(values, end)))  # noqa: PLW2901
            pieces.append(batch.select(columns))
        schema = self.schema(name)
        return pa.Table.from_batches(pieces, pa.schema([schema.field(column) for column in columns]))


def _ranges(files: Files, table: str, key: str) -> Ints | None:
    """The least and the greatest key of each batch; None where keys are missing."""
    found = []
    for batch in files.some(table, range(files.batches(table)), [key]):
        if batch.column(0).null_count:
            return None
        found.append([pc.min(batch.column(0)).as_py(), pc.max(batch.column(0)).as_py()])
    return np.array(found, np.int64)


def _cut(answer: Answer, sizes: _Sizes) -> _Cut | None:
    """How the tables of an answer can be cut so that each row of its joins comes from one part; None if they can't."""
    large = {prefix: table for prefix, table in sizes.prefixes.items() if sizes.of[table] > PART_BYTES // _SMALL}
    if len({*large.values()}) < len(large):
        return None  # a large table that is there twice
    cut_already = answer.table in large
    for join in answer.join:
        now = join.prefix in large
        if join.kind not in _KEEPING or (now and not cut_already and join.kind != "inner"):
            return None
        cut_already = cut_already or now
    if len(large) == 1:
        cut = _Cut(sizes, dict.fromkeys(large.values(), ""))
    else:
        keys = _common_key(answer, large)
        if not keys or not all(pa.types.is_integer(sizes.files.schema(each).field(keys[each]).type) for each in keys):
            return None
        ranges = {table: _ranges(sizes.files, table, key) for table, key in keys.items()}
        known = {table: each for table, each in ranges.items() if each is not None}
        if len(known) < len(ranges):
            return None
        cut = _Cut(sizes, keys, known)
    return cut if not answer.count_distinct or _apart(answer, cut) else None


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


def _apart(answer: Answer, cut: _Cut) -> bool:
    """Whether no group has rows in two parts."""
    return any(cut.in_order_of(column) for column in answer.group_by)


def _put_together(answer: Answer, cut: _Cut, tables: Mapping[str, pa.Table], *, with_ties: bool) -> Iterator[pa.Table]:
    grouped = bool(answer.group_by or answer.aggregates)
    if grouped and not _apart(answer, cut):
        yield _merged(answer, cut, tables, with_ties=with_ties)
        return
    ordered = (
        bool(answer.order_by) and cut.in_order_of(answer.order_by[0]) and answer.order_by[0] not in answer.descending
    )
    columns = tuple(dict.fromkeys([*answer.select, *answer.order_by]))
    each = answer.model_copy(update={"limit": None, "select": columns})
    if (not answer.order_by or ordered) and answer.limit is None:
        for part in cut.parts():
            rows = oracle.expected(each, part, tables)
            yield _selected(rows, answer, with_ties=with_ties)
        return
    best: pa.Table | None = None
    for part in cut.parts():
        rows = oracle.expected(each, part, tables)
        schema = rows.schema
        best = rows if best is None else pa.concat_tables([best, rows], promote_options="default")
        if answer.limit is not None:
            best = ties.cut(oracle.ordered(best, answer), answer, ties=True)
    assert best is not None
    best = ties.cut(oracle.ordered(best, answer), answer, ties=with_ties)
    yield _selected(best.cast(schema), answer, with_ties=with_ties)


def _selected(rows: pa.Table, answer: Answer, *, with_ties: bool) -> pa.Table:
    """The columns of an answer, with that of ties where its order may leave some."""
    chosen = rows.select(list(answer.select))
    if not with_ties or not answer.order_by:
        return chosen
    marks = ties.marked(rows, answer, always=True)
    return chosen.append_column(marks.schema.field(ties.TIED), marks.column(ties.TIED))


def _merged(answer: Answer, cut: _Cut, tables: Mapping[str, pa.Table], *, with_ties: bool) -> pa.Table:
    """Groups from what each part knows of them."""
    sums = {name: column for name, kind, column in answer.aggregates if kind in ("sum", "avg")}
    counts = {name: column for name, kind, column in answer.aggregates if kind == "count"}
    counts |= {f"count of {name}": column for name, column in answer.avg.items()}
    names = (*sums, *counts, *answer.min, *answer.max)
    partial = answer.model_copy(
        update={
            "sum": sums, "count": counts, "avg": {}, "having": (), "order_by": (), "descending": (), "limit": None,
            "select": tuple(dict.fromkeys([*answer.group_by, *names])),
        }
    )  # fmt: skip
    kinds = {name: _MERGED_BY[kind] for name, kind, _ in partial.aggregates}
    rows: pa.Table | None = None
    fractions: set[str] = set(answer.avg)
    for part in cut.parts():
        found = oracle.expected(partial, part, tables)
        fractions |= {each.name for each in found.schema if COMPUTED_KEY in (each.metadata or {})}
        if rows is not None:
            found = pa.concat_tables([rows, found], promote_options="default")
        groups = found.group_by(list(answer.group_by), use_threads=False).aggregate([*kinds.items()])
        rows = groups.select([*answer.group_by, *(f"{name}_{kind}" for name, kind in kinds.items())])
        rows = rows.rename_columns([*answer.group_by, *kinds])
    assert rows is not None
    for name in answer.avg:
        mean = pc.divide(rows.column(name).cast(pa.float64()), rows.column(f"count of {name}").cast(pa.float64()))
        rows = rows.set_column(rows.column_names.index(name), name, mean)
    return oracle.finished(answer, rows, fractions, cut.sizes.files, tables, with_ties=with_ties)
