"""What statements make of a table of the reference: its rows are computed by queries, and take the table's place.

DataFusion's own UPDATE and DELETE change too many rows, so none of them is used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import datafusion
import pyarrow as pa
from sqlglot import exp

from dbbench.answers.rewrite import written

#: The most calls of a statement that are made once more.
MOST = 1_000
Ask = Callable[[str], pa.Table]


def replay(
    tree: exp.Expr, calls: int, context: datafusion.SessionContext, schemas: Mapping[str, pa.Schema], ask: Ask
) -> None:
    """Make the calls of a statement. Raises ValueError for one that can't be, and whatever DataFusion raises."""
    if calls > MOST:
        raise ValueError(f"a statement before it is called more than {MOST:,} times")
    target = tree.find(exp.Table)
    if not isinstance(tree, exp.Insert | exp.Update | exp.Delete) or target is None or target.name not in schemas:
        raise ValueError("a statement before it is no INSERT, UPDATE or DELETE of a table")
    name, schema = target.name, schemas[target.name]
    if tree.args.get("from_") or tree.args.get("using") or tree.args.get("returning") or tree.args.get("conflict"):
        raise ValueError("a statement before it has more than one table, or RETURNING")
    for _ in range(calls):
        rows = _inserted(tree, schema, ask) if isinstance(tree, exp.Insert) else ask(_changed(tree, target, schema))
        made = _as(rows, schema).to_batches() or [pa.RecordBatch.from_pylist([], schema)]
        whole = context.create_dataframe([made])
        if isinstance(tree, exp.Insert):
            whole = context.table(name).union(whole)
        context.deregister_table(name)
        context.register_view(name, whole)


def _inserted(tree: exp.Insert, schema: pa.Schema, ask: Ask) -> pa.Table:
    rows = ask(written(tree.expression))
    into = tree.this
    names = [each.name for each in into.expressions] if isinstance(into, exp.Schema) else schema.names
    if len(names) != rows.num_columns:
        raise ValueError("a statement before it inserts another number of values than of columns")
    given = dict(zip(names, rows.columns, strict=True))
    return pa.table({each.name: given.get(each.name, pa.nulls(rows.num_rows, each.type)) for each in schema})


def _changed(tree: exp.Update | exp.Delete, target: exp.Table, schema: pa.Schema) -> str:
    """A query for the rows that are there afterwards."""
    where = tree.args.get("where")
    met = where.this if where else exp.true()
    columns = {name: exp.column(name, quoted=True) for name in schema.names}
    others = exp.not_(exp.Is(this=exp.paren(met.copy()), expression=exp.true()))
    rest = exp.select(*columns.values()).from_(target.copy()).where(others)
    if isinstance(tree, exp.Delete):
        return written(rest)
    given = {each.this.name: exp.alias_(each.expression, each.this.name, quoted=True) for each in tree.expressions}
    changed = exp.select(*(columns | given).values()).from_(target.copy()).where(met)
    return written(exp.union(changed, rest, distinct=False))


def _as(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    columns = [
        column.cast(pa.float64()).cast(field.type, safe=False)
        if pa.types.is_floating(column.type)
        else column.cast(field.type)
        for column, field in zip(rows.columns, schema, strict=True)
    ]
    return pa.table(columns, schema=schema)
