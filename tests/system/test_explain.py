"""`explain`: one more trial that never counts, its plans, profile and use; and what it refuses, a line each."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dbbench.results.trial_files import Watched
from dbbench.runs import explain
from dbbench.testing.contract import usable
from dbbench.testing.suite_text import suite_text
from tests.conftest import TESTS, Dbbench, run_dbbench, run_here, run_suite
from tests.trials_here import trials_here

SMALL = TESTS / "unit" / "small.yaml"
RECORDS = suite_text(
    "records",
    "records: {count: 2000}",
    """
    - {kind: keyvalue, name: fill, title: Fill, operation: insert, transaction: 1000}
    - {kind: keyvalue, name: reads, title: Reads, operation: read, order: random, clients: {processes: 2}, duration: 2s}
    """,
    durability="process",
)
PY_SPY = shutil.which("py-spy", path=str(Path(sys.executable).parent))

pytestmark = pytest.mark.matrix


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run of two engines, one of which dies in a join with an ORDER BY."""
    made = tmp_path_factory.mktemp("explained")
    text = SMALL.read_text("utf-8")
    size = "      - {kind: size, name: size, title: Size}\n    charts:"
    (made / "small.yaml").write_text(
        text.replace("    charts:", size).replace("C.ParentId\n", "C.ParentId ORDER BY C.Id\n")
    )
    run_suite(made, "small.yaml", ("sqlite", "faulty-crashes"))
    return made


@pytest.mark.skipif(not PY_SPY, reason="py-spy is not installed: pip install 'dbbench[profile]'")
def test_a_step_is_explained_and_the_run_stays_as_it_is(folder: Path) -> None:
    before = {path: path.read_bytes() for path in (folder / "run").rglob("*") if path.is_file()}
    done = run_dbbench(folder, "explain", "run", "--step", "join", "-e", "sqlite", "--seconds", "2", status=0)
    said = done.stdout
    assert "one more trial of each engine, watched, which doesn't count" in said
    assert "SEARCH P USING INTEGER PRIMARY KEY" in said
    assert "CPU time of a call" in said
    assert "python: CPU" in said
    out = folder / "run" / "explain" / "join"
    found = json.loads((out / "sqlite.speedscope.json").read_text("utf-8"))
    assert any("sqlite3_step" in frame["name"] for frame in found["shared"]["frames"])
    assert (out / "sqlite-flame.svg").read_text("utf-8").startswith("<svg")
    assert "processors used" in (out / "use.svg").read_text("utf-8")
    watched = Watched.read(out / "sqlite")
    assert watched.calls >= 1
    assert {watched.names[sample.process] for sample in watched.samples} == {watched.names[watched.samples[0].process]}
    assert not (out / "sqlite" / "work").exists()
    assert {path: path.read_bytes() for path in before} == before
    again = run_here(folder, "report", "run", "--format", "csv", plugins=("faulty",))
    assert "explain" not in again.stdout


def looks_at_others() -> bool:
    """Whether py-spy is permitted to look at a process that it hasn't started and that names no observer."""
    other = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        look = [str(PY_SPY), "dump", "--pid", str(other.pid)]
        return bool(PY_SPY) and subprocess.run(look, capture_output=True, check=False).returncode == 0
    finally:
        other.communicate(b"\n")


def test_client_processes_are_profiled(tmp_path: Path, dbbench: Dbbench) -> None:
    if not looks_at_others():
        pytest.skip("py-spy, and the right to trace any process: root with SYS_PTRACE, or kernel.yama.ptrace_scope=0")
    with trials_here():
        run = run_suite(tmp_path, RECORDS, ("sqlite",), status=None)

    def clients_are_seen(folder: str) -> bool:
        dbbench("explain", "run", "--step", "reads", "--seconds", "2", status=0)
        seen = (run / "explain" / folder / "sqlite/profile.txt").read_text("utf-8").splitlines()
        return any("dbbench.loadgen.process" in line and "(dbbench/loadgen/loops.py" in line for line in seen)

    # On a busy machine the clients may be over before py-spy, which looks for new processes now and then, has met them.
    assert any(map(clients_are_seen, ("reads", "reads-2", "reads-3")))


def test_a_process_that_ends_while_it_is_watched_leaves_what_was_seen(folder: Path) -> None:
    done = run_dbbench(
        folder, "explain", "run", "--step", "join", "-e", "faulty-crashes", "--seconds", "1", plugins=("faulty",)
    )
    assert done.returncode == 1, done.stdout + done.stderr
    said = " ".join(done.stdout.split())
    assert "crashed: killed by SIGSEGV" in said
    assert "ended while it was watched; what was seen until then is kept" in said
    assert "Traceback" not in done.stdout + done.stderr


def test_the_processes_of_a_private_server_are_seen_and_its_own_counts_of_waits(
    tmp_path: Path, dbbench: Dbbench
) -> None:
    usable("mysql")
    with trials_here():
        run = run_suite(tmp_path, str(SMALL), ("mysql",), status=0)
    done = dbbench("explain", "run", "--step", "join", "--seconds", "1", status=0)
    assert "Innodb_row_lock_waits 0" in done.stdout
    watched = Watched.read(run / "explain" / "join" / "mysql")
    assert len({*watched.names.values()}) == 2  # the worker and its server
    assert "SIMPLE" in done.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--step", "joni", "-e", "sqlite"], "which small doesn't have; did you mean 'join'?"),
        (["--step", "join", "-e", "sqlit"], "has no figures of; did you mean 'sqlite'?"),
        (["--step", "size", "-e", "sqlite"], "is a size, which calls nothing"),
        (["--step", "join", "-e", "sqlite", "-e", "sqlite"], "one, or two to compare"),
    ],
)
def test_what_can_not_be_explained_is_refused_in_a_line(
    folder: Path, dbbench_here: Dbbench, words: list[str], said: str
) -> None:
    done = dbbench_here("explain", "run", *words, folder=folder, status=2)
    assert said in done.stderr


def test_a_run_of_another_machine_is_not_explained(folder: Path, tmp_path: Path, dbbench_here: Dbbench) -> None:
    shutil.copytree(folder / "run", tmp_path / "run")
    manifest = json.loads((tmp_path / "run" / "run.json").read_text("utf-8"))
    manifest["machine"]["cpu"] = "Elbrus"
    (tmp_path / "run" / "run.json").write_text(json.dumps(manifest), "utf-8")
    done = dbbench_here("explain", "run", "--step", "join", "-e", "sqlite", status=2)
    assert "can't be explained here: CPU was Elbrus then" in done.stderr


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("", "no profile: py-spy is missing; pip install 'dbbench[profile]'"),
        ("forbidden", "py-spy could not look: Error: Permission denied; "),
    ],
)
def test_without_a_profiler_the_rest_is_shown(
    folder: Path, tmp_path: Path, dbbench_here: Dbbench, monkeypatch: pytest.MonkeyPatch, program: str, said: str
) -> None:
    forbidden = tmp_path / "py-spy"
    forbidden.write_text("#!/bin/sh\necho 'Error: Permission denied' >&2\nexit 1\n")
    os.chmod(forbidden, 0o755)
    monkeypatch.setattr(explain, "_program", lambda name: str(forbidden) if program and name == "py-spy" else "")
    done = dbbench_here("explain", "run", "--step", "join", "-e", "sqlite", "--seconds", "0.5", folder=folder, status=0)
    assert said in done.stdout
    assert "SEARCH P USING INTEGER PRIMARY KEY" in done.stdout
    assert "python: CPU" in done.stdout
