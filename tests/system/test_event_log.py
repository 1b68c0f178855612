"""The suite event-log: right answers from engines of several kinds, and rows to give at each scale."""

from __future__ import annotations

from pathlib import Path

import pytest

from dbbench.answers.oracle import expected
from dbbench.datasets.cache import materialise
from dbbench.suite.answer import Answer
from dbbench.suite.loader import find_suite, load_suite
from dbbench.suite.steps.query import QueryStep
from tests.conftest import Dbbench, summary

SUITE = load_suite(find_suite("event-log"))
STEPS = [step for step in SUITE.scenarios[0].steps if isinstance(step, QueryStep)]


def test_it_has_20_queries_whose_answers_need_no_engine() -> None:
    assert len(STEPS) == 20
    assert all(isinstance(step.answer, Answer) for step in STEPS)


def test_every_query_has_rows_to_give_at_the_scale_of_a_first_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DBBENCH_CACHE", str(tmp_path))
    assert SUITE.quick
    files = materialise(SUITE.datasets["shop"], scale=SUITE.quick.scale)
    for step in STEPS:
        assert isinstance(step.answer, Answer)
        rows = expected(step.answer, files)
        assert rows.num_rows, step.name


@pytest.mark.matrix
@pytest.mark.parametrize("engine", ["sqlite", "duckdb", "chdb", "postgresql", "mysql"])
def test_an_engine_gives_the_right_answers(engine: str, tmp_path: Path, dbbench: Dbbench) -> None:
    done = dbbench("suite", "event-log", "--scale", "0.002", "--rounds", "1", "--engine", engine, "--out", "run")
    assert done.returncode == 0, done.stdout + done.stderr
    found = {step: row for (step, name), row in summary(tmp_path / "run").items() if name == engine}
    assert len(found) == 22
    assert {row["outcome"] for row in found.values()} == {"ok"}
    assert {found[step.name]["verified"] for step in STEPS} == {"yes"}
