"""The columns that a step's parameters are drawn from, as plain data for the clients."""

from collections.abc import Iterable, Mapping, Sequence

from dbbench.datasets.cache import DatasetManifest
from dbbench.engine.sql.session import SQLSession, fetch
from dbbench.loadgen.drawn_parameters import Known
from dbbench.loadgen.query_calls import DrawnCalls
from dbbench.loadgen.transaction_draws import Group, Plan, Text
from dbbench.loadgen.transaction_mix import TransactionMix
from dbbench.suite.parameters import Parameter
from dbbench.suite.sql_text import returns_rows, split_parameters
from dbbench.suite.steps.sql import SqlStep
from dbbench.suite.values import Reference
from dbbench.suite.values import Sequence as Series
from dbbench.workloads.context import StepContext


def text(
    sql: str, dialects: Mapping[str, str], context: StepContext, row: Sequence[str] = (), missing: str = "error"
) -> Text:
    """A statement for the context's engine."""
    sql = context.in_dialect(sql, dialects)
    pieces, names = split_parameters(sql)
    return Text([context.quoted(piece) for piece in pieces], names, row, missing, returns_rows(sql))


def drawn_calls(step: SqlStep, context: StepContext, *, column: int = 0, rows: int = 0) -> DrawnCalls:
    """The calls of a step that has one statement with parameters."""
    statement = text(step.sql, step.dialects, context)
    plan = Plan(step.name, 1, step.parameters, [Group(None, {}, [statement])], only_reads=statement.reads)
    mix = TransactionMix([plan], {}, known(step.parameters.values(), context), 0, endless=True)
    return DrawnCalls(mix, column, rows)


def known(parameters: Iterable[Parameter], context: StepContext) -> Known:
    """What the columns that are drawn from hold, and the first new key of each counter."""
    manifest = context.files.manifest
    ranges, next_keys, types = {}, {}, {}
    for parameter in parameters:
        if parameter.draw is not None:
            table, _, name = parameter.draw.partition(".")
            types[parameter.draw] = context.tables[table].columns[name].data_type.name
            if (bounds := _bounds(context, manifest, table, name)) is not None:
                ranges[parameter.draw] = bounds
        if parameter.counter is not None:
            next_keys[parameter.counter] = _next_key(context, manifest, parameter.counter)
    forms = dict(context.session.bind) if context.does_work else {}
    return Known(ranges, next_keys, types, forms, str(context.files.directory), manifest["seed"])


def _bounds(context: StepContext, manifest: DatasetManifest, table: str, name: str) -> tuple[int, int] | None:
    """The least and greatest value of a column that holds every whole number between them."""
    column = context.tables[table].columns[name]
    if isinstance(column.values, Reference):
        parent = column.values.table
        return _bounds(context, manifest, parent, context.tables[parent].single_key)
    if not isinstance(column.values, Series):
        return None
    return column.values.start, column.values.start + manifest["tables"][table]["rows"] - 1


def _next_key(context: StepContext, manifest: DatasetManifest, column: str) -> int:
    """The key after the greatest that the table has now; where a session has no SQL, after the dataset's greatest."""
    table, _, name = column.partition(".")
    if isinstance(context.session, SQLSession):
        ((greatest,),) = fetch(context.session, context.quoted(f"SELECT MAX({name}) FROM {table}"))
        return 1 if greatest is None else int(greatest) + 1
    return int(manifest["tables"][table]["columns"][name].get("max", 0)) + 1
