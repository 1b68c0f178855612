"""Ctrl-C, SIGTERM and SIGKILL in the middle: what is finished stays, nothing is left, --resume does the rest."""

import fcntl
import os
import signal
from functools import partial
from pathlib import Path

import psutil
import pytest

from dbbench.errors import UserError
from dbbench.host import control_group
from dbbench.host.processes import python
from dbbench.runs import runner, supervision
from dbbench.runs.begin import new_run
from dbbench.runs.plan import plan
from dbbench.runs.request import Request
from dbbench.runs.supervision import Supervision
from dbbench.suite.loader import find_suite, load_suite
from tests.conftest import Dbbench, run_suite, started, summary
from tests.trials_here import trials_here
from tests.unit.orders import order
from tests.waiting import of_run, until

pytestmark = pytest.mark.matrix

ENGINES = ["sqlite", "faulty-hangs", "null"]
#: A seed whose plan has the engine that hangs second, so that something is finished before it.
SEED = next(
    seed
    for seed in range(100)
    if [each.engine for each in plan(load_suite(find_suite("invoices")), ENGINES, rounds=1, seed=seed)] == ENGINES
)
RUN = ["suite", "invoices", "--scale", "0.01", "-e", "sqlite", "-e", "faulty-hangs", "--rounds", "1", "--out", "run"]
RUN += ["--seed", str(SEED), "--format", "csv"]


def finished(folder: Path) -> dict[str, int]:
    return {str(path): path.stat().st_mtime_ns for path in folder.glob("run/trials/*/result.json")}


def groups(pid: int) -> list[Path]:
    """Control groups that a dbbench has made and not removed."""
    return [each for parent, _ in control_group._parents() for each in parent.glob(f"dbbench-{pid}-*")]


@pytest.fixture
def limit() -> tuple[str, ...]:
    """A limit of memory, where control groups can be made."""
    try:
        control_group.make(2**30).remove()
    except UserError:
        return ()
    return ("--memory-limit", "400MiB")


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 130), (signal.SIGKILL, -9)])
def test_an_interrupted_run_can_be_resumed(
    tmp_path: Path, dbbench_here: Dbbench, limit: tuple[str, ...], number: signal.Signals, status: int
) -> None:
    # Without a limit of time that a busy machine could meet first.
    with started(tmp_path, *RUN, *limit, plugins=("faulty",)) as process:
        # In the middle of a trial (faulty-hangs is in its query), with at least one finished.
        assert until(lambda: finished(tmp_path) and list(tmp_path.glob("run/trials/*hangs/work/data/*")))
        assert bool(groups(process.pid)) == bool(limit)
        process.send_signal(number)
        output = process.communicate(timeout=1200)[0].decode()
    before = finished(tmp_path)
    assert process.returncode == status, output
    assert before
    assert until(lambda: not of_run(tmp_path)), "a supervisor or worker is left"
    assert until(lambda: not list(tmp_path.glob("run/trials/*/work"))), "a work directory is left"
    assert until(lambda: not groups(process.pid)), "a control group is left"
    if number != signal.SIGKILL:
        assert "continue with: dbbench suite --resume run" in output
        assert (tmp_path / "run" / "summary.csv").is_file()

    with trials_here():
        dbbench_here("suite", "--resume", "run", "--format", "csv", plugins=("faulty",), FAULTY_WAKES="1", status=0)
    after = finished(tmp_path)
    assert {path: after[path] for path in before} == before
    assert len(after) == 3  # two engines and null
    rows = summary(tmp_path / "run")
    assert rows["scan-3", "sqlite"]["blocks"] == "1"
    assert (rows["join-2", "faulty-hangs"]["outcome"], rows["join-2", "faulty-hangs"]["blocks"]) == ("ok", "1")


@pytest.mark.usefixtures("faulty_engines")
def test_a_stopped_supervisor_ends_its_trial_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervision, "_SILENT_SECONDS", 5)
    monkeypatch.setattr(supervision, "python", partial(python))  # a supervisor that no other run has
    request = Request("invoices", engines=ENGINES[:2], rounds=1, scale=0.02, out=tmp_path / "run", seed=SEED)
    ready = new_run(request)

    def stop(event: runner.Progress) -> None:
        if (event.trial.engine, event.step) == ("faulty-hangs", "join-2"):
            for process in of_run(tmp_path, "dbbench.runs.supervisor"):
                process.suspend()

    with trials_here("sqlite"):
        runner.run_trials(ready, stop)
    found = {(result.engine_name, step.name): step for result in ready.run.results() for step in result.steps}
    assert found["faulty-hangs", "join-1"].outcome == "ok"
    assert found["faulty-hangs", "join-2"].outcome == "failed"
    assert found["faulty-hangs", "join-2"].detail.startswith("its supervisor stopped responding")
    assert {step.outcome for (engine, _), step in found.items() if engine != "faulty-hangs"} == {"ok"}
    assert not of_run(tmp_path)
    assert not list(tmp_path.glob("run/trials/*/work"))


def test_a_supervisor_keeps_nothing_of_its_trials_and_ends_with_their_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run may have thousands of trials, and a process 1,024 files."""
    monkeypatch.setattr(supervision, "python", partial(python))
    left = []
    with Supervision(tmp_path, ()) as ours:
        for number in range(3):
            (tmp_path / str(number)).mkdir()
            order(tmp_path / str(number))
            ours.supervise(tmp_path / str(number), "", 60, lambda *_: None)
            process = ours._process
            assert process
            known = psutil.Process(process.pid)
            left.append((known.pid, known.num_fds(), known.num_threads(), known.children()))
    assert left == [left[0]] * 3
    assert process.returncode == -signal.SIGTERM


def test_a_finished_run_is_only_reported_again_and_by_one_at_a_time(tmp_path: Path, dbbench_here: Dbbench) -> None:
    with trials_here():
        run_suite(tmp_path, "invoices", ("sqlite",), "--scale", "0.01", status=0)
    before = finished(tmp_path)
    dbbench_here("suite", "--resume", "run", "--format", "csv", status=0)
    assert finished(tmp_path) == before
    handle = os.open(tmp_path / "run", os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        done = dbbench_here("suite", "--resume", "run", status=2)
    finally:
        os.close(handle)
    assert "another dbbench is at work on run" in done.stderr
