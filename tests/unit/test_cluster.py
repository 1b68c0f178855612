"""Clients on several hosts: their agents, whose clock is right, one result of all, and what is said of the hosts."""

import os
import pickle
import queue
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock, Mock

import numpy as np
import psutil
import pytest

from dbbench.analysis.remarks import limits_of_hosts
from dbbench.analysis.row import Row
from dbbench.cluster import agent
from dbbench.cluster import host as process_of_host
from dbbench.cluster.alike import differences, identity
from dbbench.cluster.clock import Clock, Reading, best
from dbbench.cluster.leased import HostOrder, HostReply
from dbbench.cluster.place import Place, parse, place
from dbbench.engine import registry
from dbbench.engine.probe import Probed
from dbbench.errors import UserError
from dbbench.loadgen.histogram import EXACT, PERCENTILES, Samples
from dbbench.loadgen.job import ClientTimings, together
from dbbench.report.conditions import host_notes
from dbbench.report.remarks import worded
from dbbench.results.outcome import Outcome
from dbbench.results.trial import StepResult
from dbbench.runs.over_hosts import again, look_at_hosts, refuse
from dbbench.suite.steps.base import Clients
from dbbench.suite.steps.contention import ContentionStep
from dbbench.suite.steps.keyvalue import KeyValueStep
from dbbench_plugins.null import Null
from tests.fabricated import Fake, fabricate
from tests.unit.bank import SUITE
from tests.unit.piped import piped
from tests.waiting import until

# Where
#: A host's clients, of which there are none, that wait for the moment of their start.
WAITING = """
import os, signal, time
from dbbench.cluster.agent import Agent
from dbbench.cluster.leased import HOST_REPLY, HostOrder
from dbbench.loadgen.job import ClientOrder, Job
from dbbench.suite.model import Tier

null = "dbbench_plugins.null:Null"
clients = ClientOrder(null, "", Tier.MEMORY, {}, Job("read", (), 0, 1), 1, 1, False)
agent = Agent()
agent.start(HostOrder(null, "", clients).sealed)
while not any(HOST_REPLY.validate_json(word).has for word in agent.poll()):
    time.sleep(0.01)
"""


@pytest.mark.parametrize(
    ("address", "count", "expected"),
    [
        ("local:2", None, Place("local:2", 2)),
        ("local:2", 2, Place("local:2", 2)),
        ("tls://head:8786", 4, Place("tls://head:8786", 4)),
        ("tls://[2001:db8::1]:8786", 4, Place("tls://[2001:db8::1]:8786", 4)),
        ("tcp://127.0.0.1:8786", 1, Place("tcp://127.0.0.1:8786", 1)),
        ("tcp://localhost:8786", 1, Place("tcp://localhost:8786", 1)),
        ("tcp://[::1]:8786", 1, Place("tcp://[::1]:8786", 1)),
    ],
)
def test_a_place(address: str, count: int | None, expected: Place) -> None:
    assert parse(address, count) == expected


@pytest.mark.parametrize(
    ("address", "count", "why"),
    [
        ("local:0", None, "1 to 1,000 hosts"),
        ("local:1001", None, "1 to 1,000 hosts"),
        ("local:2", 3, "omit --hosts"),
        ("local:", None, "neither local:N nor"),
        ("tls://head:8786", None, "needs --hosts"),
        ("tls://head", 2, "neither local:N nor"),
        ("tls://head:x", 2, "neither local:N nor"),
        ("tls://head:8786/x", 2, "neither local:N nor"),
        ("tls://me:secret@head:8786", 2, "no user or password"),
        ("tcp://10.0.0.1:8786", 2, "without TLS executes whatever"),
        ("tcp://localhost.example:8786", 2, "without TLS executes whatever"),
        ("http://head:8786", 2, "neither local:N nor"),
    ],
)
def test_no_place(address: str, count: int | None, why: str) -> None:
    with pytest.raises(UserError, match=why):
        parse(address, count)


def test_hosts_of_nothing_are_refused() -> None:
    assert place(None, None) is None
    with pytest.raises(UserError, match="--hosts needs --cluster"):
        place(None, 2)


def test_a_step_for_one_client_stays_alone() -> None:
    step = KeyValueStep(kind="keyvalue", name="s", title="S", operation="scan")
    assert step.over_hosts(4) is step


def test_clients_and_a_pool_are_of_all_hosts() -> None:
    step = ContentionStep(
        kind="contention", name="c", title="C", table="T", pool=4, clients={"threads": 2, "processes": 4}
    )
    assert (spread := step.over_hosts(2)).pool == 8
    assert spread.clients == Clients(threads=2, processes=8)


