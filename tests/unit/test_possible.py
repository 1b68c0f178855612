"""Figures of about the null engine's."""

from pathlib import Path
from typing import Any

import pytest

from dbbench.analysis.remarks import _prepared_long
from dbbench.analysis.row import Row
from dbbench.analysis.summary import possible
from dbbench.report.remarks import detail
from dbbench.report.run_view import view
from dbbench.results.outcome import Outcome
from dbbench.results.trial import StepResult
from dbbench.suite.steps.nearest import NearestStep
from tests.fabricated import MANY, STORES, Fake, fabricate

#: About the null engine's factor.
NOTHING = 0.0025


def rows(path: Path, engines: dict[str, Fake], **more: Any) -> list[Row]:
    return [row for row in view(fabricate(path, engines, **more)).rows if row.engine == "quick" and row.unit != "B"]


def test_who_takes_no_longer_than_the_null_engine_has_figures_and_no_rank(tmp_path: Path) -> None:
    engines = {"sqlite": MANY["sqlite"], "quick": Fake("Quick", NOTHING), "duckdb": MANY["duckdb"]}
    found = rows(tmp_path / "run", engines, rounds=6)
    assert found
    assert all(row.value and row.rank is None for row in found)
    assert all("no rank: only ×1.2" in detail(row) and "null engine" in detail(row) for row in found)


@pytest.mark.parametrize("rounds", [1, 2])
def test_few_rounds_accuse_nobody(tmp_path: Path, rounds: int) -> None:
    engines = {"sqlite": MANY["sqlite"], "quick": Fake("Quick", NOTHING)}
    assert not any("null engine" in detail(row) for row in rows(tmp_path / "run", engines, rounds=rounds))


def test_a_dict_finds_a_record_as_soon_as_a_function_returns(tmp_path: Path) -> None:
    engines = {"lmdb": STORES["lmdb"], "quick": Fake("dict", NOTHING)}
    found = rows(tmp_path / "run", engines, suite="bplustree", rounds=6)
    assert any(row.rank for row in found)
    assert not any("null engine" in detail(row) for row in found)


def test_a_search_of_vectors_takes_longer_than_none() -> None:
    step = NearestStep.model_validate({"kind": "nearest", "name": "near", "title": "Near"})
    known: Any = {"metric": "throughput", "unit": "1/s", "direction": "higher"}
    null, quick, slow = (
        Row("s", "near", name, name, Outcome.OK, name != "null", value=value, trial_means=(value,) * 3, of_rounds=(1, 2, 3), **known)
        for name, value in (("null", 6e6), ("quick", 5e6), ("slow", 1e5))
    )  # fmt: skip
    assert [row.engine for row in possible(step, [null, quick, slow]) if not row.verified] == ["quick"]


@pytest.mark.parametrize(("seconds", "named"), [(0.9, True), (0.009, False)])
def test_who_prepares_a_query_for_longer_than_it_calls_it_is_named(tmp_path: Path, seconds: float, named: bool) -> None:
    def prepared(result: dict[str, Any]) -> None:
        for step in result["steps"]:
            step.setdefault("facts", {})["prepare"] = seconds

    run = fabricate(tmp_path / "run", {"sqlite": MANY["sqlite"], "duckdb": MANY["duckdb"]}, rounds=6, change=prepared)
    found = {row.engine: detail(row) for row in view(run).rows if row.step == "join-1" and row.ranked}
    words = "prepared in 900 ms, off the clock: longer than all its calls together"
    assert {engine for engine, text in found.items() if words in text} == ({"sqlite", "duckdb"} if named else set())


@pytest.mark.parametrize("calls", [0.8, 1.0])
@pytest.mark.parametrize("kind", ["times", "objects"])
def test_the_same_of_calls_by_clients_and_of_objects(kind: str, calls: float) -> None:
    times = {"service time": {"unit": "ns", "count": 1, "sum": round(calls * 1e9), "min": 1, "max": 1}}
    facts: Any = {"prepare": 0.9} | ({"times": times, "per_second": 1.0} if kind == "times" else {"objects": 4})
    step = StepResult(name="s", outcome=Outcome.OK, samples=[calls / 4], facts=facts)
    assert [remark.amount for remark in _prepared_long([step])] == ([0.9] if calls < 0.9 else [])
