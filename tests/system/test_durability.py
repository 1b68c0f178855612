"""Real kills and real sync calls: the built-in engines keep their word, and those that lie are caught."""

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from dbbench.durability.check import VOLATILE
from dbbench.host import machine
from dbbench.runs import strace
from dbbench.testing.contract import required, usable
from dbbench.testing.suite_text import suite_text
from tests.conftest import Dbbench, run_dbbench, started
from tests.tables import one_table
from tests.trials_here import trials_here
from tests.waiting import of_run, until

pytestmark = pytest.mark.matrix

TierChecks = dict[tuple[str, str], dict[str, Any]]


@pytest.fixture(scope="module")
def traces() -> None:
    if reason := strace.unusable():
        if required("strace"):
            pytest.fail(f"strace is required: {reason}")
        pytest.skip(reason)


def run_check(folder: Path, *arguments: str, **variables: str) -> tuple[subprocess.CompletedProcess[str], TierChecks]:
    command = ["durability", *arguments, "--json", "checks.json"]
    done = run_dbbench(folder, *command, plugins=("faulty",), **variables)
    assert done.stderr == ""
    assert [path.name for path in folder.iterdir()] == ["checks.json"], "something is left"
    document = json.loads((folder / "checks.json").read_text())
    return done, {(check["engine"], check["tier"]): check for check in document["checks"]}


def power(folder: Path) -> str:
    """The verdict on an engine that does all it can for `power`: in memory that isn't enough."""
    return "declared" if machine.describe(folder)["file_system"] in VOLATILE else "passed"


@pytest.mark.usefixtures("traces")
def test_sqlite_keeps_every_tier(tmp_path: Path) -> None:
    done, checks = run_check(tmp_path, "sqlite", "--kills", "3", "--seed", "7")
    assert done.returncode == 0, done.stdout
    verdicts = {tier: check["verdict"] for (_, tier), check in checks.items()}
    assert verdicts == {"memory": "not promised", "process": "passed", "power": power(tmp_path)}
    for tier in ("process", "power"):
        kills = checks["sqlite", tier]["kills"]
        assert (kills["kills"], kills["lost"], kills["half"], kills["unreadable"]) == (3, 0, 0, "")
        assert 3 <= kills["acknowledged"] <= kills["found"] <= kills["acknowledged"] + 3
    assert checks["sqlite", "power"]["syncs"]["calls"]["fdatasync"] >= 50
    assert checks["sqlite", "process"]["syncs"]["calls"] == {}
    assert checks["sqlite", "power"]["settings"]["synchronous"] == "FULL"
    assert "seed 7, 3 kills each" in done.stdout
    assert "1.0 fdatasync" in done.stdout


@pytest.mark.usefixtures("traces")
@pytest.mark.parametrize(("engine", "call"), [("duckdb", "fdatasync"), ("firebird", "O_DSYNC write")])
def test_the_other_engines_keep_power(tmp_path: Path, engine: str, call: str) -> None:
    usable(engine)
    done, checks = run_check(tmp_path, engine, "--kills", "2", "--tier", "power", "--tier", "memory")
    assert done.returncode == 0, done.stdout
    assert checks[engine, "power"]["verdict"] == power(tmp_path)
    assert checks[engine, "power"]["syncs"]["calls"][call] >= 50
    assert f"{engine} memory: refused: it offers: " in done.stdout


#: Engine -> tier, verdict, words of the reason.
LIARS = {
    "faulty-early": ("process", "failed", "acknowledged commits lost"),
    "faulty-half": ("process", "failed", "half transaction"),
    "faulty-once": ("process", "failed", "could not be used again: RuntimeError: the database is damaged"),
    "faulty-stuck": ("process", "error", "no commit within 30 s (--timeout)"),
    "faulty-dying": ("process", "error", "RuntimeError: no more commits today"),
    "faulty-kills-import": ("process", "error", "signal 11"),
    "faulty-driver": ("process", "error", "dbbench_driver_that_is_nowhere is missing"),
    "faulty-only-loads": ("process", "unsupported", "faulty-only-loads has neither tables nor records"),
    "sqlite": ("process", "passed", ""),
}
LIES = ("faulty-unsynced", *(engine for engine, (_, verdict, _) in LIARS.items() if verdict == "failed"))


@pytest.fixture(scope="module")
def liars(tmp_path_factory: pytest.TempPathFactory) -> tuple[subprocess.CompletedProcess[str], TierChecks]:
    # With this seed faulty-dying has more than half a second to die by itself before the first kill.
    seeded = ("--kills", "3", "--seed", "24", "--timeout", "30")
    return run_check(tmp_path_factory.mktemp("liars"), *LIARS, "--tier", "process", *seeded)


@pytest.mark.parametrize("engine", LIARS)
def test_each_lie_is_caught_and_harms_no_other_engine(liars, engine: str) -> None:
    done, checks = liars
    tier, verdict, words = LIARS[engine]
    assert done.returncode == 1
    assert checks[engine, tier]["verdict"] == verdict
    assert words in checks[engine, tier]["detail"]
    assert words in done.stdout


