"""The tables of the reference: documents taken apart into columns and tables, and what statements make of a table.

After a statement a query for the rows that are there takes the table's place: DataFusion's own UPDATE and DELETE change
too many rows, so none of them is used.
"""

import io
from collections.abc import Iterator, Mapping

import datafusion
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import json
from sqlglot import exp

from dbbench.answers.rewrite import written
from dbbench.datasets.cache import Files
from dbbench.datasets.generate import arrow_type
from dbbench.suite.data_types import parse_type
from dbbench.suite.dataset import PLACE, Table
from dbbench.suite.documents import Document, DocumentField

#: The array that values are in, the row that each belongs to (None: one to a row), their path, and they themselves.
_Leaf = tuple[str, pa.Array | None, str, pa.Array]
#: The most calls of a statement that are made once more.
MOST = 1_000


def batches(name: str, tables: Mapping[str, Table], files: Files) -> Iterator[pa.RecordBatch]:
    """The rows of a table as `dataset.flattened` names it."""
    source, table = next((source, table) for source, table in tables.items() if name in table.flattened(source))
    documents = {key: column.values for key, column in table.columns.items() if isinstance(column.values, Document)}
    wanted = list(table.flattened(source)[name].columns)
    for batch in files.stream(source):
        columns = dict(zip(batch.schema.names, batch.columns, strict=True))
        for key, document in documents.items():
            for array, rows, path, values in _leaves(document.root, _parsed(columns[key], document.root), key):
                if name == (f"{source}_{array}" if array else source):
                    columns[path] = values
                    if rows is not None:
                        columns |= {each: batch.column(each).take(rows) for each in table.key_columns}
                        columns[PLACE] = _places(rows)
        yield pa.record_batch([columns[each] for each in wanted], names=wanted)


def _parsed(texts: pa.Array, root: DocumentField) -> pa.Array:
    lines = "\n".join(texts.to_pylist()).encode()
    options = json.ParseOptions(explicit_schema=pa.schema(_type(root)), unexpected_field_behavior="error")
    whole = json.ReadOptions(use_threads=False, block_size=len(lines) + 1)
    return json.read_json(io.BytesIO(lines), whole, options).to_struct_array().combine_chunks()


def _type(field: DocumentField) -> pa.DataType:
    """The type that a field is parsed as: days come as texts."""
    if field.items is not None:
        return pa.list_(_type(field.items))
    if field.type is None:
        return pa.struct([(name, _type(each)) for name, each in field.fields.items()])
    kind = arrow_type(parse_type(field.type))
    if pa.types.is_float32(kind):  # the text has all digits
        return pa.float64()
    return pa.string() if pa.types.is_date(kind) else kind


def _leaves(
    field: DocumentField, values: pa.Array, path: str, array: str = "", rows: pa.Array | None = None
) -> Iterator[_Leaf]:
    if field.items is not None:
        yield from _leaves(field.items, pc.list_flatten(values), path, path, pc.list_parent_indices(values))
    for name, each in field.fields.items():
        yield from _leaves(each, pc.struct_field(values, [name]), f"{path}_{name}", array, rows)
    if field.type is not None:
        yield array, rows, path, values


def _places(rows: pa.Array) -> pa.Array:
    """The place of each element in its array, from 0."""
    parents = rows.to_numpy()
    return pa.array(np.arange(len(parents)) - np.searchsorted(parents, parents))


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
