"""Which trial runs when, and how much of a suite a first look runs."""

import datetime
from collections import defaultdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dbbench.results.run_directory import Run
from dbbench.results.trial import Trial
from dbbench.runs.plan import copied, plan
from dbbench.suite.loader import builtin_suites, find_suite, load_suite
from dbbench.suite.model import Suite
from dbbench.suite.steps.base import Clients
from tests.unit.test_summary import manifest

ENGINES = ["sqlite", "duckdb", "firebird", "null", "sqlite+apsw"]


@pytest.fixture(scope="module")
def two(small: Suite) -> Suite:
    """A suite of two scenarios."""
    (one,) = small.scenarios
    return small.model_copy(update={"scenarios": (one, one.model_copy(update={"name": "second"}))})


def orders(trials: list[Trial]) -> dict[tuple[int, str], list[str]]:
    found: dict[tuple[int, str], list[str]] = defaultdict(list)
    for trial in trials:
        found[trial.round, trial.scenario].append(trial.engine)
    return found


def test_every_round_visits_every_engine_once_in_each_scenario(two: Suite) -> None:
    found = orders(plan(two, ENGINES, rounds=4, seed=1))
    assert list(found) == [(number, name) for number in (1, 2, 3, 4) for name in ("main", "second")]
    assert {tuple(sorted(engines)) for engines in found.values()} == {tuple(sorted(ENGINES))}


def test_rounds_differ_in_their_order(small: Suite) -> None:
    found = orders(plan(small, ENGINES, rounds=50, seed=1))
    assert {engines[0] for engines in found.values()} == {*ENGINES}


def test_the_plan_depends_on_the_seed_alone(small: Suite) -> None:
    first = plan(small, ENGINES, rounds=5, seed=1)
    assert plan(small, ENGINES[::-1], rounds=5, seed=1) == first
    assert plan(small, ENGINES, rounds=5, seed=2) != first


def test_more_rounds_go_on_where_fewer_end(small: Suite) -> None:
    assert plan(small, ENGINES, rounds=5, seed=1)[: 2 * len(ENGINES)] == plan(small, ENGINES, rounds=2, seed=1)


@pytest.mark.parametrize("rounds", [1, 300])
def test_identities_are_unique_and_sort_in_the_order_of_the_plan(rounds: int, small: Suite) -> None:
    identities = [trial.id for trial in plan(small, ENGINES, rounds=rounds, seed=1)]
    assert len(set(identities)) == rounds * len(ENGINES)
    assert sorted(identities) == identities


def test_an_identity_names_the_round_the_scenario_and_the_engine(small: Suite) -> None:
    (trial,) = plan(small, ["sqlite+apsw"], rounds=1, seed=1)
    assert trial == Trial("001-round1-main-sqlite+apsw", "main", "sqlite+apsw", 1)


def test_copies_are_made_of_all_steps_that_write_in_the_first_round_and_of_one_in_a_drawn_one() -> None:
    names = {"load": True, "query": False, "insert": True}
    steps: Any = [SimpleNamespace(name=name, writes=writes) for name, writes in names.items()]
    moments = [datetime.datetime(2026, 1, 1, second=second, tzinfo=datetime.UTC) for second in range(60)]
    drawn = set()
    for created in moments:
        assert copied(steps, 1, 50, created) == ("load", "insert")
        ((number, (name,)),) = [(each, found) for each in range(2, 51) if (found := copied(steps, each, 50, created))]
        drawn.add((number, name))
    assert {number for number, _ in drawn} == {*range(2, 9)}
    assert {name for _, name in drawn} == {"load", "insert"}
    assert copied(steps[1:2], 2, 2, moments[0]) == ()
    assert len(copied(steps, 2, 2, moments[0])) == len(copied(steps, 1, 1, moments[0])) - 1 == 1


def test_without_engines_there_is_nothing_to_do(small: Suite) -> None:
    assert plan(small, [], rounds=5, seed=1) == []


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
    Run.create(tmp_path / "run", manifest({}).model_copy(update={"quick": quick}), suite, path.read_text())
    assert {clients.processes for clients in all_clients(Run.open(tmp_path / "run").suite)} == {1 if quick else 4}
