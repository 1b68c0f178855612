"""The reference: what queries return by DataFusion, computed from the dataset in a process of its own.

`python -m dbbench.answers.reference` takes a request as JSON on standard input. It reads a Parquet copy of each table, one
partition at a time, within a pool of memory that grows where a query can't be finished, and spills to the cache's disk. It may
read nothing else, and write nothing: statements other than queries are refused.
"""

from __future__ import annotations

import itertools
import json
import random
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import IO, Any

import datafusion
import pyarrow as pa
import pyarrow.parquet as pq
from sqlglot import exp

from dbbench.answers import ranks, rewrite
from dbbench.answers.question import MORE_MEMORY, Question
from dbbench.answers.replay import replay
from dbbench.answers.stored import BY, leaving_out, reference_name, refusal, stored, together, write_answer
from dbbench.datasets.cache import Files
from dbbench.datasets.generate import arrow_schema
from dbbench.host.processes import end_with_parent
from dbbench.suite.dataset import Table

#: The first pool; each further one is twice as large.
_POOL = 2**28
#: What the process holds besides the pool, about.
_BESIDES = 400 * 2**20
#: Rows of a row group.
_GROUP = 8
#: What may make a null where no column has one.
_MAKES_NULLS = (
    exp.Case,
    exp.Null,
    exp.Nullif,
    exp.Lag,
    exp.Lead,
    exp.FirstValue,
    exp.LastValue,
    exp.NthValue,
    exp.Rollup,
    exp.Cube,
    exp.GroupingSets,
)


def empty(tables: Mapping[str, Table]) -> datafusion.SessionContext:
    """A context with the tables of a dataset, and no rows in them."""
    context = _context(_POOL, "")
    for table_name, table in tables.items():
        schema = _schema(arrow_schema(table))
        context.register_record_batches(table_name.lower(), [[pa.RecordBatch.from_pylist([], schema)]])
    return context


def main(request: Mapping[str, Any]) -> None:
    """Answer each question whose file isn't there."""
    tables = {name: Table.model_validate(table) for name, table in request["tables"].items()}
    files = Files(Path(request["files"]))
    kept: dict[str, Path] = {}
    for given, path in zip(request["questions"], map(Path, request["out"]), strict=True):
        if path.exists():
            continue
        question = Question(**given)
        try:
            found = answered(question, tables, files, request["memory"], request["spill"], kept)
        except Exception as exc:  # whatever a parser or DataFusion raises: there is no answer, and that is why
            found = refusal(" ".join(str(exc).removeprefix("DataFusion error: ").split()) or type(exc).__name__)
        marks = {**(found.schema.metadata or {}), BY: reference_name()}
        write_answer(found.replace_schema_metadata(marks), path)


def answered(
    question: Question,
    tables: Mapping[str, Table],
    files: Files,
    memory: int,
    spill: str,
    kept: dict[str, Path] | None = None,
) -> pa.Table:
    """The rows of an answer, or several tables of which each is right. Raises whatever DataFusion or a parser may.

    `kept` are the copies of tables that were made or looked at before.
    """
    columns = {name.lower(): [column.lower() for column in table.columns] for name, table in tables.items()}
    if len(columns) < len(tables) or any(len({*names}) < len(names) for names in columns.values()):
        raise ValueError("names of tables or columns differ only in capitals")
    values = question.parameters
    if values is not None:
        values = {name: _number(value) for name, value in values.items()}
    readings = rewrite.readings(question.sql, tables, values)
    changes = [(rewrite.parsed(sql, tables), calls) for sql, calls in question.changes]
    named = {table.name for tree in (readings[0], *(each for each, _ in changes)) for table in tree.find_all(exp.Table)}
    kept = {} if kept is None else kept  # the bytes of a copy are looked at once
    for name, table in tables.items():
        if name.lower() in named and name.lower() not in kept:
            kept[name.lower()] = _copy(name, table, files)
    copies = {name: path for name, path in kept.items() if name in named}
    schemas = {name.lower(): _schema(arrow_schema(table)) for name, table in tables.items()}
    run = partial(_run, copies=copies, changes=changes, schemas=schemas, memory=memory, spill=spill)
    left_out = _drawn(question, tables, run) if question.without else None
    found: list[pa.Table] = []
    for tree in readings:
        ranked = ranks.ranked(tree, columns, question.ordered)
        rows = run(rewrite.written(ranked.tree), left_out=left_out)
        answer = _as_written(ranks.answer(_plain(rows, ranked), ranked), question.sql, tables)
        if not any(answer.equals(other) for other in found):
            found.append(answer)
        if not _nulls_matter(tree, ranked, rows, copies, changed=bool(changes)):
            break
    return leaving_out(together(found), left_out)


