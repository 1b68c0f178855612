"""What in a suite refers to something that isn't there.

Works on the plain data of a file rather than on models, so that these faults are found together with
those of shape; whatever has the wrong shape is passed over here.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Any

from dbbench.schema import parse_type
from dbbench.sql_text import returns_rows

#: A path in the file, what was expected there, and the names that are known.
Dangling = tuple[tuple[str | int | float, ...], str, Sequence[str]]

_NUMBERS: Sequence[str] = ("integer", "bigint", "real", "double", "decimal", "currency")
_TEXTS: Sequence[str] = ("char", "varchar")
_DAYS: Sequence[str] = ("date", "datetime")
_ON_TABLES: Sequence[str] = ("load", "query", "statement", "churn", "objects", "contention")
#: Kinds of steps whose figure is a time.
_TIMED: Sequence[str] = ("load", "churn", "query", "statement", "contention")
#: Of a contention's texts.
_LONGEST_TEXT = 13
_ON_RECORDS: Sequence[str] = ("keyvalue", "mix")


def dangling(suite: dict[Any, Any]) -> Iterator[Dangling]:
    """All references that lead nowhere."""
    datasets = _mapping(suite, "datasets")
    for name in datasets:
        yield from _in_dataset(_mapping(datasets, name), ("datasets", name))
    yield from _published(suite)
    names: list[str] = []
    for index, scenario in _items(suite, "scenarios"):
        path = ("scenarios", index)
        yield from _once(scenario, names, path)
        dataset = scenario.get("dataset")
        if isinstance(dataset, str) and dataset not in datasets:
            yield (*path, "dataset"), f"one of the datasets {_listed(datasets)}", list(datasets)
            continue
        yield from _of_its_kind(scenario, _mapping(datasets, dataset), path)
        yield from _in_scenario(scenario, _mapping(_mapping(datasets, dataset), "tables"), path)


def _published(suite: dict[Any, Any]) -> Iterator[Dangling]:
    """Published figures and ratios of steps that the suite hasn't got."""
    steps = [
        str(step.get("name")) for _, scenario in _items(suite, "scenarios") for _, step in _items(scenario, "steps")
    ]
    for what in ("figures", "ratios"):
        for index, published in _items(_mapping(suite, "source"), what):
            if isinstance(published.get("step"), str) and published["step"] not in steps:
                yield ("source", what, index, "step"), f"one of the steps {_listed(steps)}", steps


def tables_of(sql: str) -> list[str]:
    """The tables that a statement names after FROM, JOIN, INTO and UPDATE, without its own WITH names."""
    text = re.sub(r"'(?:[^']|'')*'", "''", sql)
    own = re.findall(r"(?:\bWITH\s+(?:RECURSIVE\s+)?|,\s*)(\w+)\s+AS\s*\(", text, re.IGNORECASE)
    named = re.findall(r'\b(?:FROM|JOIN|INTO|UPDATE)\s+"?([A-Za-z_]\w*)"?', text, re.IGNORECASE)
    return [name for name in named if name not in own]


def _in_dataset(dataset: dict[Any, Any], path: tuple[str, ...]) -> Iterator[Dangling]:
    tables = _mapping(dataset, "tables")
    for table_name, table in tables.items():
        columns = _mapping(table, "columns")
        here = (*path, "tables", table_name)
        key = table.get("primary_key") if isinstance(table, dict) else None
        if isinstance(key, str) and key not in columns:
            yield (*here, "primary_key"), f"one of its columns {_listed(columns)}", list(columns)
        for index, column in enumerate(_list(table, "indexes")):
            if isinstance(column, str) and column not in columns:
                yield (*here, "indexes", index), f"one of its columns {_listed(columns)}", list(columns)
        for column_name in columns:
            column = _mapping(columns, column_name)
            yield from _in_column(column, tables, (*here, "columns", column_name))
            yield from _too_large(column, _mapping(tables, table_name).get("rows"), (*here, "columns", column_name))


