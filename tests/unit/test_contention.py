"""Transactions in each other's way: what a round is, what comes out wrong, who can, and pools."""

import random
from collections.abc import Callable
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import Any
from unittest.mock import Mock

import pytest

from dbbench.datasets.cache import materialise
from dbbench.engine.base import Setup
from dbbench.engine.traits import Concurrency
from dbbench.errors import TimedOut, Unsupported, WrongAnswer
from dbbench.host.meters import COUNTS
from dbbench.host.metric import Metric
from dbbench.loadgen.clients import arranged, drive
from dbbench.loadgen.job import Job
from dbbench.loadgen.share import share
from dbbench.loadgen.transactions import (
    CHANGED,
    LONGEST_PAUSE,
    MOST_TRIES,
    TEXTS,
    Attempts,
    Ended,
    GivenUp,
    Transactions,
)
from dbbench.results.outcome import Outcome, described
from dbbench.results.trial import StepResult
from dbbench.suite.model import Tier
from dbbench.suite.steps.base import Clients
from dbbench.suite.steps.total import TotalStep
from dbbench.workloads import contention, total
from dbbench.workloads.context import StepContext
from dbbench_plugins.null import Null
from tests.unit.contended import ROUNDS, SUITE, WORK, Refused, Store, StoreSession, step
from tests.unit.piped import piped


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(Setup(tmp_path, Tier.POWER))


@pytest.fixture
def bench(store: Store) -> StepContext:
    dataset = SUITE.datasets["objects"]
    return StepContext(store, store.connect(), dataset.tables, materialise(dataset, scale=0.04), {})


# What a round is


def test_the_four_rounds_have_the_counts_of_the_original() -> None:
    assert [each.pool for each in ROUNDS] == [None, 31, 16, 8]
    counts = [
        replace(WORK, iterations=each.iterations, sub_iterations=each.sub_iterations).counts(each.clients.count)
        for each in ROUNDS
    ]
    assert [(each.iterations, each.sub_iterations, each.clients.count) for each in ROUNDS] == [(50, 20, 32)] * 4
    assert sum(each["inserts"] for each in counts) == 19_200
    assert sum(each["updates"] for each in counts) == 6_400
    assert sum(each["deletes"] for each in counts) == 19_200
    assert sum(each["selects"] for each in counts) == 134_400
    assert [each["left"] for each in counts] == [3_200] * 4
    assert [each["transactions"] for each in counts] == [32 * 50 * 23] * 4


def test_one_client_does_what_the_original_does(store: Store) -> None:
    work = WORK.prepare(store, store.connect(), number=1, of=2)
    given = list(work.given)
    assert [each[-1] for each in given] == [(6,), (9,)]  # (1 * 2 + i) * 3
    for each in given:
        work.run(each)
    insert = ["begin", "insert", "insert", "insert", "commit"]
    change = ["begin", "select 1", "update", "commit"]
    look = ["begin reading", "select all", "commit"]
    assert store.events == 2 * [*insert, *change, *3 * look, "begin", "delete", "commit"]
    assert store.rows == {7: TEXTS[1], 8: TEXTS[2], 10: TEXTS[1], 11: TEXTS[2]}
    assert work.counts == {}


def test_what_all_clients_leave_is_known(store: Store) -> None:
    for number in range(3):
        work = WORK.prepare(store, store.connect(), number, of=3)
        for key in work.given:
            work.run(key)
    assert store.rows == WORK.left(3)
    assert len(WORK.left(3)) == WORK.counts(3)["left"] == 12


def test_a_scale_makes_fewer_iterations_by_as_many_clients(bench: StepContext, store: Store) -> None:
    found = contention.measure(step(clients={"threads": 3}), bench)  # at scale 0.04
    assert (found.facts["inserts"], found.facts["deletes"]) == (18, 18)
    assert found.facts["calls"] == 6
    assert store.events.count("insert") == store.events.count("delete") == 18
    assert store.events.count("select 1") + store.events.count("select all") == 6 * 21 + 1  # and the one that clears
    assert store.rows == {}
    contention.check(step(), bench)


