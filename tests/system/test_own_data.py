"""A user's own file, from `dbbench import` to a report, with each way to check an answer; and engines that lie.

And what no engine is right in against the others: a fault of the reference, or of a text.
"""

import csv
import json
import re
from functools import partial
from pathlib import Path

import pytest

from tests.conftest import Dbbench, run_here, run_suite, summary
from tests.trials_here import no_null_engine, trials_here

LIES = ("faulty-second", "faulty-always")
QUERIES = """\
      - kind: query
        name: by-rows
        title: Readings of each sensor, checked against rows
        sql: SELECT sensor, COUNT(*) AS n FROM readings GROUP BY sensor
        answer: {columns: {sensor: varchar(3), n: bigint}, rows: [[S-0, 34], [S-1, 33], [S-2, 33]]}
      - kind: query
        name: by-file
        title: Means, checked against a file
        sql: SELECT sensor, SUM(celsius) AS s FROM readings GROUP BY sensor
        answer: {file: sums.csv, columns: {sensor: varchar(3), s: double}}
      - kind: query
        name: by-engine
        title: The latest reading of each sensor, checked against DuckDB
        sql: >-
          SELECT sensor, latest FROM (SELECT sensor, MAX(reading_id) AS latest FROM readings GROUP BY sensor) t
        answer: {engine: duckdb}
      - kind: query
        name: by-agreement
        title: Missing readings by sensor
        sql: SELECT sensor, COUNT(celsius) AS n FROM readings GROUP BY sensor
        answer: agree
      - kind: query
        name: by-reference
        title: The two sensors with the most readings, left to the reference
        sql: >-
          SELECT sensor, COUNT(*) AS n FROM readings WHERE sensor <> 'S-2' OR celsius IS NULL
          GROUP BY sensor HAVING COUNT(*) > 2 ORDER BY n DESC, sensor LIMIT 2
        read: n
      - kind: query
        name: unchecked
        title: All readings
        sql: SELECT reading_id, celsius FROM readings
        answer: none
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
        answer: {columns: {s: varchar(3), n: bigint}, rows: [["0", 34], ["1", 33], ["2", 33]]}
"""
WAYS = ("by-reference", "by-rows", "by-file", "by-engine", "by-agreement")
#: Where two engines agree against the reference, or three: one that lies from its second call on may be asked in its first.
DISPUTED = re.compile("disputed: [23] engines agree with each other, not with the reference")
#: Step -> the outcome of the engines that are right, whether they are verified, and a row in which they differ.
FOUND = {
    "engine": ("ok", "yes", ""),
    "reference": ("disputed", "", "('S-0', 34) instead of ('S-0', 134)"),
    "text": ("disputed", "", "('0', 34) instead of ('S-0', 34)"),
    "settled": ("ok", "yes", ""),
}


