"""Tables that were found in files, and the text of a suite for them."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dbbench.suite.dataset import Column

#: The column that numbers the rows, where no other can be the key.
ROW = "row_number"
#: The queries that a search of vectors needs at least, and those that it has of many rows.
FEWEST_QUERIES, _QUERIES = 600, 5_000
#: Names that YAML takes for something else than a text.
_NO_TEXTS = ("true", "false", "null")


@dataclass
class Found:
    """One column: its name in the file, its type in a suite, and what else is known."""

    source: str
    name: str
    type: str = ""
    nullable: bool = False
    note: str = ""


@dataclass(frozen=True)
class FoundVectors:
    """A column of vectors."""

    source: str
    dimensions: int


@dataclass
class FoundTable:
    """One table: its files, rows and columns, and its primary key; an empty one if no columns could be it."""

    name: str
    file: str
    paths: list[Path]
    rows: int
    columns: list[Found]
    key: tuple[str, ...] = ()
    #: What looks like the primary key and is none: two values that come twice.
    doubled: str = ""
    vectors: list[FoundVectors] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    def model(self) -> dict[str, Column]:
        """Its columns as a suite has them. Whether it may have them is for the suite's loader to say."""
        return {
            each.name: Column.model_construct(type=each.type, nullable=each.nullable, source=each.source)
            for each in self.columns
        }


def suite_text(name: str, tables: Sequence[FoundTable]) -> str:
    """A suite that loads the tables, measures their size, counts the rows of each, and searches columns of vectors."""
    return "\n".join(_lines(_slug(name), tables)) + "\n"


def _lines(name: str, tables: Sequence[FoundTable]) -> Iterator[str]:
    yield f"# Made by `dbbench import`. Run it: dbbench suite {name}.yaml"
    yield "dbbench: 1"
    yield f"name: {name}"
    yield f"title: {json.dumps(name.replace('-', ' ').capitalize())}"
    yield f"description: {json.dumps(f'Rows of {_listed(table.name for table in tables)}, from files.')}"
    yield ""
    vectors = [
        ("vectors" if number == 1 else f"vectors_{number}", *each)
        for number, each in enumerate(((table, column) for table in tables for column in table.vectors), 1)
    ]
    tables = [table for table in tables if table.columns]
    yield "datasets:"
    for dataset, table, column in vectors:
        rows = f"file: {json.dumps(table.file)}, column: {json.dumps(column.source)}"
        queries = min(max(table.rows // 10, FEWEST_QUERIES), _QUERIES)
        counts = f"count: {table.rows - queries}, queries: {queries}, dimensions: {column.dimensions}"
        yield f"  {dataset}:"
        yield f"    vectors: {{{rows}, {counts}, metric: l2}}  # or cosine, or ip"
    if tables:
        yield "  mine:"
        yield "    tables:"
    for table in tables:
        yield from _table(table)
    yield ""
    yield "scenarios:"
    if tables:
        yield from _scenario("tables" if name.startswith("vectors") else name, tables)
    for dataset, table, column in vectors:
        slug = _slug(dataset)
        yield f"  - name: {slug}"
        yield f"    title: {json.dumps(f'Vectors {column.source} of {table.name}')}"
        yield f"    dataset: {dataset}"
        yield "    durability: memory"
        yield f"    charts: [{{kind: overview}}, {{kind: bars}}, {{kind: size, step: size-{slug}}}]"
        yield "    steps:"
        yield f"      - {{kind: load, name: load-{slug}, title: Add all vectors and build the index}}"
        yield f"      - {{kind: size, name: size-{slug}, title: Size after the build}}"
        yield f"      - {{kind: nearest, name: nearest-{slug}, title: The 10 nearest, recall: 0.95}}"


def _scenario(name: str, tables: Sequence[FoundTable]) -> Iterator[str]:
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


def _table(table: FoundTable) -> Iterator[str]:
    yield f"      {_text(table.name)}:"
    yield f"        rows: {{file: {json.dumps(table.file)}, count: {table.rows}}}"
    key = table.key or (_free(ROW, [column.name for column in table.columns]),)
    listed = _listed(map(_text, key))
    yield f"        primary_key: {f'[{listed}]' if len(key) > 1 else listed}"
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
