"""What `--quick` makes of a suite."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from dbbench.results.run_directory import Manifest, Run
from dbbench.suite.loader import builtin_suites, find_suite, load_suite
from dbbench.suite.model import Suite
from dbbench.suite.steps.base import Clients


def all_clients(suite: Suite) -> list[Clients]:
    return [step.clients for scenario in suite.scenarios for step in scenario.steps if hasattr(step, "clients")]


@pytest.mark.parametrize("name", sorted({*builtin_suites()} - {"invoices"}))
def test_the_built_in_suites_say_how_little_a_first_look_is(name: str) -> None:
    quick = load_suite(find_suite(name)).quick
    assert quick is not None
    assert quick.scale < 1
    assert quick.trial_seconds <= 60


@pytest.mark.parametrize("name", ["contention", "virtual-file"])
def test_a_first_look_has_as_many_clients_in_one_process(name: str) -> None:
    suite = load_suite(find_suite(name))
    before, after = all_clients(suite), all_clients(suite.first_look())
    assert max(clients.processes for clients in before) == 4
    assert {clients.processes for clients in after} == {1}
    assert [clients.count for clients in before] == [clients.count for clients in after]


def test_a_suite_that_says_nothing_stays_as_it_is(small: Suite) -> None:
    assert small.quick is None
    assert small.first_look() is small


@pytest.mark.parametrize("quick", [False, True])
def test_a_run_is_read_as_it_was_run(tmp_path: Path, quick: bool) -> None:
    path = find_suite("contention")
    suite = load_suite(path)
    manifest = Manifest(
        dbbench="0.1", suite=suite.name, created=datetime.datetime.now(datetime.UTC), engines={}, rounds=1,
        scale=1.0, seed=1, limits={}, machine={}, quick=quick,
    )  # fmt: skip
    Run.create(tmp_path / "run", manifest, suite, path.read_text())
    assert {clients.processes for clients in all_clients(Run.open(tmp_path / "run").suite)} == {1 if quick else 4}
