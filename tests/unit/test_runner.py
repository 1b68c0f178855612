"""Runs whose trials leave what a test chooses: no engine, no supervisor, no time; and a worker here."""

import json
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar
from unittest.mock import Mock

import psutil
import pytest

from dbbench.datasets.cache import Files
from dbbench.engine import registry
from dbbench.engine.traits import Concurrency
from dbbench.engine.urls import VARIABLE
from dbbench.errors import NotVerified, RunError, ServerFailed, WrongAnswer
from dbbench.host import atomic_json, plain_file, processes
from dbbench.results.outcome import Outcome
from dbbench.results.run_directory import Run
from dbbench.results.trial import StepResult, TrialResult
from dbbench.runs import copies, runner, supervision
from dbbench.runs.copies import AskedCopies, Copies, Verdict
from dbbench.runs.plan import Ready, trials_of
from dbbench.runs.record import RunningStep
from dbbench.runs.supervision import Supervision
from dbbench.runs.supervisor import _umask
from dbbench.runs.worker import Worker
from dbbench.suite.model import Tier
from dbbench.workloads import after, keyvalue
from dbbench.workloads.context import StepsSoFar
from dbbench_plugins.dict import Dict, DictSession
from tests.fabricated import Fake, fabricate, result_of
from tests.unit.orders import FILL, order

FAKES = {"one": Fake("One"), "two": Fake("Two")}
Left = Callable[[dict[str, Any]], None]
Again = Callable[..., list[TrialResult]]
READ = "kind: keyvalue, name: read, title: Read, operation: read"


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """A finished run of two engines in two rounds."""
    return fabricate(tmp_path / "run", FAKES, rounds=2, seed=2006)


@pytest.fixture
def again(run: Run, invoices_files: Files, monkeypatch: pytest.MonkeyPatch) -> Again:
    """Goes on with the run: each trial leaves a good result, as `change` alters it. Gives what ran."""

    def go_on(change: Left = lambda _result: None, files: Files = invoices_files) -> list[TrialResult]:
        ran = []
        trials = trials_of(run)

        def supervise(_self: Supervision, directory: Path, *_: object) -> None:
            trial = next(each for each in trials if each.id == directory.name)
            result = result_of(run, trial, FAKES.get(trial.engine, Fake("Null")))
            change(result)
            atomic_json.write(directory / "result.json", result)

        def note(event: runner.Progress) -> None:
            if event.result is not None:
                ran.append(event.result)

        monkeypatch.setattr(Supervision, "supervise", supervise)
        answers = {"join-1": str(files.directory / "answer")} if files is not invoices_files else {}
        runner.run_trials(Ready(run, trials, {"invoices": files}, {"invoices": answers}), note)
        return ran

    return go_on


def recorded(folder: Path, *steps: str, plugin: str = "null") -> Any:
    """What a worker here records of a trial."""
    order(folder, *steps).model_copy(update={"plugin": plugin}).write(folder)
    (folder / "work").mkdir(exist_ok=True)
    Worker(folder).run()
    return json.loads((folder / "steps.json").read_text())


def test_a_result_that_cannot_be_read_is_the_outcome_of_its_trial(run: Run, again: Again) -> None:
    def tell_a_long_title(result: dict[str, Any]) -> None:
        if result["engine_name"] == "one":
            result["engine"]["title"] = 301 * "x"

    for folder in run.path.glob("trials/*"):
        shutil.rmtree(folder)
    found = again(tell_a_long_title)
    assert {result.steps[0].outcome for result in found if result.engine_name != "one"} == {Outcome.OK}
    assert {
        (step.outcome, step.detail) for result in found if result.engine_name == "one" for step in result.steps
    } == {(Outcome.FAILED, "its result can't be read: engine.title: String should have at most 300 characters")}
    assert len(Run.open(run.path).results()) == len(found) == 8


def test_what_a_full_disk_ended_runs_again(run: Run, again: Again) -> None:
    first, *_ = run.results()
    step = StepResult(name=first.steps[0].name, outcome=Outcome.DISK_FULL)
    first.model_copy(update={"steps": (step,)}).write(run.path / "trials" / first.id)
    assert [result.id for result in again()] == [first.id]
    assert again() == []


