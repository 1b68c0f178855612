"""What transactions read within the clock, compared with the dataset: rows by keys, in columns that never change.

What is right in other columns depends on the order of the commits.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from dbbench.answers.compare import check_batches
from dbbench.errors import WrongAnswer
from dbbench.loadgen.job import Kept
from dbbench.suite.dataset import Table
from dbbench.workloads.context import StepContext

_BY_KEY = re.compile(r"\s*SELECT\s+(\w+(?:\s*,\s*\w+)*)\s+FROM\s+(\w+)\s+WHERE\s+(\w+)\s*=\s*:\w+\s*", re.IGNORECASE)
#: What makes an INSERT change rows that are there.
_REPLACES = {"CONFLICT", "DUPLICATE", "IGNORE", "OR"}


@dataclass(frozen=True)
class ByKey:
    """A statement that reads `columns` of one row of a table, by the only parameter that it has."""

    table: str
    columns: Sequence[str]


def by_key(sql: str, tables: Mapping[str, Table]) -> ByKey | None:
    """How a statement reads one row by a whole number as its key; None if it does anything else."""
    if not (match := _BY_KEY.fullmatch(sql)) or (table := tables.get(match[2])) is None:
        return None
    columns = re.split(r"\s*,\s*", match[1])
    numbered = len(table.key_columns) == 1 and table.columns[table.single_key].data_type.name in ("integer", "bigint")
    if not numbered or table.single_key != match[3] or not set(columns) <= set(table.columns):
        return None
    if any(table.columns[name].data_type.name == "json" for name in columns):  # each system writes them in its own way
        return None
    return ByKey(match[2], columns)


def check_reads(calls: Iterable[Kept], asked: Sequence[ByKey], context: StepContext) -> None:
    """Compare what was kept of each statement that is `asked`. Raises WrongAnswer."""
    for each in calls:
        try:
            _check(each.table, asked[each.place], context)
        except WrongAnswer as exc:
            raise WrongAnswer(f"read from {asked[each.place].table} in timed transactions: {exc}") from exc


def _check(found: pa.Table, read: ByKey, context: StepContext) -> None:
    steady = [place for place, name in enumerate(read.columns, 1) if not _changed(context.data.texts, read.table, name)]
    if not found.num_rows or not steady:
        return
    if found.num_columns != 1 + len(read.columns):
        raise WrongAnswer(f"{found.num_columns - 1} columns instead of {len(read.columns)}")
    keys = found.column(0).cast(pa.int64()).combine_chunks()
    key, names = context.tables[read.table].single_key, [read.columns[place - 1] for place in steady]
    rows = [
        batch.filter(pc.is_in(batch.column(key).cast(pa.int64()), keys)).select([*dict.fromkeys((key, *names))])
        for batch in context.files.stream(read.table)
    ]
    known = pa.Table.from_batches(rows)
    places = pc.index_in(keys, known.column(key).cast(pa.int64()).combine_chunks())
    existing = places.is_valid()  # keys that the step has made are none of the dataset's
    check_batches(
        found.filter(existing).select([0, *steady]).to_batches(),
        known.take(places.filter(existing)).select([key, *names]),
        ordered=True,
    )


def _changed(texts: Iterable[str], table: str, column: str) -> bool:
    """Whether any of these statements may have changed a column of rows that were there."""
    for sql in texts:
        (verb, *_) = words = re.findall(r"\w+", sql.upper())
        if table.upper() not in words or verb == "SELECT":
            continue
        if {"INSERT": _REPLACES & {*words}, "UPDATE": column.upper() in words}.get(verb, True):
            return True
    return False
