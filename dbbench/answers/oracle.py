"""What a query must return: computed from the dataset without any of the engines, or taken from where the suite says.

An Answer is a few relational steps said in the suite; here they are carried out on Arrow tables.
"""

from __future__ import annotations

import datetime
import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dbbench.answers import expressions, scaled, ties
from dbbench.answers.compare import COMPUTED, COMPUTED_KEY
from dbbench.answers.groups import aggregated
from dbbench.answers.joins import Held, joined
from dbbench.datasets.cache import Files
from dbbench.errors import UserError
from dbbench.suite.answer import Answer, Condition, Join, last_part, named


def expected(
    answer: Answer, files: Files, made: Mapping[str, Held] | None = None, *, with_ties: bool = False
) -> pa.Table:
    """The rows of `answer`, in its order if it has one; columns are named as in its `select`.

    `made` are the rows of the subqueries that it may name. Raises UserError if rows on both sides of its limit are alike in
    all that it is ordered by; `with_ties` they are marked instead (see `ties`), but in a subquery, which has to be one.
    """
    tables = dict(made or {})
    for name, subquery in answer.subqueries.items():
        rows = expected(subquery, files, tables)
        tables[name] = Held(rows.rename_columns([last_part(column) for column in rows.column_names]))
    rows, later = _joined(answer, files, tables)
    fractions = {field.name for field in rows.schema if COMPUTED_KEY in (field.metadata or {})}
    first = [each for each in later if tested(each) <= {*rows.column_names}]
    later = [each for each in later if each not in first]
    rest = columns_read(answer.model_copy(update={"where": tuple(later), "join": ()}))
    rows = _filtered(first, rows, files, tables, rest)
    rows = scaled.short_table(rows, columns_computed(answer))
    for name, text in answer.compute.items():
        values = expressions.column(text, rows)
        rows = rows.append_column(name, values)
        if pa.types.is_floating(values.type):
            fractions.add(name)
    rows = _filtered(later, rows, files, tables)
    if answer.group_by or answer.aggregates:
        fractions |= {name for name, kind, column in answer.aggregates if kind == "avg" or column in fractions}
        return finished(answer, aggregated(answer, rows), fractions, files, tables, with_ties=with_ties)
    return _selected(answer, scaled.plain_table(rows), fractions, with_ties=with_ties)


def finished(
    answer: Answer,
    groups: pa.Table,
    fractions: AbstractSet[str],
    files: Files,
    made: Mapping[str, Held],
    *,
    with_ties: bool = False,
) -> pa.Table:
    """What is done with the groups of an answer; `fractions` are columns that engines compute with other decimal places."""
    return _selected(answer, _filtered(answer.having, groups, files, made), fractions, with_ties=with_ties)


def _selected(answer: Answer, rows: pa.Table, fractions: AbstractSet[str], *, with_ties: bool) -> pa.Table:
    names = list(answer.select)
    if answer.order_by:
        rows = ties.cut(ordered(rows, answer), answer, ties=with_ties)
        if with_ties:
            rows = ties.marked(rows, answer)
            names += [ties.TIED] if ties.is_marked(rows) else []
    rows = rows.select(names)
    fields = [
        field if field.name == ties.TIED else field.with_metadata(COMPUTED if field.name in fractions else None)
        for field in rows.schema
    ]
    return rows.cast(pa.schema(fields))


def ordered(rows: pa.Table, answer: Answer) -> pa.Table:
    """Rows in the order of an answer that has one."""
    return rows.sort_by(
        [(name, "descending" if name in answer.descending else "ascending") for name in answer.order_by]
    )


def _joined(answer: Answer, files: Files, made: Mapping[str, Held]) -> tuple[pa.Table, list[Condition]]:
    """The rows of all tables, and the conditions that are still to be met: those of one table are met before its join."""
    later = list(answer.where)

    def needed(joins: Sequence[Join]) -> set[str]:
        return columns_read(answer.model_copy(update={"where": tuple(later), "join": tuple(joins)}))

    def read(table: str, prefix: str, joins: Sequence[Join]) -> Held:
        held = made[table] if table in made else Held(files.table(table))
        own = [each for each in later if is_met_first(each, answer, held.table.column_names, prefix)]
        later[:] = [each for each in later if each not in own]
        return narrowed(held.called(prefix), own, needed(joins), files, made)

    rows = read(answer.table, answer.table, answer.join).table
    for number, join in enumerate(answer.join, 1):
        other = read(join.table, join.prefix, answer.join[number - 1 :])
        rows = joined(rows, other, join.pairs, join.kind, needed(answer.join[number:]))
    return rows, later


#: Joins after which no row of a table is there that wasn't before: conditions on one table can be met first.
_NARROWING = ("inner", "semi", "anti", "cross")


def columns_read(answer: Answer) -> set[str]:
    """The columns that an answer touches, so that no others are carried through its joins."""
    needed = {*answer.select, *answer.group_by, *answer.order_by, *(column for _, _, column in answer.aggregates)}
    needed |= {name for condition in answer.where for name in tested(condition)}
    needed |= {name for join in answer.join for pair in join.pairs.items() for name in pair}
    return needed | columns_computed(answer)


def columns_computed(answer: Answer) -> set[str]:
    """The columns that an answer computes with."""
    read = {name for text in answer.compute.values() for name in named(text)}
    return read | {column for _, kind, column in answer.aggregates if kind != "count_distinct"}


def tested(condition: Condition) -> set[str]:
    """The columns that a condition looks at."""
    if condition.holds is not None:
        return {*named(condition.holds)}
    if condition.any_of:
        return {name for each in condition.any_of for name in tested(each)}
    return {condition.column}