def test_a_run_that_cannot_be_written_any_more_says_so(run: Run, again: Again, monkeypatch: pytest.MonkeyPatch) -> None:
    last = run.path / "trials" / run.results()[-1].id
    shutil.rmtree(last)
    monkeypatch.setattr(plain_file, "write", Mock(side_effect=OSError(28, "No space left on device")))
    result = run.results()[0]
    for path, write in ((last, again), (last, lambda: result.write(last)), (run.path, run.save)):
        with pytest.raises(RunError, match=f"{path} can't be written: No space left on device"):
            write()


@pytest.mark.parametrize(
    ("steps", "left"),
    [
        ([("timeout", "")], [("timeout", "not repeated: timeout in round 1")]),
        ([("unsupported", "it has no joins")], [("unsupported", "it has no joins")]),
        (
            [("wrong", "a row too many"), ("timeout", ""), ("not run", "fill timeout")],
            [("wrong", "a row too many"), ("timeout", "not repeated: timeout in round 1"), ("not run", "fill timeout")],
        ),
    ],
)
def test_a_trial_that_timed_out_or_did_nothing_is_not_repeated(
    run: Run, again: Again, steps: list[tuple[str, str]], left: list[tuple[str, str]]
) -> None:
    first, second = sorted((each for each in run.results() if each.engine_name == "one"), key=lambda each: each.round)
    found_steps = tuple(
        StepResult(name=f"step-{at}", outcome=Outcome(what), detail=why) for at, (what, why) in enumerate(steps)
    )
    first.model_copy(update={"steps": found_steps}).write(run.path / "trials" / first.id)
    shutil.rmtree(run.path / "trials" / second.id)
    (found,) = again(Mock(side_effect=AssertionError("it was run again")))
    assert (found.id, found.seconds) == (second.id, 0)
    assert [(step.outcome, step.detail) for step in found.steps] == left


def better(path: Path) -> None:
    path.write_text(path.read_text("utf-8").replace("1", "2"))


def linked(path: Path) -> None:
    better(path)
    path.rename(path.with_name("other"))
    path.symlink_to("other")


def gone(path: Path) -> None:
    shutil.rmtree(path.parent)


def planted(path: Path) -> None:
    folder = path.parent.with_name("999-round2-invoices-two")
    shutil.copytree(path.parent, folder)


@pytest.mark.parametrize("interrupted", [False, True])
@pytest.mark.parametrize(
    ("harm", "name"),
    [(better, ""), (linked, ""), (gone, ""), (Path.unlink, ""), (planted, ""), (Path.unlink, "suite.yaml"), (better, "run.json")],
)  # fmt: skip
def test_a_trial_changes_no_other_file_of_the_run(
    harm: Callable[[Path], None], name: str, interrupted: bool, run: Run, again: Again
) -> None:
    """A plugin has the rights to make its competitors slow: it is undone, and told."""
    first, *others = run.results()
    last = others[-1].id
    files = {
        path: path.read_bytes()
        for path in (run.path / "run.json", run.path / "suite.yaml", *run.path.glob("trials/*/result.json"))
        if path.parent.name != last
    }
    shutil.rmtree(run.path / "trials" / last)

    def change(_result: dict[str, Any]) -> None:
        harm(run.path / name if name else run.path / "trials" / first.id / "result.json")
        if interrupted:
            raise KeyboardInterrupt

    if interrupted:
        with pytest.raises(KeyboardInterrupt):
            again(change)
    else:
        (found,) = again(change)
        (remark,) = found.remarks
        named = (
            "trials/999-round2-invoices-two/result.json"
            if harm is planted
            else name or f"trials/{first.id}/result.json"
        )
        assert remark == f"while it ran, other files of the run were changed, now restored: {named}"
        files[run.path / "trials" / last / "result.json"] = (run.path / "trials" / last / "result.json").read_bytes()
    assert {path: path.read_bytes() for path in files} == files
    assert {*run.path.glob("trials/*/result.json")} <= {*files}
    assert not [path for path in files if path.is_symlink()]


