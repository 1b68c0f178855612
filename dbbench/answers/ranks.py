"""The order and the limit of a text: its rows with ranks, so that rows of one rank may come in any order.

An answer whose order or limit matters has the column `RANK` at its end. Where a limit or an offset cuts through a rank,
all rows of the rank are there, and any of them are right.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.qualify import qualify

from dbbench.answers.rewrite import open_orders, readings
from dbbench.answers.stored import COMPUTED_KEY, with_window

#: Rows of a rank that a limit may cut through.
MOST = 1_000_000
#: Rows that are asked for beyond a limit at first; all of its last rank if that has more.
_MORE = 1_000
#: Engines add floats in different orders: less than this part of a number doesn't tell two of them apart.
_NEAR = 1e-9
#: Returns the rows of a tree; of each output it says how it is computed.
Ask = Callable[[exp.Query, Sequence[str]], pa.Table]


@dataclass(frozen=True)
class Ranked:
    """A text without its limit: its outputs, then what else orders it. `keys` are the places of what orders it."""

    tree: exp.Query
    names: tuple[str, ...]
    computed: tuple[str, ...]
    keys: tuple[int, ...] = ()
    limit: int | None = None
    offset: int = 0


def ranked(tree: exp.Query, tables: Mapping[str, Sequence[str]], ordered: bool | None = None) -> Ranked:
    """Rewrite a text in lower-case names. `ordered` overrides whether it has an ORDER BY at its end.

    Raises ValueError, which says what was expected, for a text that can't be ranked.
    """
    tree = tree.copy()
    if any(branch.is_star for branch in _branches(tree)):
        tree = _without_stars(tree, tables)
    order, limit, offset = (tree.args.get(part) for part in ("order", "limit", "offset"))
    for part in ("order", "limit", "offset"):
        tree.set(part, None)
    if any((branch.args.get("distinct") or exp.Distinct()).args.get("on") for branch in _branches(tree)):
        raise ValueError("no DISTINCT ON, which leaves open the rows that it returns")
    if ordered and not order:
        raise ValueError("an ORDER BY at the end of the text, since its answer is ordered")
    if ordered is False and (limit or offset):
        raise ValueError("no LIMIT and no OFFSET, since its answer isn't ordered")
    computed, names = _computed(tree, tables), _named(tree)
    keys = []
    if order and ordered is not False:
        keys = [_place(term.this, tree) for term in order.expressions]
        for term, place in zip(order.expressions, keys, strict=True):
            term.set("this", exp.Literal.number(place + 1))
        computed += _computed(tree, tables)[len(computed) :]  # of keys that aren't returned
        tree.set("order", order)
    return Ranked(tree, names, computed, tuple(keys), _number(limit), _number(offset) or 0)


def _place(key: exp.Expr, tree: exp.Query) -> int:
    """The place, from 0, of the column that a text is ordered by; it is added to the outputs if it is none of them."""
    outputs = next(_branches(tree)).expressions
    if key.is_int:
        if not 1 <= int(key.name) <= len(outputs):
            raise ValueError(f"one of the columns 1 to {len(outputs)} in ORDER BY {key.name}")
        return int(key.name) - 1
    made = {each.alias_or_name: each.unalias() for each in reversed(outputs)}

    def output(node: exp.Expr) -> exp.Expr:
        named = isinstance(node, exp.Column) and not node.table and node.name in made
        return made[node.name].copy() if named else node

    key = key.transform(output)
    known = [each.unalias() for each in outputs]
    if key not in known:
        if not isinstance(tree, exp.Select) or tree.args.get("distinct"):
            raise ValueError(f"one of the columns that it returns in ORDER BY {key.sql('postgres')}")
        tree.select(exp.alias_(key, f" key {len(known)}", quoted=True), copy=False)
        return len(known)
    return known.index(key)


def _branches(tree: exp.Expr) -> Iterator[exp.Select]:
    """The SELECTs of which the rows of a text are, from the left."""
    if isinstance(tree, exp.SetOperation):
        yield from _branches(tree.left)
        yield from _branches(tree.right)
    elif isinstance(tree, exp.Subquery):
        yield from _branches(tree.this)
    elif isinstance(tree, exp.Select):
        yield tree


def _without_stars(tree: exp.Query, tables: Mapping[str, Sequence[str]]) -> exp.Query:
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
    """How each output may be more than a column of a table, as `COMPUTED_KEY` marks it; empty if it is one."""
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
    """Names of the outputs, made for those that have none or another's; in subqueries too, for two alike."""
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