def is_met_first(condition: Condition, answer: Answer, columns: Iterable[str], prefix: str) -> bool:
    """Whether a condition of an answer is met by a table's own rows, before any join."""
    narrows = all(join.kind in _NARROWING for join in answer.join)
    return narrows and tested(condition) <= {f"{prefix}.{column}" for column in columns}


def narrowed(
    held: Held, own: Sequence[Condition], wanted: AbstractSet[str], files: Files, made: Mapping[str, Held]
) -> Held:
    """The rows of a table that meet its own conditions, with the columns wanted; those that only the conditions look at are left out."""
    names = held.table.column_names
    kept = [column for column in names if column in wanted] or names[
        :1
    ]  # rows are counted by a column, if by nothing else
    if own:
        return Held(_filtered(own, held.table, files, made, kept).select(kept))
    return replace(held, table=held.table.select(kept))


def _filtered(
    conditions: Iterable[Condition],
    rows: pa.Table,
    files: Files,
    made: Mapping[str, Held],
    wanted: Iterable[str] | None = None,
) -> pa.Table:
    """The rows that meet all conditions; of them the columns wanted, or all.

    Texts take longest, so that conditions on them are met last, each by those rows that are left.
    """
    texts = {field.name for field in rows.schema if pa.types.is_string(field.type)}
    left = sorted(conditions, key=lambda each: bool(texts & tested(each)))
    while left:
        together = [each for each in left if not texts & tested(each)] or left[:1]
        left = left[len(together) :]
        held = functools.reduce(pc.and_, [_holds(each, rows, files, made) for each in together])
        if wanted is not None:
            kept = {*wanted}.union(*map(tested, left))
            rows = rows.select([name for name in rows.column_names if name in kept] or rows.column_names[:1])
        rows = rows.filter(held)
    return rows


def _holds(condition: Condition, rows: pa.Table, files: Files, made: Mapping[str, Held]) -> Any:
    if condition.any_of:
        held = [_holds(each, rows, files, made) for each in condition.any_of]
        found = functools.reduce(pc.or_kleene, held)
    elif condition.holds is not None:
        found = expressions.column(condition.holds, rows)
        if not pa.types.is_boolean(found.type):
            raise UserError(f"an answer's condition `{condition.holds}` is no comparison")
    else:
        found = _passed(condition, rows.column(condition.column), files, made)
    return pc.invert(found) if condition.negated else found


def _passed(condition: Condition, column: pa.ChunkedArray, files: Files, made: Mapping[str, Held]) -> pa.ChunkedArray:
    """Where a column passes a test; a null where its value is missing."""
    match condition.test:
        case "above":
            return _compared(pc.greater, column, condition.above)
        case "below":
            return _compared(pc.less, column, condition.below)
        case "between":
            low, high = condition.between or (None, None)
            return pc.and_(_compared(pc.greater_equal, column, low), _compared(pc.less_equal, column, high))
        case "equals":
            return _compared(pc.equal, column, condition.equals)
        case "one_of":
            return functools.reduce(pc.or_, [_compared(pc.equal, column, value) for value in condition.one_of or ()])
        case "contains":
            return pc.match_substring(column, condition.contains)
        case "like":
            return pc.match_like(column, condition.like)
        case "missing":
            return pc.is_null(column) if condition.missing else pc.is_valid(column)
        case _:
            assert condition.among is not None
            values = expected(condition.among, files, made).column(0).combine_chunks()
            within = pc.is_in(scaled.plain(column), values.drop_null())
            if not len(values):
                return within
            # As SQL has it: what is not among values of which one is missing may be that one.
            unknown = pc.invert(within) if values.null_count else pc.is_null(column)
            return pc.if_else(unknown, pa.scalar(None, pa.bool_()), within)


def _compared(test: Callable[..., Any], column: pa.ChunkedArray, value: Any) -> pa.ChunkedArray:
    """A column beside a value as the suite writes it, without rounding either. Raises UserError for one of another type."""
    kind = column.type
    try:
        if pa.types.is_integer(kind) or pa.types.is_decimal(kind):
            return _number(test, column, Decimal(str(value)))
        if pa.types.is_temporal(kind):
            day = expressions.day_of(value)
            if day is not None and pa.types.is_date32(kind):
                return test(column, day)
            moment = datetime.datetime.fromisoformat(str(value))
            return test(column.cast(pa.timestamp("s")), pa.scalar(moment, pa.timestamp("s")))
        return test(column, pa.scalar(value, kind))
    except (pa.ArrowInvalid, pa.ArrowTypeError, InvalidOperation, TypeError, ValueError) as exc:
        raise UserError(f"an answer's condition compares a column of {kind} with {value!r}: {exc}") from exc


def _number(test: Callable[..., Any], column: pa.ChunkedArray, number: Decimal) -> pa.ChunkedArray:
    """A column of whole numbers or decimals beside a number: that gets the column's type if it then is the same."""
    kind = column.type
    unscaled = number.scaleb(scaled.scale(kind))
    if unscaled == unscaled.to_integral_value() and abs(unscaled) < 2**31:
        whole = column if pa.types.is_integer(kind) else scaled.integers(column)
        if whole is not None:
            return test(whole, pa.scalar(int(unscaled), whole.type))
    places = max(0, -int(number.as_tuple().exponent), scaled.scale(kind))
    wide = pa.decimal128(scaled.MOST_DIGITS, places)
    return test(scaled.plain(column).cast(wide), pa.scalar(number, wide))