@pytest.mark.parametrize("removed", ["Invoice.arrow", "dataset.json", "answer"])
def test_data_that_is_removed_in_a_run_is_no_fault_of_an_engine(
    run: Run, again: Again, invoices_files: Files, tmp_path: Path, removed: str
) -> None:
    files = Files(Path(shutil.copytree(invoices_files.directory, tmp_path / "data")))
    (files.directory / "answer").touch()

    def fail(result: dict[str, Any]) -> None:
        (files.directory / removed).unlink()
        result["steps"] = [{"name": "join-1", "outcome": "failed", "detail": "FileNotFoundError"}]

    last = run.results()[-1].id
    shutil.rmtree(run.path / "trials" / last)
    with pytest.raises(RunError, match=r"the data of this run was removed from .* continue with --resume"):
        again(fail, files)
    assert [result.id for result in again()] == [last]


HEAD = "import os, signal, subprocess, sys, time\nprint(end='.', flush=True)\n"
#: What stands in for a supervisor, and the seconds after which it is silent, or its trial late.
STILL = {
    "stopped": ("os.kill(os.getpid(), signal.SIGSTOP)", 0.3, 60),
    "silent": ("time.sleep(60)", 0.3, 60),
    "deaf": (
        "signal.signal(signal.SIGUSR1, signal.SIG_IGN); subprocess.run(['sleep', '60'], stdout=subprocess.DEVNULL)",
        0.3,
        60,
    ),
    "late": ("while True: print(end='.', flush=True); time.sleep(0.05)", 60, 0),
}


