"""The reference: what queries return by DataFusion, computed from the dataset in a process of its own.

It reads a Parquet copy of each table, one partition at a time, within a pool of memory that grows where a query can't
be finished, and spills to the cache's disk. It may read nothing else, and write nothing: statements other than queries
are refused.
"""

import functools
import itertools
import json
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO

import datafusion
import psutil
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from sqlglot import exp

from dbbench.answers import ranks, rewrite
from dbbench.answers.magnitudes import adds_inexactly, magnitudes
from dbbench.answers.stored import (
    BY,
    COMPUTED_KEY,
    FINAL,
    LEFT_OUT,
    MAGNITUDE,
    MORE_MEMORY,
    Question,
    marked,
    reference_name,
    refusal,
    stored,
    write_answers,
)
from dbbench.answers.tables import asked, batches, replay
from dbbench.datasets.cache import Files
from dbbench.datasets.generate import arrow_schema
from dbbench.suite.dataset import Table, flattened

#: Bytes of the first pool; each further one is twice as large, or all that there may be.
_POOL = 2**28
#: What the process holds besides the pool, about.
_BESIDES = 400 * 2**20
#: Batches that are written as one row group.
_GROUP = 8


def empty(tables: Mapping[str, Table]) -> datafusion.SessionContext:
    """A context with the tables of a dataset, and no rows in them."""
    context = _context(_POOL, "")
    for table_name, table in flattened(tables).items():
        schema = _schema(table)
        context.register_record_batches(table_name.lower(), [[pa.RecordBatch.from_pylist([], schema)]])
    return context


def main(
    questions: Sequence[Question],
    tables: Mapping[str, Table],
    directory: Path,
    memory: int,
    spill: str,
    out: Sequence[Path],
) -> None:
    """Answer questions that have no file yet, in about `memory` bytes; return early when the process has grown."""
    copies: dict[str, Path] = {}
    for question, path in zip(questions, out, strict=True):
        if path.exists():
            continue
        try:
            found = answered(question, tables, Files(directory), memory, spill, copies)
        except Exception as exc:  # whatever a parser or DataFusion raises: there is no answer, and that is why
            found = [refusal(" ".join(str(exc).removeprefix("DataFusion error: ").split()) or type(exc).__name__)]
            if type(exc) is ValueError:  # by the text or the data, which stay as they are
                found = [marked(found[0], FINAL, "yes")]
        write_answers([marked(each, BY, reference_name()) for each in found], path)
        if psutil.Process().memory_info().rss > memory // 4:
            return  # what is freed stays with the process: another one answers what is left


def answered(
    question: Question,
    tables: Mapping[str, Table],
    files: Files,
    memory: int,
    spill: str,
    copies: dict[str, Path] | None = None,
) -> list[pa.Table]:
    """The rows of an answer, or several tables of which each is right. Raises whatever DataFusion or a parser may.

    `copies` are those of tables that were made or looked at before.
    """
    given, tables = tables, flattened(tables)
    columns = {name.lower(): [column.lower() for column in table.columns] for name, table in tables.items()}
    if len(columns) < len(tables) or any(len({*names}) < len(names) for names in columns.values()):
        raise ValueError("names of tables or columns differ only in capitals")
    copies = {} if copies is None else copies  # the bytes of a copy are looked at once
    tree = rewrite.query(question.sql, tables, question.parameters)
    changes = [(rewrite.parsed(sql, tables), calls) for sql, calls in question.changes]
    named = {table.name for each in (tree, *(each for each, _ in changes)) for table in each.find_all(exp.Table)}
    for changed, _ in changes:
        target = changed.find(exp.Table)
        for name, table in given.items():
            arrays = {part.lower() for part in table.flattened(name)} - {name.lower()}
            if (
                target
                and target.name == name.lower()
                and isinstance(changed, exp.Insert | exp.Delete)
                and arrays & named
            ):
                raise ValueError(f"the reference can't follow what a statement does to the arrays of {name}")
    for name, table in tables.items():
        if name.lower() in named and name.lower() not in copies:
            copies[name.lower()] = _copy(name, table, given, files)
    schemas = {name.lower(): _schema(table) for name, table in tables.items()}
    used = {name: path for name, path in copies.items() if name in named}

    def run(text: str, computed: Sequence[str] = ()) -> pa.Table:
        return _plain(_run(text, used, changes, schemas, memory, spill), computed)

    without = _without(question, tables, run) if question.without else None
    if without:
        table_name, key, value = without
        changes = [*changes, (rewrite.parsed(f"DELETE FROM {table_name} WHERE {key} = {value}", tables), 1)]

    def ask(asked: exp.Query, computed: Sequence[str] = ()) -> pa.Table:
        return run(rewrite.written(asked), computed)

    found = ranks.answers(tree, columns, question.ordered, ask)

    def has_capitals(name: str) -> bool:
        own = [copy for table, copy in used.items() if name in columns[table]]
        return bool(question.changes) or not own or any(_has_capitals(copy, name) for copy in own)

    for other in rewrite.other_matches(tree, has_capitals):
        others = ranks.answers(other, columns, question.ordered, ask)
        found += [each for each in others if not any(each.equals(known) for known in found)]
    if adds_inexactly(tree, tables):
        ranked = ranks.ranked(tree, columns, question.ordered)
        found = [_with_magnitudes(each, ranked, ask) for each in found]
    written = [_as_written(each, question.sql, tables) for each in found]
    return [marked(each, LEFT_OUT, json.dumps(without)) for each in written] if without else written


