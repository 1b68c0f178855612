"""The order and the limit of a text: its rows with ranks, so that rows of one rank may come in any order.

An answer whose order or limit matters has the column `RANK` at its end. Where a limit or an offset cuts through a rank,
all rows of the rank are there, and any of them are right.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from sqlglot import exp

#: The column of an answer that is no output of the query: of the first row of a rank the place, from 1.
RANK = " rank"
#: What the metadata of that column say: how many rows are returned, and how many stand before them.
_ROWS, _SKIP = b"rows", b"skip"
#: Marks an output that is more than a column of a table: "yes", or "divided" where systems may round its last place otherwise.
COMPUTED = {"computed": "yes"}
#: Rows of a rank that a limit may cut through.
MOST = 1_000_000
#: Ranks that are asked for beyond the limit, since floats that are near each other have one rank in the end.
_MORE = 1_000
#: Engines add floats in different orders: less than this part of a number doesn't tell two of them apart.
_NEAR = 1e-9


@dataclass(frozen=True)
class Ranked:
    """A text that gives the outputs, then the `keys` of the order and the rank. Without order and limit the outputs alone."""

    tree: exp.Query
    names: tuple[str, ...]
    computed: tuple[str, ...]
    keys: int = 0
    limit: int | None = None
    offset: int = 0


def ranked(tree: exp.Query, tables: Mapping[str, Sequence[str]], ordered: bool | None = None) -> Ranked:
    """Rewrite a text in lower-case names. `ordered` overrides whether it has an ORDER BY at its end.

    Raises ValueError, which says what was expected, for a text that can't be ranked.
    """
    from sqlglot import exp

    tree = tree.copy()
    if any(branch.is_star for branch in _branches(tree)):
        tree = _without_stars(tree, tables)
    order, limit, offset = (tree.args.get(part) for part in ("order", "limit", "offset"))
    for part in ("order", "limit", "offset"):
        tree.set(part, None)
    first, skipped = _number(limit), _number(offset) or 0
    if ordered and not order:
        raise ValueError("an ORDER BY at the end of the text, since its answer is ordered")
    if ordered is False and (limit or offset):
        raise ValueError("no LIMIT and no OFFSET, since its answer isn't ordered")
    by = order.expressions if order and ordered is not False else []
    computed, names = _computed(tree, tables), _named(tree)
    if not (by or limit or offset):
        return Ranked(tree, names, computed)
    if not isinstance(tree, exp.Select) or tree.args.get("distinct"):
        if any((branch.args.get("distinct") or exp.Distinct()).args.get("on") for branch in _branches(tree)):
            raise ValueError("no DISTINCT ON in a text with an ORDER BY or a LIMIT")
        known = dict(zip((each.unalias() for each in next(_branches(tree)).expressions), names, strict=True))
        for term in by:
            if term.this in known:
                term.set("this", exp.column(known[term.this], quoted=True))
        tree = _around(tree, *(exp.column(name, quoted=True) for name in names))
    rank: exp.Expr = exp.Literal.number(1)
    if by:
        outputs = list(tree.expressions)
        for place, term in enumerate(by, 1):
            tree.select(exp.alias_(_key(term.this, outputs), f" key {place}", quoted=True), copy=False)
            term.set("this", exp.column(f" key {place}", quoted=True))
        rank = exp.Window(this=exp.Anonymous(this="RANK"), order=exp.Order(expressions=by))
    tree = _around(tree, exp.Star(), exp.alias_(rank, RANK, quoted=True))
    if first is not None:
        last = skipped + first + _MORE
        within = exp.column(RANK, quoted=True) <= exp.Literal.number(last)
        tree = _around(tree, exp.Star()).where(within).limit(last + MOST + 1)
    return Ranked(tree, names, computed, len(by), first, skipped)


def _around(tree: exp.Query, *outputs: exp.Expr) -> exp.Select:
    from sqlglot import exp

    return exp.select(*outputs).from_(tree.subquery("rows"))


def _branches(tree: exp.Expr) -> Iterator[exp.Select]:
    """The SELECTs of which the rows of a text are, from the left."""
    from sqlglot import exp

    if isinstance(tree, exp.SetOperation):
        yield from _branches(tree.left)
        yield from _branches(tree.right)
    elif isinstance(tree, exp.Subquery):
        yield from _branches(tree.this)
    elif isinstance(tree, exp.Select):
        yield tree


def _without_stars(tree: exp.Query, tables: Mapping[str, Sequence[str]]) -> exp.Query:
    from sqlglot.errors import SqlglotError
    from sqlglot.optimizer.qualify import qualify

    schema: dict[str, object] = {name: dict.fromkeys(columns, "int") for name, columns in tables.items()}
    try:
        whole = qualify(
            tree, schema=schema, dialect="postgres", validate_qualify_columns=False, expand_alias_refs=False
        )
    except SqlglotError as exc:
        raise ValueError(f"columns instead of * ({exc})") from exc
    if any(branch.is_star for branch in _branches(whole)):
        raise ValueError("columns instead of *")
    return whole


def _number(part: exp.Expr | None) -> int | None:
    """The number of a LIMIT, FETCH or OFFSET."""
    if part is None:
        return None
    number = part.args.get("expression") or part.args.get("count")
    options = part.args.get("limit_options")
    if number is None or not number.is_int or (options and (options.args["percent"] or options.args["with_ties"])):
        raise ValueError(f"a whole number of rows in {part.sql('postgres').strip()}")
    return int(number.name)


def _computed(tree: exp.Query, tables: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """How each output may be more than a column of a table, as `COMPUTED` marks it; empty if it is one."""
    from sqlglot import exp

    known = {column for columns in tables.values() for column in columns}
    known -= {each.alias for each in tree.find_all(exp.Alias) if each.this.name != each.alias}
    known -= {column.name for each in tree.find_all(exp.TableAlias) for column in each.columns}
    divides = bool(tree.find(exp.Avg, exp.Div))

    def mark(output: exp.Expr) -> str:
        if isinstance(output, exp.Column) and output.name in known:
            return ""
        made = any(column.name not in known for column in output.find_all(exp.Column))
        return "divided" if output.find(exp.Avg, exp.Div) or (divides and made) else "yes"

    marks = [[mark(each.unalias()) for each in branch.expressions] for branch in _branches(tree)]
    return tuple(min(filter(None, each), default="") for each in zip(*marks, strict=False))


def _named(tree: exp.Query) -> tuple[str, ...]:
    """Names of the outputs, given now to those that have none or another's; in subqueries too, to those of two alike."""
    from sqlglot import exp

    branches = list(_branches(tree))
    for select in tree.find_all(exp.Select):
        taken: set[str] = set()
        for place, each in enumerate(select.expressions, 1):
            unnamed = "" if select in branches else each.sql()
            name = each.alias_or_name if isinstance(each, exp.Alias | exp.Column) else unnamed
            if (not name or name in taken) and not each.is_star:
                each.replace(exp.alias_(each.unalias().copy(), f" {place}", quoted=True))
            taken.add(name)
    return tuple(each.alias_or_name for each in branches[0].expressions)