@pytest.mark.parametrize(("script", "silent", "late"), STILL.values(), ids=list(STILL))
def test_a_supervisor_that_stands_still_is_the_outcome_of_its_trial(
    script: str, silent: float, late: float, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(supervision, "_SILENT_SECONDS", silent)
    monkeypatch.setattr(supervision, "_LATE_SECONDS", late)
    monkeypatch.setattr(supervision, "_GRACE_SECONDS", 0.5)
    monkeypatch.setattr(supervision, "python", lambda *_: [sys.executable, "-c", HEAD + script])
    look, looks = supervision._said, iter(range(100))  # that many are not made until the other limit, of 60 s
    monkeypatch.setattr(supervision, "_said", lambda process: (next(looks), look(process))[1])
    before = {*psutil.Process().children()}
    (tmp_path / "work").mkdir()
    order(tmp_path, FILL, "kind: keyvalue, name: at-work, title: Read, operation: read")
    done = {"steps": [{"name": "fill", "outcome": "ok", "detail": ""}], "running": "at-work", "notes": [], "made": True}
    atomic_json.write(tmp_path / "steps.json", done)
    (tmp_path / "stdout.txt").write_text("connecting to me:geheim-4711@host")
    with Supervision(tmp_path, ()) as process:
        process.supervise(tmp_path, "theirs://me:geheim-4711@host", 0.5, lambda *_: None)
    result = atomic_json.read(tmp_path / "result.json")
    assert result["remarks"] == ["its tables may still be at the URL: drop them before the next run"]
    assert not (tmp_path / "stdout.txt").exists()
    assert tmp_path.stat().st_mode & 0o777 == 0o777 & ~_umask()
    found = result["steps"]
    assert [(step["name"], step["outcome"]) for step in found] == [("fill", "ok"), ("at-work", "failed")]
    assert found[1]["detail"] == "its supervisor stopped responding, as after SIGSTOP, and the trial was ended"
    assert not (tmp_path / "work").exists()
    assert {*psutil.Process().children(recursive=True)} <= before


def test_what_an_interrupted_trial_could_not_remove_is_shown(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A supervisor has longer to remove tables at a URL, and a second Ctrl-C takes none of it."""
    interrupts = [KeyboardInterrupt()]

    def stop(*words: Any) -> None:
        if interrupts:
            raise interrupts.pop()
        processes.stop(*words)

    script = """def end(*_):
    time.sleep(0.5)
    sys.exit("its tables may still be at the URL")
signal.signal(signal.SIGTERM, end)
with open("new", "w") as file:
    file.write('{"running": "one", "notes": []}')
os.rename("new", "steps.json")
time.sleep(60)"""
    monkeypatch.setattr(supervision, "python", lambda *_: [sys.executable, "-c", HEAD + script])
    monkeypatch.setattr(supervision, "stop", stop)
    monkeypatch.setattr(supervision, "_GRACE_SECONDS", 0.1)
    monkeypatch.chdir(tmp_path)
    with Supervision(tmp_path, ()) as process, pytest.raises(KeyboardInterrupt):
        process.supervise(tmp_path, "theirs://host", 60, Mock(side_effect=KeyboardInterrupt))
    assert capsys.readouterr().err == f"{tmp_path.name}: its tables may still be at the URL\n"


def test_a_record_is_read_when_it_has_changed_and_each_new_note_reported(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It is parsed while steps are timed. It is written anew once the first was seen; the supervisor ends after that."""
    script = """import pathlib
until = lambda name: [time.sleep(0.01) for _ in iter(pathlib.Path(name).exists, True)]
until("one")
at = pathlib.Path("steps.json")
at.with_name("new").write_text(at.read_text().replace("one", "two").replace('"a"', '"a", "b", "c"'))
at.with_name("new").rename(at)
until("two")"""
    monkeypatch.setattr(supervision, "python", lambda *_: [sys.executable, "-c", HEAD + script])
    monkeypatch.chdir(tmp_path)
    atomic_json.write(tmp_path / "steps.json", {"running": "one", "notes": ["a"]})
    (tmp_path / "result.json").touch()
    read, seen, known = [], [], RunningStep.read
    monkeypatch.setattr(RunningStep, "read", lambda folder: read.append(folder) or known(folder))
    with Supervision(tmp_path, ()) as process:
        process.supervise(tmp_path, "", 60, lambda *told: (seen.append(told), (tmp_path / told[0]).touch()))
    assert (seen, len(read)) == ([("one", "a"), ("two", "b"), ("two", "c")], 2)


def test_a_copy_that_is_not_checked_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A size step would count it as the engine's."""

    def wrong(*_: object) -> None:
        assert (tmp_path / "work" / "copy").is_dir()
        raise WrongAnswer("records are missing")

    monkeypatch.setattr(AskedCopies, "offered", True)
    monkeypatch.setattr(AskedCopies, "take", lambda _: (tmp_path / "work" / "copy").mkdir() or "")
    monkeypatch.setattr(keyvalue, "check", wrong)
    (step,) = recorded(tmp_path, plugin="sqlite")["steps"]
    assert (step["outcome"], step["detail"]) == ("wrong", "records are missing")
    assert not (tmp_path / "work" / "copy").exists()


@pytest.mark.parametrize(
    ("why", "lost"), [(copies.TOO_LARGE, False), (copies.TOO_MANY, False), ("cp: Permission denied", True)]
)
def test_folders_that_are_not_copied_take_the_rank_unless_they_are_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, why: str, *, lost: bool
) -> None:
    monkeypatch.setattr(AskedCopies, "offered", True)
    monkeypatch.setattr(AskedCopies, "take", lambda _: why)
    assert bool(recorded(tmp_path, plugin="sqlite")["no_rank"]) is lost


@pytest.mark.parametrize(
    ("processes", "said", "lost"),
    [
        (1, "not opened: it is locked", False),
        (None, "not opened: it is locked", True),
        (1, "not checked: OSError", True),
    ],
)
def test_a_database_at_a_url_that_only_one_process_opens_keeps_its_rank(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, processes: int | None, said: str, *, lost: bool
) -> None:
    monkeypatch.setattr(AskedCopies, "check", lambda *_: Verdict(why=said))
    order(tmp_path)
    engine = SimpleNamespace(url="a://b", info=lambda: SimpleNamespace(concurrency=Concurrency(processes=processes)))
    context: Any = SimpleNamespace(engine=engine, data=StepsSoFar())
    step: Any = SimpleNamespace(name="fill")
    seen = Worker(tmp_path).acknowledged.look(step, context)
    assert (seen.what, bool(seen.no_rank)) == (said, lost)


def test_commits_that_are_missing_beside_files_elsewhere_take_the_rank(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(AskedCopies, "offered", True)
    monkeypatch.setattr(AskedCopies, "take", lambda _: "")
    monkeypatch.setattr(AskedCopies, "check", lambda *_: Verdict(wrong="records are missing"))
    (tmp_path / "work" / "tmp").mkdir(parents=True)
    (tmp_path / "work" / "tmp" / "one").write_bytes(b"x")
    record = recorded(tmp_path, plugin="sqlite")
    (step,) = record["steps"]
    assert (step["outcome"], step["facts"]["copy"].partition(",")[0]) == ("ok", "missing in the copy")
    missing = "acknowledged commits were missing in a copy of its folder, and it has files elsewhere: "
    assert record["no_rank"].startswith(missing)


@pytest.mark.parametrize(
    ("raised", "wrong", "why"),
    [
        (WrongAnswer("records are missing"), "records are missing", ""),
        (RuntimeError("torn page"), "RuntimeError: torn page", ""),
        (MemoryError("no room"), "", "not checked: MemoryError: no room"),
        (OSError("too many files"), "", "not checked: OSError: too many files"),
        (ServerFailed("its port is taken"), "", "not checked: its port is taken"),
        (NotVerified("nothing to check by"), "", "nothing to check by"),
    ],
)
def test_a_copy_that_could_not_be_looked_at_accuses_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, raised: Exception, wrong: str, why: str
) -> None:
    found: list[Verdict] = []
    monkeypatch.setattr(copies, "question", lambda _: ("fill", StepsSoFar()))
    monkeypatch.setattr(copies, "answer", lambda _, verdict: found.append(verdict))
    monkeypatch.setattr(keyvalue, "check", Mock(side_effect=raised))
    (tmp_path / "work").mkdir()
    order(tmp_path)
    Worker(tmp_path).check_copy()
    assert found == [Verdict(wrong, why)]


def test_each_question_gets_its_own_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = iter(["cp: one file\ncp: another", ""])
    monkeypatch.setattr(Copies, "_copy", lambda *_: next(said))
    theirs = Copies(tmp_path, Mock(), 2)
    ours = AskedCopies(" ".join(str(os.dup(descriptor)) for descriptor in theirs.theirs))
    theirs.serve(0)
    assert [ours.take(), ours.take()] == ["cp: one file cp: another", ""]
    os.close(ours._pipes[0])  # its thread ends
    assert ours._answers
    ours._answers.close()
    theirs.end()


def test_what_was_written_is_seen_anew_though_a_later_step_is_unsupported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Sequence[str]] = []
    monkeypatch.setattr(after, "check", lambda _context, wrote, _again: seen.append(wrote) or {})
    more = "kind: keyvalue, name: more, title: More, operation: update, duration: 1, clients: {threads: 51}"
    record = recorded(tmp_path, FILL, more, READ, plugin="sqlite")
    assert [step["outcome"] for step in record["steps"]] == ["ok", "unsupported", "not run"]
    assert (seen, record["ended"]) == ([["fill"]], True)