def test_the_time_of_a_round_is_that_of_the_clients_and_the_clearing(
    bench: StepContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contention, "timed", lambda clear: (7 * 10**9, clear()))
    found = contention.measure(step(), bench)
    assert found.value == pytest.approx(found.facts["transactions"] / found.facts["per_second"] + 7)
    assert (found.unit, found.direction) == ("s", "lower")


# What comes out wrong


def failing(what: str, times: int, exc: Callable[[], Exception]) -> Callable[[str], None]:
    """Raises at the first `times` calls with `what`."""
    left = iter(range(times))

    def fail(now: str) -> None:
        if now == what and next(left, None) is not None:
            raise exc()

    return fail


@pytest.mark.parametrize("what", ["begin", "insert", "select 1", "select all", "update", "delete", "commit"])
def test_a_transaction_that_the_system_refuses_is_made_again_as_a_whole(
    store: Store, bench: StepContext, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    monkeypatch.setattr("dbbench.loadgen.transactions.PAUSE", 0)
    store.fail = failing(what, 3, lambda: Refused("deadlock"))
    found = contention.measure(step(), bench)
    assert found.facts["retries"] == {"deadlock": 3}
    assert store.events.count("rollback") == 3
    assert store.rows == {}


def test_retries_are_counted_by_their_reasons_for_all_clients(store: Store, bench: StepContext) -> None:
    reasons = iter(["deadlock", "conflict", "lock timeout", "deadlock"])

    def fail(what: str) -> None:
        if what == "update" and (reason := next(reasons, None)):
            raise Refused(reason)

    store.fail = fail
    work = [WORK.prepare(store, store.connect(), number, of=2) for number in (0, 1)]
    for each in work:
        for key in each.given:
            each.run(key)
    store.rows.clear()
    found = drive(store, store.connect(), Job("statement", (), 0, 0, inputs=WORK), Clients())
    assert work[0].counts == {"deadlock": 2, "conflict": 1, "lock timeout": 1}
    assert found.counts == {}
    assert len(found.spans) == 1


class Scripted:
    """A clock that moves with what is slept, and with each reading."""

    def __init__(self, tick: float = 0.0) -> None:
        self.now, self.tick, self.slept = 0.0, tick, list[float]()

    def clock(self) -> float:
        self.now += self.tick
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


def attempts(store: Store, script: Scripted, **more: Any) -> tuple[Attempts, dict[str, int]]:
    counts = dict[str, int]()
    return Attempts(store.connect(), counts, random.Random(1), script.clock, script.sleep, **more), counts


def nothing(_key: int) -> None:
    """A transaction's body."""


def test_a_storm_of_deadlocks_ends_after_so_many_tries(store: Store) -> None:
    store.fail = failing("commit", 10**6, lambda: Refused("deadlock"))
    script = Scripted()
    attempt, counts = attempts(store, script)
    with pytest.raises(GivenUp, match=f"after {MOST_TRIES - 1} tries: {MOST_TRIES - 1} times a deadlock"):
        attempt.transaction(nothing)(0)
    assert counts == {"deadlock": MOST_TRIES - 1}
    assert store.events.count("begin") == store.events.count("rollback") == MOST_TRIES  # the last try is undone, too
    assert len(script.slept) == MOST_TRIES - 2  # the second try comes at once
    assert all(0 <= pause <= LONGEST_PAUSE for pause in script.slept)
    assert max(script.slept) > LONGEST_PAUSE / 2
    assert described(GivenUp("x"))[0] is Outcome.FAILED


def test_locks_that_time_out_end_after_so_many_seconds(store: Store) -> None:
    store.fail = failing("begin", 10**6, lambda: Refused("lock timeout"))
    attempt, counts = attempts(store, Scripted(tick=125.0))
    with pytest.raises(GivenUp, match="after 3 tries: 3 times a lock timeout"):
        attempt.transaction(nothing)(0)
    assert counts == {"lock timeout": 3}


def test_when_clients_are_to_end_they_begin_no_transaction_and_try_none_again(store: Store) -> None:
    end = list[BaseException]()
    attempt, _ = attempts(store, Scripted(), end=end)

    def ending(_key: int) -> None:
        end.append(GivenUp("elsewhere"))
        raise Refused("deadlock")

    with pytest.raises(Ended):
        attempt.transaction(ending)(0)
    begun = store.events.count("begin")
    with pytest.raises(Ended):
        attempt.transaction(nothing)(0)
    assert store.events.count("begin") == begun


def test_a_client_whose_time_is_over_while_it_tries_again_is_timed_out(store: Store) -> None:
    work = replace(WORK)

    def ending() -> Exception:
        work.reasons.append(TimedOut("not done"))
        return Refused("deadlock")

    store.fail = failing("commit", 1, ending)
    with pytest.raises(TimedOut):
        drive(store, store.connect(), Job("statement", (), 0, 0, inputs=work), Clients())


def test_what_one_of_several_clients_fails_with_ends_all_of_them(store: Store) -> None:
    work = replace(WORK, iterations=2_000)
    store.fail = failing("commit", 1, lambda: ValueError("disk full"))
    with pytest.raises(ValueError, match="disk full"):
        drive(store, store.connect(), Job("statement", (), 0, 0, inputs=work), Clients(threads=3))
    assert store.events.count("commit") < work.counts(3)["transactions"] / 2


def test_a_session_goes_back_to_its_pool_after_a_failure(store: Store) -> None:
    store.fail = failing("commit", 1, lambda: ValueError("disk full"))
    free = SimpleQueue[Any]()
    pool = WORK.pool(store, [store.connect()], free)
    work = WORK.prepare(store, pool, 0, 1)
    given = next(iter(work.given))
    with pytest.raises(ValueError, match="disk full"):
        work.run(given)
    assert free.qsize() == 1


def test_any_other_error_is_raised_at_once_and_undone(store: Store) -> None:
    store.fail = failing("update", 1, lambda: ValueError("disk full"))
    store.rows = {0: TEXTS[0]}
    attempt, counts = attempts(store, Scripted())
    with pytest.raises(ValueError, match="disk full"):
        attempt.transaction(partial(attempt.session.prepare_call("UPDATE"), CHANGED))(0)
    assert (counts, store.events.count("rollback")) == ({}, 1)


def test_an_error_while_undoing_hides_nothing(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(StoreSession, "rollback", Mock(side_effect=OSError("no connection")))
    store.fail = failing("commit", 1, lambda: ValueError("the server is gone"))
    attempt, _ = attempts(store, Scripted())
    with pytest.raises(ValueError, match="the server is gone"):
        attempt.transaction(nothing)(0)


@pytest.mark.parametrize(
    ("what", "change", "words"),
    [
        (
            "select 1",
            lambda rows: rows.update({0: "else"}),
            "(0, 'else') and not (0, 'first object') in the transaction change: SELECT",
        ),
        (
            "select 1",
            lambda rows: rows.pop(0),
            'in the transaction change: SELECT "Id", "Text" FROM "Object" WHERE "Id" = ?, with (0, \'first object\')',
        ),
        ("begin reading", lambda rows: rows.update({0: TEXTS[0]}), "no row, or a NULL in it, in the transaction look"),
    ],
)
def test_a_client_finds_what_it_wrote(
    store: Store, bench: StepContext, what: str, change: Callable[[dict[int, str]], object], words: str
) -> None:
    store.fail = lambda now: change(store.rows) if now == what else None
    with pytest.raises(WrongAnswer) as wrong:
        contention.measure(step(), bench)
    assert words in str(wrong.value)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda rows: rows.pop(2), "left 3 objects instead of 4"),
        (lambda rows: rows.update({77: "phantom"}), "left 5 objects instead of 4"),
        (lambda rows: rows.update({2: "second object"}), "object 2, which is left, is 'second object' and not"),
    ],
)
def test_what_is_left_is_what_it_should_be(
    store: Store, bench: StepContext, change: Callable[[dict[int, str]], object], words: str
) -> None:
    def fail(what: str) -> None:  # the select that clears is the last of them, with every object as it was left
        if what == "select all" and len(store.rows) == 4 and CHANGED not in store.rows.values():
            change(store.rows)
            store.fail = lambda _what: None

    store.fail = fail
    with pytest.raises(WrongAnswer) as wrong:
        contention.measure(step(), bench)
    assert words in str(wrong.value)