def _in_column(column: dict[Any, Any], tables: dict[Any, Any], path: tuple[str, ...]) -> Iterator[Dangling]:
    values = _mapping(column, "values")
    kind, parent = values.get("kind"), values.get("table")
    if kind == "reference" and isinstance(parent, str):
        if parent not in tables:
            yield (*path, "values", "table"), f"one of the tables {_listed(tables)}", list(tables)
        else:
            table = _mapping(tables, parent)
            key = _mapping(_mapping(table, "columns"), table.get("primary_key"))
            if _mapping(key, "values").get("kind") not in ("sequence", None):
                yield (*path, "values", "table"), "a table whose primary key is a sequence", ()
    try:
        name, arguments = parse_type(str(column.get("type")))
    except ValueError:
        return
    fitting = {
        "sequence": ("integer", "bigint"),
        "reference": ("integer", "bigint"),
        "quantiles": _NUMBERS,
        "choice": _TEXTS,
        "pattern": _TEXTS,
        "days": _DAYS,
        "moments": ("datetime",),
    }.get(str(kind))
    if fitting and name not in fitting:
        yield (*path, "type"), f"a type that {kind} values fit: {', '.join(fitting)}", ()
    elif fitting and name in _TEXTS:
        texts = [_repeated(values)] if kind == "pattern" else list(_mapping(values, "weights"))
        if any(isinstance(text, str) and len(text) > arguments[0] for text in texts):
            yield (*path, "values"), f"texts of at most {arguments[0]} characters, for {column['type']}", ()


def _repeated(pattern: dict[Any, Any]) -> Any:
    """A pattern's text as often as it is to stand; what has the wrong shape as it is."""
    text, repeat = pattern.get("text"), pattern.get("repeat", 1)
    return text * repeat if isinstance(text, str) and isinstance(repeat, int) and repeat <= 10_000 else text


def _too_large(column: dict[Any, Any], rows: Any, path: tuple[str, ...]) -> Iterator[Dangling]:
    """Numbers that the column's type can't hold, at scale 1."""
    try:
        name, arguments = parse_type(str(column.get("type")))
    except ValueError:
        return
    places = arguments[1] if name == "decimal" else 0
    digits = arguments[0] if name == "decimal" else 99
    # Decimals are drawn as 64-bit numbers of units, whatever their precision.
    most = min({"integer": 2**31 - 1}.get(name, 2**63 - 1), 10**digits - 1)
    values = _mapping(column, "values")
    step, points = values.get("step", 1), _mapping(values, "points")
    if values.get("kind") == "sequence" and name in ("integer", "bigint") and isinstance(rows, int):
        start = values.get("start", 1)
        if isinstance(start, int) and not -most <= start <= most - rows + 1:
            yield (*path, "values", "start"), f"a start from which {rows:,} rows fit {column['type']}", ()
    if values.get("kind") == "quantiles" and name in ("integer", "bigint", "decimal"):
        if _finite(step) and Decimal(str(step)).scaleb(places) % 1:
            yield (*path, "values", "step"), f"a step that {column['type']} can hold", ()
        for share, point in points.items():
            if _finite(point) and Decimal(str(abs(point))).scaleb(places) > most:
                yield (*path, "values", "points", share), f"a number that {column['type']} can hold", ()


def _finite(number: Any) -> bool:
    return isinstance(number, int | float) and not isinstance(number, bool) and math.isfinite(number)


def _of_its_kind(scenario: dict[Any, Any], dataset: dict[Any, Any], path: tuple[str | int, ...]) -> Iterator[Dangling]:
    """Steps that work on records where the dataset has tables, and the other way round."""
    wanted, other = (_ON_TABLES, "tables") if "records" in dataset else (_ON_RECORDS, "records")
    for index, step in _items(scenario, "steps"):
        if step.get("kind") in wanted:
            yield (*path, "steps", index, "kind"), f"a step for its dataset, or a dataset of {other}", ()


def _in_scenario(scenario: dict[Any, Any], tables: dict[Any, Any], path: tuple[str | int, ...]) -> Iterator[Dangling]:
    columns = _columns(tables, tables)
    names: list[str] = []
    for index, step in _items(scenario, "steps"):
        here = (*path, "steps", index)
        yield from _once(step, names, here)
        yield from _in_sql(step, tables, here)
        yield from _in_sql(_mapping(step, "check"), tables, (*here, "check"))
        if step.get("kind") == "statement":
            yield from _returning_rows(step, here)
        for number, column in enumerate(_list(_mapping(step, "check"), "columns")):
            if column not in columns:
                yield (*here, "check", "columns", number), "a column of the dataset, as Table.Column", columns
        if "rate" in step and "iterations" in step:
            yield (*here, "iterations"), "no iterations where there is a rate, which says how many calls there are", ()
        if step.get("kind") == "objects" and isinstance(step.get("table"), str) and step["table"] not in tables:
            yield (*here, "table"), f"one of the tables {_listed(tables)}", list(tables)
        if step.get("kind") == "contention":
            yield from _in_contention(step.get("table"), tables, (*here, "table"))
        if step.get("kind") == "total":
            yield from _in_total(step, _items(scenario, "steps")[:index], here)
        if step.get("kind") == "churn":
            yield from _in_churn(step.get("table"), tables, (*here, "table"))
        if isinstance(table := _mapping(step, "adds").get("table"), str) and table not in tables:
            yield (*here, "adds", "table"), f"one of the tables {_listed(tables)}", list(tables)
        yield from _in_adds(_mapping(step, "adds"), tables, (*here, "adds"))
        answer = _mapping(step, "answer")
        yield from _in_answer(answer, tables, (*here, "answer"))
        selected = [name for name in _list(answer, "select") if isinstance(name, str)]
        if isinstance(step.get("read"), str) and selected and step["read"] not in selected:
            yield (*here, "read"), "one of the columns that answer.select names", selected
    for index, chart in _items(scenario, "charts"):
        for number, name in enumerate(_list(chart, "steps")):
            if name not in names:
                yield (*path, "charts", index, "steps", number), f"one of the steps {_listed(names)}", names
        for key in ("step", "cold", "warm"):
            if key in chart and chart[key] not in names:
                yield (*path, "charts", index, key), f"one of the steps {_listed(names)}", names


