"""What becomes of hosts that are lost, say nothing or can't start a process: with agents that answer at once, and a clock."""

import asyncio
import errno
import subprocess
import tempfile
from collections.abc import Callable
from itertools import count
from typing import Any
from unittest.mock import Mock

import pytest

from dbbench.cluster import agent
from dbbench.cluster.leased import HOST_REPLY, HostOrder, HostReply
from dbbench.cluster.place import Place
from dbbench.errors import UserError
from dbbench.loadgen.job import ClientFailed


class Time:
    """A clock that goes on only while somebody sleeps."""

    def __init__(self, most: float = 1_000.0) -> None:
        self.now, self._end, self._pause = 348_123.0, 348_123.0 + most, asyncio.sleep

    async def sleep(self, seconds: float) -> None:
        self.now += seconds
        assert self.now < self._end, "this would go on for ever"
        await self._pause(0)


@pytest.fixture
def time_here(monkeypatch: pytest.MonkeyPatch) -> Time:
    time = Time()
    hosts = pytest.importorskip("dbbench.cluster.hosts")
    monkeypatch.setattr(hosts, "monotonic", lambda: time.now)
    monkeypatch.setattr(asyncio, "sleep", time.sleep)
    return time


class Remote:
    """An agent that answers at once; what its process says, `poll` returns."""

    def __init__(self, poll: Callable[[], list[Any]], start: Callable[..., None] = lambda *_: None) -> None:
        self._poll, self._start = poll, start

    async def start(self, *order: Any) -> None:
        self._start(*order)

    async def poll(self) -> list[Any]:
        return self._poll()

    async def finish(self) -> None:
        pass

    async def idle(self) -> bool:
        return True


def hosts_of(*agents: Any) -> Any:
    """Hosts h1, h2 and so on with these agents, elsewhere."""
    module = pytest.importorskip("dbbench.cluster.hosts")
    found = module.Hosts(Place("tls://head:8786", len(agents)))
    found._client = Mock(sync=lambda work, *arguments: asyncio.run(work(*arguments)))
    found.hosts = [module.Host(f"h{number}", f"tls://{number}:1", each) for number, each in enumerate(agents, 1)]
    return found


def reply(**what: Any) -> str:
    return HOST_REPLY.dump_json(HostReply(**what)).decode()


def dies(time: Time, seconds: float) -> Callable[[], list[Any]]:
    """Says nothing, until its host can't be reached."""
    end = time.now + seconds

    def poll() -> list[Any]:
        if time.now >= end:
            raise OSError("Unable to contact Actor's worker")
        return []

    return poll


def test_a_host_that_is_lost_while_it_is_looked_at_is_lost_after_the_time_since(time_here: Time) -> None:
    hosts = hosts_of(Remote(list), Remote(dies(time_here, 12)))
    with pytest.raises(UserError, match=r"host h2 lost after 1[23] s"):
        hosts.check({"null": dict})


def test_a_host_that_is_lost_is_lost_after_the_time_since_its_own_order(time_here: Time) -> None:
    """Another was given one in the meantime, again and again."""
    polls = count(1)
    quick = Remote(lambda: [] if next(polls) % 3 else [reply(done=True), agent.Ended(0, "")])
    heard = Mock()
    orders = {number: agent.Sealed("") for number in range(50)}
    hosts_of(Remote(dies(time_here, 60)), quick).spread(orders, "program", heard)
    assert [call.args for call in heard.lost.call_args_list] == [(0, "host h1 lost after 60 s")]
    assert {call.args[1] for call in heard.heard.call_args_list} == {*range(50)}


def test_a_host_that_never_says_what_it_has_is_named_after_a_while(time_here: Time) -> None:
    """A driver may hang when it is imported."""
    ready = Remote(lambda: [reply(has={})])
    why = "host h2 has not said what it has for null within 60 s; `dbbench engines` there says whether its driver hangs"
    with pytest.raises(UserError, match=why):
        hosts_of(ready, Remote(list)).check({"null": dict})
    assert time_here.now < 348_123 + 65


@pytest.mark.parametrize("full", [(tempfile, "TemporaryFile"), (subprocess, "Popen")])
def test_a_host_that_can_not_start_a_process_is_not_lost(
    full: tuple[Any, str], time_here: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor are the others then, to which a round of it would be given."""
    monkeypatch.setattr(*full, Mock(side_effect=OSError(errno.ENOSPC, "No space left on device", "/tmp/x")))
    begun, listener = time_here.now, Mock()
    there = agent.Agent()
    hosts = hosts_of(Remote(there.poll, there.start))
    why = r"on host h1: the process of its {} can't be started: \[Errno 28\] No space left on device: '/tmp/x'"
    with pytest.raises(UserError, match=why.format("clients")):
        hosts.check({"null": dict})
    with pytest.raises(ClientFailed, match=why.format("round")):
        hosts.spread({1: HostOrder("null").sealed}, agent.CLIENTS, listener)
    listener.lost.assert_not_called()
    assert there.idle()
    assert time_here.now < begun + 5