def test_what_a_liar_lost_is_counted(liars) -> None:
    _, checks = liars
    early, half, once = (checks[f"faulty-{name}", "process"]["kills"] for name in ("early", "half", "once"))
    assert 0 < early["lost"] <= 3 * 199
    assert early["lost"] + early["found"] >= early["acknowledged"]
    assert 0 < half["half"] <= 3
    assert half["lost"] == 0
    assert (once["kills"], once["found"], once["lost"]) == (1, 0, once["acknowledged"])


@pytest.mark.usefixtures("traces")
def test_an_engine_that_claims_power_and_never_syncs_is_caught(tmp_path: Path) -> None:
    done, checks = run_check(tmp_path, "faulty-unsynced", "--tier", "power", "--kills", "1")
    assert done.returncode == 1
    check = checks["faulty-unsynced", "power"]
    assert (check["verdict"], check["detail"]) == ("failed", "no sync call in 50 of 50 commits")
    assert check["kills"]["lost"] == 0  # kill -9 alone would not have shown it


def test_without_strace_power_is_only_declared(tmp_path: Path) -> None:
    done, checks = run_check(tmp_path, "sqlite", "--tier", "power", "--kills", "1", PATH="/nowhere")
    assert done.returncode == 0, done.stdout
    check = checks["sqlite", "power"]
    assert check["verdict"] == "declared"
    assert "apt install strace" in check["detail"]


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 130), (signal.SIGKILL, -9)])
def test_an_interrupted_check_leaves_nothing(tmp_path: Path, number: signal.Signals, status: int) -> None:
    with started(tmp_path, "durability", "sqlite", "--tier", "process", "--kills", "1000") as process:
        assert until(lambda: list(tmp_path.glob("*/0/work/kills/*-wal")))
        assert of_run(tmp_path, "dbbench.durability.")
        os.kill(process.pid, number)
        output = process.communicate(timeout=1200)[0].decode()
    assert process.returncode == status, output
    assert until(lambda: not of_run(tmp_path)), "a checker or writer is left"
    assert until(lambda: list(tmp_path.rglob("*")) == [tmp_path / "temporary"]), "a directory is left"
    if number != signal.SIGKILL:
        assert output == "interrupted\n"


MISTAKES = {
    "no engine": ([], "name engines, like `dbbench durability sqlite`, or give --all"),
    "both": (["sqlite", "--all"], "name engines, like"),
    "unknown engine": (["sqlit"], "there is no engine 'sqlit'; did you mean 'sqlite'?"),
    "unknown tier": (["sqlite", "--tier", "powr"], "there is no durability tier 'powr'; did you mean 'power'?"),
    "no data": (["null"], "null keeps no data of its own: there is nothing to check"),
    "vectors alone": (["faiss"], "faiss keeps vectors or texts alone, which no crash check covers"),
    "texts alone": (["tantivy"], "tantivy keeps vectors or texts alone, which no crash check covers"),
    "option of another": (["sqlite", "--set", "duckdb.threads=1"], "not among the engines"),
    "unknown option": (["sqlite", "--set", "sqlite.cach_mib=1"], "did you mean 'cache_mib'?"),
    "nowhere to write": (["sqlite", "--json", "nowhere/x.json"], "nowhere/x.json can't be written"),
    "kills 0": (["sqlite", "--kills", "0"], "0 is not in the range"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_clear_message(dbbench_here: Dbbench, tmp_path: Path, mistake: str) -> None:
    arguments, words = MISTAKES[mistake]
    done = dbbench_here("durability", *arguments, status=2)
    assert words in " ".join(done.stderr.split())
    assert (done.stdout, list(tmp_path.iterdir())) == ("", [])


def test_a_run_names_the_crash_check_of_the_same_engine(
    dbbench: Dbbench, dbbench_here: Dbbench, tmp_path: Path
) -> None:
    load = "- {kind: load, name: load, title: Load}"
    (tmp_path / "kept.yaml").write_text(suite_text("kept", one_table("T", 10), load, durability="process"))
    data = str(tmp_path / "data")
    dbbench("durability", "sqlite", "--tier", "process", "--kills", "2", DBBENCH_DATA=data, status=0)
    run = ("suite", "kept.yaml", "--rounds", "1", "--format", "csv", "-e", "sqlite", "-e", "sqlite+apsw")
    with trials_here():
        found = dbbench_here(*run, "--out", "same", DBBENCH_DATA=data)
        other = dbbench_here(*run, "--set", "sqlite.cache_mib=32", "--out", "other", DBBENCH_DATA=data)
    said = " ".join(found.stdout.split())
    assert "durability: kept: process; crash check passed (2 kills, " in said
    assert "): SQLite (sqlite3); declared: SQLite (APSW)" in said
    assert "durability: kept: commits survive a crash of the process, as the vendors" in other.stdout
