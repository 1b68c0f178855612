"""Documents as the reference has them: parsed, and taken apart into columns, with a table for each array."""

import io
from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import json

from dbbench.datasets.cache import Files
from dbbench.datasets.generate import arrow_type
from dbbench.suite.data_types import parse_type
from dbbench.suite.dataset import PLACE, Table
from dbbench.suite.documents import Document, DocumentField

#: The array that values are in, the row that each belongs to (None: one to a row), their path, and they themselves.
_Leaf = tuple[str, pa.Array | None, str, pa.Array]


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
