"""Libraries for .NET: named by their users, of another kind, faulty, and what is left of them after a kill."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dbbench.datasets.records import RecordSet
from dbbench.engine import registry
from dbbench.engine.base import Setup
from dbbench.engine.offered import prepared
from dbbench.errors import Unavailable, Unsupported
from dbbench.runs.begin import new_run
from dbbench.runs.request import Request
from dbbench.runs.runner import run_trials
from dbbench.suite.dataset import Records
from dbbench.suite.model import Tier
from dbbench.testing.contract import missing, usable
from dbbench.testing.suite_text import suite_text
from dbbench_plugins.dotnet.engine import DotNetEngine
from tests import dotnet
from tests.conftest import Dbbench, Opened, environment, run_dbbench
from tests.trials_here import without_null_engine

pytestmark = pytest.mark.matrix

STEPS = """
- {kind: keyvalue, name: insert, title: Insert, operation: insert, order: random}
- {kind: keyvalue, name: read, title: Read, operation: read, order: random}
"""
#: Inserts records and ends as kill -9 would have it, without a word to anybody.
KILLED = """
import os, sys
from pathlib import Path
from dbbench.engine import registry
from dbbench.engine.base import Setup
from dbbench.suite.model import Tier
engine = registry.load(sys.argv[1])(Setup(Path(sys.argv[2]), Tier.PROCESS))
engine.open()
insert = engine.connect().prepare_insert()
for number in range(50):
    insert(b"key %12d" % number, b"value")
