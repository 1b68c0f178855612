"""Engines that raise, crash, hang, eat memory, lie, print and leave children, all beside sqlite in one run."""

import subprocess
from pathlib import Path

import psutil
import pytest

from tests.conftest import run_here, summary
from tests.trials_here import trials_here

pytestmark = pytest.mark.matrix

OTHER_TYPES, EASIER = "returns other types than the suite declares", ", which may be less work for the driver"
STEPS = ("bulk-insert", "database-size", "join-1", "join-2", "insert-1", "scan-1", "scan-2", "scan-3")
#: Engine -> the outcome of join-2, where it fails, and words of its detail.
FAULTS = {
    "faulty-raises": ("failed", "RuntimeError: boom"),
    "faulty-crashes": ("crashed", "SIGSEGV"),
    "faulty-exits": ("crashed", "status 3"),
    "faulty-hangs": ("timeout", "stopped after 40 s (--trial-timeout)"),
    "faulty-eats": ("out of memory", "stopped above 400 MiB (--trial-memory)"),
    "faulty-breeds": ("out of memory", "stopped above 400 MiB (--trial-memory)"),
    "faulty-lies": ("wrong", "1 of"),
    "faulty-leaves": ("ok", "left 1 process(es) behind, now killed: python; after its last step: killed by SIGABRT"),
    "faulty-loads": ("not run", "bulk-insert wrong: "),
    "faulty-refuses": ("unsupported", "can't give durability power"),
    "faulty-can-not": ("ok", ""),
    "faulty-driver": ("unavailable", "dbbench_driver_that_is_nowhere is missing"),
    "faulty-library": ("unavailable", "libnowhere.so.1 is missing; apt install libnowhere1"),
    "faulty-import": ("unavailable", "broken on import"),
    "faulty-kills-import": ("unavailable", "signal 11"),
    "faulty-name": ("unavailable", "calls itself 'another-name'"),
}
#: Step and engine -> the same.
OUTCOMES = {
    **{("join-2", engine): fault for engine, fault in FAULTS.items()},
    ("scan-3", "faulty-raises"): ("ok", ""),  # it goes on with the next step
    ("insert-1", "faulty-can-not"): ("unsupported", "it is read only"),
    ("bulk-insert", "faulty-loads"): ("wrong", "COUNT(*) of Charges"),
}
LIES = tuple(engine for (_, engine), (outcome, _) in OUTCOMES.items() if outcome == "wrong")


@pytest.fixture(scope="module")
def faulty_run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    folder = tmp_path_factory.mktemp("faulty")
    engines = [word for name in ("sqlite", *FAULTS) for word in ("--engine", name)]
    limits = ["--trial-timeout", "40", "--trial-memory", "400MiB", "--format", "csv,md,svg"]
    command = ["suite", "invoices", "--scale", "0.02", "--rounds", "1", "--out", "run"]
    with trials_here("sqlite", "faulty-raises", "faulty-lies", "faulty-loads", "faulty-refuses", "faulty-can-not"):
        return folder, run_here(folder, *command, *engines, *limits, plugins=("faulty",), TMPDIR=str(folder))


def test_the_run_goes_on_and_says_that_something_failed(faulty_run) -> None:
    _, done = faulty_run
    assert done.returncode == 1, done.stderr
    assert done.stderr == ""


def test_the_results_of_the_good_engine_stand(faulty_run) -> None:
    rows = summary(faulty_run[0] / "run")
    for step in STEPS:
        row = rows[step, "sqlite"]
        assert (row["outcome"], row["blocks"], row["verified"]) == ("ok", "1", "yes")
        assert row["detail"] in (
            "",
            f"{OTHER_TYPES} (date as text, decimal as float){EASIER}",
            f"{OTHER_TYPES} (decimal as float){EASIER}",
        )
        assert float(row["value"]) > 0


@pytest.mark.parametrize(("step", "engine"), OUTCOMES)
def test_each_fault_has_its_own_outcome(faulty_run, step: str, engine: str) -> None:
    outcome, words = OUTCOMES[step, engine]
    row = summary(faulty_run[0] / "run")[step, engine]
    assert row["outcome"] == outcome
    assert words in row["detail"]
    assert bool(row["value"]) == (outcome == "ok")


@pytest.mark.parametrize("engine", ["faulty-crashes", "faulty-hangs", "faulty-eats", "faulty-exits"])
def test_what_was_finished_before_the_fault_stands(faulty_run, engine: str) -> None:
    rows = summary(faulty_run[0] / "run")
    assert rows["bulk-insert", engine]["outcome"] == "ok"
    assert rows["join-1", engine]["outcome"] == "ok"
    assert rows["scan-3", engine]["outcome"] == FAULTS[engine][0]
    assert "not reached" in rows["scan-3", engine]["detail"]


def test_what_a_driver_prints_lands_in_the_trial(faulty_run) -> None:
    (out, *_) = sorted((faulty_run[0] / "run" / "trials").glob("*faulty-leaves/stdout.txt"))
    assert b"raw noise to file descriptor 1" in out.read_bytes()
    assert "noise noise" not in faulty_run[1].stdout


def test_a_traceback_is_kept(faulty_run) -> None:
    (error, *_) = sorted((faulty_run[0] / "run" / "trials").glob("*faulty-raises/stderr.txt"))
    assert "RuntimeError: boom" in error.read_text()


def test_faults_are_named_in_the_table_and_the_charts(faulty_run) -> None:
    folder, done = faulty_run
    table = done.stdout[done.stdout.index("Join 2") : done.stdout.index("Insert of one row")]
    page = (folder / "run" / "report" / "index.md").read_text()
    for engine, (outcome, _) in FAULTS.items():
        if outcome not in ("ok", "wrong"):
            assert f"{engine} " in table
            assert outcome in table
    for words in ("killed by SIGSEGV", "RuntimeError: boom", "stopped after 40 s"):
        assert words in done.stdout
        assert words in page
    assert (folder / "run" / "report" / "invoices-join-2.svg").stat().st_size > 3_000


def test_nothing_is_left(faulty_run) -> None:
    folder, _ = faulty_run
    assert not list(folder.glob("run/trials/*/work"))
    assert sorted(path.name for path in folder.iterdir()) == ["run"]
    for process in psutil.process_iter(["cmdline"]):
        assert "time.sleep(3600)" not in " ".join(process.info["cmdline"] or ())