def answers(tree: exp.Query, tables: Mapping[str, Sequence[str]], ordered: bool | None, ask: Ask) -> list[pa.Table]:
    """What each reading of a text returns, once. One is enough where nulls are in nothing that they are ordered by.

    Raises ValueError as `ranked` does, and where a limit cuts through too many rows of one rank.
    """
    terms = open_orders(tree)
    if terms and all(term.parent is tree.args.get("order") for term in terms):
        first = tree.copy()
        for term in open_orders(first):  # nulls before all else, so that a limit hides none
            term.set("nulls_first", True)
        found, has_nulls = _answer(ranked(first, tables, ordered), ask)
        if not has_nulls:
            return [found]
    different: list[pa.Table] = []
    for each in readings(tree):
        found, _ = _answer(ranked(each, tables, ordered), ask)
        if not any(found.equals(other) for other in different):
            different.append(found)
    return different


def _answer(ranked: Ranked, ask: Ask) -> tuple[pa.Table, bool]:
    """Stored form of a text's rows: outputs and, where order or limit matter, the rank; and whether a key is null."""
    last = None if ranked.limit is None else ranked.offset + ranked.limit
    for more in (_MORE, MOST + 1):
        tree = ranked.tree.copy()
        if last is not None:
            tree.set("limit", exp.Limit(expression=exp.Literal.number(last + more)))
        rows = ask(tree, ranked.computed)
        starts = np.maximum.accumulate(np.where(_tied(rows, ranked), 0, np.arange(rows.num_rows)))
        end = rows.num_rows
        if last is not None and last < end:
            end = int(np.searchsorted(starts, starts[last - 1], "right")) if ranked.limit else 0
        if last is None or end < rows.num_rows or rows.num_rows < last + more:
            break
    else:
        raise ValueError(f"more than {MOST:,} rows tied at the limit: order by one column more")
    fields = [
        pa.field(name.strip(), kind, metadata={COMPUTED_KEY: computed} if computed else None)
        for name, kind, computed in zip(ranked.names, rows.schema.types, ranked.computed, strict=False)
    ]
    outputs = pa.table(rows.columns[: len(fields)], schema=pa.schema(fields))
    if not ranked.keys and last is None and not ranked.offset:
        return outputs, False
    count = max(rows.num_rows - ranked.offset, 0)
    found = with_window(outputs, starts + 1, count if last is None else min(count, ranked.limit), ranked.offset)
    return found[:end], any(rows.column(key).null_count for key in ranked.keys)


def _tied(rows: pa.Table, ranked: Ranked) -> npt.NDArray[np.bool_]:
    """True for each row whose keys are those of the row before it, but for the last bits of a float.

    Of a fraction that is computed nobody knows these bits: SQLite has floats for decimals, too.
    """
    tied = np.ones(max(rows.num_rows - 1, 0), bool)
    for place in reversed(ranked.keys):
        column = rows.column(place)
        before, after = column.combine_chunks()[:-1], column.combine_chunks()[1:]
        exact = np.asarray(pc.fill_null(pc.equal(before, after), pc.and_(pc.is_null(before), pc.is_null(after))))
        near = np.zeros(len(tied), bool)
        if pa.types.is_floating(column.type):
            first, second = np.asarray(before, float), np.asarray(after, float)
            near = np.abs(first - second) <= _NEAR * np.maximum(np.abs(first), np.abs(second))
        is_fraction = pa.types.is_floating(column.type) or pa.types.is_decimal(column.type)
        is_open = is_fraction and bool(ranked.computed[place])
        tied = near | exact if is_open else np.where(exact, tied, near)  # keys after one that is near don't count
    return np.insert(tied, 0, values=False)[: rows.num_rows]
