"""Room on the disk, and time, for runs on much data: what is refused before a run, and what ends a trial."""

import json
import shutil
import subprocess
import sys
import time
from itertools import chain, repeat
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from dbbench.errors import UserError
from dbbench.results.outcome import Outcome
from dbbench.results.trial import TrialResult
from dbbench.runs import copies
from dbbench.runs.choice import _sized, trial_seconds
from dbbench.runs.data import check_room
from dbbench.runs.request import Request
from dbbench.runs.supervisor import Supervisor
from dbbench.suite.model import Quick, Suite
from tests.unit.orders import order

GB = 10**9


def free(monkeypatch: pytest.MonkeyPatch, *sizes: int) -> None:
    """Have the disk so many bytes free at each look, at last the last of them."""
    looks = chain(sizes, repeat(sizes[-1]))
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: SimpleNamespace(free=next(looks)))


def test_data_larger_than_the_disk_is_refused_and_what_may_fit_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files: Any = {"d": SimpleNamespace(manifest={"csv_bytes": 8 * GB})}
    free(monkeypatch, 9 * GB)
    check_room(tmp_path, files)
    free(monkeypatch, 7 * GB)
    with pytest.raises(UserError, match="has 7,000 MB free, and this run needs 8,017 MB or more"):
        check_room(tmp_path, files)


def test_a_file_of_holes_is_not_too_large_to_be_copied(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    with open(tmp_path / "data" / "sparse", "wb") as file:
        file.write(b"log")
        file.truncate(copies._MOST_BYTES + 1)
    assert not copies._copied(tmp_path / "data", tmp_path / "copy" / "data")
    with open(tmp_path / "copy" / "data" / "sparse", "rb") as copied:
        assert copied.read(3) == b"log"


def test_links_lead_to_the_copy_or_nothing_is_copied(tmp_path: Path) -> None:
    data, copy = tmp_path / "data", tmp_path / "copy" / "data"
    (data / "store").mkdir(parents=True)
    (data / "store" / "log").write_text("log")
    (data / "whole").symlink_to(data / "store")
    (data / "part").symlink_to("store/log")
    (data / "dangling").symlink_to("gone")
    (data / "loop").symlink_to("loop")
    assert not copies._copied(data, copy)
    shutil.rmtree(data)
    assert [(copy / name).read_text() for name in ("whole/log", "part")] == ["log", "log"]
    (copy / "out").symlink_to("../other")
    assert copies._copied(copy, tmp_path / "another" / "data") == "a link leads out of the folder"


def test_empty_files_are_not_too_many_to_be_copied(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    for number in range(copies._MOST_FILES + 1):
        (tmp_path / "data" / str(number)).touch()
    assert not copies._copied(tmp_path / "data", tmp_path / "copy" / "data")


def test_a_copy_is_made_where_cp_is_not_that_of_gnu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copies, "_OPTIONS", ("--no-such-option",))
    (tmp_path / "data").mkdir()
    assert not copies._copied(tmp_path / "data", tmp_path / "copy" / "data")
    (tmp_path / "copy" / "data").rmdir()


def test_a_larger_scale_has_more_time() -> None:
    assert [trial_seconds(Request("s"), None, scale) for scale in (0.1, 1, 10)] == [600, 600, 6000]
    assert trial_seconds(Request("s"), Quick(trial_seconds=20), 10) == 20
    assert trial_seconds(Request("s", trial_timeout=99), Quick(trial_seconds=20), 10) == 99


def test_a_scale_that_is_given_makes_a_first_look_one_of_all_the_work(small: Suite) -> None:
    suite = small.model_copy(update={"quick": Quick(scale=0.1)})
    assert _sized(suite, Request("s", quick=True)) == (suite, suite.quick)
    for scale in (0.5, 1.0):
        assert _sized(suite, Request("s", quick=True, scale=scale)) == (suite, None)


@pytest.mark.parametrize(("at_first", "later", "left"), [(100 * GB, GB, "1,074"), (10**8, 6 * 10**6, "6")])
def test_a_trial_ends_before_the_disk_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_first: int, later: int, left: str
) -> None:
    order(tmp_path)
    free(monkeypatch, at_first, at_first, later)
    supervisor = Supervisor(tmp_path)
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as worker:
        try:
            ending = supervisor._watch(worker, time.monotonic() + 60)
        finally:
            worker.kill()
    said = f"stopped with less than {left} MB free where the run is"
    assert supervisor._ending(ending, 0) == (Outcome.DISK_FULL, said)


