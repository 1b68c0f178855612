"""Raw files as a step runs them beside fio: the same blocks, as many of them, on the same disk, in turns."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import pytest

from dbbench.datasets.records import RecordSet
from dbbench.engine import registry
from dbbench.engine.base import Setup
from dbbench.errors import Unavailable
from dbbench.host import machine
from dbbench.host.collector import collector_off
from dbbench.suite.dataset import Records
from dbbench.suite.model import Tier
from dbbench.suite.steps.base import Clients
from dbbench.suite.steps.keyvalue import KeyValueStep
from dbbench.workloads import keyvalue
from dbbench.workloads.context import StepContext

#: Of fio's blocks a second: by one thread; by 128, writes and reads past the system's cache. The aims are 0.95, 0.8 and
#: 0.6; single runs of the first lie on both sides of it, those of the second below.
ONE, WRITES, READS = 0.85, 0.5, 0.6
#: By one thread where all is in memory: then Python's own calls count, and fio's map of a file is a bare copy.
CACHED, MAPPED = 0.65, 0.4
BLOCKS, SIZE, PAIRS = 100_000, 512, 5
#: By 128 through io_uring, of fio with as many threads, or with one that has as many on their way.
RINGS = 0.9
ONE_THREAD, THREADS, PROCESSES = Clients(), Clients(threads=128), Clients(threads=32, processes=4)


@dataclass(frozen=True)
class Case:
    """An engine, what it does how often, and what fio is told to do the same; `least` is None where it's only shown."""

    engine: str
    operation: str
    count: int
    fio: tuple[str, ...]
    clients: Clients = ONE_THREAD
    tier: Tier = Tier.POWER
    least: float | None = ONE

    def __str__(self) -> str:
        how = self.fio[0].rpartition("=")[2]
        return f"{self.engine} {self.operation} by {self.clients}, fio {how}"


PSYNC, DIRECT, DSYNC = ("--ioengine=psync",), ("--ioengine=psync", "--direct=1"), ("--sync=dsync",)
URING = ("--ioengine=io_uring", "--iodepth=1", "--direct=1")
DEEP = ("--ioengine=io_uring", "--iodepth=128", "--direct=1")
CASES = [
    Case("rawfile", "read", 100_000, PSYNC, least=CACHED),
    Case("rawfile", "update", 100_000, PSYNC, tier=Tier.PROCESS, least=CACHED),
    Case("rawfile", "update", 3_000, (*PSYNC, "--fdatasync=1")),
    Case("rawfile+mmap", "read", 100_000, ("--ioengine=mmap",), least=MAPPED),
    Case("rawfile+dsync", "update", 3_000, (*PSYNC, *DSYNC)),
    Case("rawfile+direct", "read", 10_000, DIRECT),
    Case("rawfile+direct", "update", 5_000, (*DIRECT, *DSYNC)),
    Case("io_uring", "read", 10_000, URING),
    Case("io_uring", "update", 5_000, (*URING, *DSYNC)),
    Case("rawfile+direct", "read", 51_200, DIRECT, PROCESSES, least=READS),
    Case("rawfile+direct", "update", 51_200, (*DIRECT, *DSYNC), PROCESSES, least=WRITES),
    Case("io_uring", "read", 51_200, DIRECT, THREADS, least=RINGS),
    Case("io_uring", "update", 51_200, (*DIRECT, *DSYNC), THREADS, least=RINGS),
    Case("io_uring", "read", 51_200, DEEP, THREADS, least=RINGS),
    Case("io_uring", "update", 51_200, (*DEEP, *DSYNC), THREADS, least=RINGS),
    Case("rawfile+direct", "read", 51_200, DIRECT, THREADS, least=None),
    Case("rawfile+direct", "update", 51_200, (*DIRECT, *DSYNC), THREADS, least=None),
]


@pytest.fixture
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[StepContext]:
    case: Case = request.getfixturevalue("case")
    if shutil.which("fio") is None:
        pytest.skip("fio is missing: apt install fio")
    if machine.file_system(tmp_path) in ("tmpfs", "ramfs"):
        pytest.skip("there is no disk here: give --basetemp")
    try:
        engine = registry.load(case.engine)(Setup(tmp_path, case.tier))
    except Unavailable as exc:
        pytest.skip(f"{case.engine}: {exc.reason}")
    records = RecordSet(Records(count=BLOCKS, value_bytes=SIZE), 1)
    engine.open()
    engine.create_store(records.shape)
    session = engine.connect()
    made = StepContext(engine, session, {}, None, {}, records=records)  # type: ignore[arg-type]
    insert = step("insert", BLOCKS, ONE_THREAD, transaction=1000)
    made.data.accept(insert, keyvalue.measure(insert, made))
    yield made
    session.close()
    engine.close()


def step(operation: str, count: int, clients: Clients, transaction: int = 1) -> KeyValueStep:
    order = "ascending" if operation == "insert" else "random"
    return KeyValueStep(
        kind="keyvalue", name="step", title="Step", operation=operation, count=count, order=order, clients=clients,
        transaction=transaction,
    )  # fmt: skip


def ours(case: Case, bench: StepContext) -> float:
    """Blocks a second, by what the step itself reports."""
    with collector_off():
        made = step(case.operation, case.count, case.clients)
        measured = keyvalue.measure(made, bench)
        bench.data.accept(made, measured)
        return measured.value or 0.0


def theirs(case: Case, path: Path) -> float:
    """Blocks a second, by what fio reports."""
    jobs = 1 if "--iodepth=128" in case.fio else case.clients.count
    done = subprocess.run(
        [
            "fio", "--name=blocks", f"--filename={path}", f"--bs={SIZE}", f"--size={BLOCKS * SIZE}", "--norandommap",
            f"--rw={'randread' if case.operation == 'read' else 'randwrite'}", f"--number_ios={case.count // jobs}",
            f"--numjobs={jobs}", "--thread", "--group_reporting", "--output-format=json", "--invalidate=0", *case.fio,
        ],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    (told,) = json.loads(done.stdout)["jobs"]
    return float(told["read" if case.operation == "read" else "write"]["iops"])


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_raw_file_keeps_up_with_fio(case: Case, bench: StepContext, tmp_path: Path) -> None:
    path = tmp_path / f"blocks.{SIZE}"
    assert os.path.getsize(path) == BLOCKS * SIZE
    pairs = []
    ours(case, bench), theirs(case, path)
    for number in range(PAIRS):
        if number % 2:
            other, own = theirs(case, path), ours(case, bench)
        else:
            own, other = ours(case, bench), theirs(case, path)
        pairs.append((own, other))
    ratios = sorted(own / other for own, other in pairs)
    own, other = (median(rates) for rates in zip(*pairs, strict=True))
    found = median(ratios)
    print(
        f"\n  {case!s:<55} {case.tier:<8} {own:>10,.0f}/s, fio {other:>10,.0f}/s, ratio {found:.2f}"
        f" ({ratios[0]:.2f} to {ratios[-1]:.2f}), load {os.getloadavg()[0]:.1f}"
    )
    if case.least is not None:
        assert found >= case.least
