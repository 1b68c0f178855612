"""Rates and several clients in a real run: what a stall does to latency, who can't keep up, who can't serve as many clients."""

import json
from pathlib import Path
from typing import Any

import pytest

from dbbench.testing.suite_text import suite_text
from tests.conftest import Dbbench, run_here, summary
from tests.tables import one_table
from tests.trials_here import no_null_engine

pytestmark = pytest.mark.matrix

SUITE = suite_text(
    "rates",
    one_table("T", 100, "N: {type: integer, values: {kind: quantiles, points: {0: 1, 1: 9}}}"),
    """
    - {kind: load, name: load, title: Load}
    - kind: statement
      name: closed
      title: One call after another
      sql: &insert INSERT INTO T (Id, N) SELECT MAX(Id) + 1, 1 FROM T
      iterations: 40
      adds: {table: T}
    - kind: statement
      name: rate
      title: At a rate
      sql: *insert
      rate: {per_second: 50, seconds: 4}
      adds: {table: T}
    - kind: statement
      name: threads
      title: Random arrivals at two threads
      sql: *insert
      rate: {per_second: 60, arrivals: poisson, seconds: 1}
      clients: {threads: 2}
      adds: {table: T}
    - kind: statement
      name: processes
      title: Three processes
      sql: *insert
      iterations: 1100
      clients: {processes: 3}
      adds: {table: T}
    """,
    durability="process",
)
#: Arrivals of the step `rate`, and those that a stall of 1 s holds up, the first and the last of them left aside.
ARRIVALS, HELD_UP = 200, 45


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rates")
    (folder / "rates.yaml").write_text(SUITE)
    engines = ("sqlite", "faulty-stalls", "faulty-slow", "faulty-one")
    words = [word for name in engines for word in ("--engine", name)]
    command = ["suite", "rates.yaml", "--quick", "--out", "run", "--format", "csv,md", *words]
    done = run_here(folder, *command, plugins=("faulty",), status=1)  # two of them can't do it all
    (folder / "run" / "stdout.txt").write_text(done.stdout)
    return folder / "run"


def result(run: Path, engine: str, step: str) -> dict[str, Any]:
    (path,) = run.glob(f"trials/*-{engine}/result.json")
    return next(found for found in json.loads(path.read_text())["steps"] if found["name"] == step)


def figures(run: Path, engine: str, step: str) -> dict[str, Any]:
    return result(run, engine, step)["facts"]


def mean(times: dict[str, Any]) -> float:
    return times["sum"] / times["count"] / 1e9


def test_at_a_rate_a_stall_shows_in_the_latency_of_all_that_waited(run: Path) -> None:
    """Coordinated omission: service time alone shows the stall in one call, whatever waited behind it."""
    facts = figures(run, "faulty-stalls", "rate")
    service, latency = facts["times"]["service time"], facts["times"]["latency"]
    assert facts["calls"] == facts["arrivals"]["due"] == ARRIVALS
    assert facts["arrivals"]["late"] >= HELD_UP
    assert facts["arrivals"]["dropped"] == 0
    assert service["max"] >= 1e9
    assert latency["max"] >= 1e9
    assert mean(latency) > 10 * mean(service)  # about 125 ms to 6 ms
    assert latency["percentiles"]["p90"] > 0.2e9  # a tenth of all calls waited 0.4 s or more
    assert service["percentiles"]["p90"] < 0.2e9


def test_the_block_of_a_rate_is_its_mean_latency(run: Path) -> None:
    step = result(run, "faulty-stalls", "rate")
    assert (step["metric"], step["outcome"]) == ("latency", "ok")
    assert step["value"] == pytest.approx(mean(step["facts"]["times"]["latency"]))
    assert len(step["samples"]) == ARRIVALS
    assert sum(step["samples"]) / ARRIVALS == pytest.approx(step["value"])


def test_one_call_after_another_gives_service_time(run: Path) -> None:
    step = result(run, "faulty-slow", "closed")
    assert (step["metric"], step["outcome"], len(step["samples"])) == ("time", "ok", 40)
    assert step["value"] == pytest.approx(sum(step["samples"]) / 40)
    assert set(step["facts"]["times"]) == {"service time"}
    assert "arrivals" not in step["facts"]
    assert step["facts"]["times"]["service time"]["percentiles"]["p90"] is None


def test_an_engine_that_cannot_keep_up_is_saturated_and_has_no_figure(run: Path) -> None:
    for step in ("rate", "threads"):
        found = result(run, "faulty-slow", step)
        arrivals = found["facts"]["arrivals"]
        assert found["outcome"] == "saturated"
        assert found["detail"].endswith(f"; {arrivals['in_time']} of {arrivals['due']} arrivals in time")
        assert found["detail"].startswith("saturated: kept ")
        assert arrivals["in_time"] < arrivals["due"] / 2
        assert found["value"] is None
        assert found["samples"] == []
        assert all("percentiles" not in times for times in found["facts"]["times"].values())
    row = summary(run)["rate", "faulty-slow"]
    assert (row["outcome"], row["value"], row["rank"]) == ("saturated", "", "")


