"""Many rows of CSV, imported: three queries on five databases, checked in three ways each, and an engine that lies.

The files are made, and the queries answered, by the standard library alone. Five more queries have not one word about
answers, as a new user writes them.
"""

import csv
import datetime
import json
import os
import random
from collections.abc import Iterator
from itertools import groupby, islice
from operator import itemgetter
from pathlib import Path

import pytest

from dbbench.engine.probe import look
from dbbench.testing.contract import required
from tests.conftest import run_here, run_suite, summary
from tests.trials_here import no_null_engine, trials_here

pytestmark = pytest.mark.matrix

#: DBBENCH_ROWS=1000000 takes many minutes, most of them for Firebird.
ROWS = int(os.environ.get("DBBENCH_ROWS", "3000"))
SENSORS, ROOMS = 400, 12
#: Sensors that have sent nothing: rows of a left join alone.
SILENT = 7
ENGINES = ("sqlite", "duckdb", "postgresql", "mysql", "firebird")
LIES = (LIAR := "faulty-one-value",)
WAYS = ("given", "engine", "agree")
#: Query -> its SQL, and the types of its columns.
QUERIES = {
    "changes": (
        ("SELECT reading_id, celsius - LAG(celsius) OVER (PARTITION BY sensor_id ORDER BY taken, reading_id) AS warmer "
        "FROM readings"),
        {"reading_id": "integer", "warmer": "decimal(5, 1)"},
    ),
    "hottest": (
        ("SELECT sensor_id, rank_no, reading_id, celsius FROM (SELECT sensor_id, reading_id, celsius, ROW_NUMBER() "
        "OVER (PARTITION BY sensor_id ORDER BY celsius DESC, reading_id) AS rank_no FROM readings "
        "WHERE celsius IS NOT NULL) best WHERE rank_no <= 3"),
        {"sensor_id": "integer", "rank_no": "integer", "reading_id": "integer", "celsius": "decimal(4, 1)"},
    ),
    "rooms": (
        ("SELECT s.sensor_id, s.room, COUNT(r.celsius) AS known_ones, "
        "RANK() OVER (PARTITION BY s.room ORDER BY COUNT(r.celsius) DESC) AS rank_no "
        "FROM sensors s LEFT JOIN readings r ON r.sensor_id = s.sensor_id GROUP BY s.sensor_id, s.room"),
        {"sensor_id": "integer", "room": "varchar(40)", "known_ones": "bigint", "rank_no": "bigint"},
    ),
}  # fmt: skip
#: What a new user asks. Each groups or has a window, as the engine that lies does so in these.
ASKED = {
    "left-join": (
        "SELECT s.sensor_id, COUNT(r.reading_id) AS n FROM sensors s LEFT JOIN readings r ON r.sensor_id = s.sensor_id "
        "GROUP BY s.sensor_id"
    ),
    "window": (
        "SELECT reading_id, SUM(celsius) OVER (PARTITION BY sensor_id ORDER BY taken, reading_id) AS total FROM readings"
    ),
    "cte": (
        "WITH sent AS (SELECT sensor_id, SUM(celsius) AS total FROM readings GROUP BY sensor_id) "
        "SELECT s.room, AVG(t.total) AS mean FROM sent t JOIN sensors s ON s.sensor_id = t.sensor_id "
        "GROUP BY s.room ORDER BY mean DESC, s.room LIMIT 3"
    ),
    "correlated": (
        "SELECT s.room, COUNT(*) AS n FROM sensors s "
        "WHERE 10 < (SELECT AVG(r.celsius) FROM readings r WHERE r.sensor_id = s.sensor_id) GROUP BY s.room"
    ),
    "having": (
        "SELECT s.room, COUNT(*) AS n FROM sensors s JOIN readings r ON r.sensor_id = s.sensor_id "
        f"GROUP BY s.room HAVING COUNT(*) > {ROWS // ROOMS}"
    ),
}
Reading = tuple[int, int, str, int | None, str]


def sensors() -> Iterator[tuple[int, str]]:
    """Number and room, which has a quote and a comma in its name."""
    return ((number, f'room {number % ROOMS}, the "cold" one') for number in range(1, SENSORS + 1))


def readings() -> list[Reading]:
    """Number, sensor, time, tenths of a degree or nothing, and a remark, which is mostly missing."""
    draw, start = random.Random(14), datetime.datetime(2025, 1, 1)
    return [
        (
            number,
            draw.randint(1, SENSORS - SILENT),
            (start + datetime.timedelta(seconds=30 * number)).isoformat(sep=" "),
            None if draw.random() < 0.02 else draw.randint(-199, 399),
            'said "hot", then left\nat näxt door' if draw.random() < 0.05 else "",
        )
        for number in range(1, ROWS + 1)
    ]


def degrees(tenths: int | None) -> str:
    return "" if tenths is None else f"{tenths / 10:.1f}"


def changes(rows: list[Reading]) -> Iterator[tuple[object, ...]]:
    last: dict[int, int | None] = {}
    for number, sensor, _, tenths, _ in rows:
        before = last.get(sensor)
        yield number, degrees(None if before is None or tenths is None else tenths - before)
        last[sensor] = tenths


