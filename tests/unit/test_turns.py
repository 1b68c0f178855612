"""Clients that one thread serves: on a group that answers when the test says so, by a scripted clock."""

import threading
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import pytest

from dbbench.engine.base import Session, Setup
from dbbench.loadgen.clients import drive
from dbbench.loadgen.job import Job
from dbbench.loadgen.turns import Turns
from dbbench.suite.model import Tier
from dbbench.suite.steps.base import Clients
from dbbench.suite.steps.timed import Rate
from dbbench_plugins.null import Null


class Group:
    """Answers whoever waited longest. `early` is named once, when it isn't waiting."""

    def __init__(self, early: int | None = None) -> None:
        self.now, self.early, self.closed = 0, early, False
        self.waiting: list[int] = []
        self.timeouts: list[float | None] = []
        self.events: list[tuple[str, int]] = []
        self.count = 0
        self.failing = ""

    def connect(self, wait: Callable[[], object]) -> Session:
        self.count += 1
        return Asking(self, self.count - 1, wait)

    def ready(self, timeout: float | None) -> Iterable[int]:
        self.timeouts.append(timeout)
        if self.early is not None:
            named, self.early = self.early, None
            return [named]
        if self.waiting:
            self.now += 10
            return [self.waiting.pop(0)]
        assert timeout is not None, "all wait for ever"
        self.now += round(timeout * 1e9)
        return []

    def close(self) -> None:
        self.closed = True


class Asking(Session):
    def __init__(self, group: Group, number: int, wait: Callable[[], object]) -> None:
        self.group, self.number, self.wait = group, number, wait

    def prepare_statement(self, sql: str) -> Callable[[], object]:
        def run() -> None:
            self.group.events.append(("ask", self.number))
            self.group.waiting.append(self.number)
            while self.number in self.group.waiting:
                self.wait()
            if self.number and self.group.failing == "call":
                raise RuntimeError("in call")
            self.group.events.append(("answer", self.number))

        return run

    def close(self) -> None:
        self.group.events.append(("close", self.number))
        if self.number and self.group.failing == "close":
            raise RuntimeError("in close")


class Grouped(Null):
    """An engine that has groups."""

    name = "grouped"
    made: Group

    def group(self) -> Group:
        return self.made


@pytest.fixture
def engine(tmp_path: Path) -> Grouped:
    made = Grouped(Setup(tmp_path, Tier.POWER))
    made.made = Group()
    return made


def asking(turns: Turns, group: Group, calls: int) -> Callable[[], None]:
    def client() -> None:
        session = group.connect(turns.wait)
        run = session.prepare_statement("")
        for _ in range(calls):
            run()

    return client


def test_all_ask_before_the_first_is_answered() -> None:
    group = Group()
    turns = Turns(group)
    turns.run([asking(turns, group, 2)] * 3)
    assert group.events == [
        *[("ask", 0), ("ask", 1), ("ask", 2)],
        *[("answer", 0), ("ask", 0), ("answer", 1), ("ask", 1), ("answer", 2), ("ask", 2)],
        *[("answer", 0), ("answer", 1), ("answer", 2)],
    ]


def test_one_that_is_named_too_early_waits_again() -> None:
    group = Group(early=1)
    turns = Turns(group)
    turns.run([asking(turns, group, 1)] * 2)
    assert group.events == [("ask", 0), ("ask", 1), ("answer", 0), ("answer", 1)]


def test_a_sleep_lets_others_go_on_and_lasts_as_long_as_it_says() -> None:
    group = Group(early=0)
    turns = Turns(group, lambda: group.now)
    woken: list[int] = []

    def sleeping() -> None:
        turns.sleep(25e-9)
        woken.append(group.now)

    turns.run([sleeping, asking(turns, group, 0), partial(turns.sleep, 5e-9)])
    assert woken == [25]
    assert group.timeouts[0] == pytest.approx(5e-9)


def test_clients_meet_once_and_the_last_one_says_so() -> None:
    group, said = Group(early=0), list[str]()
    turns = Turns(group)

    def client(number: int) -> None:
        session = group.connect(turns.wait)
        for _ in range(number):
            session.prepare_statement("")()
        said.append(f"here {number}")
        turns.meet(lambda: said.append("all here"))
        said.append(f"on {number}")

    turns.run([partial(client, number) for number in range(3)])
    assert said[:4] == ["here 0", "here 1", "here 2", "all here"]
    assert sorted(said[4:]) == ["on 0", "on 1", "on 2"]


def test_clients_meet_again_though_one_is_ahead_of_the_others() -> None:
    said = list[str]()
    turns = Turns(Group(early=0))

    def client(number: int) -> None:
        for meeting in ("first", "second"):
            turns.meet(partial(said.append, meeting))
            said.append(f"after the {meeting}")

    turns.run([partial(client, number) for number in range(3)])
    assert said == [said for meeting in ("first", "second") for said in (meeting, *[f"after the {meeting}"] * 3)]


def test_what_one_raises_ends_the_others() -> None:
    group = Group()
    turns = Turns(group)
    ended: list[str] = []

    def waiting() -> None:
        try:
            asking(turns, group, 99)()
        finally:
            ended.append("ended")

    def failing() -> None:
        asking(turns, group, 1)()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        turns.run([waiting, failing, waiting])
    assert ended == ["ended", "ended"]


def test_one_thread_serves_a_step(engine: Grouped) -> None:
    before = threading.active_count()
    found = drive(engine, engine.connect(), Job("statement", ("SQL",), 2, 4), Clients(threads=3))
    assert threading.active_count() == before
    assert (found.warm_up.count, found.service.count) == (6, 12)
    assert sorted(found.made) == [(0, 6), (1, 6), (2, 6)]
    warm = engine.made.events.index(("answer", 2), engine.made.events.index(("answer", 2)) + 1)
    assert [number for what, number in engine.made.events[:warm] if what == "answer"].count(0) == 2
    assert engine.made.closed
    assert [what for what, _ in engine.made.events].count("close") == 3


def test_at_a_rate_all_calls_are_made(engine: Grouped) -> None:
    job = Job("statement", ("SQL",), 0, 0, Rate(per_second=400, seconds=0.05))
    found = drive(engine, engine.connect(), job, Clients(threads=2))
    assert found.schedule is not None
    assert found.latency.count + found.schedule.dropped == 20


@pytest.mark.parametrize("when", ["call", "close"])
def test_what_a_client_of_a_step_raises_goes_on_up(engine: Grouped, when: str) -> None:
    engine.made.failing = when
    with pytest.raises(RuntimeError, match=f"in {when}"):
        drive(engine, engine.connect(), Job("statement", ("SQL",), 1, 3), Clients(threads=3))
    assert engine.made.closed


def test_clients_that_keep_to_a_processor_have_a_thread_each(engine: Grouped) -> None:
    drive(engine, engine.connect(), Job("statement", ("SQL",), 0, 4, affinity=True), Clients(threads=2))
    assert engine.made.count == 0
