"""Faults in a step's transactions or a statement's parameters: what refers to nothing, is unused, or doesn't fit."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from dbbench.suite.answer import columns_of
from dbbench.suite.parameters import SOURCES, family, fits
from dbbench.suite.plain import Dangling, Mapping, Path, items, listed, mapping, sequence
from dbbench.suite.sql_text import ONE_SELECT, compared, inserted, is_select, returns_rows, split_parameters, tables_of


@dataclass
class _Scope:
    """The names that the statements of a transaction may use: each with its parameter, or None if it is a row's."""

    names: dict[str, Mapping | None] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)


def in_transactions(step: Mapping, tables: Mapping) -> Iterator[Dangling]:
    """All faults of a step's transactions and invariants; paths begin at the step."""
    for number, transaction in items(step, "transactions"):
        yield from _in_transaction(transaction, tables, ("transactions", number))
    for number, invariant in items(step, "invariants"):
        path: Path = ("invariants", number)
        yield from unknown_tables(invariant, tables, path)
        yield from no_select(invariant, path)
        for place, sql in texts(invariant, path):
            if split_parameters(sql)[1]:
                yield place, "a query without parameters", ()
        yield from _in_grows(mapping(invariant, "grows"), step, (*path, "grows"))


def in_statement(step: Mapping, tables: Mapping) -> Iterator[Dangling]:
    """All faults of the parameters of a step that has one statement; paths begin at the step."""
    scope = _Scope()
    yield from _parameters(mapping(step, "parameters"), tables, scope, ("parameters",))
    yield from _in_texts(step, tables, scope, (), "the step")
    yield from _unused(mapping(step, "parameters"), scope, ("parameters",))


def _in_transaction(transaction: Mapping, tables: Mapping, path: Path) -> Iterator[Dangling]:
    scope = _Scope()
    yield from _parameters(mapping(transaction, "parameters"), tables, scope, (*path, "parameters"))
    for number, each in items(transaction, "statements"):
        here: Path = (*path, "statements", number)
        if "repeat" not in each:
            yield from _in_statement(each, tables, scope, here)
            continue
        yield from _repeat(each.get("repeat"), scope, (*here, "repeat"))
        inner = _Scope(dict(scope.names), scope.used)
        yield from _parameters(mapping(each, "parameters"), tables, inner, (*here, "parameters"))
        for place, statement in items(each, "statements"):
            yield from _in_statement(statement, tables, inner, (*here, "statements", place))
        yield from _unused(mapping(each, "parameters"), scope, (*here, "parameters"))
    yield from _unused(mapping(transaction, "parameters"), scope, (*path, "parameters"))


def _parameters(given: Mapping, tables: Mapping, scope: _Scope, path: Path) -> Iterator[Dangling]:
    for name in given:
        parameter = mapping(given, name)
        if str(name) in scope.names:
            yield (*path, name), f"a name that the transaction doesn't have yet, unlike {name}", ()
        scope.names[str(name)] = parameter
        for key in ("draw", "counter"):
            column = parameter.get(key)
            if isinstance(column, str) and column not in columns_of(tables, tables):
                yield (*path, name, key), "a column of the dataset, as Table.Column", columns_of(tables, tables)
            elif isinstance(column, str) and key == "counter" and not _is_whole_key(column, tables):
                yield (*path, name, key), "the primary key of a table, integer or bigint", ()


def _is_whole_key(column: str, tables: Mapping) -> bool:
    table, _, name = column.partition(".")
    return mapping(tables, table).get("primary_key") == name and _family_of(column, tables) == "whole numbers"


def _family_of(column: str, tables: Mapping) -> str | None:
    table, _, name = column.partition(".")
    return family(mapping(mapping(mapping(tables, table), "columns"), name).get("type"))


def _repeat(repeat: Any, scope: _Scope, path: Path) -> Iterator[Dangling]:
    if not isinstance(repeat, str):
        return
    scope.used.add(repeat)
    integer = sequence(scope.names.get(repeat), "integer")
    if not integer:
        wanted = [name for name, parameter in scope.names.items() if sequence(parameter, "integer")]
        yield path, "a number, or a parameter of the transaction that is drawn from integers", wanted
    elif isinstance(integer[0], int) and integer[0] < 0:
        yield path, f"a parameter of 0 or more, unlike {repeat}", ()


def _unused(given: Mapping, scope: _Scope, path: Path) -> Iterator[Dangling]:
    for name in given:
        if name not in scope.used:
            yield (*path, name), f"a parameter that a statement uses, as :{name}", ()


