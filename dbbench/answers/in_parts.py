"""Answers on data of any size: the rows of large tables go by in parts, and what the parts give is put together.

A part is a number of rows of the one large table, or a range of the key that large tables are joined by. Small tables are whole
in each part. Groups that have rows in several parts are merged from sums, counts and extremes. What can't be done in parts
is computed as a whole, and a line in the log says so: its memory grows with the data.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pyarrow as pa

from dbbench.answers import cuts, groups, oracle, ties
from dbbench.answers.compare import COMPUTED_KEY
from dbbench.answers.joins import Held
from dbbench.answers.stored import stored
from dbbench.datasets.cache import Files
from dbbench.suite.answer import AGGREGATES, Answer, Condition, Join, last_part

#: What may be held whole of the tables that are joined while one goes by in parts, in sizes of a part.
_HELD_PARTS = 8
_MERGED_BY = {"sum": "sum", "count": "sum", "min": "min", "max": "max"}
#: Groups of several parts are merged when there are this many times as many as after the last time, but at least `_MERGED_FROM`.
_MERGED_AT, _MERGED_FROM = 2, 2**19
_log = logging.getLogger(__name__)


def answer_file(answer: Answer, files: Files) -> Path:
    """The file of the rows of an answer in relational form; see `stored`."""
    return stored([answer.model_dump(mode="json")], lambda: rows_of(answer, files, with_ties=True), files)


def rows_of(
    answer: Answer, files: Files, made: Mapping[str, Held] | None = None, *, with_ties: bool = False
) -> Iterator[pa.Table]:
    """The rows of `answer` in pieces, in its order if it has one. `with_ties`, and UserError, as in `oracle.expected`."""
    tables = dict(made or {})
    if sum(sealed["bytes"] for sealed in files.manifest["files"].values()) <= cuts.PART_BYTES:
        yield oracle.expected(answer, files, tables, with_ties=with_ties)
        return
    for name, subquery in answer.subqueries.items():
        rows = _whole(subquery, files, tables)
        tables[name] = _held(rows, [last_part(column) for column in rows.column_names])
    where = tuple(_known(each, files, tables) for each in answer.where)
    having = tuple(_known(each, files, tables) for each in answer.having)
    answer = answer.model_copy(update={"subqueries": {}, "where": where, "having": having})
    sizes = cuts.Sizes(answer, files, tables)
    if sizes.total > cuts.PART_BYTES and all(join.kind in cuts.KEEPING for join in answer.join):
        answer, tables = _small_held(answer, sizes, tables)
        sizes = cuts.Sizes(answer, files, tables)
    if sizes.total <= cuts.PART_BYTES:
        yield oracle.expected(answer, files, tables, with_ties=with_ties)
        return
    cut = cuts.cut_of(answer, sizes)
    if cut is None or not _mergeable(answer, cut):
        _log.warning(
            "dbbench: an answer on %s is computed as a whole, with %.1f GB in memory", answer.table, sizes.total / 1e9
        )
        yield oracle.expected(answer, files, tables, with_ties=with_ties)
        return
    yield from _put_together(answer, cut, tables, with_ties=with_ties)


def _small_held(answer: Answer, sizes: cuts.Sizes, made: Mapping[str, Held]) -> tuple[Answer, dict[str, Held]]:
    """The answer with tables that it joins in memory: small ones, and large ones of which little is left.

    Large ones go by in parts as well where that takes a look at each of their rows once.
    """
    tables = dict(made)
    large = {*sizes.large} - {answer.table}
    if large and cuts.cut_of(answer, sizes, along=True) is not None:
        large_too: set[str] = set()
    else:
        large_too = large
    for number, join in enumerate(answer.join):
        if join.table in tables or (join.prefix in large and join.prefix not in large_too):
            continue
        own = [
            each
            for each in answer.where
            if oracle.is_met_first(each, answer, sizes.files.schema(join.table).names, join.prefix)
        ]
        left = answer.model_copy(update={"where": tuple(each for each in answer.where if each not in own)})
        held = _narrowed(join, own, oracle.columns_read(left), sizes, tables)
        if held is not None:
            name = f"{join.prefix} held"
            tables[name] = held
            other = join.model_copy(update={"table": name, "named": join.prefix})
            answer = left.model_copy(update={"join": (*answer.join[:number], other, *answer.join[number + 1 :])})
    return answer, tables


def _narrowed(
    join: Join, own: Sequence[Condition], wanted: set[str], sizes: cuts.Sizes, tables: Mapping[str, Held]
) -> Held | None:
    """What an answer needs of a table that it joins; None if that is too much to be held."""
    pieces, size = [], 0
    for part in cuts.Cut(sizes, {join.table: ""}).parts():
        pieces.append(
            oracle.narrowed(Held(part.table(join.table)).called(join.prefix), own, wanted, part, tables).table
        )
        size += int(pieces[-1].nbytes)
        if size > _HELD_PARTS * cuts.PART_BYTES:
            return None
    rows = pa.concat_tables(pieces)
    return _held(rows, [last_part(name) for name in rows.column_names])


def _held(rows: pa.Table, names: Sequence[str]) -> Held:
    """Rows that all parts join, in one piece."""
    return Held(rows.rename_columns(list(names)).combine_chunks())


def _whole(answer: Answer, files: Files, made: Mapping[str, Held]) -> pa.Table:
    return pa.concat_tables(rows_of(answer, files, made), promote_options="default")


def _known(condition: Condition, files: Files, tables: dict[str, Held]) -> Condition:
    """A condition without answers in it: those are computed on all rows, and stand in `tables` instead."""
    if condition.any_of:
        return condition.model_copy(update={"any_of": tuple(_known(each, files, tables) for each in condition.any_of)})
    if condition.among is None:
        return condition
    name = f"among_{len(tables)}"
    tables[name] = _held(_whole(condition.among, files, tables), ["value"])
    among = Answer(table=name, select=(f"{name}.value",))
    return condition.model_copy(update={"among": among})


def _mergeable(answer: Answer, cut: cuts.Cut) -> bool:
    """Whether groups that have rows in several parts can be merged: with distinct values only those that count nothing else."""
    return not answer.count_distinct or _apart(answer, cut) or len(answer.aggregates) == 1


def _apart(answer: Answer, cut: cuts.Cut) -> bool:
    """Whether no group has rows in two parts."""
    return any(cut.in_order_of(column) for column in answer.group_by)


def _put_together(answer: Answer, cut: cuts.Cut, tables: Mapping[str, Held], *, with_ties: bool) -> Iterator[pa.Table]:
    grouped = bool(answer.group_by or answer.aggregates)
    if grouped and not _apart(answer, cut):
        merge = _distinct if answer.count_distinct else _merged
        yield merge(answer, cut, tables, with_ties=with_ties)
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


def _distinct(answer: Answer, cut: cuts.Cut, tables: Mapping[str, Held], *, with_ties: bool) -> pa.Table:
    """Groups and how many values each has: from the values of all parts, each once."""
    (column,) = answer.count_distinct.values()
    keys = tuple(dict.fromkeys([*answer.group_by, column]))
    rows, _ = _from_parts(_ungrouped(answer, keys), cut, tables, keys, {})
    return oracle.finished(answer, groups.aggregated(answer, rows), set(), cut.sizes.files, tables, with_ties=with_ties)


def _merged(answer: Answer, cut: cuts.Cut, tables: Mapping[str, Held], *, with_ties: bool) -> pa.Table:
    """Groups from what each part knows of them."""
    sums = {name: column for name, kind, column in answer.aggregates if kind in ("sum", "avg")}
    counts = {name: column for name, kind, column in answer.aggregates if kind == "count"}
    counts |= {f"count of {name}": column for name, column in answer.avg.items()}
    names = (*answer.group_by, *sums, *counts, *answer.min, *answer.max)
    partial = _ungrouped(answer, tuple(dict.fromkeys(names))).model_copy(
        update={"group_by": answer.group_by, "sum": sums, "count": counts, "min": answer.min, "max": answer.max}
    )
    kinds = {name: _MERGED_BY[kind] for name, kind, _ in partial.aggregates}
    rows, fractions = _from_parts(partial, cut, tables, answer.group_by, kinds)
    for name in answer.avg:
        mean = groups.mean(rows.column(name), rows.column(f"count of {name}"))
        rows = rows.set_column(rows.column_names.index(name), name, mean)
    fractions |= {*answer.avg}
    return oracle.finished(answer, rows, fractions, cut.sizes.files, tables, with_ties=with_ties)


def _ungrouped(answer: Answer, select: Sequence[str]) -> Answer:
    """The rows of an answer before they are grouped, with these columns."""
    none: dict[str, str] = {}
    return answer.model_copy(
        update={
            **dict.fromkeys(("group_by", "having", "order_by", "descending"), ()), **dict.fromkeys(AGGREGATES, none),
            "limit": None, "select": tuple(select),
        }
    )  # fmt: skip


def _from_parts(
    partial: Answer, cut: cuts.Cut, tables: Mapping[str, Held], keys: Sequence[str], kinds: Mapping[str, str]
) -> tuple[pa.Table, set[str]]:
    """The groups of all parts, each once, and which columns are fractions."""
    fractions: set[str] = set()
    pieces: list[pa.Table] = []
    last = 0
    for part in cut.parts():
        pieces.append(groups.merged([oracle.expected(partial, part, tables)], keys, kinds))
        fractions |= {each.name for each in pieces[-1].schema if COMPUTED_KEY in (each.metadata or {})}
        if sum(each.num_rows for each in pieces) > max(_MERGED_AT * last, _MERGED_FROM):
            pieces = [groups.merged(pieces, keys, kinds)]
            last = pieces[0].num_rows
    return groups.merged(pieces, keys, kinds), fractions