def _key(key: exp.Expr, outputs: Sequence[exp.Expr]) -> exp.Expr:
    """What a text is ordered by, in the place of the number or the name of an output."""
    from sqlglot import exp

    if key.is_int:
        if not 1 <= int(key.name) <= len(outputs):
            raise ValueError(f"one of the columns 1 to {len(outputs)} in ORDER BY {key.name}")
        return outputs[int(key.name) - 1].unalias().copy()
    made = {each.alias_or_name: each.unalias() for each in reversed(outputs)}

    def output(node: exp.Expr) -> exp.Expr:
        named = isinstance(node, exp.Column) and not node.table and node.name in made
        return made[node.name].copy() if named else node

    return key.transform(output)


def answer(rows: pa.Table, ranked: Ranked) -> pa.Table:
    """What is stored of the rows of a ranked text: its outputs and, where order or limit matter, the rank.

    Raises ValueError where a limit cuts through too many rows of one rank.
    """
    fields = [
        pa.field(name.strip(), kind, metadata={"computed": computed} if computed else None)
        for name, kind, computed in zip(ranked.names, rows.schema.types, ranked.computed, strict=False)
    ]
    outputs = len(fields)
    if rows.num_columns == outputs:
        return pa.table(rows.columns, schema=pa.schema(fields))
    rows = rows.sort_by(rows.column_names[-1])
    starts = np.maximum.accumulate(np.where(_tied(rows, outputs, ranked.keys), 0, np.arange(rows.num_rows)))
    end = rows.num_rows
    if ranked.limit is not None and (last := ranked.offset + ranked.limit) < end:
        end = int(np.searchsorted(starts, starts[last - 1], "right")) if ranked.limit else 0
        if end - starts[end - 1] > MOST:
            raise ValueError(f"more than {MOST:,} rows tied at the limit: order by one column more")
    count = max(rows.num_rows - ranked.offset, 0)
    window = {_ROWS: str(count if ranked.limit is None else min(count, ranked.limit)), _SKIP: str(ranked.offset)}
    columns = [*rows.columns[:outputs], pa.chunked_array([starts + 1])]
    return pa.table(columns, schema=pa.schema([*fields, pa.field(RANK, pa.int64(), metadata=window)]))[:end]


def _tied(rows: pa.Table, outputs: int, keys: int) -> npt.NDArray[np.bool_]:
    """Of each row, whether its keys are those of the row before it, but for the last bits of a float."""
    tied = np.ones(max(rows.num_rows - 1, 0), bool)
    for column in reversed(rows.columns[outputs : outputs + keys]):
        before, after = column.combine_chunks()[:-1], column.combine_chunks()[1:]
        exact = np.asarray(pc.fill_null(pc.equal(before, after), pc.and_(pc.is_null(before), pc.is_null(after))))
        near = np.zeros(len(tied), bool)
        if pa.types.is_floating(column.type):
            first, second = np.asarray(before, float), np.asarray(after, float)
            near = np.abs(first - second) <= _NEAR * np.maximum(np.abs(first), np.abs(second))
        tied = np.where(exact, tied, near)  # keys after one that is near don't count
    return np.insert(tied, 0, values=False)[: rows.num_rows]


def row_count(answer: pa.Table) -> int:
    """How many rows an answer's query returns."""
    return int(answer.schema.field(RANK).metadata[_ROWS]) if RANK in answer.column_names else int(answer.num_rows)


def ranks_of(answer: pa.Table, *, ordered: bool = False) -> tuple[pa.Table, npt.NDArray[np.int64], int]:
    """The outputs, the rank of each row, and how many rows stand before the first that is returned.

    Without ranks each row has its own where the rows are `ordered`, else all have the same.
    """
    if RANK in answer.column_names:
        skipped = int(answer.schema.field(RANK).metadata[_SKIP])
        return answer.drop_columns([RANK]), answer.column(RANK).to_numpy(), skipped
    return answer, np.arange(answer.num_rows) if ordered else np.zeros(answer.num_rows, np.int64), 0


def only_column(answer: pa.Table, number: int) -> pa.Table:
    """One of an answer's outputs, with the ranks."""
    return answer.select([number, RANK] if RANK in answer.column_names else [number])
