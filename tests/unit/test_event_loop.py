"""Clients of asynchronous drivers, served by the event loop of their thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from dbbench.engine.awaited import AwaitedConnection
from dbbench.engine.base import Setup
from dbbench.engine.event_loop import EventLoop
from dbbench.errors import TimedOut, Unavailable
from dbbench.loadgen.clients import drive
from dbbench.loadgen.job import ClientTimings, Job
from dbbench.loadgen.transaction_draws import Group, Plan, Text
from dbbench.loadgen.transactions import Transactions
from dbbench.suite.model import Tier
from dbbench.suite.steps.base import Clients
from dbbench.suite.steps.timed import Rate
from dbbench_plugins.null_async import NullAsync

Driven = Callable[[Job, Clients], ClientTimings]


@pytest.fixture(params=["asyncio", "uvloop"])
def loop(request: pytest.FixtureRequest) -> Iterator[EventLoop]:
    pytest.importorskip(request.param)
    made = EventLoop.of_thread(request.param)
    yield made
    made.release()


async def answer(said: list[str], text: str) -> str:
    said.append(f"ask {text}")
    await asyncio.sleep(0)
    return text


def test_an_awaited_call_returns_its_result_and_raises_what_it_raised(loop: EventLoop) -> None:
    async def fail() -> None:
        raise ValueError("no")

    assert loop.ask(answer([], "one")) == "one"
    with pytest.raises(ValueError, match="no"):
        loop.ask(fail())
    assert loop.ask(answer([], "two")) == "two"


def test_clients_ask_while_others_wait(loop: EventLoop) -> None:
    said: list[str] = []

    def client(number: int) -> None:
        for call in range(2):
            said.append(loop.ask(answer(said, f"{number}{call}")))

    loop.run([partial(client, number) for number in range(2)])
    assert said == ["ask 00", "ask 10", "00", "ask 01", "10", "ask 11", "01", "11"]
    assert loop.ask(answer(said, "after")) == "after"


def test_clients_meet_and_sleep(loop: EventLoop) -> None:
    said: list[str] = []

    def client(number: int) -> None:
        loop.sleep(0.1 * number)
        said.append(f"here {number}")
        for _ in range(2):
            loop.meet(partial(said.append, "all here"))
            said.append("on")

    loop.run([partial(client, number) for number in (2, 1, 0)])
    assert said == ["here 0", "here 1", "here 2", *["all here", "on", "on", "on"] * 2]


def test_a_client_whose_call_is_cancelled_fails_and_ends_the_others(loop: EventLoop) -> None:
    """Of a task that ends so a group says nothing: the figure would be of one client less."""

    async def cancelled() -> None:
        raise asyncio.CancelledError

    clients = [partial(loop.ask, cancelled()), partial(loop.sleep, 60)]
    with pytest.raises(RuntimeError, match="was cancelled"):
        loop.run(clients)


def test_what_one_client_raises_ends_the_others(loop: EventLoop) -> None:
    ended: list[int] = []

    def waiting() -> None:
        try:
            loop.ask(asyncio.Event().wait())
        finally:
            ended.append(loop.ask(asyncio.sleep(0, result=1)))

    def failing() -> None:
        loop.ask(asyncio.sleep(0))
        raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"):
        loop.run([waiting, failing, waiting])
    assert ended == [1, 1]


def test_the_last_user_ends_the_loop() -> None:
    class Raw:
        async def close(self) -> None: ...

    found: list[Any] = []

    async def connect() -> Raw:
        found.append(asyncio.get_running_loop())
        return Raw()

    one, two = AwaitedConnection("asyncio", connect), AwaitedConnection("asyncio", connect)
    one.close()
    one.close()
    assert not found[0].is_closed()
    two.close()
    assert found[0].is_closed()
    assert found[0] is found[1]


@pytest.fixture
def driven(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Driven]:
    """Has clients do a job. They never have threads."""
    monkeypatch.delattr("dbbench.loadgen.process._threads")
    engine = NullAsync(Setup(tmp_path, Tier.POWER))
    session = engine.connect()
    yield partial(drive, engine, session)
    session.close()


ONE = Text(("SELECT 1",), (), ("one",), "", reads=True)


def plan(names: list[str], repeat: int | None = None) -> Plan:
    parameters: Any = dict.fromkeys(names)
    return Plan("work", 1, {} if repeat else parameters, [Group(repeat, parameters, [ONE])], only_reads=False)


PLANS = [plan(["key", "text"], 3), plan(["key", "text", "changed"]), plan(["key", "text"]), plan(["key"])]
WORK = Transactions(PLANS, 200, 3)


@pytest.mark.parametrize(
    "job",
    [
        Job("statement", ("SQL",), 2, 200),
        Job("statement", ("SQL",), 0, 0, duration=0.2),
        Job("statement", (), 0, 0, inputs=WORK),
        Job("statement", (), 0, 0, inputs=WORK, pool=2),
    ],
    ids=["calls", "time", "transactions", "pool"],
)
def test_one_thread_serves_a_step(driven: Driven, job: Job) -> None:
    found = driven(job, Clients(threads=3))
    assert len(found.made) == 3
    assert all(calls > 0 for _, calls in found.made)
    assert found.end - found.begin < sum(found.spans)  # they took turns


def test_transactions_end_after_their_time(driven: Driven) -> None:
    job = Job("statement", (), 0, 0, inputs=replace(WORK, iterations=10**6), time_limit=0.1)
    with pytest.raises(TimedOut, match=r"not done within 0\.1 s"):
        driven(job, Clients(threads=3))


def test_at_a_rate_all_calls_are_made(driven: Driven) -> None:
    found = driven(Job("statement", ("SQL",), 0, 0, Rate(per_second=400, seconds=0.05)), Clients(threads=2))
    assert found.schedule is not None
    assert found.latency.count + found.schedule.dropped == 20


def test_uvloop_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dbbench.engine.awaited.find_spec", lambda _: None)
    NullAsync.available_with({"loop": "asyncio"})
    with pytest.raises(Unavailable, match="uvloop is missing") as raised:
        NullAsync.available_with({"loop": "uvloop"})
    assert raised.value.install == 'pip install "dbbench[uvloop]"'
