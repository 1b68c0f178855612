"""Which trial runs when."""

from __future__ import annotations

from collections import defaultdict

import pytest

from dbbench.results.trial import Trial
from dbbench.run.plan import plan
from dbbench.suite.model import Suite

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
    found = orders(plan(small, ENGINES, rounds=5, seed=1))
    assert len({tuple(engines) for engines in found.values()}) > 1
    assert len({engines[0] for engines in orders(plan(small, ENGINES, rounds=50, seed=1)).values()}) == len(ENGINES)


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


def test_without_engines_there_is_nothing_to_do(small: Suite) -> None:
    assert plan(small, [], rounds=5, seed=1) == []
