"""A second opinion: a fault of an engine, of the reference and of a text, beside engines that are right."""

import csv
from pathlib import Path

import pytest

from tests.conftest import run_here, summary

QUERIES = """\
      - {kind: query, name: engine, title: An engine at fault, sql: "SELECT sensor, COUNT(*) AS n FROM readings GROUP BY sensor"}
      - kind: query
        name: reference
        title: The reference at fault
        sql: SELECT sensor, COUNT(*) AS n FROM readings GROUP BY sensor
        answer: {sql: "SELECT sensor, COUNT(*) + 100 AS n FROM readings GROUP BY sensor"}
      - kind: query
        name: text
        title: "A text at fault: where a text begins that is taken from place -1, systems differ"
        sql: SELECT SUBSTR(sensor, -1) AS s, COUNT(*) AS n FROM readings GROUP BY SUBSTR(sensor, -1)
      - kind: query
        name: settled
        title: The same, with its rows
        sql: SELECT SUBSTR(sensor, -1) AS s, COUNT(*) AS n FROM readings GROUP BY SUBSTR(sensor, -1)
        answer: {columns: {s: varchar(3), n: bigint}, rows: [["0", 15], ["1", 15]]}
"""
WORDS = "disputed: 2 engines agree with each other, not with the reference"
#: Step -> the outcome of the engines that are right, whether they are verified, and the first row that differs.
FOUND = {
    "engine": ("ok", "yes", ""),
    "reference": ("disputed", "", "('S-0', 15) instead of ('S-0', 115)"),
    "text": ("disputed", "", "('0', 15) instead of ('S-0', 15)"),
    "settled": ("ok", "yes", ""),
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("disputed")
    with (folder / "readings.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["id", "sensor"], *([number, f"S-{number % 2}"] for number in range(30))])
    run_here(folder, "import", "readings.csv", "--suite", "mine.yaml", status=0)
    with (folder / "mine.yaml").open("a") as file:
        file.write(QUERIES)
    engines = [word for name in ("sqlite", "duckdb", "faulty-always") for word in ("-e", name)]
    command = ["suite", "mine.yaml", "--rounds", "1", "--format", "csv,md,html", "--out", "run", *engines]
    run_here(folder, *command, plugins=("faulty",), status=1)
    return folder / "run"


@pytest.mark.parametrize("step", FOUND)
def test_nobody_is_ranked_where_engines_agree_against_the_reference(run: Path, step: str) -> None:
    outcome, verified, difference = FOUND[step]
    rows = summary(run)
    for engine in ("sqlite", "duckdb"):
        row = rows[step, engine]
        assert (row["outcome"], row["verified"]) == (outcome, verified), row
        assert row["detail"].startswith(WORDS) is (outcome == "disputed")
        assert difference in row["detail"]
    assert rows[step, "faulty-always"]["outcome"] == "wrong"


def test_the_report_says_so(run: Path) -> None:
    for name in ("index.md", "index.html"):
        assert WORDS in (run / "report" / name).read_text("utf-8")
