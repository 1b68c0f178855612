"""The suites decision-support and event-log: right answers from engines of several kinds, and rows to give."""

from pathlib import Path

import pytest

from dbbench.answers.stored import RANK, read_answers, refused
from dbbench.datasets.cache import materialise
from dbbench.runs.data import answers_of
from dbbench.suite.loader import find_suite, load_suite
from dbbench.suite.model import Suite
from dbbench.suite.steps.query import QueryStep
from tests.conftest import run_suite, summary
from tests.trials_here import no_null_engine, trials_here

#: Of each suite the number of its queries.
QUERIES = {"decision-support": 22, "event-log": 20}
ENGINES = ("chdb", "duckdb", "mysql", "postgresql", "sqlite")


def queries(suite: Suite) -> list[QueryStep]:
    return [step for step in suite.scenarios[0].steps if isinstance(step, QueryStep)]


@pytest.mark.parametrize("name", QUERIES)
def test_every_answer_needs_no_engine_and_has_rows(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At the scale of a first look."""
    monkeypatch.setenv("DBBENCH_CACHE", str(tmp_path))
    suite = load_suite(find_suite(name))
    assert suite.quick
    datasets = {key: materialise(dataset, scale=suite.quick.scale) for key, dataset in suite.datasets.items()}
    (found,) = answers_of(suite, datasets, tmp_path, None).values()
    assert [*found] == [step.name for step in queries(suite)]
    assert len(found) == QUERIES[name]
    for step, path in found.items():
        rows, *_ = answers = read_answers(Path(path))
        assert not refused(answers), step
        assert rows.num_rows, step
        if name == "decision-support":
            assert not any(rows.column(each).null_count for each in rows.column_names if each != RANK), step


def test_decision_support_says_what_it_is_not() -> None:
    assert "not comparable to published TPC-H results" in load_suite(find_suite("decision-support")).description


@pytest.mark.matrix
@pytest.mark.parametrize(("name", "scale"), [("decision-support", "0.004"), ("event-log", "0.002")])
def test_engines_give_the_right_answers(name: str, scale: str, tmp_path: Path) -> None:
    with no_null_engine(), trials_here(*ENGINES[1:]):
        rows = summary(run_suite(tmp_path, name, ENGINES, "--scale", scale, status=0))
    for engine in ENGINES:
        found = {step: row for (step, of), row in rows.items() if of == engine}
        assert len(found) == QUERIES[name] + 2
        assert {row["outcome"] for row in found.values()} == {"ok"}
        assert {found[step.name]["verified"] for step in queries(load_suite(find_suite(name)))} == {"yes"}
