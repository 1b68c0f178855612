"""What a query must return, computed from the dataset without any of the engines.

An Answer is a few relational steps said in the suite; here they are carried out on Arrow tables.
Results are kept beside the dataset in the cache.
"""

from __future__ import annotations

import hashlib
import json
import logging
import math
import os
import tempfile
from decimal import ROUND_FLOOR, Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.ipc

from dbbench import plainfile
from dbbench.datasets.files import Files
from dbbench.suite import Answer, Condition

#: Raised whenever an oracle would come out otherwise than before; part of the cache's key.
GENERATION = 1
_log = logging.getLogger(__name__)


def answer_file(answer: Answer, files: Files) -> Path:
    """The Arrow file that holds the rows of `answer` on this dataset, computed now if it isn't there as it was written.

    Its name ends in the hash of its bytes.
    """
    identity = json.dumps([GENERATION, answer.model_dump(mode="json")])
    name = f"answer-{hashlib.sha256(identity.encode()).hexdigest()[:24]}"
    for path in files.directory.glob(f"{name}-*.arrow"):
        if path.stem == f"{name}-{plainfile.digest(path)}":
            return path
        _log.warning("dbbench: the cached answer %s is damaged; it is computed anew", path)
        path.unlink(missing_ok=True)
    table = expected(answer, files)
    descriptor, temporary = tempfile.mkstemp(prefix=f".{name}-", dir=files.directory)
    with open(descriptor, "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    plainfile.sync_file(Path(temporary))
    path = files.directory / f"{name}-{plainfile.digest(Path(temporary))}.arrow"
    os.replace(temporary, path)
    plainfile.sync_folder(files.directory)
    return path


def read_answer(path: Path) -> pa.Table:
    """The rows of an answer's file, mapped."""
    with pa.memory_map(str(path)) as source, pa.ipc.open_file(source) as reader:
        return reader.read_all()


def expected(answer: Answer, files: Files) -> pa.Table:
    """The rows of `answer`, in its order if it has one; columns are named as in its `select`."""
    rows = _table(answer.table, files, _needed(answer))
    for join in answer.join:
        other = _table(join.table, files, _needed(answer))
        # Acero drops the right-hand key; keep a copy of it, for the select may name it.
        key = other.append_column("key", other.column(join.column))
        rows = rows.join(key, keys=join.equals, right_keys="key", join_type="inner", use_threads=False)
    for condition in answer.where:
        rows = rows.filter(_holds(condition, rows, files))
    if answer.group_by or answer.sum:
        groups = rows.group_by(list(answer.group_by), use_threads=False)
        sums = groups.aggregate([(column, "sum") for column in {*answer.sum.values()}])
        rows = sums.select(list(answer.group_by))
        for name, column in answer.sum.items():
            rows = rows.append_column(name, sums.column(f"{column}_sum"))
    if answer.order_by:
        rows = rows.sort_by([(name, "ascending") for name in answer.order_by])
    return rows.select(list(answer.select))


def _needed(answer: Answer) -> set[str]:
    """The columns that an answer touches, so that no others are carried through its joins."""
    names = {*answer.select, *answer.group_by, *answer.sum.values(), *answer.order_by}
    names |= {condition.column for condition in answer.where}
    names |= {name for join in answer.join for name in (join.column, join.equals)}
    return names


def _table(name: str, files: Files, wanted: set[str]) -> pa.Table:
    table = files.table(name)
    table = table.rename_columns([f"{name}.{column}" for column in table.column_names])
    return table.select([column for column in table.column_names if column in wanted])


def _holds(condition: Condition, rows: pa.Table, files: Files) -> pa.ChunkedArray:
    column = rows.column(condition.column)
    held = []
    if condition.above is not None:
        held.append(pc.greater(column, pa.scalar(_limit(condition.above, column.type), column.type)))
    if condition.contains is not None:
        held.append(pc.match_substring(column, condition.contains))
    if condition.among is not None:
        held.append(pc.is_in(column, expected(condition.among, files).column(0).combine_chunks()))
    (one,) = held
    return one


def _limit(above: float, kind: pa.DataType) -> float | Decimal:
    """The greatest number of a type that is not above `above`: the same rows are above either."""
    if pa.types.is_integer(kind):
        return math.floor(above)
    if pa.types.is_decimal(kind):
        return Decimal(str(above)).quantize(Decimal(1).scaleb(-kind.scale), ROUND_FLOOR)
    return above