def result_of(folder: Path, record: object) -> TrialResult:
    """The result of a trial whose worker ended with such a record."""
    order(folder)
    (folder / "steps.json").write_text(json.dumps(record))
    (folder / "stderr.txt").touch()
    return Supervisor(folder)._result("ended", 0, [], {})


@pytest.mark.parametrize(
    ("detail", "outcome"),
    [
        ('IOException: IO Error: Could not write file "data.duckdb": No space left on device', Outcome.DISK_FULL),
        ("OperationalError: database or disk is full", Outcome.DISK_FULL),
        ("IOException: Disk full. Path /tmp/x", Outcome.DISK_FULL),
        ("IoError: pwritev: StorageFull", Outcome.DISK_FULL),
        ("OSError: [Errno 122] Disk quota exceeded", Outcome.DISK_FULL),
        ("OperationalError: disk I/O error", Outcome.FAILED),
        ('DiskFull: could not resize shared memory segment "/PostgreSQL.7": No space left on device', Outcome.FAILED),
        ("ServerFailed: could not create semaphores: No space left on device", Outcome.FAILED),
    ],
)
def test_an_engine_that_has_no_space_left_did_not_fail(tmp_path: Path, detail: str, outcome: Outcome) -> None:
    (step,) = result_of(tmp_path, {"steps": [{"name": "fill", "outcome": "failed", "detail": detail}]}).steps
    assert (step.outcome, step.detail) == (outcome, detail)


@pytest.mark.parametrize(
    ("ended", "remarks"), [(True, ()), (False, ("after its last step: the process ended itself with status 0",))]
)
def test_a_driver_that_ends_the_process_is_told(tmp_path: Path, ended: bool, remarks: tuple[str, ...]) -> None:
    record = {"steps": [{"name": "fill", "outcome": "ok"}], "ended": ended}
    assert result_of(tmp_path, record).remarks == remarks


def test_a_clock_that_is_set_back_costs_no_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    order(tmp_path)
    (tmp_path / "stderr.txt").touch()
    supervisor = Supervisor(tmp_path)
    monkeypatch.setattr(time, "time", lambda: 0.0)
    assert supervisor._result("ended", 0, [], {}).seconds >= 0


def test_a_supervisor_that_fails_leaves_no_process(tmp_path: Path) -> None:
    order(tmp_path)
    script = """import sys; from pathlib import Path; from dbbench.runs import supervisor
def fail(_self, worker, _deadline): print(worker.pid); raise OSError("no more files")
supervisor.python, supervisor.Supervisor._watch = (lambda *_, **__: ["sleep", "60"]), fail
supervisor.Supervisor(Path(sys.argv[1])).run()"""
    done = subprocess.run([sys.executable, "-c", script, tmp_path], capture_output=True, text=True, check=False)
    assert "no more files" in done.stderr
    assert not psutil.pid_exists(int(done.stdout))


@pytest.mark.parametrize(
    ("record", "why"),
    [
        ({"engine": {"title": 301 * "x"}}, "engine.title: String should have at most 300 characters"),
        ({"steps": 1}, "steps: Input should be a valid tuple"),
        ([], "Input should be a valid dictionary or instance of WorkerRecord"),
    ],
)
def test_a_record_that_cannot_be_read_is_the_outcome_of_its_steps(tmp_path: Path, record: object, why: str) -> None:
    (step,) = result_of(tmp_path, record).steps
    assert step.outcome is Outcome.FAILED
    assert why in step.detail