def _in_adds(adds: dict[Any, Any], tables: dict[Any, Any], path: tuple[str | int, ...]) -> Iterator[Dangling]:
    """Values of a table's own columns, whose key is a number that counts on."""
    values, table = _mapping(adds, "values"), _mapping(tables, str(adds.get("table")))
    if not values or not table:
        return
    key, columns = table.get("primary_key"), _mapping(table, "columns")
    for name in values:
        if name not in columns or name == key:
            others = [column for column in columns if column != key]
            yield (*path, "values", name), f"a column of {adds['table']} other than its key", others
    if _mapping(_mapping(columns, str(key)), "values").get("kind") != "sequence":
        yield (*path, "values"), "a table whose primary key is a sequence", ()


def _in_contention(name: Any, tables: dict[Any, Any], path: tuple[str | int, ...]) -> Iterator[Dangling]:
    """Objects have a number, which is their key, and a text."""
    if isinstance(name, str) and name not in tables:
        yield path, f"one of the tables {_listed(tables)}", list(tables)
        return
    table = _mapping(tables, name)
    kinds = {}
    for column in _mapping(table, "columns"):
        try:
            kinds[column] = parse_type(str(_mapping(_mapping(table, "columns"), column).get("type")))
        except ValueError:  # it is told there
            return
    number = kinds.pop(str(table.get("primary_key")), None)
    text = next(iter(kinds.values()), None) if len(kinds) == 1 else None
    if kinds and (
        number is None
        or number[0] not in ("integer", "bigint")
        or text is None
        or text[0] != "varchar"
        or text[1][0] < _LONGEST_TEXT
        or table.get("indexes")
    ):
        yield (
            path,
            f"a table of a key, integer or bigint, and a varchar({_LONGEST_TEXT}) or longer without an index",
            (),
        )


def _in_total(
    step: dict[Any, Any], before: Sequence[tuple[int, dict[Any, Any]]], path: tuple[str | int, ...]
) -> Iterator[Dangling]:
    """Times can be added up: those of steps before it, and no sizes or rates."""
    names = [str(each.get("name")) for _, each in before if each.get("kind") in _TIMED]
    for number, name in enumerate(_list(step, "of")):
        if isinstance(name, str) and name not in names:
            yield (
                (*path, "of", number),
                f"one of the steps before it that take seconds: {_listed(names) or 'none'}",
                names,
            )


def _in_churn(name: Any, tables: dict[Any, Any], path: tuple[str | int, ...]) -> Iterator[Dangling]:
    """Rows are deleted by ranges of keys, which therefore follow one another."""
    if isinstance(name, str) and name not in tables:
        yield path, f"one of the tables {_listed(tables)}", list(tables)
        return
    table = _mapping(tables, name)
    key = _mapping(_mapping(table, "columns"), table.get("primary_key"))
    if _mapping(key, "values").get("kind") not in ("sequence", None):
        yield path, "a table whose primary key is a sequence", ()


def _returning_rows(step: dict[Any, Any], path: tuple[str | int, ...]) -> Iterator[Dangling]:
    """Nobody reads what a statement returns, so that one which returns rows may never have been carried out."""
    for place, sql in _texts(step).items():
        if isinstance(sql, str) and returns_rows(sql):
            yield (*path, *place), "a statement that returns no rows; use `kind: query` for one that does", ()


def _texts(step: dict[Any, Any]) -> dict[tuple[str, ...], Any]:
    return {("sql",): step.get("sql")} | {("dialects", key): sql for key, sql in _mapping(step, "dialects").items()}