os.kill(os.getpid(), 9)
"""


@pytest.fixture(autouse=True)
def _runtime() -> None:
    usable("dotnet-dictionary")
    if dotnet.compiler() is None:
        missing("dotnet-dictionary", "there is no mcs; apt install mono-devel")


@pytest.fixture
def assemblies(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    """The stand-ins, named in the environment."""
    made = {name: dotnet.assembly(name, tmp_path_factory.getbasetemp()) for name in dotnet.SOURCES}
    for name, path in made.items():
        monkeypatch.setenv(f"DBBENCH_ASSEMBLY_{name.upper()}", str(path))
    return made


def test_an_assembly_that_nobody_named_is_asked_for(dbbench_here: Dbbench) -> None:
    told = dbbench_here("engines", "bplustree").stdout
    assert "unavailable" in told
    assert "--set bplustree.assembly=PATH" in told
    assert "DBBENCH_ASSEMBLY_BPLUSTREE" in told


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("nowhere.dll", "there is no assembly"),
        ("text.dll", "can't be loaded"),
        ("another", "has no type CSharpTest.Net"),
    ],
)
def test_an_assembly_that_is_not_the_library_is_refused(
    given: str, told: str, assemblies: dict[str, Path], opened: Opened, tmp_path: Path
) -> None:
    (tmp_path / "text.dll").write_text("no assembly")
    named = str(assemblies["stsdb"] if given == "another" else tmp_path / given)
    with pytest.raises(Unavailable, match=told):
        opened("bplustree", Tier.MEMORY, assembly=named).connect()


@pytest.mark.parametrize(
    ("name", "library", "fault", "told"),
    [
        ("bplustree", "bplustree", "", "available"),
        ("raptordb", "stsdb", "", "has no type RaptorDB.RaptorDB"),
        ("bplusdotnet", "bplusdotnet", "OLDER", "has no BplusDotNet.BplusTreeBytes.NoCulture"),
        ("stsdb", "stsdb", "UNPATCHED", "can't keep records: Expression must be writeable"),
        ("stsdb", "stsdb", "UNSORTED", "'IsRed' is not a member of type 'Node'"),
    ],
)
def test_a_wrong_or_unpatched_library_is_told_at_engines(
    name: str,
    library: str,
    fault: str,
    told: str,
    dbbench_here: Dbbench,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = dotnet.assembly(library, tmp_path_factory.getbasetemp(), fault)
    monkeypatch.setenv(f"DBBENCH_ASSEMBLY_{name.upper()}", str(made))
    said = " ".join(dbbench_here("engines", name).stdout.split())
    assert told in said
    assert ("docs/engines/dotnet.md" in said) == bool(told != "available")


def test_a_runtime_that_is_not_here_or_not_the_first_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOTNET_ROOT", str(tmp_path))
    (tmp_path / "shared").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path))
    plugin = registry.load("dotnet-dictionary")
    with pytest.raises(Unavailable, match=r"no \.NET here"):
        plugin.available_with({"runtime": "coreclr"})
    monkeypatch.undo()
    engine = plugin(Setup(tmp_path, Tier.MEMORY))
    engine.open()
    monkeypatch.setattr("dbbench_plugins.dotnet.host.find", lambda asked: asked)
    other = plugin(Setup(tmp_path, Tier.MEMORY, {"runtime": "mono" if "Mono" not in engine.runtime else "coreclr"}))
    with pytest.raises(Unsupported, match="one runtime for a process"):
        other.open()


Ran = Callable[..., dict[tuple[str, str], tuple[str, str]]]


@pytest.fixture
def ran(tmp_path: Path) -> Ran:
    """Runs the suite: outcome and detail of each step and engine."""

    def run(*engines: str, count: int, key_bytes: int, **options: dict[str, str]) -> dict[tuple[str, str], Any]:
        suite = tmp_path / "small.yaml"
        data = f"records: {{count: {count}, key_bytes: {key_bytes}, key_order: scattered, value_bytes: 20}}"
        suite.write_text(suite_text("small", data, STEPS, durability="memory"))
        ready = new_run(Request(str(suite), engines, rounds=1, options=options, out=tmp_path / str(count)))
        run_trials(without_null_engine(ready))
        return {
            (step.name, result.engine_name): (step.outcome, step.detail)
            for result in ready.run.results()
            for step in result.steps
        }

    return run


def test_a_library_is_run_with_keys_of_8_bytes(ran: Ran, assemblies: dict[str, Path]) -> None:
    """Which are numbers to it, if it has numbers; the kit has those of 16 bytes, and of 512."""
    found = ran(*dotnet.SOURCES, count=500, key_bytes=8)
    steps = [(step, name) for step in ("insert", "read") for name in dotnet.SOURCES]
    assert {each: found[each] for each in steps} == dict.fromkeys(steps, ("ok", ""))


def test_a_library_that_throws_or_forgets_is_told(
    ran: Ran, assemblies: dict[str, Path], tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """RaptorDB has no scan: more records than one page has are read one by one, and one that is lost is missed."""
    found = ran("raptordb", "dotnet-dictionary", count=10_500, key_bytes=16)
    assert found["insert", "raptordb"] == found["insert", "dotnet-dictionary"] == ("ok", "")
    for fault, outcome in {
        "FORGETFUL": ("wrong", "is not there"),
        "BROKEN": ("failed", "StoreFailed: System.IO.InvalidDataException: broken at 500"),
    }.items():
        library = dotnet.assembly("raptordb", tmp_path_factory.getbasetemp(), fault)
        found = ran("raptordb", count=600 + len(fault), key_bytes=16, raptordb={"assembly": str(library)})
        assert found["insert", "raptordb"][0] == outcome[0]
        assert outcome[1] in found["insert", "raptordb"][1]
    (said,) = (tmp_path / "606").glob("trials/*-raptordb/stderr.txt")
    assert "at RaptorDB.RaptorDB`1[T].Set" in said.read_text(), "the stack of .NET is not kept"


def test_raptordb_has_no_other_keys_no_scan_and_no_delete_by_several(
    opened: Opened, assemblies: dict[str, Path]
) -> None:
    engine = opened("raptordb", Tier.MEMORY)
    with pytest.raises(Unsupported, match="keys of 8 or 16 bytes"):
        engine.create_store(Records(count=10, key_bytes=24))
    engine.create_store(Records(count=10, key_bytes=16))
    session = engine.connect()
    for operation in ("scan", "seek", "range"):
        with pytest.raises(Unsupported, match="Enumerate throws"):
            prepared(engine, session, operation)
    assert "no lock" in engine.one_client["delete"]


def test_what_was_committed_survives_a_kill(opened: Opened, tmp_path: Path, assemblies: dict[str, Path]) -> None:
    """In the tier `process`; and Mono leaves nothing in /dev/shm."""
    done = subprocess.Popen([sys.executable, "-c", KILLED, "bplustree", str(tmp_path)], env=environment())
    assert done.wait() == -signal.SIGKILL
    assert not Path(f"/dev/shm/mono.{done.pid}").exists()
    read = opened("bplustree").connect().prepare_read()
    assert all(read(b"key %12d" % number) == b"value" for number in range(50))


def test_what_loses_commits_promises_memory_alone(tmp_path: Path, assemblies: dict[str, Path]) -> None:
    """Crash checks of the originals lost acknowledged commits at the kills 3, 7 and 14. RaptorDB has no scan to look with."""
    for name in ("bplusdotnet", "stsdb", "raptordb", "raptordb1"):
        with pytest.raises(Unsupported, match=r"can't give durability process \(it offers: memory\)"):
            registry.load(name)(Setup(tmp_path, Tier.PROCESS))
    command = ["durability", "raptordb", "stsdb", "--tier", "memory", "--kills", "1", "--json", "checks.json"]
    run_dbbench(tmp_path, *command, status=0)
    for check in json.loads((tmp_path / "checks.json").read_text())["checks"]:
        assert check["verdict"] == "not promised", check
        assert check["kills"]["acknowledged"] == check["kills"]["lost"] > 0, check


def test_a_tree_is_opened_again_with_the_sizes_that_it_was_made_with(
    tmp_path: Path, assemblies: dict[str, Path]
) -> None:
    """Its node order comes from them; the library fails an assertion where a node is larger than it may be."""
    records = RecordSet(Records(count=60, key_bytes=8, value_bytes=20), 1)
    for turn in range(3):
        engine = registry.load("bplustree")(Setup(tmp_path, Tier.MEMORY))
        engine.open()
        if not turn:
            engine.create_store(records.shape)
        session = engine.connect()
        if not turn:
            prepared(engine, session, "insert_many")()(records.pairs(np.arange(60, dtype=np.uint64)))
        assert len(list(prepared(engine, session, "scan")()())) == 60
        session.close()
        engine.close()


def test_the_heap_of_a_store_is_what_its_records_take(opened: Opened) -> None:
    """Not the 45 MB of the process."""
    engine = opened("dotnet-dictionary", Tier.MEMORY)
    records = RecordSet(Records(count=2_000, key_bytes=16, value_bytes=1_000), 1)
    engine.create_store(records.shape)
    prepared(engine, engine.connect(), "insert_many")()(records.pairs(np.arange(2_000, dtype=np.uint64)))
    assert 2e6 < DotNetEngine.size(engine).heap < 6e6


def test_the_path_of_an_assembly_is_in_no_settings(opened: Opened, assemblies: dict[str, Path]) -> None:
    engine = opened("bplustree", cache="All")
    engine.create_store(Records(count=10, key_bytes=16))
    assert engine.settings()["StoragePerformance"] == "LogFileInCache"
    assert engine.settings()["cache"] == "All"
    assert os.sep not in str(engine.settings())
    assert "FakeBPlusTree" in engine.server_versions()["library"]


def test_a_process_ends_though_a_thread_that_called_mono_lives_on() -> None:
    """Mono's own clean-up would wait for it for ever."""
    usable("dotnet-dictionary", {"runtime": "mono"})
    program = """
import threading
from dbbench_plugins.dotnet import host
host.start("mono")
called = threading.Event()
def call():
    import System
    System.Environment.Version
    called.set()
    threading.Event().wait()
threading.Thread(target=call, daemon=True).start()
called.wait()
"""
    assert subprocess.run([sys.executable, "-c", program], timeout=1200, check=False).returncode == 0
