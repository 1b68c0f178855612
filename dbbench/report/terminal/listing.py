"""Suites in words, for the terminal."""

import json
import re
from collections.abc import Iterator
from functools import partial
from typing import Any

from dbbench.report.steps import wording
from dbbench.report.terminal.engines import hanging
from dbbench.suite.dataset import FromFile, Texts, Vectors
from dbbench.suite.model import Suite
from dbbench.suite.steps.base import Clients
from dbbench.suite.steps.transaction import Think

#: What of a key's schema is printed.
_LIMITS = ("default", "enum", "minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum")


def suite_lines(suite: Suite, *, columns: int) -> Iterator[str]:
    """What a suite does."""
    _hanging = partial(hanging, columns)
    yield from _hanging("", f"{suite.name}: {suite.title}")
    yield from _hanging("", " ".join(suite.description.split()))
    if suite.source:
        yield from _hanging("", f"Reproduces: {suite.source.title} ({suite.source.year}). {suite.source.note}")
    for name, dataset in suite.datasets.items():
        yield ""
        if known := dataset.records:
            yield f"Dataset {name}: {known.count:,} records at scale 1, seed {dataset.seed}"
            yield f"  {known.key_order} keys of {known.key_bytes} bytes, values of {known.value_bytes} bytes"
            continue
        if vectors := dataset.vectors:
            yield f"Dataset {name}: {vectors.count:,} vectors at scale 1, seed {dataset.seed}"
            labels = (
                f"; labels of {', '.join(f'{share * 100:g} %' for share in vectors.labels)}" if vectors.labels else ""
            )
            yield f"  {vectors.dimensions} dimensions, metric {vectors.metric}{labels}; {vectors.queries:,} queries"
            if where := _column(vectors):
                yield f"  {where}"
            continue
        if texts := dataset.texts:
            yield f"Dataset {name}: {texts.count:,} texts at scale 1, seed {dataset.seed}"
            least, most = min(texts.words.values()), max(texts.words.values())
            drawn = f"{least:g} to {most:g} words of a vocabulary of {texts.vocabulary:,}"
            yield f"  {_column(texts) or drawn}"
            continue
        numbers = [table.rows for table in dataset.tables.values() if isinstance(table.rows, int)]
        size = f"{_number(sum(numbers), 'row')} at scale 1, seed {dataset.seed}" if numbers else "rows from files"
        yield f"Dataset {name}: {size}"
        for table_name, table in dataset.tables.items():
            described = ", ".join(f"{column} {facts.type}" for column, facts in table.columns.items())
            indexes = f"; indexes on {', '.join(table.indexes)}" if table.indexes else ""
            keys = "".join(f"; {', '.join(each.columns)} declared to be of {each.table}" for each in table.foreign_keys)
            text = f"{_origin(table.rows)}; {described}; primary key {', '.join(table.key_columns)}{indexes}{keys}"
            yield from _hanging(f"  {table_name}: ", text, 4)
    for scenario in suite.scenarios:
        yield ""
        yield f"Scenario {scenario.name} on {scenario.dataset}, durability {scenario.durability}"
        for number, step in enumerate(scenario.steps, 1):
            kind = f"{step.kind}, cold" if step.cold else step.kind
            yield from _hanging(f"  {number}. {step.name}: ", f"{step.title} ({kind})", 5)
            if what := wording(step).work(step):
                yield from _hanging("     ", what)
            for dialect, sql in step.statements.items():
                start, later = (f"     {dialect}: ", 7) if dialect else ("     ", None)
                yield from _hanging(start, " ".join(sql.split()), later)


def key_lines(*, columns: int) -> Iterator[str]:
    """Every key of a suite file under what holds it: what the schema says that it may be, and what it is."""
    schema = Suite.model_json_schema()
    # A suite may write these two shorter, so that the schema has no part of theirs.
    others = [each.model_json_schema() for each in (Clients, Think)]
    for part in (schema, *schema["$defs"].values(), *others):
        keys = part.get("properties", {})
        kind = keys.get("kind", {}).get("const")
        yield from ("", f"{part['title']} (kind: {kind})" if kind else part["title"])
        yield from hanging(columns, "  ", " ".join(part["description"].split()), 2)
        if "enum" in part:
            yield f"  {', '.join(part['enum'])}"
        for key, value in keys.items():
            if key != "kind" and "hidden" not in value:
                limits = "; ".join(_limits(value, required=key in part.get("required", ())))
                text = f" ({limits}): {value['description']}" if limits else f": {value['description']}"
                yield from hanging(columns, f"  {key}", text, 6)


def _limits(value: Any, *, required: bool) -> Iterator[str]:
    """What a key may be, in the words of the schema, and the parts of a suite that it may hold."""
    if required:
        yield "required"
    for form in (value, *value.get("anyOf", ()), *value.get("oneOf", ())):
        for name in _LIMITS:
            if form.get(name) not in (None, "", [], {}):
                yield f"{name} {json.dumps(form[name])}"
    if parts := re.findall(r"'#/\$defs/(?:\w+__)?(\w+)'", str(value)):
        yield ", ".join(dict.fromkeys(parts))


def rights(suite: Suite) -> str:
    """What a suite that somebody else wrote may do when it is run; empty if it has no SQL."""
    kinds = [step.kind for scenario in suite.scenarios for step in scenario.steps if step.statements]
    queries, others = kinds.count("query"), len(kinds) - kinds.count("query")
    may = ((queries, "read"), (others, "read and write"))
    steps = ", ".join(f"{_number(count, 'step')} may {what}" for count, what in may if count)
    return steps and f"its SQL runs with your rights, on files too: {steps}"


def _origin(rows: int | FromFile) -> str:
    """How many rows, and from where if they aren't drawn."""
    if isinstance(rows, int):
        return _number(rows, "row")
    return f"{'rows' if rows.count is None else _number(rows.count, 'row')} from {rows.file}"


def _column(given: Vectors | Texts) -> str:
    """The column that they come from; empty if they are drawn."""
    return given.file and f"column {given.column} of {given.file}"


def _number(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"
