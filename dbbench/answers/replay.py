"""What statements make of a table of the reference: a query for the rows that are there afterwards takes its place.

DataFusion's own UPDATE and DELETE change too many rows, so none of them is used.
"""

from collections.abc import Mapping

import datafusion
import pyarrow as pa
from sqlglot import exp

from dbbench.answers.rewrite import written

#: The most calls of a statement that are made once more.
MOST = 1_000


def replay(tree: exp.Expr, calls: int, schemas: Mapping[str, pa.Schema], context: datafusion.SessionContext) -> None:
    """Make the calls of a statement. Raises ValueError for one that can't be, and whatever DataFusion raises."""
    if calls > MOST:
        raise ValueError(f"a statement before it is called more than {MOST:,} times")
    target = tree.find(exp.Table)
    if not isinstance(tree, exp.Insert | exp.Update | exp.Delete) or target is None or target.name not in schemas:
        raise ValueError("a statement before it is no INSERT, UPDATE or DELETE of a table")
    if tree.args.get("from_") or tree.args.get("using") or tree.args.get("returning") or tree.args.get("conflict"):
        raise ValueError("a statement before it has more than one table, or RETURNING")
    name, schema = target.name, schemas[target.name]
    text = written(_afterwards(tree, target, schema.names))
    for _ in range(calls):
        rows = asked(context, text)
        whole = [pa.types.is_integer(kind) for kind in schema.types]
        if any(due and not pa.types.is_integer(kind) for due, kind in zip(whole, rows.schema().types, strict=True)):
            raise ValueError("a statement before it makes whole numbers of others")
        rows = rows.cast(dict(zip(schema.names, schema.types, strict=True)))
        rows = rows.cache() if calls > 1 else rows
        context.deregister_table(name)
        context.register_view(name, rows)


def asked(context: datafusion.SessionContext, text: str) -> datafusion.DataFrame:
    """The plan of a query. Raises for any other statement."""
    options = datafusion.SQLOptions().with_allow_ddl(False).with_allow_dml(False).with_allow_statements(False)
    return context.sql_with_options(text, options)


def _afterwards(tree: exp.Insert | exp.Update | exp.Delete, target: exp.Table, names: list[str]) -> exp.Query:
    columns = {name: exp.column(name, quoted=True) for name in names}
    if isinstance(tree, exp.Insert):
        into = [each.name for each in tree.this.expressions] if isinstance(tree.this, exp.Schema) else names
        source = exp.alias_(exp.Subquery(this=tree.expression.copy()), "given", table=into, quoted=True)
        new = exp.select(
            *(columns[name] if name in into else exp.alias_(exp.null(), name, quoted=True) for name in names)
        )
        return exp.union(exp.select(*columns.values()).from_(target.copy()), new.from_(source), distinct=False)
    where = tree.args.get("where")
    met = where.this if where else exp.true()
    others = exp.not_(exp.Is(this=exp.paren(met.copy()), expression=exp.true()))
    rest = exp.select(*columns.values()).from_(target.copy()).where(others)
    if isinstance(tree, exp.Delete):
        return rest
    given = {each.this.name: exp.alias_(each.expression, each.this.name, quoted=True) for each in tree.expressions}
    return exp.union(exp.select(*(columns | given).values()).from_(target.copy()).where(met), rest, distinct=False)