def test_what_could_not_be_made_at_a_url_is_not_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Theirs(Dict):
        url_example = "theirs://host"
        durability: ClassVar = {tier: {} for tier in Tier}
        removed = False

        def create_store(self, records: Any) -> None:
            raise RuntimeError("there is one already")

        def remove(self, tables: Any) -> None:
            Theirs.removed = True

    monkeypatch.setattr(registry, "load", lambda _name: Theirs)
    monkeypatch.setenv(VARIABLE, "theirs://host")
    record = recorded(tmp_path)
    assert (record["steps"][0]["detail"], record["made"]) == ("RuntimeError: there is one already", False)
    assert not Theirs.removed


def test_a_lost_connection_that_cannot_be_closed_costs_its_step_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    losses = iter([True])

    class Lost(DictSession):
        lost = False

        def prepare_read(self, *, snapshot: bool = False) -> Any:
            self.lost = next(losses, False)
            if self.lost:
                raise RuntimeError("server has gone away")
            return super().prepare_read(snapshot=snapshot)

        def close(self) -> None:
            if self.lost:
                raise RuntimeError("not connected")

    class Loses(Dict):
        durability: ClassVar = {tier: {} for tier in Tier}

        def connect(self) -> DictSession:
            return Lost(self.held)

    monkeypatch.setattr(registry, "load", lambda _name: Loses)
    steps = recorded(tmp_path, FILL, READ.replace("name: read", "name: lost"), READ)["steps"]
    assert [step["outcome"] for step in steps] == ["ok", "failed", "ok"]


def test_a_saturated_step_leaves_its_data_to_those_after_it(tmp_path: Path) -> None:
    mixed = "kind: mix, name: mixed, title: Mixed, weights: {update: 1}, rate: {per_second: 10000000, seconds: 0.002}"
    steps = recorded(tmp_path, FILL, mixed, READ)["steps"]
    assert [step["outcome"] for step in steps] == ["ok", "saturated", "ok"]
