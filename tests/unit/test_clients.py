"""Several clients that start together, on the null engine and on engines that note what is done with them."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from dbbench.engine.base import Engine, Session, Setup
from dbbench.engine.traits import Concurrency
from dbbench.errors import DbbenchError, TimedOut, Unsupported, WrongAnswer
from dbbench.loadgen.clients import drive, hear_all
from dbbench.loadgen.job import REPLY, ClientFailed, ClientTimings, Failure, Job, Reply
from dbbench.loadgen.loops import ScheduleStats
from dbbench.loadgen.query_calls import QueryCalls
from dbbench.suite.model import Tier
from dbbench.suite.steps.base import Clients
from dbbench.suite.steps.timed import Rate
from dbbench_plugins.null import Null
from tests.unit.piped import piped


class Noting(Null):
    """Notes what its sessions do, with the thread that does it. A second client fails if `failing` says when."""

    name = "noting"
    events: list[tuple[str, str]]
    failing = ""

    def connect(self) -> Session:
        return NotingSession(self, len([what for what, _ in self.events if what == "connect"]))


class NotingSession(Session):
    def __init__(self, engine: Noting, number: int) -> None:
        self.engine, self.number = engine, number
        self.note("connect")

    def note(self, what: str) -> None:
        self.engine.events.append((what, threading.current_thread().name))
        if self.number and self.engine.failing == what:
            raise RuntimeError(f"in {what}")

    def prepare_statement(self, sql: str) -> Callable[[], object]:
        self.note(f"prepare {sql}")
        return lambda: self.note("call")

    def close(self) -> None:
        self.note("close")


@pytest.fixture
def noting(tmp_path: Path) -> Noting:
    engine = Noting(Setup(tmp_path, Tier.POWER))
    engine.events = []
    return engine


def job(warm_up: int = 1, calls: int = 3, rate: Rate | None = None) -> Job:
    return Job("statement", ("SQL",), warm_up, calls, rate)


def test_one_client_is_the_session_given(noting: Noting) -> None:
    found = drive(noting, noting.connect(), job(), Clients())
    me = threading.current_thread().name
    assert noting.events == [("connect", me), ("prepare SQL", me), *[("call", me)] * 4]
    assert (found.warm_up.count, found.service.count, found.latency.count, found.schedule) == (1, 3, 0, None)


def test_threads_have_a_session_each_and_start_when_all_are_warm(noting: Noting) -> None:
    found = drive(noting, noting.connect(), job(warm_up=2, calls=4), Clients(threads=3))
    assert (found.warm_up.count, found.service.count) == (6, 12)
    names = {name for _, name in noting.events[1:]}
    assert len(names) == 3
    for name in names:
        mine = [what for what, by in noting.events if by == name]
        assert mine == ["connect", "prepare SQL", *["call"] * 6, "close"]
    calls = [name for what, name in noting.events if what == "call"]
    assert {calls[:6].count(name) for name in names} == {2}  # everyone's warm-up comes before any timed call


@pytest.mark.parametrize("when", ["connect", "prepare SQL", "call", "close"])
def test_what_a_client_raises_goes_on_up_and_no_one_waits_for_ever(noting: Noting, when: str) -> None:
    session = noting.connect()
    noting.failing = when
    before = threading.active_count()
    with pytest.raises(RuntimeError, match=f"in {when}"):
        drive(noting, session, job(), Clients(threads=4))
    assert threading.active_count() == before


def test_sessions_are_closed_after_all_last_calls_have_returned(noting: Noting) -> None:
    drive(noting, noting.connect(), job(), Clients(threads=3), partial(noting.events.append, ("returned", "")))
    what = [what for what, _ in noting.events]
    assert (what.index("returned"), what[-3:]) == (len(what) - 4, ["close"] * 3)


class Marking(Noting):
    """Leaves a file for each session that was closed."""

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self.events = []

    def connect(self) -> Session:
        return MarkingSession(self, 0)


class MarkingSession(NotingSession):
    def close(self) -> None:
        (self.engine.directory / f"closed {os.getpid()}").touch()


def test_processes_close_their_sessions_after_all_last_calls_have_returned(tmp_path: Path) -> None:
    engine, seen = Marking(Setup(tmp_path, Tier.POWER)), list[list[Path]]()
    drive(engine, engine.connect(), job(), Clients(processes=2), lambda: seen.append([*tmp_path.iterdir()]))
    assert (seen, len([*tmp_path.iterdir()])) == ([[]], 2)


@pytest.mark.parametrize(
    ("allowed", "clients", "words"),
    [
        (Concurrency(), Clients(threads=2), "noting can't serve clients from 2 threads at once (at most 1)"),
        (Concurrency(threads=4), Clients(threads=5), "5 threads at once (at most 4)"),
        (Concurrency(threads=None), Clients(threads=9, processes=2), "2 processes at once (at most 1)"),
    ],
)
def test_more_clients_than_the_engine_allows_are_refused(
    noting: Noting, monkeypatch: pytest.MonkeyPatch, allowed: Concurrency, clients: Clients, words: str
) -> None:
    monkeypatch.setattr(Noting, "concurrency", allowed)
    session = noting.connect()
    with pytest.raises(Unsupported) as refused:
        drive(noting, session, job(), clients)
    assert words in str(refused.value)
    assert [what for what, _ in noting.events] == ["connect"]


def test_an_engine_says_nothing_and_serves_one_client() -> None:
    assert Engine.concurrency == Concurrency(threads=1, processes=1)


def test_an_operation_that_is_not_there_is_refused_before_any_client_starts(null: Null) -> None:
    with pytest.raises(Unsupported, match="not yet written"):
        drive(null, null.connect(), Job("nonsense", (), 0, 1), Clients(threads=2, processes=2))


def test_processes_of_threads_make_all_their_calls(null: Null) -> None:
    found = drive(null, null.connect(), job(warm_up=2, calls=1_500), Clients(threads=2, processes=2))
    assert (found.warm_up.count, found.service.count) == (8, 6_000)
    assert found.begin < found.end
    assert found.per_second == 6_000 / (found.end - found.begin) * 1e9
    assert found.service.percentile(99) is not None


def test_a_rate_is_shared_among_the_clients(null: Null) -> None:
    rate = Rate(per_second=100, seconds=0.3)
    for clients in (Clients(threads=3), Clients(threads=2, processes=2)):
        found = drive(null, null.connect(), job(rate=rate), clients)
        assert found.schedule is not None
        assert found.schedule.due == 30
        assert found.latency.count == found.service.count == 30 - found.schedule.dropped
        assert found.latency.total >= found.service.total


class Failing(Null):
    name = "failing"

    def open(self) -> None:
        raise RuntimeError("no room")


class Ending(Null):
    name = "ending"

    def open(self) -> None:
        import os

        os._exit(7)


class Printing(Null):
    name = "printing"

    def open(self) -> None:
        print("noise on standard output", flush=True)


class MixingSession(Session):
    def prepare_query(self, sql: str, expected_rows: int = 0) -> Callable[[], object]:
        return lambda: [(1,), ("a",)]


class Mixing(Null):
    name = "mixing"

    def connect(self) -> Session:
        return MixingSession()


def test_rows_of_a_process_that_have_no_types_are_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    engine, calls = Mixing(Setup(tmp_path, Tier.POWER)), Job("query", (), 0, 3, inputs=QueryCalls("SELECT", 0, (3, 2)))
    with pytest.raises(WrongAnswer, match="column 1: "):
        drive(engine, engine.connect(), calls, Clients(processes=2))


@pytest.mark.parametrize(
    ("kind", "words"), [(Failing, "in a client process: RuntimeError: no room"), (Ending, "unexpectedly with status 7")]
)
def test_a_process_that_fails_is_an_error_with_its_reason(
    kind: type[Null], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    engine = kind(Setup(tmp_path, Tier.POWER))
    start = time.monotonic()
    with pytest.raises(ClientFailed, match=words):
        drive(engine, engine.connect(), job(), Clients(processes=3))
    assert time.monotonic() - start < 60


@pytest.mark.parametrize("exc", [WrongAnswer("none"), TimedOut("late"), Unsupported("no rows")])
def test_what_a_process_raises_goes_on_up_as_what_it_is(exc: DbbenchError) -> None:
    raised = piped(Failure.of(exc)).exception("in a client process")
    assert (type(raised), str(raised)) == (type(exc), str(exc))


def test_what_one_process_fails_with_is_heard_while_others_are_at_work() -> None:
    commands = (
        "import time; time.sleep(600)",
        f"print({REPLY.dump_json(Reply(failure=Failure('failed', 'no room'))).decode()!r})",
    )
    children = [subprocess.Popen([sys.executable, "-c", each], stdout=subprocess.PIPE, text=True) for each in commands]
    try:
        with pytest.raises(ClientFailed, match="no room"):
            hear_all(children)
        assert children[0].poll() is None
    finally:
        for child in children:
            child.kill()
            child.communicate()


def test_what_a_driver_prints_in_a_process_hurts_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    engine = Printing(Setup(tmp_path, Tier.POWER))
    assert drive(engine, engine.connect(), job(), Clients(processes=2)).service.count == 6


def test_measurements_are_merged_and_survive_a_pipe() -> None:
    first = ClientTimings(schedule=ScheduleStats(10, 3, 0, saturated=False), begin=100, end=200)
    second = ClientTimings(schedule=ScheduleStats(20, 4, 5, saturated=True), begin=100, end=350)
    first.service.record(np.array([1, 2]))
    second.service.record(np.array([30]))
    second.latency.record(np.array([40]))
    first.merge(piped(second))
    assert first.schedule == ScheduleStats(30, 7, 5, saturated=True)
    assert (first.begin, first.end, first.per_second) == (100, 350, 3 / 250 * 1e9)
    assert (first.service.count, first.service.ends, first.latency.mean) == (3, (1, 30), 40)