def _as_written(answer: pa.Table, sql: str, tables: Mapping[str, Table]) -> pa.Table:
    """An answer with its names as the text writes them, or the tables."""
    words = [column for table in tables.values() for column in table.columns] + re.findall(r"\w+", sql)
    known = {word.lower(): word for word in words}
    return answer.rename_columns([known.get(name, name) for name in answer.column_names])


def _number(value: Any) -> Any:
    return float(value["number"]) if isinstance(value, dict) else value


def _nulls_matter(
    tree: exp.Query, ranked: ranks.Ranked, rows: pa.Table, copies: Mapping[str, Path], *, changed: bool
) -> bool:
    """Whether the answer may be another where nulls stand elsewhere in its orders."""
    if ranked.limit is None and not ranked.offset and len([*tree.find_all(exp.Order)]) <= bool(ranked.keys):
        return any(column.null_count for column in rows.columns[len(ranked.names) :])
    if any(join.side for join in tree.find_all(exp.Join)) or tree.find(*_MAKES_NULLS) or changed:
        return True
    if any(not each.find_ancestor(exp.From, exp.Join, exp.Where, exp.Having) for each in tree.find_all(exp.Subquery)):
        return True  # one that finds no row is a null
    used = {column.name for column in tree.find_all(exp.Column)}
    for path in copies.values():
        known = pq.read_metadata(path)
        for number in range(known.num_row_groups):
            group = known.row_group(number)
            parts = [group.column(place) for place in range(group.num_columns)]
            if any(part.path_in_schema in used and part.statistics.null_count for part in parts if part.statistics):
                return True
    return False


def _schema(schema: pa.Schema) -> pa.Schema:
    """Names in lower case; whole numbers of 64 bits, as those of 32 wrap around."""
    return pa.schema(
        [pa.field(each.name.lower(), pa.int64() if pa.types.is_integer(each.type) else each.type) for each in schema]
    )


def _copy(name: str, table: Table, files: Files) -> Path:
    """A table as Parquet, which is read piece by piece and is a third as large."""

    def write(file: IO[bytes]) -> None:
        schema = _schema(arrow_schema(table))
        with pq.ParquetWriter(file, schema, compression="lz4", store_decimal_as_integer=True) as writer:
            writer.write_table(schema.empty_table())
            batches = files.stream(name)
            while some := [*itertools.islice(batches, _GROUP)]:
                writer.write_table(pa.Table.from_batches(some).rename_columns(schema.names).cast(schema))

    return stored(["table", 2, name], write, files, ".parquet")


def _drawn(question: Question, tables: Mapping[str, Table], run: Callable[..., pa.Table]) -> tuple[str, str, int]:
    """A row that the answer is made of: its table, and the name and value of its key."""
    name, text = rewrite.keys_behind(question.sql, tables)
    keys = run(text, changes=()).column(0).drop_null()
    if not pa.types.is_integer(keys.type) or len(tables[name].key_columns) > 1:
        raise ValueError("only a row whose key is one whole number is deleted")
    if not len(keys):
        raise ValueError("its answer has no rows")
    return name, tables[name].single_key, keys[random.Random(question.without).randrange(len(keys))].as_py()


