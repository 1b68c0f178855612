"""The text of a suite for tables that were found in files."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

#: The column that numbers the rows, where no other can be the key.
ROW = "row_number"
#: Names that YAML takes for something else than a text.
_NO_TEXTS = ("true", "false", "null")


class Column(Protocol):
    """What is known of a column: see `datasets.inference`."""

    source: str
    name: str
    type: str
    nullable: bool


class ForeignKey(Protocol):
    """Columns that refer to a table: see `datasets.foreign_keys`."""

    @property
    def columns(self) -> Sequence[str]:
        """Keys in the order of that table's key."""

    @property
    def table(self) -> str:
        """The other table's name."""


class Table(Protocol):
    """What is known of a table: see `datasets.inference`."""

    name: str
    file: str
    rows: int
    key: tuple[str, ...]

    @property
    def columns(self) -> Sequence[Column]:
        """Names in the order of the file."""

    @property
    def foreign_keys(self) -> Sequence[ForeignKey]:
        """Foreign keys to tables before it."""


def suite_text(name: str, tables: Sequence[Table]) -> str:
    """A suite that loads the tables, measures their size and counts the rows of each."""
    return "\n".join(_lines(_slug(name), tables)) + "\n"


def _lines(name: str, tables: Sequence[Table]) -> Iterator[str]:
    yield f"# Made by `dbbench import`. Run it: dbbench suite {name}.yaml"
    yield "dbbench: 1"
    yield f"name: {name}"
    yield f"title: {json.dumps(name.replace('-', ' ').capitalize())}"
    yield f"description: {json.dumps(f'Rows of {_listed(table.name for table in tables)}, from files.')}"
    yield ""
    yield "datasets:"
    yield "  mine:"
    yield "    tables:"
    parents = {each.table for table in tables for each in table.foreign_keys}
    for table in tables:
        yield from _table(table, whole=table.name in parents)
    yield ""
    yield "scenarios:"
    yield f"  - name: {name}"
    yield f"    title: {json.dumps(name.replace('-', ' ').capitalize())}"
    yield "    dataset: mine"
    yield "    charts: [{kind: overview}, {kind: bars}, {kind: size, step: size}]"
    yield "    steps:"
    yield "      - {kind: load, name: load, title: Load of all rows}"
    yield "      - {kind: size, name: size, title: Size on disk}"
    for table in tables:
        yield "      - kind: query"
        yield f"        name: {_slug(f'count-{table.name}')}"
        yield f"        title: Rows of {table.name}"
        yield f"        sql: SELECT COUNT(*) AS n FROM {table.name}"
    yield "      # A query of your own. Its answer is computed from the same SQL; see docs/suites.md for other ways."
    yield "      # - kind: query"
    yield "      #   name: my-query"
    yield "      #   title: What it shows"
    yield f"      #   sql: SELECT * FROM {tables[0].name} WHERE ..."


def _table(table: Table, *, whole: bool) -> Iterator[str]:
    yield f"      {_text(table.name)}:"
    yield f"        rows: {{file: {json.dumps(table.file)}, count: {table.rows}}}"
    if whole:
        yield "        scales: false  # other tables refer to its rows"
    key = table.key or (_free(ROW, [column.name for column in table.columns]),)
    yield f"        primary_key: {_texts(key) if len(key) > 1 else _text(key[0])}"
    if table.foreign_keys:
        yield "        foreign_keys:"
    for each in table.foreign_keys:
        yield f"          - {{columns: {_texts(each.columns)}, table: {_text(each.table)}}}"
    yield "        columns:"
    if not table.key:
        yield f"          {key[0]}: {{type: bigint, values: {{kind: sequence}}}}"
    for column in table.columns:
        parts = [f"type: {json.dumps(column.type) if ',' in column.type else column.type}"]
        if column.nullable and column.name not in table.key:
            parts.append("nullable: true")
        if column.source != column.name:
            parts.append(f"source: {json.dumps(column.source)}")
        yield f"          {_text(column.name)}: {{{', '.join(parts)}}}"


def _text(name: str) -> str:
    return json.dumps(name) if name.lower() in _NO_TEXTS else name


def _texts(names: Iterable[str]) -> str:
    return f"[{', '.join(map(_text, names))}]"


def _free(name: str, taken: Iterable[str]) -> str:
    used = {each.lower() for each in taken}
    while name in used:
        name += "_"
    return name


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)


def _slug(text: str) -> str:
    """A name of small letters, digits and hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:48].strip("-") or "mine"