def test_an_object_that_stays_is_found(store: Store, bench: StepContext) -> None:
    store.rows = {1: "stays"}
    with pytest.raises(WrongAnswer, match="1 objects remain"):
        contention.check(step(), bench)


# Who can


class OneThread(Store):
    concurrency = Concurrency()


class NoTransactions(Store):
    missing_features = {"transactions": "each INSERT stands by itself"}


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (OneThread, "can't serve clients from 32 threads at once (at most 1)"),
        (NoTransactions, "store has no transactions: each INSERT stands by itself"),
    ],
)
def test_an_engine_that_cannot_is_refused_with_its_reason(
    tmp_path: Path, bench: StepContext, kind: type[Store], words: str
) -> None:
    bench.engine = kind(Setup(tmp_path, Tier.POWER))
    with pytest.raises(Unsupported) as refused:
        contention.measure(ROUNDS[0], bench)
    assert words in str(refused.value)


def test_clients_are_threads_of_one_process_where_no_more_can_be(store: Store, tmp_path: Path) -> None:
    asked = Clients(threads=8, processes=4)
    assert arranged(store, asked) == Clients(threads=32, processes=1)
    assert arranged(Null(Setup(tmp_path, Tier.POWER)), asked) == asked


# Pools


@pytest.mark.parametrize("pool", [31, 16, 8, 5, 4])
def test_every_session_of_a_pool_belongs_to_one_process(pool: int) -> None:
    shares = [share(pool, first, 32, 8) for first in range(0, 32, 8)]
    assert [number for each in shares for number in each] == list(range(pool))
    assert max(map(len, shares)) - min(map(len, shares)) <= 1
    assert min(map(len, shares)) >= 1


