"""Primary keys of several columns, and foreign keys that are declared: drawn and imported, and by engines that check them."""

import csv
from pathlib import Path

import pytest

from tests.conftest import Dbbench, run_suite, summary
from tests.trials_here import no_null_engine, trials_here

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
HEAD = """
dbbench: 1
name: keys
title: Keys
description: Keys of several columns.
datasets:
"""
DATASET = """
  {name}:
    tables:{tables}
"""
SCENARIO = """
  - name: {name}
    title: Keys
    dataset: {name}
    steps:
      - {{kind: load, name: load-{name}, title: Load}}
      - kind: query
        name: joined-{name}
        title: Joined
        sql: SELECT l.OrderId, l.Place FROM Orders o JOIN Line l ON l.OrderId = o.Id
"""
#: File of lines -> the order and the place of each. There are the orders 1 and 2.
HEADER = ("OrderId", "Place")
LINES = {
    "right": [HEADER, (1, 0), (1, 1), (2, 0)],
    "twice": [HEADER, (1, 0), (1, 0)],
    "orphan": [HEADER, (1, 0), (3, 0)],
}


def suite(datasets: dict[str, str]) -> str:
    """A suite that loads each of them, and joins its tables."""
    parts = [DATASET.format(name=name, tables=tables) for name, tables in datasets.items()]
    return "".join([HEAD, *parts, "scenarios:\n", *(SCENARIO.format(name=name) for name in datasets)])


@pytest.mark.parametrize(
    "engines", [("sqlite", "duckdb"), pytest.param(("postgresql",), marks=pytest.mark.matrix)], ids="-".join
)
def test_drawn_tables_have_them_and_an_engine_checks_those_of_files(tmp_path: Path, engines: tuple[str, ...]) -> None:
    for name, rows in {"orders": [("Id",), (1,), (2,)], **LINES}.items():
        with open(tmp_path / f"{name}.csv", "w", newline="") as file:
            csv.writer(file).writerows(rows)
    from_files = {name: FROM_FILES.replace("lines.csv", f"{name}.csv") for name in LINES}
    with no_null_engine(), trials_here():
        found = summary(run_suite(tmp_path, suite({"drawn": DRAWN, **from_files}), engines))
    right = [(step, name) for step in ("load", "joined") for name in ("drawn", "right")]
    for engine in engines:
        for step, name in right:
            row = found[f"{step}-{name}", engine]
            assert (row["outcome"], row["verified"]) == ("ok", "yes"), row["detail"]
        assert [found[f"load-{name}", engine]["outcome"] for name in ("twice", "orphan")] == ["failed"] * 2


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
    (tmp_path / "keys.yaml").write_text(suite({"drawn": DRAWN.replace(old, new)}))
    done = dbbench_here("check", "keys.yaml", status=2)
    assert words in " ".join((done.stdout + done.stderr).split())
