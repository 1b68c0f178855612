"""Primary keys of several columns, and foreign keys that are declared: drawn and imported, and by engines that check them."""

import csv
import json
from pathlib import Path

import pytest

from tests.conftest import Dbbench, Rows, run_suite, summary

DRAWN = """
      Orders:
        rows: 50
        primary_key: Id
        columns: {Id: {type: integer, values: {kind: sequence}}}
      Line:
        rows: 200
        primary_key: [OrderId, Place]
        foreign_keys: [{columns: [OrderId], table: Orders}]
        columns:
          Number: {type: integer, values: {kind: sequence, start: 0}}
          OrderId: {type: integer, values: {kind: computed, text: Number // 4 + 1}}
          Place: {type: integer, values: {kind: computed, text: Number % 4}}
      Part:
        rows: 200
        primary_key: Id
        foreign_keys: [{columns: [OrderId, Place], table: Line}]
        columns:
          Id: {type: integer, values: {kind: sequence, start: 0}}
          OrderId: {type: integer, values: {kind: computed, text: Id // 4 + 1}}
          Place: {type: integer, values: {kind: computed, text: Id % 4}}
"""
FROM_FILES = """
      Orders:
        rows: {file: orders.csv}
        primary_key: Id
        columns: {Id: {type: integer}}
      Line:
        rows: {file: lines.csv}
        primary_key: [OrderId, Place]
        foreign_keys: [{columns: [OrderId], table: Orders}]
        columns: {OrderId: {type: integer}, Place: {type: integer}}
"""
SUITE = """
dbbench: 1
name: keys
title: Keys
description: Keys of several columns.
datasets:
  d:
    tables:{tables}
scenarios:
  - name: keys
    title: Keys
    dataset: d
    steps:
      - {{kind: load, name: load, title: Load}}
      - kind: query
        name: joined
        title: Joined
        sql: SELECT l.OrderId, l.Place FROM Orders o JOIN Line l ON l.OrderId = o.Id
"""
#: Those of one run.
ENGINES = [("sqlite", "duckdb"), pytest.param(("postgresql",), marks=pytest.mark.matrix)]


def run(folder: Path, tables: str, engines: tuple[str, ...]) -> Rows:
    return summary(run_suite(folder, SUITE.format(tables=tables), engines, status=None))


def write(folder: Path, lines: list[tuple[int, int]]) -> None:
    for name, header, rows in (("orders", ["Id"], [(1,), (2,)]), ("lines", ["OrderId", "Place"], lines)):
        with open(folder / f"{name}.csv", "w", newline="") as file:
            csv.writer(file).writerows([header, *rows])


@pytest.mark.parametrize("engines", ENGINES, ids="-".join)
def test_drawn_tables_have_them(tmp_path: Path, engines: tuple[str, ...]) -> None:
    found = run(tmp_path, DRAWN, engines)
    for engine in engines:
        assert [(found[step, engine]["outcome"], found[step, engine]["verified"]) for step in ("load", "joined")] == [
            ("ok", "yes"), ("ok", "yes"),
        ], json.dumps([*found.values()])  # fmt: skip


@pytest.mark.parametrize("engines", ENGINES, ids="-".join)
@pytest.mark.parametrize(
    ("lines", "outcome"),
    [
        ([(1, 0), (1, 1), (2, 0)], "ok"),
        ([(1, 0), (1, 0)], "failed"),  # the same key twice
        ([(1, 0), (3, 0)], "failed"),  # no such order
    ],
    ids=["right", "twice", "orphan"],
)
def test_an_engine_checks_those_of_files(
    tmp_path: Path, engines: tuple[str, ...], lines: list[tuple[int, int]], outcome: str
) -> None:
    write(tmp_path, lines)
    found = run(tmp_path, FROM_FILES, engines)
    for engine in engines:
        assert found["load", engine]["outcome"] == outcome, found["load", engine]["detail"]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("[OrderId, Place]\n        foreign", "[OrderId, Plase]\n        foreign", "one of its columns Number, OrderId, Place; did you mean 'Place'"),
        ("[OrderId, Place]\n        foreign", "[OrderId, OrderId]\n        foreign", "each column of the primary key once"),
        ("{columns: [OrderId], table: Orders}", "{columns: [OrderId], table: Part}", "one of the tables before it: Orders"),
        ("{columns: [OrderId], table: Orders}", "{columns: [Order], table: Orders}", "one of its columns Number, OrderId, Place"),
        ("{columns: [OrderId, Place], table: Line}", "{columns: [OrderId], table: Line}", "columns like the primary key of Line: OrderId integer, Place integer"),
        ("OrderId: {type: integer, values: {kind: computed, text: Number // 4 + 1}}", "OrderId: {type: bigint, values: {kind: computed, text: Number // 4 + 1}}", "columns like the primary key of Orders: Id integer"),
        ("Place: {type: integer, values: {kind: computed, text: Id % 4}}", "Place: {type: integer, values: {kind: reference, table: Line}}", "a table whose primary key is a sequence"),
    ],
)  # fmt: skip
def test_keys_that_do_not_fit_are_faults(dbbench_here: Dbbench, tmp_path: Path, old: str, new: str, words: str) -> None:
    assert DRAWN.count(old) == 1
    (tmp_path / "keys.yaml").write_text(SUITE.format(tables=DRAWN.replace(old, new)))
    done = dbbench_here("check", "keys.yaml", status=2)
    assert words in " ".join((done.stdout + done.stderr).split())