def test_clients_share_the_sessions_of_a_pool(store: Store, bench: StepContext) -> None:
    before = store.opened
    peak: list[int] = []
    store.fail = lambda _what: peak.append(store.opened)
    found = contention.measure(step(clients={"threads": 6}, pool=2), bench)
    assert max(peak) == before + 2
    assert store.most <= 2
    assert store.opened == before
    assert found.facts["calls"] == 12


def test_the_null_engine_does_as_much_of_nothing(tmp_path: Path, bench: StepContext) -> None:
    bench.engine = Null(Setup(tmp_path, Tier.POWER))
    bench.session = bench.engine.connect()
    for asked in (step(clients={"threads": 2, "processes": 2}, pool=3), step(clients={"threads": 2})):
        found = contention.measure(asked, bench)
        assert found.facts["calls"] == asked.clients.count * 2
        assert found.facts["retries"] == {}
        assert len(found.facts["fairness"]) == 3
        assert found.usage.keys() == COUNTS.keys(), "of threads nothing, as they wait for each other"


def test_the_work_of_a_client_goes_through_a_pipe() -> None:
    told = piped(Job("statement", (), 0, 0, inputs=WORK)).inputs
    assert isinstance(told, Transactions)
    assert told == piped(Job("statement", (), 0, 0, inputs=told)).inputs
    assert asdict(told)["plans"][0]["groups"][0]["repeat"] == 3


# Fairness, totals


def test_fairness_is_jains_index_of_the_rates() -> None:
    assert contention.fairness([2, 2, 2])["jain"] == pytest.approx(1)
    assert contention.fairness([10**9, 2 * 10**9]) == {
        "fastest": 1.0, "slowest": 2.0, "jain": pytest.approx(1.5**2 / (2 * 1.25)),
    }  # fmt: skip
    assert contention.fairness([1, 10**9, 10**9, 10**9])["jain"] == pytest.approx(0.25)


def test_a_total_is_a_sum_or_nothing(bench: StepContext) -> None:
    asked = TotalStep(kind="total", name="t", title="T", of=("a", "b"))
    for name, seconds, usage in (
        ("a", 1.5, {Metric.CPU: 0.5, Metric.UNDELAYED: 1.0}), ("b", 2.0, {Metric.CPU: 0.25}), ("c", 9.0, {}),
    ):  # fmt: skip
        bench.data.timed[name] = StepResult(name=name, outcome=Outcome.OK, value=seconds, unit="s", usage=usage)
    found = total.measure(asked, bench)
    assert (found.value, found.usage) == (3.5, {Metric.CPU: 0.75})
    del bench.data.timed["b"]
    with pytest.raises(Unsupported, match="no sum, as b has no figure"):
        total.measure(asked, bench)