def _in_sql(step: dict[Any, Any], tables: dict[Any, Any], path: tuple[str | int, ...]) -> Iterator[Dangling]:
    for place, sql in _texts(step).items():
        for table in tables_of(sql) if isinstance(sql, str) else ():
            if table not in tables:
                near = [name for name in tables if str(name).lower() == table.lower()]
                hint = f" (write {near[0]!r})" if near else ""
                yield (*path, *place), f"tables of the dataset ({_listed(tables)}), not {table!r}{hint}", ()


def _in_answer(answer: dict[Any, Any], tables: dict[Any, Any], path: tuple[str | int, ...]) -> Iterator[Dangling]:
    joined = [(("join", index), join) for index, join in _items(answer, "join")]
    for place, part in [((), answer), *joined]:
        if isinstance(part.get("table"), str) and part["table"] not in tables:
            yield (*path, *place, "table"), f"one of the tables {_listed(tables)}", list(tables)
    seen = [answer.get("table")]
    for place, join in joined:
        if join.get("table") in seen:
            yield (*path, *place, "table"), "each table once: an answer can't join a table with itself", ()
        seen.append(join.get("table"))
    known = _columns(tables, [answer.get("table")]) or _columns(tables, tables)
    named: list[tuple[tuple[str | int, ...], Any, list[str]]] = []
    for place, join in joined:
        own = _columns(tables, [join.get("table")]) or _columns(tables, tables)
        named += [((*place, "column"), join.get("column"), own), ((*place, "equals"), join.get("equals"), known)]
        known = known + own
    for index, condition in _items(answer, "where"):
        named.append((("where", index, "column"), condition.get("column"), known))
        yield from _in_answer(_mapping(condition, "among"), tables, (*path, "where", index, "among"))
    sums, groups = _mapping(answer, "sum"), _list(answer, "group_by")
    named += [(("sum", key), column, known) for key, column in sums.items()]
    named += [(("group_by", index), column, known) for index, column in enumerate(groups)]
    given = [*groups, *sums] if groups or sums else known
    for key in ("select", "order_by"):
        named += [((key, index), column, given) for index, column in enumerate(_list(answer, key))]
    for place, column, names in named:
        if isinstance(column, str) and column not in names:
            what = "a column of group_by, or a name from sum" if names is not known and names is given else ""
            yield (*path, *place), what or "a column of the tables joined, as Table.Column", names
    yield from _in_kinds(answer, tables, path)


def _in_kinds(answer: dict[Any, Any], tables: dict[Any, Any], path: tuple[str | int, ...]) -> Iterator[Dangling]:
    """Columns that a test or a sum does not fit."""
    wanted: list[tuple[tuple[str | int, ...], Any, Sequence[str], str]]
    wanted = [(("sum", key), column, _NUMBERS, "numbers") for key, column in _mapping(answer, "sum").items()]
    for index, condition in _items(answer, "where"):
        for test, types, what in (("above", _NUMBERS, "numbers"), ("contains", _TEXTS, "texts")):
            if condition.get(test) is not None:
                wanted.append((("where", index, "column"), condition.get("column"), types, what))
    for place, name, types, what in wanted:
        table, _, column = str(name).partition(".")
        kind = _mapping(_mapping(_mapping(tables, table), "columns"), column).get("type")
        if isinstance(kind, str) and kind.partition("(")[0] in {*_NUMBERS, *_TEXTS, *_DAYS} - {*types}:
            yield (*path, *place), f"a column of {what}", ()


def _columns(tables: dict[Any, Any], names: Iterable[Any]) -> list[str]:
    """`Table.Column` of each column of the tables named; unknown tables have none."""
    return [f"{name}.{column}" for name in names for column in _mapping(_mapping(tables, name), "columns")]


def _once(thing: dict[Any, Any], names: list[str], path: tuple[str | int, ...]) -> Iterator[Dangling]:
    name = thing.get("name")
    if isinstance(name, str) and name in names:
        yield (*path, "name"), "a name that no other has", ()
    names.append(str(name))


def _mapping(thing: Any, key: Any) -> dict[Any, Any]:
    found = thing.get(key) if isinstance(thing, dict) and not isinstance(key, dict | list) else None
    return found if isinstance(found, dict) else {}


def _list(thing: Any, key: str) -> list[Any]:
    found = thing.get(key) if isinstance(thing, dict) else None
    return found if isinstance(found, list) else []


def _items(thing: Any, key: str) -> list[tuple[int, dict[Any, Any]]]:
    return [(index, item) for index, item in enumerate(_list(thing, key)) if isinstance(item, dict)]


def _listed(names: Any) -> str:
    return ", ".join(map(str, names))