def test_a_swept_step_says_how_many_clients_there_are() -> None:
    step = KeyValueStep(kind="keyvalue", name="r", title="R", operation="read", clients=[1, 2])
    assert [each.over_hosts(3).title for each in step.expanded()] == ["R, 3 clients", "R, 6 clients"]
    assert [each.over_hosts(3).name for each in step.expanded()] == ["r-1", "r-2"]


def test_a_suite_over_hosts_is_still_a_suite() -> None:
    counts = [step.concurrent_clients.count for each in SUITE.scenarios for step in each.steps]
    spread = [step.concurrent_clients.count for each in SUITE.over_hosts(2).scenarios for step in each.steps]
    assert counts != spread
    assert all(more in (one, 2 * one) for one, more in zip(counts, spread, strict=True))


@pytest.mark.parametrize(
    ("asked", "urls", "why"),
    [
        (["sqlite"], ["postgresql"], "sqlite has no --url"),
        ([], [], "name it with --url"),
        (["null"], [], "name it with --url"),
    ],
)
def test_an_engine_that_hosts_can_not_reach_is_refused(asked: list[str], urls: list[str], why: str) -> None:
    with pytest.raises(UserError, match=why):
        refuse(SUITE, asked, urls)


def test_a_scheduler_that_a_run_directory_names_is_quoted(tmp_path: Path) -> None:
    run = fabricate(tmp_path / "run", {"sqlite": Fake("SQLite")}, rounds=1)
    run.manifest = run.manifest.model_copy(update={"cluster": "tls://a:1;id", "hosts": 2})
    with pytest.raises(UserError, match=r"add --cluster 'tls://a:1;id' --hosts 2$"):
        again(run, None)


def test_a_suite_without_clients_is_refused() -> None:
    alone = [
        each.model_copy(update={"steps": tuple(step for step in each.steps if step.kind == "load")})
        for each in SUITE.scenarios
    ]
    with pytest.raises(UserError, match="no step of bank has clients"):
        refuse(SUITE.model_copy(update={"scenarios": tuple(alone)}), [], ["postgresql"])


# Clocks


def exchange(sent: int, there: int, back: int, offset: int) -> tuple[int, int, int]:
    """A call that takes so long each way; the other clock is ahead by `offset`."""
    return sent, sent + there + offset, sent + there + back


def test_the_shortest_exchange_says_most() -> None:
    offset = 1_000_000_007
    calls = [exchange(0, 900, 100, offset), exchange(5_000, 60, 40, offset), exchange(9_000, 10, 500, offset)]
    reading = best(calls)
    assert reading.bound == 50
    assert abs(reading.offset - offset) <= reading.bound


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 1.0])
@pytest.mark.parametrize("offset", [-(10**15), 0, 10**15])
def test_the_bound_holds_the_truth_however_unlike_the_ways_are(share: float, offset: int) -> None:
    trip = 700_001
    reading = best([exchange(123, round(trip * share), trip - round(trip * share), offset)])
    assert abs(reading.offset - offset) <= reading.bound


def test_drift_is_taken_in_even_parts() -> None:
    clock = Clock(Reading(0, 100, 5), Reading(1_000_000, 300, 7))
    assert clock.bound == 7
    assert clock.here(100) == 0
    assert abs(clock.here(500_000 + 200) - 500_000) <= 1
    assert clock.here(1_000_000 + 300) == 1_000_000


def test_two_readings_at_one_moment_have_no_drift() -> None:
    assert Clock(Reading(10, 100, 5), Reading(10, 104, 5)).here(110) == 10


# One result


def of(times: np.ndarray, begin: int, late: int = 0) -> ClientTimings:
    found = ClientTimings(begin=begin, end=begin + int(times.sum()), late=late)
    found.service.record(times)
    return piped(found)  # as it comes from a host


@pytest.mark.parametrize("count", [20_000, 3 * EXACT])
def test_percentiles_of_merged_hosts_are_those_of_all_calls(count: int) -> None:
    draw = np.random.default_rng(7)
    parts = [(draw.lognormal(12 + host / 3, 1, count)).astype(np.int64) for host in range(4)]
    merged = together([of(part, begin=1_000) for part in parts])
    pooled = np.sort(np.concatenate(parts))
    assert merged.service.count == len(pooled)
    assert merged.service.total == int(pooled.sum())
    for percentile in PERCENTILES:
        rank = round(percentile * 1_000) * len(pooled) // 100_000  # the counts are round: no rest
        true = float(pooled[rank - 1])
        found = merged.service.percentile(percentile)
        assert found is not None
        assert abs(found / true - 1) < 0.001, percentile


