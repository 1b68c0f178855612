"""What tables must hold: read back, and compared with what was drawn and what steps have added.

All rows of a table are read piece by piece in the order of their keys where these ascend, so that memory stays flat;
otherwise at once. A sample is read by its keys.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from random import SystemRandom
from typing import Any

import pyarrow as pa

from dbbench.answers.compare import as_batches, check_batches, check_rows, check_value, with_keys_of
from dbbench.datasets.documents import without
from dbbench.datasets.generate import arrow_schema
from dbbench.engine.base import Engine, Session
from dbbench.engine.sql.session import SQLEngine, SQLSession, fetch
from dbbench.errors import WrongAnswer
from dbbench.suite.data_types import DataType
from dbbench.suite.dataset import Column, Table
from dbbench.suite.sql_text import words_of
from dbbench.suite.steps.statement import StatementStep
from dbbench.suite.values import Sequence as Series
from dbbench.workloads.context import Added, StepContext

COUNT = DataType("bigint", ())
_AT_ONCE = 8_192
#: Rows of a sample, and the batches that they come from.
_SAMPLE, _FROM = 512, 16
#: What changes no row.
_INDEX = re.compile(r"\s*CREATE\s+(UNIQUE\s+)?INDEX\b", re.IGNORECASE)
#: An update of a table.
_UPDATE = re.compile(r"\s*UPDATE\s+(\w+)\s+SET\b", re.IGNORECASE)

#: A statement that takes no value away, unless it has any of the others.
_ADDS = re.compile(r"\s*(SELECT|INSERT)\b", re.IGNORECASE)
_TAKES = re.compile(r";|\b(CONFLICT|DELETE|DUPLICATE|OVERWRITE|REPLACE)\b", re.IGNORECASE)

#: What of a batch is compared.
Part = Callable[[pa.RecordBatch], pa.RecordBatch]


def _whole(batch: pa.RecordBatch) -> pa.RecordBatch:
    return batch


def check_table(context: StepContext, name: str, *, every_row: bool) -> None:
    """Compare the dataset's rows of a table: number, extremes, sums and a sample, or all of them. Raises WrongAnswer.

    The sample is drawn anew each time. Without a single whole number as the key it is all rows.
    """
    with context.base_session() as (engine, session):
        sql = _sql_engine(engine)
        _check_count(context, sql, session, name)
        if not _told_by_row(context, name):
            _check_figures(context, sql, session, name)
        sampled = not every_row and _numbered(context.tables[name])
        try:
            (_check_some_rows if sampled else _check_rows)(context, sql, session, name)
        except WrongAnswer as exc:
            raise WrongAnswer(f"rows of {name}, read back: {exc}") from exc


def check_added(context: StepContext, name: str) -> None:
    """Compare rows that statements have added to a table: their number, and what is known of each. Raises WrongAnswer.

    Where nobody knows what the table held before, their number alone.
    """
    with context.base_session() as (engine, session):
        sql = _sql_engine(engine)
        _check_count(context, sql, session, name)
        table = context.tables[name]
        steps = context.data.added.get(name, []) if name in context.data.left_by else []
        if not _numbered(table) or not any(added.values for added in steps):
            return
        key = table.single_key
        first = int(context.files.manifest["tables"][name]["columns"][key].get("max", 0)) + 1
        for added in steps:
            last = first + added.rows - 1
            if added.values:
                columns = {name: table.columns[name] for name in (key, *added.values)}
                query = f"{_selected(sql, columns, name)} WHERE {sql.sql.quoted(key)} BETWEEN {first} AND {last}"
                try:
                    _compare(session, _ordered(sql, query, key), [_expected(table, added, first)])
                except WrongAnswer as exc:
                    raise WrongAnswer(f"rows that {added.step} added to {name}: {exc}") from exc
            first = last + 1


def check_after(context: StepContext, *, every_row: bool) -> dict[str, str]:
    """Faults of the tables after all steps: step -> in words. Tables whose content nobody knows are left out."""
    found = {}
    for name, step in context.data.left_by.items():
        try:
            check_table(context, name, every_row=every_row)
        except WrongAnswer as exc:
            found[step] = str(exc)
    for name, added in context.data.added.items():
        if name not in context.data.left_by:
            continue
        try:
            check_added(context, name)
        except WrongAnswer as exc:
            found[added[-1].step] = str(exc)
    for name, (step, updates) in context.data.updated.items() if every_row else ():
        try:
            _check_unchanged(context, name, updates)
        except (WrongAnswer, ValueError) as exc:  # or what should be a document is none
            found[step] = f"rows of {name}, read back: {exc}"
    return found


def _check_unchanged(context: StepContext, name: str, updates: Collection[str]) -> None:
    """Compare all rows in the columns, and the values of documents, that no update sets. Raises WrongAnswer."""
    from dbbench.answers.rewrite import assigned  # a parser: not before there is something to parse

    table = context.tables[name]
    try:
        changed = {word for sql in updates for word in assigned(sql, context.tables)}
    except ValueError:  # nobody knows what it sets
        return
    columns = {key: column for key, column in table.columns.items() if key.upper() not in changed}
    if name in context.data.left_by or _told_by_row(context, name) or not {*table.key_columns} <= {*columns}:
        return

    def unchanged(batch: pa.RecordBatch) -> pa.RecordBatch:
        for place, (key, column) in enumerate(columns.items()):
            if column.data_type.name == "json":
                field = batch.schema.field(place).with_type(pa.string())
                batch = batch.set_column(place, field, without(batch.column(place), key, changed))
        return batch

    with context.base_session() as (engine, session):
        _check_rows(context, _sql_engine(engine), session, name, columns, unchanged)


def let_go(context: StepContext, step: StatementStep) -> dict[str, str]:
    """Forget what is in the tables that a statement may change, until it is known what its calls have done.

    Gives what was forgotten. A table that nobody knows is counted, so that what the calls add to it can be counted.
    """
    if step.adds and step.adds.table not in context.data.left_by and isinstance(context.engine, SQLEngine):
        with context.base_session() as (engine, session):
            context.data.rows[step.adds.table] = int(_count(_sql_engine(engine), session, step.adds.table))
    text = step.dialects.get(context.engine.info().dialect, step.sql)
    context.data.texts.append(text)
    _touch(context, text)
    named = {step.adds.table} if step.adds else words_of(context.statement(step))
    if _INDEX.match(step.sql):
        return {}
    known = {name: context.data.left_by.pop(name) for name in named & set(context.data.left_by)}
    update = _UPDATE.match(step.sql)
    for name in named & set(context.tables):
        _, updates = context.data.updated.pop(name, ("", () if name in known else None))
        if update and update[1] == name and updates is not None:
            context.data.updated[name] = step.name, (*updates, step.sql)
    return known


def forget(context: StepContext, texts: Sequence[str]) -> None:
    """Forget what is in the tables that some statements name: they may change them."""
    context.data.texts += texts
    for text in texts:
        _touch(context, text)
    for name in {word for sql in texts for word in words_of(sql)} & set(context.tables):
        context.data.left_by.pop(name, None)
        context.data.updated.pop(name, None)
        context.data.rows.pop(name, None)


def _touch(context: StepContext, text: str) -> None:
    """Note which columns may not have their values any more after a statement: all that it names, but for some."""
    from dbbench.answers.rewrite import assigned  # a parser: not before there is something to parse

    words, untouched = words_of(text.upper()), context.data.untouched
    if _INDEX.match(text) or (_ADDS.match(text) and not _TAKES.search(text)):
        return
    changed = None
    if (update := _UPDATE.match(text)) and ";" not in text:
        words = {update[1].upper()}
        with suppress(ValueError):
            changed = assigned(text, context.tables)
    for name in untouched:
        if name.upper() in words:
            untouched[name] = {key for key in untouched[name] if changed is not None and key.upper() not in changed}


def note_added(context: StepContext, step: StatementStep, calls: int, known: Mapping[str, str]) -> None:
    """Remember what the calls have added to a table. Without `adds` nobody can tell."""
    if step.adds is None or step.adds.table not in context.data.rows:
        return
    name, rows = step.adds.table, step.adds.rows * calls
    context.data.rows[name] += rows
    if known:
        context.data.left_by.update(known)
        context.data.added.setdefault(name, []).append(Added(step.name, step.adds.values, rows))


def _sql_engine(engine: Engine) -> SQLEngine:
    if not isinstance(engine, SQLEngine):
        raise WrongAnswer(f"there is no way to check the rows of {engine.name}")
    return engine


def _check_count(context: StepContext, engine: SQLEngine, session: Session, name: str) -> None:
    check_value(_count(engine, session, name), str(context.data.rows[name]), COUNT, f"COUNT(*) of {name}")


def _count(engine: SQLEngine, session: Session, name: str) -> Any:
    ((found,),) = fetch(session, f"SELECT COUNT(*) FROM {engine.sql.quoted(name)}")
    return found


def _check_figures(context: StepContext, engine: SQLEngine, session: Session, name: str) -> None:
    known, table = context.files.manifest["tables"][name], context.tables[name]
    wanted: list[tuple[str, str, DataType, float | None]] = [("COUNT(*)", str(known["rows"]), COUNT, None)]
    for column, checks in known["columns"].items():
        kind = table.columns[column].data_type
        for key, text in checks.items():
            part = f"{key.upper()}({engine.sql.quoted(column)})"
            size: float | None = None
            if key == "sum":
                part, least, greatest = engine.sql.total(column, kind.name), float(checks["min"]), float(checks["max"])
                size = known["rows"] * max(-least, greatest) if least < 0 < greatest else 0.0
            wanted.append((part, text, kind, size))
    sql = f"SELECT {', '.join(part for part, *_ in wanted)} FROM {engine.sql.quoted(name)}"
    (row,) = fetch(session, sql + _of_the_dataset(context, engine, name))
    for value, (part, text, kind, size) in zip(row, wanted, strict=True):
        check_value(value, text, kind, f"{part} of {name}", size)


def _numbered(table: Table) -> bool:
    """Whether the keys are whole numbers, so that those of added rows can follow on the dataset's."""
    return len(table.key_columns) == 1 and table.columns[table.single_key].data_type.name in ("integer", "bigint")


