"""What the kinds of steps state of themselves."""

from importlib import import_module
from pathlib import Path

import pytest

from dbbench.suite.loader import builtin_suites, find_suite, load_suite
from dbbench.suite.steps import KINDS
from dbbench.workloads import workload


def test_a_kind_is_found_by_its_modules_name() -> None:
    assert list(KINDS) == [
        "churn", "contention", "delete", "keyvalue", "load", "mix", "nearest", "objects", "query", "search", "size", "statement", "total", "transaction",
    ]  # fmt: skip
    for name, model in KINDS.items():
        assert model.__module__ == f"dbbench.suite.steps.{name}"
        assert model.stated_kind() == name


@pytest.mark.parametrize("name", KINDS)
def test_a_kind_has_a_workload_a_wording_and_a_chapter(name: str) -> None:
    found = workload(name)
    assert callable(found.measure)
    assert callable(found.check)
    assert import_module(f"dbbench.report.steps.{name}").Wording.__module__ == f"dbbench.report.steps.{name}"
    assert f"\n### `{name}`\n" in (Path(__file__).parents[2] / "docs" / "suites.md").read_text("utf-8")


@pytest.mark.parametrize("name", builtin_suites())
def test_steps_fit_their_datasets_and_fill_only_by_writing(name: str) -> None:
    suite = load_suite(find_suite(name))
    for scenario in suite.scenarios:
        holds = suite.datasets[scenario.dataset].holds
        for step in scenario.steps:
            assert holds in step.datasets
            assert step.writes or not step.fills
            assert (step.expected_answer is not None) == ("query" in step.required_operations)
            assert step.in_one_process().concurrent_clients.processes == 1
            assert step.in_one_process().concurrent_clients.count == step.concurrent_clients.count


def test_only_steps_that_take_seconds_add_up() -> None:
    assert [name for name, model in KINDS.items() if model.summable] == [
        "churn", "contention", "delete", "load", "query", "statement",
    ]  # fmt: skip
    assert all(model.unit == "s" for model in KINDS.values() if model.summable)