def texts(statement: Mapping, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """A statement's text and its dialects', each with its path."""
    dialects = mapping(statement, "dialects")
    given = [((*path, "sql"), statement.get("sql"))]
    given += [((*path, "dialects", key), sql) for key, sql in dialects.items()]
    return ((place, sql) for place, sql in given if isinstance(sql, str) and sql)


def no_select(query: Mapping, path: Path = ()) -> Iterator[Dangling]:
    """A query's texts that are something else."""
    return ((place, ONE_SELECT, ()) for place, sql in texts(query, path) if not is_select(sql))


def unknown_tables(statement: Mapping, tables: Mapping, path: Path = ()) -> Iterator[Dangling]:
    """Tables that a statement names and the dataset lacks. Some words of a FOR UPDATE stand where names do."""
    for place, sql in texts(statement, path):
        for table in tables_of(sql):
            if table not in tables and table.lower() not in ("set", "skip", "share", "update"):
                near = [name for name in tables if str(name).lower() == table.lower()]
                hint = f" (write {near[0]!r})" if near else ""
                yield place, f"tables of the dataset ({listed(tables)}), not {table!r}{hint}", ()


def _in_statement(statement: Mapping, tables: Mapping, scope: _Scope, path: Path) -> Iterator[Dangling]:
    row = sequence(statement, "row")
    yield from unknown_tables(statement, tables, path)
    yield from _in_texts(statement, tables, scope, path, "the transaction")
    for place, sql in texts(statement, path):
        if row and not returns_rows(sql):
            yield place, "a statement that returns rows, as `row` names what is in them", ()
    if "missing" in statement and not row:
        yield (*path, "missing"), "`row` beside it, which names what may be missing", ()
    for number, name in enumerate(row):
        if str(name) in scope.names:
            yield (*path, "row", number), f"a name that the transaction doesn't have yet, unlike {name}", ()
        scope.names[str(name)] = None


def _in_texts(statement: Mapping, tables: Mapping, scope: _Scope, path: Path, of: str) -> Iterator[Dangling]:
    for place, sql in texts(statement, path):
        for name in split_parameters(sql)[1]:
            scope.used.add(name)
            if name not in scope.names:
                known = list(scope.names)
                yield place, f"parameters of {of} ({listed(known) or 'it has none'}), not :{name}", ()
        if "%" in sql:
            yield place, "SQL without %, which some drivers take for their own: put the text into a parameter", ()
        yield from _misfits(sql, tables, scope, place)


def _misfits(sql: str, tables: Mapping, scope: _Scope, path: Path) -> Iterator[Dangling]:
    """Parameters that a column can't hold, and new keys that two clients might both draw."""
    for column, name in _columns_with_parameters(sql, tables):
        parameter = scope.names.get(name)
        if parameter is None:
            continue
        given, wanted = _family(parameter, tables), _family_of(column, tables)
        if not fits(given, wanted):
            yield path, f"{wanted} for {column}; the parameter {name} gives {given}", ()
    if (parts := inserted(sql)) is None:
        return
    table, values = parts
    key = mapping(tables, table).get("primary_key")
    for column, value in values:
        drawn = scope.names.get(value[1:]) if value.startswith(":") else None
        if column == key and drawn is not None and "counter" not in drawn:
            one = f"{{counter: {table}.{key}}}"
            yield path, f"{one} for {value}, the key of a new row: two clients might draw the same one", ()


def _columns_with_parameters(sql: str, tables: Mapping) -> Iterator[tuple[str, str]]:
    """Each column, as Table.Column, that a statement sets to or compares with a parameter, as far as its text tells."""
    if (parts := inserted(sql)) is not None:
        yield from ((f"{parts[0]}.{column}", value[1:]) for column, value in parts[1] if value.startswith(":"))
        return
    for word, name in compared(sql):
        having = [table for table in tables_of(sql) if word in mapping(mapping(tables, table), "columns")]
        if len(having) == 1:
            yield f"{having[0]}.{word}", name


def _family(parameter: Mapping, tables: Mapping) -> str | None:
    """What a parameter gives, in words."""
    source = next((key for key in SOURCES if key in parameter), "")
    if source in ("draw", "counter"):
        return _family_of(str(parameter[source]), tables)
    if source == "one_of":
        first = next(iter(sequence(parameter, "one_of")), None)
        return {int: "whole numbers", str: "texts"}.get(type(first))
    return {"integer": "whole numbers", "date": "days", "text": "texts"}.get(source)


def _in_grows(grows: Mapping, step: Mapping, path: Path) -> Iterator[Dangling]:
    transactions = {str(each.get("name")): each for _, each in items(step, "transactions")}
    for name, added in grows.items():
        if name not in transactions:
            yield (*path, name), f"one of the transactions {listed(transactions)}", list(transactions)
        elif isinstance(added, str):
            known = _summable(transactions[name])
            if added.removeprefix("-") not in known:
                words = "a parameter drawn from integers, in statements that are never left out"
                yield (*path, name), f"{words} ({listed(known) or 'there is none'})", known


def _summable(transaction: Mapping) -> list[str]:
    """Whole-number parameters whose sum is known of a committed transaction: their use, whatever it was, was done."""
    own, places = [], [mapping(transaction, "parameters")]
    statements = items(transaction, "statements")
    if any(each.get("missing") == "skip" for _, each in statements):
        return []
    for _, each in statements:
        if not any(one.get("missing") == "skip" for _, one in items(each, "statements")):
            places.append(mapping(each, "parameters"))
    for parameters in places:
        own += [str(name) for name in parameters if sequence(mapping(parameters, name), "integer")]
    return own
