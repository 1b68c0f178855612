"""Suites in words, for the terminal."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from dbbench.report.steps import wording
from dbbench.report.terminal.engines import hanging
from dbbench.suite.dataset import FromFile, Texts, Vectors
from dbbench.suite.model import Suite
from dbbench.suite.steps.base import Clients
from dbbench.suite.steps.transaction import Think

#: A key that this number of parts of a suite have alike is shown once.
_MANY = 6


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
    """Every key of a suite file under what holds it, from the schema; those that most of these share once."""
    schema = Suite.model_json_schema()
    # A suite may write these two shorter, so that the schema has no part of theirs.
    others = [each.model_json_schema() for each in (Clients, Think)]
    found = [part for part in (*schema["$defs"].values(), *others) if "properties" in part]
    parts = [schema, *sorted(found, key=lambda part: str(part["title"]))]
    enums = {name: part["enum"] for name, part in schema["$defs"].items() if "enum" in part}
    counts = Counter(item for part in parts for item in _keys(part, enums).items())
    shared = dict(item for item, count in counts.items() if count >= _MANY)
    for part in parts:
        kind = part["properties"].get("kind", {}).get("const")
        yield from ("", f"{part['title']} (kind: {kind})" if kind else part["title"])
        yield from hanging(columns, "  ", " ".join(part["description"].split()), 2)
        keys = _keys(part, enums)
        for key, text in keys.items():
            if shared.get(key) != text:
                yield from hanging(columns, f"  {key}", text, 6)
        if alike := [key for key, text in keys.items() if shared.get(key) == text]:
            yield from hanging(columns, "  and, as below: ", ", ".join(alike), 6)
    yield from ("", "Keys of several parts")
    for key, text in shared.items():
        yield from hanging(columns, f"  {key}", text, 6)


def _keys(part: Any, enums: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """The keys of a part of the schema: if they are required, default, allowed values and limits, and what they are."""
    return {
        key: f"{_limits(value, 'required' if key in part.get('required', ()) else '', enums)}: {value['description']}"
        for key, value in part["properties"].items()
        if key != "kind" and "hidden" not in value
    }


def _limits(value: Any, required: str, enums: Mapping[str, Sequence[str]]) -> str:
    """What a key may be, in brackets, as far as the schema states it; empty if it states nothing."""
    inner = dict.fromkeys(re.findall(r"'#/\$defs/(\w+)'", str(value)))
    values = value.get("enum") or next((enums[name] for name in inner if name in enums), ())
    models = [re.sub(r".*__", "", name) for name in inner if name not in enums]
    ranges = (_range(each) for each in (value, *value.get("anyOf", ()), *value.get("oneOf", ())))
    numbers = next(filter(None, ranges), "")
    parts = (required, _default(value), ", ".join(values), numbers, *(models if len(models) == 1 else ()))
    text = "; ".join(filter(None, parts))
    return f" ({text})" if text else ""


def _default(value: Any) -> str:
    """A default in words; empty if there is none, or one that only its description can tell."""
    default = value.get("default")
    if default in (None, "") or (isinstance(default, dict) and not any(default.values())):
        return ""
    if value.get("type") == ["number", "string"]:  # a time
        return f"{default:g}s"
    return "" if isinstance(default, list) and "{" in str(default) else json.dumps(default)


def _range(value: Any) -> str:
    """The limits of a number; empty without any."""
    least, above, most, below = (
        _limit(value.get(key)) for key in ("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum")
    )
    if least and most:
        return f"{least} to {most}"
    parts = (
        least and f"at least {least}",
        above and f"over {above}",
        most and f"at most {most}",
        below and f"below {below}",
    )
    return ", ".join(filter(None, parts))


def _limit(number: float | None) -> str:
    return "" if number is None else f"{number:,.0f}" if number == int(number) else f"{number:g}"


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