def test_the_latest_start_and_the_whole_span_count() -> None:
    one, two = np.array([50], np.int64), np.array([80], np.int64)
    merged = together([of(one, 100, late=3), of(two, 90, late=9)])
    assert (merged.begin, merged.end, merged.late) == (90, 170, 9)


def test_samples_that_were_merged_in_another_order_are_the_same() -> None:
    draw = np.random.default_rng(8)
    parts = [draw.integers(1, 10**7, 5_000) for _ in range(3)]

    def whole(order: list[np.ndarray]) -> dict[str, Any]:
        samples = Samples()
        for part in order:
            samples.merge(of(part, 0).service)
        return samples.to_json()

    assert whole(parts) == whole(parts[::-1])


# Hosts that differ


def test_what_differs_is_named() -> None:
    here = {"Python": "CPython 3.12.1", "dbbench": "1.0", "psycopg": "3.3"}
    there = {"Python": "CPython 3.12.1", "dbbench": "0.9"}
    assert list(differences(here, there)) == [
        "dbbench is 0.9 there and 1.0 here",
        "psycopg is missing there and 3.3 here",
    ]


def test_code_that_was_changed_in_place_differs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "somebodys_plugin"
    package.mkdir()
    (package / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    kind = type("Other", (Null,), {"__module__": "somebodys_plugin"})
    before = identity(kind)
    (package / "__init__.py").write_text("FASTER = True")
    assert [line.partition(" is ")[0] for line in differences(before, identity(kind))] == [
        "the code of somebodys_plugin"
    ]


@pytest.mark.parametrize("name", ["null", "sqlite+orm"])
def test_a_host_says_what_it_has_of_an_engine_or_an_access_layer(name: str, tmp_path: Path) -> None:
    pytest.importorskip("sqlalchemy")
    line = Mock()
    process_of_host.serve(HostOrder(name), line, tmp_path)
    line.say.assert_called_once_with(HostReply(has=identity(registry.find(name))))


def test_hosts_need_only_what_engines_that_run_need(monkeypatch: pytest.MonkeyPatch) -> None:
    hosts = MagicMock()
    monkeypatch.setattr(pytest.importorskip("dbbench.cluster.hosts"), "Hosts", hosts)
    found = [Probed("a", "available", "null"), Probed("b", "available", "null"), Probed("c", "broken", "c")]
    look_at_hosts(Place("tls://head:8786", 2), found)
    (asked,) = hosts().__enter__().check.call_args.args
    assert [*asked] == ["null"]
    look_at_hosts(Place("local:2", 2), found)
    hosts().__enter__().check.assert_called_once()


# Secrets


def test_what_is_sealed_is_not_shown() -> None:
    sealed = HostOrder("null", "postgresql://me:geheim-4711@host/db").sealed
    assert "geheim" not in f"{sealed} {sealed!r} {[sealed]}"
    assert pickle.loads(pickle.dumps(sealed)) == sealed
    assert "geheim" in sealed.text


# What is said of them


def host(**more: Any) -> dict[str, Any]:
    known = {"name": "h1", "clients": 2, "calls": 10, "per_second": 1234.0, "busy": 0.5, "round_trip": 0.001}
    return {**known, "bound": 0.0005, "late": 0.0001, "cpu": "A CPU", "threads": 2, "kernel": "6.1", **more}


def step(*each: dict[str, Any], span: float = 10.0) -> StepResult:
    return StepResult(name="s", outcome=Outcome.OK, facts={"cluster": {"hosts": list(each), "span": span}})


def test_hosts_at_rest_need_no_warning() -> None:
    assert list(limits_of_hosts([step(host(), host(busy=None)), StepResult(name="s", outcome=Outcome.OK)])) == []


def test_a_busy_host_is_named_with_its_rounds() -> None:
    (found,) = limits_of_hosts([step(host()), step(host(), host(name="h2", busy=0.93))])
    assert worded(found) == "a host of the clients was at 93% CPU (h2): it may limit the rate (in 1 of 2 rounds)"


def test_a_clock_that_is_known_too_badly_is_told() -> None:
    (found,) = limits_of_hosts([step(host(bound=0.02), span=1.0), step(host(bound=0.011), span=1.0), step(host())])
    assert worded(found) == "the hosts' clocks are known to within 2.0% of the time measured (in 2 of 3 rounds)"


def row_of(*each: dict[str, Any]) -> Row:
    rounds = ({"cluster": {"hosts": list(each)}},)
    return Row("s", "q", "pg", "PG", Outcome.OK, value=1.0, rounds=rounds)  # type: ignore[arg-type]


def test_few_hosts_are_told_one_by_one() -> None:
    (words,) = host_notes([row_of(host(), host(name="h2", clients=1, busy=None))])
    assert words == (
        "PG, clients on 2 hosts (A CPU, kernel 6.1): "
        "h1 2 clients, 1,234 calls/s, CPU 50%, started 100 µs late, clock within 500 µs (round trip 1.00 ms); "
        "h2 1 client, 1,234 calls/s, CPU unknown, started 100 µs late, clock within 500 µs (round trip 1.00 ms)."
    )


def test_many_hosts_are_told_by_their_ends() -> None:
    (words,) = host_notes([row_of(*(host(name=f"h{n}", per_second=1000.0 + n) for n in range(9)))])
    assert words.startswith(
        "PG, clients on 9 hosts (A CPU, kernel 6.1): each 2 clients, 1,000 to 1,008 calls/s, CPU 50%,"
    )


def test_without_a_cluster_nothing_is_said() -> None:
    assert list(host_notes([Row("s", "q", "pg", "PG", Outcome.OK, value=1.0, rounds=({},))])) == []


def test_facts_of_hosts_that_make_no_sense_are_refused() -> None:
    with pytest.raises(ValueError, match="busy"):
        step(host(busy=7))
    with pytest.raises(ValueError, match="hosts"):
        step()


def test_a_host_of_this_machine_has_the_number_of_its_process() -> None:
    """By which it is killed, should it be lost."""
    hosts = pytest.importorskip("dbbench.cluster.hosts").Hosts(Place("local:11", 11))
    numbers = [10, 2, 11, *range(3, 10), 1]
    workers = {f"tls://127.0.0.1:{9000 + number}": {"name": f"h{number}", "nthreads": 1} for number in numbers}
    hosts._client = Mock(scheduler_info=lambda n_workers: {"workers": workers})
    assert {each.name: each.address for each in hosts._placed()} == {
        f"h{number}": f"tls://127.0.0.1:{9000 + number}" for number in numbers
    }


@pytest.mark.parametrize("lacks", ["scheduler", "workers"])
def test_a_cluster_without_dbbench_is_reported(lacks: str, monkeypatch: pytest.MonkeyPatch) -> None:
    hosts, client = pytest.importorskip("dbbench.cluster.hosts"), MagicMock()
    client.__enter__.return_value = client
    client.scheduler_info.return_value = {"workers": {"tls://a:1": {"name": "a", "nthreads": 1}}}
    call = client.register_plugin if lacks == "scheduler" else client.submit.return_value.result
    call.side_effect = ModuleNotFoundError("No module named 'dbbench'")
    monkeypatch.setattr(hosts, "Client", lambda *_, **__: client)
    why = "tls://head:8786: No module named 'dbbench'; scheduler and workers need the same dbbench, with the extra"
    with pytest.raises(UserError, match=why), hosts.Hosts(Place("tls://head:8786", 1)):
        pass


@pytest.mark.parametrize("end", ["agent.finish()", "del agent", "os.kill(os.getpid(), signal.SIGKILL)"])
def test_a_host_that_is_no_longer_wanted_leaves_no_folder(end: str, tmp_path: Path) -> None:
    script = [sys.executable, "-c", WAITING + f"assert os.listdir({str(tmp_path)!r})\n" + end]
    status = subprocess.run(script, env={**os.environ, "TMPDIR": str(tmp_path)}, check=False).returncode
    assert status == (-9 if "SIGKILL" in end else 0)
    assert until(lambda: not list(tmp_path.iterdir()), 30)


def test_a_host_that_is_no_longer_wanted_ends_though_a_child_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[int] = []
    gone, there = Mock(), Mock()
    gone.kill.side_effect = psutil.NoSuchProcess(1)
    monkeypatch.setattr(psutil.Process, "children", lambda *_, **__: [gone, there])
    monkeypatch.setattr(process_of_host, "obey", lambda _work, unwanted: unwanted())
    monkeypatch.setattr(os, "_exit", ended.append)
    process_of_host.main()
    there.kill.assert_called_once_with()
    assert ended[0] == 1


def test_a_secret_that_begins_before_what_is_reported_is_hidden_whole() -> None:
    """Of what a process printed only the last characters are reported."""
    printed = f"print('x' * 100 + 'a-long-secret' + 'y' * {agent._MOST_PRINTED - 6}, file=__import__('sys').stderr)"
    said: queue.SimpleQueue[str | agent.Ended] = queue.SimpleQueue()
    with tempfile.TemporaryFile("w+") as error:
        child = subprocess.Popen([sys.executable, "-c", printed], stdout=subprocess.PIPE, stderr=error, text=True)
        agent._listen(child, said, error, ["a-long-secret"])
    ended = said.get()
    assert isinstance(ended, agent.Ended)
    assert "secret" not in ended.printed
    assert ended.printed.endswith("y\n")