def _told_by_row(context: StepContext, name: str) -> bool:
    """Whether added rows are among the dataset's, and only each one's key tells which are which."""
    known = context.files.manifest["tables"][name]
    return context.data.rows[name] != known["rows"] and not _numbered(context.tables[name])


def _of_the_dataset(context: StepContext, engine: SQLEngine, name: str) -> str:
    """The condition that leaves out rows that steps have added; nothing where their keys are in no known order."""
    known = context.files.manifest["tables"][name]
    if context.data.rows[name] == known["rows"] or not _numbered(context.tables[name]):
        return ""
    key = context.tables[name].single_key
    keys = known["columns"][key]
    return f" WHERE {engine.sql.quoted(key)} BETWEEN {keys.get('min', 1)} AND {keys.get('max', 0)}"


def _check_rows(
    context: StepContext,
    engine: SQLEngine,
    session: Session,
    name: str,
    columns: Mapping[str, Column] | None = None,
    part: Part = _whole,
) -> None:
    """These columns, or all, of every row: in the order of the keys where they ascend, or else all at once."""
    table, files = context.tables[name], context.files
    columns = columns or table.columns
    query = _selected(engine, columns, name) + _of_the_dataset(context, engine, name)
    if len(table.key_columns) == 1 and isinstance(table.columns[table.single_key].values, Series):
        expected = (batch.select([*columns]) for batch in files.stream(name))
        _compare(session, _ordered(engine, query, table.single_key), expected, part)
    else:
        (given, by_rows), known = _read(session, query), files.table(name).select([*columns])
        pieces = as_batches(given, known.schema) if by_rows else given
        if _told_by_row(context, name):
            pieces = with_keys_of(pieces, known, list(columns).index(table.single_key))
        wanted = pa.Table.from_batches(map(part, known.to_batches()), known.schema)
        check_batches(map(part, pieces), wanted, ordered=False)


