"""What a cluster costs, and what hosts add: rates with and without it, from one host and from several."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from statistics import median
from urllib.parse import quote

import psutil
import pytest

from dbbench.engine import registry
from dbbench.engine.base import Engine, Setup
from dbbench.loadgen import clients
from dbbench.loadgen.job import Job
from dbbench.suite.model import Tier
from dbbench.suite.steps.base import Clients
from dbbench_plugins.null import Null
from tests.cluster import elsewhere

pytest.importorskip("distributed")
pytest.importorskip("cryptography")

from dbbench.cluster.hosts import Hosts
from dbbench.cluster.place import Place

LINEAR_AT_LEAST = 0.9
ALIKE_WITHIN = 0.02
PLATEAU_AT_LEAST = 0.9
PAIRS = int(os.environ.get("DBBENCH_PAIRS", "5"))
JOB = Job("statement", ("SELECT 1",), 0, 0, duration=2.0)
#: It keeps the server busy for longer than a client, so that what is asked about is the server's capacity.
HEAVY = Job("statement", ("SELECT count(*) FROM generate_series(1, 1000)",), 0, 0, duration=2.0)


@pytest.fixture
def null(tmp_path: Path) -> Iterator[Null]:
    engine = Null(Setup(tmp_path, Tier.MEMORY))
    engine.open()
    yield engine
    engine.close()


@contextmanager
def hosts(count: int, processors: Mapping[int, list[int]] | None = None) -> Iterator[Hosts]:
    """Hosts of this machine, each kept to some of its processors."""
    with Hosts(Place(f"local:{count}", count)) as found:
        mine = [each for each in psutil.Process().children() if "dbbench.cluster.local" in each.cmdline()]
        for number, process in enumerate(mine):
            if processors:
                process.cpu_affinity(processors[number])
        yield found


def rate(found: Hosts, engine: Engine, asked: Clients, job: Job = JOB) -> float:
    return found.drive(engine, engine.connect(), job, asked).per_second


def told(benchmark, what: str, rates: Mapping[int, float]) -> None:
    benchmark.pedantic(lambda: None, rounds=1)
    benchmark.extra_info[what] = {str(count): round(each) for count, each in rates.items()}
    print(f"\n  {what}: {', '.join(f'{count}: {each:,.0f}/s' for count, each in rates.items())}")


def test_the_null_engine_is_linear_up_to_the_processors(null: Null, benchmark) -> None:
    """Each host is kept to a processor of its own; medians over passes that alternate."""
    most = len(psutil.Process().cpu_affinity())
    counts = [count for count in (1, 2, 4) if count <= most]
    rates: dict[int, list[float]] = {count: [] for count in counts}
    for _ in range(PAIRS):
        for count in counts:
            with hosts(count, {number: [number % most] for number in range(count)}) as found:
                rates[count].append(rate(found, null, Clients(processes=count)))
    middle = {count: median(each) for count, each in rates.items()}
    told(benchmark, "null engine by hosts", middle)
    for count in counts:
        assert middle[count] >= LINEAR_AT_LEAST * count * middle[1]


def test_one_host_is_like_none(null: Null, benchmark) -> None:
    """Two processes of clients each, A B B A."""
    asked, ratios = Clients(processes=2), []
    with hosts(1) as found:
        for number in range(2 * PAIRS):
            if number % 2:
                without = clients.drive(null, null.connect(), JOB, asked).per_second
                ratios.append(rate(found, null, asked) / without)
            else:
                mine = rate(found, null, asked)
                ratios.append(mine / clients.drive(null, null.connect(), JOB, asked).per_second)
    told(benchmark, "one host against none, in thousandths", {1: median(ratios) * 1_000})
    assert abs(median(ratios) - 1) <= ALIKE_WITHIN


def test_a_server_keeps_its_capacity_under_more_hosts(tmp_path: Path, benchmark) -> None:
    """PostgreSQL keeps to one processor, the hosts, each in a network of its own, to the others."""
    mine = psutil.Process().cpu_affinity()
    if len(mine) < 2:
        pytest.skip("two processors or more are needed")
    (tmp_path / "data").mkdir(mode=0o700)
    server = registry.load("postgresql")(Setup(tmp_path / "data", Tier.PROCESS))
    server.open()
    try:
        for pid in server.processes():
            psutil.Process(pid).cpu_affinity(mine[:1])
        root = server.server.root.replace("self", str(os.getpid()))  # type: ignore[attr-defined]
        session = server.connect()
        for statement in ("CREATE ROLE me LOGIN PASSWORD 'mine'", "CREATE DATABASE mine OWNER me"):
            session.execute(statement)
        session.close()
        url = f"postgresql://me:mine@/mine?host={quote(f'{root}/socket', safe='')}"
        far = registry.load("postgresql+pq")(Setup(tmp_path, Tier.PROCESS, {}, url))
        far.open()
        rates: dict[int, list[float]] = {1: [], 2: [], 4: []}
        with elsewhere(tmp_path, ahead=0, clones=("",) * max(rates)) as (place, _):
            for process in psutil.Process().children(recursive=True):
                if "distributed.cli.dask_worker" in process.cmdline():
                    process.cpu_affinity(mine[1:])
            for _ in range(PAIRS):
                for count, each in rates.items():
                    with Hosts(replace(place, hosts=count)) as found:
                        each.append(rate(found, far, Clients(threads=2, processes=count), HEAVY))
        far.close()
    finally:
        server.close()
    middle = {count: median(each) for count, each in rates.items()}
    told(benchmark, "PostgreSQL by hosts", middle)
    assert middle[4] >= PLATEAU_AT_LEAST * max(middle.values())