dbbench = partial(run_here, plugins=("faulty",))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("own")
    sums: dict[str, float] = {}
    with (folder / "readings.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["reading id", "sensor", "celsius", "note"])
        for number in range(100):
            sensor, celsius = f"S-{number % 3}", number / 4
            missing = number % 10 == 0
            sums[sensor] = sums.get(sensor, 0.0) + (0 if missing else celsius)
            writer.writerow([number + 1, sensor, "" if missing else celsius, 'said "hot",\nthen left'])
    with (folder / "sums.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["sensor", "s"], *sums.items()])
    done = dbbench(folder, "import", "readings.csv", "--suite", "mine.yaml", status=0)
    assert "wrote mine.yaml; run it: dbbench suite mine.yaml" in done.stdout
    with (folder / "mine.yaml").open("a") as file:
        file.write(QUERIES)
    engines = ("sqlite", "duckdb", *LIES)
    with no_null_engine(), trials_here():
        run_suite(folder, "mine.yaml", engines, "--format", "csv,md,html")
    return folder


def test_describe_says_how_each_answer_is_checked(folder: Path) -> None:
    shown = dbbench(folder, "describe", "mine.yaml").stdout
    for words in (
        "answer: rows in the suite (3)", "answer: the rows of sums.csv", "answer: what duckdb returns",
        "answer: engines are compared with each other; not verified", "no answer: not verified, and not ranked",
        "100 rows from readings.csv",
    ):  # fmt: skip
        assert words in shown


def test_what_was_imported_runs_at_once(folder: Path) -> None:
    rows = summary(folder / "run")
    for engine in ("sqlite", "duckdb"):
        assert [rows[step, engine]["outcome"] for step in ("load", "size", "count-readings")] == ["ok"] * 3
        assert rows["load", engine]["verified"] == "yes"


def test_a_suite_with_the_keys_that_were_found_runs_at_once(tmp_path: Path) -> None:
    (tmp_path / "lines.csv").write_text(
        "order_id,line,amount\n" + "".join(f"{n // 3},{n % 3},9.50\n" for n in range(90))
    )
    (tmp_path / "orders.csv").write_text("order_id,note\n" + "".join(f"{n},x\n" for n in range(40)))
    done = dbbench(tmp_path, "import", "lines.csv", "orders.csv", "--suite", "shop.yaml")
    assert "lines: 90 rows from lines.csv; primary key: order_id, line" in done.stdout, done.stderr
    engines = ("sqlite", "duckdb")
    with no_null_engine(), trials_here():
        rows = summary(run_suite(tmp_path, "shop.yaml", engines, status=0))
    for engine in engines:
        assert [rows[step, engine]["outcome"] for step in ("load", "count-lines", "count-orders")] == ["ok"] * 3


@pytest.mark.parametrize("way", WAYS)
def test_an_honest_engine_is_right_in_each_way(folder: Path, way: str) -> None:
    rows = summary(folder / "run")
    for engine in ("sqlite", "duckdb"):
        row = rows[way, engine]
        assert (row["outcome"], row["verified"]) == ("ok", "no" if way == "by-agreement" else "yes"), row
    words = {"by-file": "answer checked against a file", "by-engine": "answer checked against duckdb"}
    assert words.get(way, "") in rows[way, "sqlite"]["detail"]


@pytest.mark.parametrize("way", WAYS)
def test_a_lie_is_found_in_each_way(folder: Path, way: str) -> None:
    rows = summary(folder / "run")
    always = rows[way, "faulty-always"]
    if way == "by-agreement":
        assert rows[way, "faulty-second"]["outcome"] == "wrong", "it gives two answers"
        assert always["detail"].startswith("DIFFERS from the answer that 2 of 3 engines agree on")
    else:
        assert always["outcome"] == "wrong"


@pytest.mark.parametrize("step", FOUND)
def test_nobody_is_ranked_where_engines_agree_against_the_reference(folder: Path, step: str) -> None:
    outcome, verified, difference = FOUND[step]
    rows = summary(folder / "run")
    for engine in ("sqlite", "duckdb"):
        row = rows[step, engine]
        assert (row["outcome"], row["verified"]) == (outcome, verified), row
        assert bool(DISPUTED.match(row["detail"])) is (outcome == "disputed"), row
        assert difference in row["detail"]
    assert rows[step, "faulty-always"]["outcome"] == "wrong"


def test_the_report_says_that_engines_agree_against_the_reference(folder: Path) -> None:
    for name in ("index.md", "index.html"):
        assert DISPUTED.search((folder / "run" / "report" / name).read_text("utf-8"))


def test_an_answer_follows_its_data_where_a_row_can_be_left_out(folder: Path) -> None:
    (trial,) = (folder / "run" / "trials").glob("*-sqlite")
    changes = {
        step["name"]: step["facts"].get("change") for step in json.loads((trial / "result.json").read_text())["steps"]
    }
    assert changes["by-reference"] == "followed"
    assert changes["by-rows"] == "not tried: only the reference's answer can be computed without a row"


def test_what_nobody_checked_has_no_rank_and_says_so(folder: Path) -> None:
    for engine in ("sqlite", "duckdb"):
        row = summary(folder / "run")["unchecked", engine]
        assert (row["outcome"], row["verified"], row["rank"]) == ("ok", "no", "")
        assert "not verified: the suite has no answer for the query" in row["detail"]
    for name in ("index.md", "index.html"):
        assert "not verified" in (folder / "run" / "report" / name).read_text()


@pytest.mark.matrix
def test_a_run_is_resumed_without_the_file(folder: Path) -> None:
    (lost,) = (folder / "run" / "trials").glob("*-sqlite")
    (lost / "result.json").unlink()
    hidden = folder / "readings.csv"
    hidden.rename(folder / "hidden.csv")
    try:
        dbbench(folder, "suite", "--resume", "run", "--format", "csv", status=1)
        assert summary(folder / "run")["load", "sqlite"]["outcome"] == "ok"
        done = dbbench(folder, "suite", "mine.yaml", "--quick", "-e", "sqlite", "--out", "other", status=2)
        assert "there is no file" in done.stderr
        assert "readings.csv" in dbbench(folder, "check", "mine.yaml").stderr
    finally:
        (folder / "hidden.csv").rename(hidden)


def test_a_run_directory_can_name_no_file_of_the_reader(folder: Path) -> None:
    manifest = folder / "run" / "run.json"
    before = manifest.read_text()
    document = json.loads(before)
    (lost,) = (folder / "run" / "trials").glob("*-sqlite")
    result = (lost / "result.json").read_text()
    try:
        document["datasets"]["mine"]["key"] = "../../../etc"
        manifest.write_text(json.dumps(document))
        (lost / "result.json").unlink()
        done = dbbench(folder, "suite", "--resume", "run", status=2)
        assert "came from files and is no longer in" in done.stderr
    finally:
        manifest.write_text(before)
        (lost / "result.json").write_text(result)


def test_rows_from_files_are_written_out(folder: Path, tmp_path: Path, dbbench_here: Dbbench) -> None:
    done = dbbench_here("dataset", str(folder / "mine.yaml"), "--out", "out", status=0)
    assert done.stdout == "out/readings.csv: 100 rows\n"
    with (tmp_path / "out" / "readings.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["celsius"] or "nan") for row in rows[1:3]] == [0.25, 0.5]
