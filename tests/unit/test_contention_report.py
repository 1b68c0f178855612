"""Transactions in each other's way, as a suite file asks for them and as the report shows them."""

from typing import Any

import pytest

from dbbench.analysis.recorded import client_stats
from dbbench.analysis.row import Row
from dbbench.report.step_builder import step_view
from dbbench.report.step_view import Data
from dbbench.report.steps import wording
from dbbench.results.outcome import Outcome
from dbbench.suite.loader import find_suite
from tests.unit.contended import ROUNDS, SCENARIO, SUITE, WORK
from tests.unit.refused import refused, rewritten

# The suite format


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("table: Object, pool: 8", "table: Objects, pool: 8", "one of the tables Object; did you mean 'Object'?"),
        ("pool: 8", "pool: 3", "a pool of 4 sessions or more: one for each process"),
        ("pool: 8", "pool: 0", "greater than or equal to 1"),
        ("varchar(32)", "varchar(12)", "a varchar(13) or longer without an index"),
        ("type: integer", "type: varchar(40)", "a key, integer or bigint"),
        ("primary_key: Id", "primary_key: Id\n        indexes: [Text]", "without an index"),
        (
            '          Text: {type: varchar(32), values: {kind: pattern, text: "object"}}\n',
            "",
            "and a varchar(13) or longer",
        ),
        ("of: [unlimited, pool-31,", "of: [unlimted, pool-31,", "one of the steps before it that take seconds: unlim"),
        ("of: [unlimited, pool-31,", "of: [all-rounds, pool-31,", "one of the steps before it that take seconds"),
    ],
)
def test_faults_are_told(old: str, new: str, words: str) -> None:
    assert words in str(refused(rewritten(find_suite("contention").read_text("utf-8"), (old, new))))


def test_published_figures_are_of_all_rounds_together() -> None:
    assert SUITE.source is not None
    found = {figure.engine: (figure.step, figure.value) for figure in SUITE.source.figures}
    assert found == {
        "MySQL 5.5.17, remote": ("all-rounds", 98), "PostgreSQL 9.1.2, remote": ("all-rounds", 92),
        "SQL Server 2008 R2, remote": ("all-rounds", 102), "SQLite 3.7.9": ("all-rounds", 154),
    }  # fmt: skip


# The report


def facts(**more: Any) -> dict[str, Any]:
    counts = WORK.counts(32)
    percentiles = {"p50": 1e6, "p90": 1e6, "p95": 2e6, "p99": 3e6, "p99.9": None}
    return {
        **counts, "clients": {"threads": 8, "processes": 4}, "retries": {},
        "fairness": {"fastest": 1.0, "slowest": 2.0, "jain": 0.9}, "counted": {},
        "times": {"service time": {"percentiles": percentiles, "max": 4e6, "count": 1600, "sum": 1e9}}, **more,
    }  # fmt: skip


def view(*rounds: dict[str, Any]) -> Any:
    row = Row(
        "contention", "unlimited", "store", "Store", Outcome.OK, metric="time", unit="s", trial_means=(2.0,), value=2.0,
        facts=rounds[-1], rounds=rounds,
    )  # fmt: skip
    return step_view(SCENARIO, ROUNDS[0], [row], Data(), [], {})


def test_the_report_shows_how_the_clients_fared() -> None:
    counted = {"inserts": 192, "updates": 64, "deletes": 190, "commits": 900}
    shown = view(facts(retries={"deadlock": 2}), facts(retries={"deadlock": 1, "conflict": 4}, counted=counted))
    (line,) = shown.lines
    assert shown.details == (
        "p50", "p99", "max", "clients", "fastest", "slowest", "fairness", "retries", "counted",
    )  # fmt: skip
    assert line.details[:3] == ("1.00 ms", "3.00 ms", "4.00 ms")
    assert line.details[3:] == ("4 × 8", "1.00 s", "2.00 s", "0.900", "4 conflict, 3 deadlock", "192/64/190")
    assert line.retries == "7 retries"
    assert "Jain" in shown.details_note


def test_no_retries_are_told_too() -> None:
    shown = view(facts())
    assert shown.lines[0].retries == ""
    assert shown.details[-2:] == ("fairness", "retries")  # nothing here counts by itself
    assert shown.lines[0].details[-2:] == ("0.900", "0")
    assert client_stats([{}]) is None


def test_it_says_by_whom_and_how_much() -> None:
    words = wording(ROUNDS[0]).conditions(ROUNDS[0], [facts()], [], None)
    assert "384 transactions: 192 objects inserted, 64 updated, 192 deleted; 256 selects." in words
    alone = view(facts(clients={"threads": 32, "processes": 1})).conditions
    assert "All clients are threads of one process, since no other could open the database: Store." in alone
    assert "threads of one process" not in view(facts()).conditions
    assert wording(ROUNDS[1]).driven(ROUNDS[1]) == "4 processes of 8 threads at once, 31 sessions"
    assert (
        wording(SCENARIO.steps[-1]).conditions(SCENARIO.steps[-1], [], [], None)
        == "The sum of unlimited, pool-31, pool-16 and pool-8."
    )