@functools.cache
def _has_capitals(copy: Path, name: str) -> bool:
    """Whether a column of a table's copy has texts with capitals."""
    columns = (batch.column(0).cast(pa.string()) for batch in pq.ParquetFile(copy).iter_batches(columns=[name]))
    return any(pc.any(pc.not_equal(column, pc.utf8_lower(column))).as_py() for column in columns)


def _with_magnitudes(answer: pa.Table, ranked: ranks.Ranked, ask: ranks.Ask) -> pa.Table:
    """An answer with the largest sum of magnitudes behind each number that is computed."""
    schema = answer.schema
    places = [
        place
        for place, (field, _) in enumerate(zip(schema, ranked.names, strict=False))
        if COMPUTED_KEY in (field.metadata or {})
        and (pa.types.is_floating(field.type) or pa.types.is_decimal(field.type))
    ]
    if not places:
        return answer
    sizes = ask(magnitudes(ranked.tree, [ranked.names[place] for place in places]), ())
    for place, (size,) in zip(places, sizes.to_pydict().values(), strict=True):
        field = schema.field(place)
        schema = schema.set(place, field.with_metadata({**field.metadata, MAGNITUDE: repr(float(size or 0))}))
    return answer.cast(schema)


def _as_written(answer: pa.Table, sql: str, tables: Mapping[str, Table]) -> pa.Table:
    """An answer with its names as the text writes them, or the tables."""
    words = [column for table in tables.values() for column in table.columns] + re.findall(r"\w+", sql)
    known = {word.lower(): word for word in words}
    return answer.rename_columns([known.get(name, name) for name in answer.column_names])


def _schema(table: Table) -> pa.Schema:
    """Names in lower case; whole numbers of 64 bits, as those of 32 wrap around."""
    return pa.schema(
        [
            pa.field(each.name.lower(), pa.int64() if pa.types.is_integer(each.type) else each.type, column.nullable)
            for each, column in zip(arrow_schema(table), table.columns.values(), strict=True)
        ]
    )


def _copy(name: str, table: Table, given: Mapping[str, Table], files: Files) -> Path:
    """A table as Parquet, which is read piece by piece."""

    def write(file: IO[bytes]) -> None:
        schema = _schema(table)
        packed = {each.name for each in schema if _is_packed(each.type)}
        others = [name for name in schema.names if name not in packed]
        with pq.ParquetWriter(
            file,
            schema,
            compression=dict.fromkeys(packed, "none") | dict.fromkeys(others, "lz4"),
            store_decimal_as_integer=True,
            use_dictionary=others,
            column_encoding=dict.fromkeys(packed, "DELTA_BINARY_PACKED"),
        ) as writer:
            writer.write_table(schema.empty_table())
            rows = batches(name, given, files)
            while some := [*itertools.islice(rows, _GROUP)]:
                writer.write_table(pa.Table.from_batches(some).rename_columns(schema.names).cast(schema))

    return stored(["table", 5, name], write, files, ".parquet")


def _is_packed(kind: pa.DataType) -> bool:
    """Whether a type is kept as integers, whose differences take half the room of a dictionary and half the time."""
    if pa.types.is_decimal(kind):
        return bool(kind.precision <= 18)
    return bool(pa.types.is_integer(kind) or pa.types.is_temporal(kind))


def _without(question: Question, tables: Mapping[str, Table], run: Callable[[str], pa.Table]) -> tuple[str, str, int]:
    """A row that the answer is made of, drawn: its table, and the name and value of its key."""
    name, text = rewrite.keys_behind(question.sql, tables)
    keys = run(text).column(0).drop_null()
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
) -> pa.Table:
    for pool, settings in _pools(memory):
        context = _context(pool, spill, settings)
        for table_name, path in copies.items():
            context.register_parquet(table_name, str(path), file_extension=".parquet")
        try:
            for tree, calls in changes:
                replay(tree, calls, schemas, context)
            return asked(context, text).to_arrow_table()
        except Exception as exc:  # DataFusion's own are plain ones
            if "Resources exhausted" not in str(exc):
                raise
    raise ValueError(f"{MORE_MEMORY} {memory / 2**20:,.0f} MiB of memory")


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
    if pool < memory:
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


def _plain(rows: pa.Table, computed: Sequence[str]) -> pa.Table:
    """Rows in the few types that answers have, as far as these hold all values; `computed`: of the first columns."""
    marks = itertools.chain(computed, itertools.repeat(""))
    return pa.table([_cast(*pair) for pair in zip(rows.columns, marks, strict=False)], rows.column_names)


def _cast(column: pa.ChunkedArray, computed: str) -> pa.ChunkedArray:
    """A computed whole number is an int64, whatever it was summed up in."""
    kind = column.type
    if pa.types.is_integer(kind) or (computed and pa.types.is_decimal(kind) and not kind.scale):
        kind = pa.int64()
    elif pa.types.is_decimal(kind):
        kind = pa.decimal128(min(kind.precision, 38), kind.scale)
    elif pa.types.is_timestamp(kind):
        kind = pa.timestamp("s")
    elif pa.types.is_string_view(kind) or pa.types.is_large_string(kind):
        kind = pa.string()
    try:
        return column.cast(kind)
    except pa.ArrowInvalid:
        return column
