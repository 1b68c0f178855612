"""What in a suite refers to something that isn't there.

Works on the plain data of a file rather than on models, so that these faults are found together with
those of shape; whatever has the wrong shape is passed over here.
"""

from collections.abc import Iterator
from typing import Any

from pydantic import ValidationError

from dbbench.suite.charts import RECALL
from dbbench.suite.data_types import parse_type
from dbbench.suite.dataset import ANY, HOLDS
from dbbench.suite.expressions import parsed
from dbbench.suite.plain import (
    Dangling,
    Mapping,
    Path,
    items,
    listed,
    mapping,
    no_sequence,
    sequence,
    unknown,
    unknown_table,
)
from dbbench.suite.steps import KINDS
from dbbench.suite.steps.base import Step
from dbbench.suite.values import WHOLE, named_in


def dangling(suite: Mapping) -> Iterator[Dangling]:
    """All references that lead nowhere."""
    datasets = mapping(suite, "datasets")
    for name in datasets:
        yield from _in_dataset(mapping(datasets, name), ("datasets", name))
    yield from _published(suite)
    names: list[str] = []
    for index, scenario in items(suite, "scenarios"):
        path = ("scenarios", index)
        yield from _once(scenario, names, path)
        dataset = scenario.get("dataset")
        if isinstance(dataset, str) and dataset not in datasets:
            yield from unknown(dataset, datasets, (*path, "dataset"), "one of the datasets")
            continue
        yield from _in_scenario(scenario, mapping(datasets, dataset), path)


def _published(suite: Mapping) -> Iterator[Dangling]:
    """Published figures and ratios of steps that the suite hasn't got."""
    steps = [str(step.get("name")) for _, scenario in items(suite, "scenarios") for _, step in items(scenario, "steps")]
    for what in ("figures", "ratios"):
        for index, published in items(mapping(suite, "source"), what):
            for key in ("step", "to_step"):
                yield from unknown(published.get(key), steps, ("source", what, index, key), "one of the steps")


def _in_dataset(dataset: Mapping, path: tuple[str, ...]) -> Iterator[Dangling]:
    tables = mapping(dataset, "tables")
    for table_name, table in tables.items():
        columns = mapping(table, "columns")
        here = (*path, "tables", table_name)
        key = table.get("primary_key") if isinstance(table, dict) else None
        yield from unknown(key, columns, (*here, "primary_key"), "one of its columns")
        yield from _foreign_keys(table_name, tables, here)
        yield from unknown(sequence(table, "indexes"), columns, (*here, "indexes"), "one of its columns")
        for column_name in columns:
            column = mapping(columns, column_name)
            yield from _in_column(
                column, tables, mapping(tables, table_name).get("rows"), (*here, "columns", column_name)
            )
            yield from _in_expression(column_name, columns, tables, (*here, "columns", column_name))


def _foreign_keys(name: str, tables: Mapping, path: tuple[str, ...]) -> Iterator[Dangling]:
    """Foreign keys whose columns don't fit those that they refer to, or that refer to a table that is made later."""
    columns, earlier = mapping(mapping(tables, name), "columns"), list(tables)[: list(tables).index(name)]
    for index, each in items(mapping(tables, name), "foreign_keys"):
        here: tuple[str | int, ...] = (*path, "foreign_keys", index)
        parent = each.get("table")
        mine = sequence(each, "columns")
        yield from unknown(mine, columns, (*here, "columns"), "one of its columns")
        if not isinstance(parent, str) or parent not in earlier:
            yield (*here, "table"), f"one of the tables before it: {listed(earlier) or 'there is none'}", earlier
            continue
        key = mapping(tables, parent).get("primary_key")
        theirs = key if isinstance(key, list) else [key]
        types = [
            [str(mapping(mapping(mapping(tables, table), "columns"), column).get("type")) for column in listed_columns]
            for table, listed_columns in ((name, mine), (parent, theirs))
        ]
        if types[0] != types[1]:
            expected = f"columns like the primary key of {parent}: {listed(map(' '.join, zip(map(str, theirs), types[1], strict=True)))}"
            yield (*here, "columns"), expected, ()