def test_several_clients_make_all_their_calls(run: Path) -> None:
    facts = figures(run, "sqlite", "processes")
    assert (facts["calls"], facts["clients"]) == (3_300, {"threads": 1, "processes": 3})
    assert facts["times"]["service time"]["percentiles"]["p99"] is not None
    step = result(run, "sqlite", "processes")
    assert step["samples"] == []  # too many to keep: a histogram instead
    assert step["value"] == pytest.approx(mean(facts["times"]["service time"]))
    assert sum(facts["times"]["service time"]["counts"]) == 3_300


def test_random_arrivals_are_the_same_for_every_engine(run: Path) -> None:
    first, second = (figures(run, engine, "threads")["arrivals"]["due"] for engine in ("sqlite", "null"))
    assert first == second > 30


def test_more_clients_than_an_engine_allows_are_its_outcome(run: Path) -> None:
    assert result(run, "faulty-one", "rate")["outcome"] in ("ok", "saturated")  # on a busy machine
    # One process, so that those of several would be its threads.
    for name, step, asked, most in (
        ("faulty-one", "threads", 2, 1),
        ("faulty-one", "processes", 3, 1),
        ("faulty-slow", "processes", 3, 2),
    ):
        found = result(run, name, step)
        assert found["outcome"] == "unsupported"
        assert found["detail"] == f"{name} can't serve clients from {asked} threads at once (at most {most})"


def test_the_reports_tell_rate_clients_percentiles_and_who_is_saturated(run: Path) -> None:
    terminal, page = (run / "stdout.txt").read_text(), (run / "report" / "index.md").read_text()
    for text in (terminal, page):
        assert "50 calls a second (constant), from when they were due" in " ".join(text.split())
        assert "3 processes at once" in " ".join(text.split())
        assert f" of {ARRIVALS}" in text
        assert "arrivals in time" in text
    assert "| P50 | P90 | P99 | P99.9 | Max | Calls/s | Service | Late |" in page
    assert max(map(len, terminal.splitlines())) <= 80
    assert "faulty-slow   saturated" in terminal


def test_nothing_is_left_behind(run: Path) -> None:
    for path in run.glob("trials/*/result.json"):
        assert json.loads(path.read_text())["remarks"] == []


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("per_second: 50,", "per_second: 0,", "rate.per_second: 0: expected greater than 0"),
        ("seconds: 4}", "seconds: 0}", "rate.seconds: 0: expected greater than 0"),
        ("per_second: 50,", "per_second: 1,", "rate: expected 10 arrivals or more: per_second times seconds"),
        ("clients: {threads: 2}", "clients: {threads: 0}", "clients.threads: 0: expected greater than or equal to 1"),
        ("arrivals: poisson", "arrivals: poison", "'poison': expected one of constant, poisson; did you mean"),
        ("threads: 2", "thread: 2", "expected one of the keys processes, threads; did you mean 'threads'?"),
    ],
)
def test_a_rate_that_is_none_is_a_fault_with_its_place(
    dbbench_here: Dbbench, tmp_path: Path, old: str, new: str, place: str
) -> None:
    text = SUITE.replace(old, new, 1)
    assert text != SUITE
    (tmp_path / "bad.yaml").write_text(text)
    pairs = enumerate(zip(text.split("\n"), SUITE.split("\n"), strict=False), 1)
    line = next(number for number, (ours, theirs) in pairs if ours != theirs)
    for command in (("check", "bad.yaml"), ("suite", "bad.yaml", "--quick", "--engine", "sqlite")):
        done = dbbench_here(*command, status=2)
        assert place in done.stdout + done.stderr
        assert f"bad.yaml:{line}:" in done.stdout + done.stderr


NO_RATE = suite_text(
    "never",
    one_table("T", 100),
    """
    - {kind: load, name: load, title: Load}
    - {kind: query, name: highest, title: Highest, sql: SELECT Id FROM T, find: {p50: 0.05us, trial: 200ms}}
    - {kind: query, name: after, title: After, sql: SELECT Id FROM T}
    """,
)


def test_a_limit_that_no_rate_keeps_is_an_outcome(dbbench_here: Dbbench, tmp_path: Path) -> None:
    (tmp_path / "never.yaml").write_text(NO_RATE)
    asked = ("--rounds", "1", "--engine", "sqlite", "--format", "csv,md", "--out", "run")
    with no_null_engine():
        done = dbbench_here("suite", "never.yaml", *asked)
    rows = summary(tmp_path / "run")
    row = rows["highest", "sqlite"]
    assert (row["outcome"], row["value"], row["rank"]) == ("no rate", "", ""), done.stdout + done.stderr
    assert row["detail"].startswith("no rate: the shortest call takes ")
    assert "round 1/1 sqlite         highest: search for p50 at most 5e-05 ms: about 15 tries of 0.2 s" in done.stdout
    assert "the limit is 5e-05 ms" in row["detail"]
    assert rows["after", "sqlite"]["outcome"] == "ok"
    assert "no rate" in (tmp_path / "run" / "report" / "index.md").read_text("utf-8")
    heading = done.stdout.splitlines()[done.stdout.splitlines().index("Highest") + 1]
    assert heading.startswith("  operations per second, more is better")  # there is no figure that could tell the unit