def _check_some_rows(context: StepContext, engine: SQLEngine, session: Session, name: str) -> None:
    """Every column of rows that nobody can predict."""
    draw, files, key = SystemRandom(), context.files, context.tables[name].single_key
    count = files.batches(name)
    numbers = draw.sample(range(count), min(count, _FROM))
    each = -(-_SAMPLE // max(len(numbers), 1))
    parts = [
        batch.take(pa.array(draw.sample(range(batch.num_rows), min(batch.num_rows, each)), pa.int64()))
        for batch in files.numbered(name, numbers)
    ]
    expected = pa.Table.from_batches(parts, files.schema(name))
    if expected.num_rows:
        keys = ", ".join(map(str, expected.column(key).to_pylist()))
        query = f"{_selected(engine, context.tables[name].columns, name)} WHERE {engine.sql.quoted(key)} IN ({keys})"
        given, by_rows = _read(session, query)
        compare: Any = check_rows if by_rows else check_batches
        compare(given, expected)


def _selected(engine: SQLEngine, columns: Mapping[str, Column], name: str) -> str:
    """A query of columns, of documents their texts."""
    forms = {key: engine.sql.document if column.data_type.name == "json" else "{0}" for key, column in columns.items()}
    texts = [form.format(engine.sql.quoted(key)) for key, form in forms.items()]
    return f"SELECT {', '.join(texts)} FROM {engine.sql.quoted(name)}"


def _ordered(engine: SQLEngine, query: str, key: str) -> str:
    return f"{query} ORDER BY {engine.sql.quoted(key)}"


def _read(session: Any, query: str) -> tuple[Any, bool]:
    """What a query returns, and whether that is rows: Arrow batches are read much sooner where a driver has both."""
    batches = session.batches(query) if isinstance(session, SQLSession) else None
    if batches is not None:
        return batches, False
    return session.prepare_query(query)(), session.result_format != "batches"


def _expected(table: Table, added: Added, first: int) -> pa.RecordBatch:
    """Rows with keys that follow one another, all else alike."""
    whole = arrow_schema(table)
    schema = pa.schema([whole.field(name) for name in (table.single_key, *added.values)])
    columns = [pa.array(range(first, first + added.rows), schema.field(0).type)]
    for name, value in added.values.items():
        columns.append(pa.array([str(value)] * added.rows).cast(schema.field(name).type))
    return pa.record_batch(columns, schema=schema)


def _compare(session: Session, query: str, expected: Iterable[pa.RecordBatch], part: Part = _whole) -> None:
    """Compare some part of what an ordered query gives with batches, piece by piece. Raises WrongAnswer."""
    given, by_rows = _read(session, query)
    left = _from_rows(given, expected) if by_rows else _from_batches(iter(given), expected)
    for piece, wanted in left:
        pieces = as_batches(piece, wanted.schema) if by_rows else piece
        check_batches(map(part, pieces), pa.Table.from_batches([part(wanted)]), ordered=True)


def _from_rows(given: Iterable[Any], expected: Iterable[pa.RecordBatch]) -> Iterator[tuple[Any, pa.RecordBatch]]:
    rows = iter(given)
    for batch in expected:
        for first in range(0, batch.num_rows, _AT_ONCE):
            wanted = batch.slice(first, _AT_ONCE)
            yield islice(rows, wanted.num_rows), wanted
    if next(rows, None) is not None:
        raise WrongAnswer("there are too many")


def _from_batches(
    given: Iterator[pa.RecordBatch], expected: Iterable[pa.RecordBatch]
) -> Iterator[tuple[Any, pa.RecordBatch]]:
    piece = None
    for batch in expected:
        wanted = batch
        while wanted.num_rows:
            while piece is None or not piece.num_rows:
                piece = next(given, None)
                if piece is None:
                    raise WrongAnswer("there are too few")
            count = min(piece.num_rows, wanted.num_rows)
            yield [piece.slice(0, count)], wanted.slice(0, count)
            piece, wanted = piece.slice(count), wanted.slice(count)
    if (piece is not None and piece.num_rows) or any(more.num_rows for more in given):
        raise WrongAnswer("there are too many")