def _run(
    text: str,
    copies: Mapping[str, Path],
    changes: Sequence[tuple[exp.Expr, int]],
    schemas: Mapping[str, pa.Schema],
    memory: int,
    spill: str,
    left_out: tuple[str, str, int] | None = None,
) -> pa.Table:
    for pool, settings in _pools(memory):
        context = _context(pool, spill, settings)
        ask = partial(_ask, context)
        for table_name, path in copies.items():
            context.register_parquet(table_name, str(path), file_extension=".parquet")
        try:
            for tree, calls in changes:
                replay(tree, calls, context, schemas, ask)
            if left_out:
                table_name, key, value = left_out
                rest = context.sql(f'SELECT * FROM "{table_name.lower()}" WHERE "{key.lower()}" <> {value}')
                context.deregister_table(table_name.lower())
                context.register_view(table_name.lower(), rest)
            return ask(text)
        except Exception as exc:  # DataFusion's own are plain ones
            if "Resources exhausted" not in str(exc):
                raise
    raise ValueError(f"{MORE_MEMORY} {memory / 2**20:,.0f} MiB of memory")


def _ask(context: datafusion.SessionContext, text: str) -> pa.Table:
    options = datafusion.SQLOptions().with_allow_ddl(False).with_allow_dml(False).with_allow_statements(False)
    return context.sql_with_options(text, options).to_arrow_table()


def _pools(memory: int) -> Iterator[tuple[int, dict[str, str]]]:
    """Pools to try one after another. Hash joins can't spill, and sorts keep something back to merge with."""
    memory = max(memory - _BESIDES, memory // 2)
    pool = min(_POOL, memory)
    yield pool, {}
    frugal = {
        "datafusion.optimizer.prefer_hash_join": "false",
        "datafusion.execution.sort_spill_reservation_bytes": str(2**20),
    }
    yield pool, frugal
    while pool < memory:
        pool = min(2 * pool, memory)
        yield pool, {}
    yield pool, frugal


def _context(pool: int, spill: str, settings: Mapping[str, str] | None = None) -> datafusion.SessionContext:
    config = datafusion.SessionConfig().with_target_partitions(1)
    always = {
        "datafusion.sql_parser.parse_float_as_decimal": "true",
        "datafusion.optimizer.repartition_sorts": "false",  # what it makes of unions may not be planned
    }
    for key, value in {**always, **(settings or {})}.items():
        config = config.set(key, value)
    runtime = datafusion.RuntimeEnvBuilder().with_fair_spill_pool(pool)
    if spill:
        runtime = runtime.with_disk_manager_specified(spill)
    context = datafusion.SessionContext(config, runtime)
    context.remove_optimizer_rule("single_distinct_aggregation_to_group_by")  # fails beside a compared sum
    return context


def _plain(rows: pa.Table, ranked: ranks.Ranked) -> pa.Table:
    """Rows in the few types that answers have, as far as these hold all values."""
    computed = (*ranked.computed, *[""] * (rows.num_columns - len(ranked.computed)))
    columns = [_cast(column, _kind(column.type, own)) for column, own in zip(rows.columns, computed, strict=True)]
    return pa.table(columns, rows.column_names)


def _kind(kind: pa.DataType, computed: str) -> pa.DataType:
    """A computed whole number is an int64, whatever it was summed up in."""
    if pa.types.is_integer(kind) or (computed and pa.types.is_decimal(kind) and not kind.scale):
        return pa.int64()
    if pa.types.is_decimal(kind):
        return pa.decimal128(min(kind.precision, 38), kind.scale)
    if pa.types.is_timestamp(kind):
        return pa.timestamp("s")
    return pa.string() if pa.types.is_string_view(kind) or pa.types.is_large_string(kind) else kind


def _cast(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    try:
        return column.cast(kind)
    except pa.ArrowInvalid:
        return column


if __name__ == "__main__":
    end_with_parent()
    main(json.load(sys.stdin))