def _in_column(column: Mapping, tables: Mapping, rows: Any, path: tuple[str, ...]) -> Iterator[Dangling]:
    values = mapping(column, "values")
    kind, parent = values.get("kind"), values.get("table")
    if kind == "reference" and isinstance(parent, str):
        yield from unknown_table(parent, tables, (*path, "values", "table"))
        yield from no_sequence(mapping(tables, parent), (*path, "values", "table"))
        if parent in tables and parent not in _drawn(tables):
            yield (*path, "values", "table"), "a table whose rows are drawn, too", _drawn(tables)
    try:
        name, _ = parse_type(str(column.get("type")))
    except ValueError:
        return
    try:
        drawn = ANY.validate_python(values)
    except ValidationError:  # the model says so
        return
    if name not in drawn.fitting:
        yield (*path, "type"), f"a type that {kind} values fit: {', '.join(drawn.fitting)}", ()
        return
    for place, expected in drawn.faults(str(column["type"]), rows):
        yield (*path, "values", *place), expected, ()


def _in_expression(name: str, columns: Mapping, tables: Mapping, path: tuple[str, ...]) -> Iterator[Dangling]:
    """Columns and tables that a column's expression names and that aren't there, and a column computed from itself."""
    named, asked = _named(columns, name)
    known = [each for each in columns if named and mapping(mapping(columns, each), "values").get("kind") in WHOLE]
    for each in named:
        if each not in known:
            yield (*path, "values", "text"), f"columns of whole numbers ({listed(known)}), not {each}", known
    for each in asked:
        if each not in (drawn := _drawn(tables)):
            yield (*path, "values", "text"), f"rows of one of the drawn tables {listed(drawn)}, not of {each}", drawn
    found = set(named)
    while more := {other for each in found for other in _named(columns, each)[0]} - found:
        found |= more
    if name in found:
        yield (*path, "values", "text"), f"columns that aren't computed from {name} themselves", ()


def _drawn(tables: Mapping) -> list[str]:
    """The tables whose rows are in no file, so that their number is known."""
    return [name for name in tables if not isinstance(mapping(tables, name).get("rows"), dict)]


def _named(columns: Mapping, name: Any) -> tuple[list[str], list[str]]:
    text = mapping(mapping(columns, name), "values").get("text")
    try:
        is_computed = mapping(mapping(columns, name), "values").get("kind") == "computed"
        return named_in(parsed(text)) if is_computed and isinstance(text, str) else ([], [])
    except ValueError:  # the model says so
        return [], []


def _in_scenario(scenario: Mapping, dataset: Mapping, path: Path) -> Iterator[Dangling]:
    tables, holds = mapping(dataset, "tables"), next((each for each in HOLDS if each in dataset), HOLDS[0])
    names: list[str] = []
    before: dict[str, type[Step]] = {}
    for index, step in items(scenario, "steps"):
        here = (*path, "steps", index)
        yield from _once(step, names, here)
        kind = KINDS.get(str(step.get("kind")))
        if kind is None:  # the model says so
            continue
        if holds not in kind.datasets:
            yield (*here, "kind"), f"a step for its dataset, or a dataset of {' or '.join(kind.datasets)}", ()
        for place, expected, known in (*kind.dangling(step, tables, before), *kind.unfit(step, dataset)):
            yield (*here, *place), expected, known
        if "find" not in step:  # its figure is no time
            before.update(dict.fromkeys(kind.names(step), kind))
        names += [name for name in kind.names(step) if name not in names]
    for index, chart in items(scenario, "charts"):
        for key in ("steps", "step", "cold", "warm"):
            yield from unknown(chart.get(key), names, (*path, "charts", index, key), "one of the steps")
        yield from unknown(
            chart.get("against"), [*names, RECALL], (*path, "charts", index, "against"), f"{RECALL} or one of the steps"
        )


def _once(thing: Mapping, names: list[str], path: tuple[str | int, ...]) -> Iterator[Dangling]:
    name = thing.get("name")
    if isinstance(name, str) and name in names:
        yield (*path, "name"), "a name that no other has", ()
    names.append(str(name))