def hottest(rows: list[Reading]) -> Iterator[tuple[object, ...]]:
    known = sorted((sensor, -tenths, number) for number, sensor, _, tenths, _ in rows if tenths is not None)
    for sensor, group in groupby(known, itemgetter(0)):
        for place, (_, colder, number) in enumerate(islice(group, 3), 1):
            yield sensor, place, number, degrees(-colder)


def rooms(rows: list[Reading]) -> list[tuple[object, ...]]:
    counts = dict.fromkeys(range(1, SENSORS + 1), 0)
    for _, sensor, _, tenths, _ in rows:
        counts[sensor] += tenths is not None
    return [
        (sensor, room, counts[sensor], 1 + sum(counts[s] > counts[sensor] for s, other in sensors() if other == room))
        for sensor, room in sensors()
    ]


def written(path: Path, header: list[str], rows: object) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])  # type: ignore[misc]


def steps(known: list[tuple[object, ...]]) -> str:
    """Each query three times: with rows that were worked out here, with DuckDB's, and with what the engines agree on.

    And those of which nothing is said but the SQL.
    """
    text = ""
    for name, (sql, columns) in QUERIES.items():
        given = {"columns": columns, "rows": known} if name == "rooms" else {"file": f"{name}.csv", "columns": columns}
        for way, answer in zip(WAYS, (given, {"engine": "duckdb"}, "agree"), strict=True):
            step = {"kind": "query", "name": f"{name}-{way}", "title": f"{name}, {way}", "sql": sql, "iterations": 1}
            text += f"      - {json.dumps({**step, 'answer': answer})}\n"
    for name, sql in ASKED.items():
        text += f"      - {json.dumps({'kind': 'query', 'name': name, 'title': name, 'sql': sql})}\n"
    return text


@pytest.fixture(scope="module")
def engines() -> list[str]:
    """Those of the five that are installed, and those that must be: the run shows what they lack."""
    return [name for name in ENGINES if required(name) or look(name, name, {}, url=False).status != "unavailable"]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, engines: list[str]) -> Path:
    folder = tmp_path_factory.mktemp("million")
    rows = readings()
    written(folder / "sensors.csv", ["sensor id", "room"], sensors())
    written(
        folder / "readings.csv",
        ["reading id", "sensor id", "taken", "celsius", "remark"],
        ((*first, degrees(tenths), remark) for *first, tenths, remark in rows),
    )
    written(folder / "changes.csv", list(QUERIES["changes"][1]), changes(rows))
    written(folder / "hottest.csv", list(QUERIES["hottest"][1]), hottest(rows))
    done = run_here(folder, "import", "sensors.csv", "readings.csv", "--suite", "mine.yaml", status=0)
    assert f"readings: {ROWS:,} rows from readings.csv; primary key: reading_id" in done.stdout
    suite = folder / "mine.yaml"
    key = "        primary_key: reading_id\n"
    suite.write_text(
        suite.read_text().replace(key, f"{key}        indexes: [sensor_id]\n") + steps(rooms(rows)), "utf-8"
    )
    with no_null_engine(), trials_here():
        return run_suite(folder, "mine.yaml", (*engines, LIAR), "--trial-timeout", "3600", "--format", "csv,md")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("query", QUERIES)
def test_honest_engines_are_right_and_the_liar_is_found(run: Path, engines: list[str], query: str, way: str) -> None:
    rows = {engine: row for (step, engine), row in summary(run).items() if step == f"{query}-{way}"}
    assert {rows[engine]["outcome"] for engine in engines} == {"ok"}
    liar = rows[LIAR]
    if way == "agree":
        assert f"DIFFERS from the answer that {len(engines)} of {len(engines) + 1} engines agree on" in liar["detail"]
        assert not any("DIFFERS" in rows[engine]["detail"] for engine in engines)
    else:
        assert liar["outcome"] == "wrong"
        total = f"{ROWS:,}" if query == "changes" else ""
        assert f"1 of {total}" in liar["detail"]
        assert "rows differ" in liar["detail"]


@pytest.mark.parametrize("query", ASKED)
def test_a_new_users_queries_are_verified_and_the_liar_is_found(run: Path, engines: list[str], query: str) -> None:
    rows = summary(run)
    # Firebird cuts a mean of decimals to their places.
    right = [name for name in engines if name != "firebird" or "AVG" not in ASKED[query]]
    found = {name: (rows[query, name]["outcome"], rows[query, name]["verified"]) for name in right}
    assert found == dict.fromkeys(right, ("ok", "yes"))
    assert rows[query, LIAR]["outcome"] == "wrong"
    assert "Answer by DataFusion 55 from the same SQL." in (run / "report" / "index.md").read_text()


def test_all_rows_are_loaded_as_they_are_in_the_file(run: Path, engines: list[str]) -> None:
    rows = summary(run)
    assert {(rows["load", name]["outcome"], rows["load", name]["verified"]) for name in (*engines, LIAR)} == {
        ("ok", "yes")
    }
