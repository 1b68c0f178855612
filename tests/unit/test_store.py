"""The run directory: what is written, what is read back, and what is said of a damaged one."""

import datetime
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dbbench.errors import RunError, SuiteError, UserError
from dbbench.host import atomic_json
from dbbench.results.outcome import Outcome
from dbbench.results.run_directory import SCHEMA, Manifest, Run
from dbbench.results.trial import Trial, TrialResult
from dbbench.runs.plan import plan
from dbbench.suite.model import Suite

MANIFEST = Manifest(
    dbbench="0.1",
    suite="small",
    created=datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.UTC),
    engines={"a": {"status": "available"}, "b": {"status": "absent"}, "c": {"status": "available"}},
    rounds=2,
    scale=1.0,
    seed=7,
    options={"a": {"cache_mib": "64"}},
    limits={"seconds": 600},
    machine={"cpu": "é"},
)


@pytest.fixture
def run(small: Suite, small_text: str, tmp_path: Path) -> Run:
    return Run.create(tmp_path / "runs" / "one", MANIFEST, small, small_text)


@pytest.fixture
def trials(small: Suite) -> list[Trial]:
    return plan(small, MANIFEST.usable, rounds=2, seed=1)


def finish(run: Run, trial: Trial, **more: Any) -> None:
    step = {"name": "load", "outcome": "ok", "value": 1.5, "unit": "s", "samples": [1.5]}
    document = {"id": trial.id, "scenario_name": trial.scenario, "engine_name": trial.engine, "round": trial.round}
    run.directory(trial).mkdir(parents=True)
    atomic_json.write(run.directory(trial) / "result.json", document | {"steps": [step]} | more)


def test_a_run_that_was_created_is_opened_as_it_was(run: Run, small: Suite, small_text: str) -> None:
    opened = Run.open(run.path)
    assert (opened.path, opened.manifest, opened.suite) == (run.path, MANIFEST, small)
    assert (run.path / "suite.yaml").read_text("utf-8") == small_text
    assert sorted(os.listdir(run.path)) == ["run.json", "suite.yaml", "trials"]
    assert opened.results() == []


def test_usable_engines_are_those_that_are_available() -> None:
    assert MANIFEST.usable == ["a", "c"]


def test_a_trial_is_finished_when_its_result_is_there(run: Run, trials: list[Trial]) -> None:
    run.directory(trials[0]).mkdir()
    atomic_json.write(run.directory(trials[0]) / "trial.json", {})
    assert not run.finished(trials[0])
    finish(run, trials[1])
    assert run.finished(trials[1])


def test_results_come_in_the_order_they_ran(run: Run, trials: list[Trial]) -> None:
    for trial in reversed(trials):
        finish(run, trial)
    assert [result.id for result in run.results()] == [trial.id for trial in trials]


def test_a_result_is_read_back(run: Run, trials: list[Trial]) -> None:
    finish(run, trials[0], remarks=["warm"], peak_memory=2**20, seconds=3.5)
    result = run.result(trials[0])
    assert (result.id, result.engine_name, result.round) == (trials[0].id, trials[0].engine, 1)
    assert (result.remarks, result.peak_memory, result.seconds) == (("warm",), 2**20, 3.5)
    step = result.step("load")
    assert step is not None
    assert (step.outcome, step.value, step.samples) == (Outcome.OK, 1.5, (1.5,))
    assert result.step("nothing") is None


def test_a_trial_begins_without_what_one_that_was_broken_off_left_and_nothing_else_goes(
    run: Run, trials: list[Trial]
) -> None:
    finish(run, trials[0])
    (run.directory(trials[1]) / "work" / "deep").mkdir(parents=True)
    (run.directory(trials[1]) / "work" / "deep" / "file").write_text("x")
    (run.path / "trials" / "mine").mkdir()
    assert os.listdir(run.begin(trials[1])) == []
    assert sorted(os.listdir(run.path / "trials")) == sorted([trials[0].id, trials[1].id, "mine"])
    run.discard(trials[1])
    assert sorted(os.listdir(run.path / "trials")) == sorted([trials[0].id, "mine"])
    assert run.finished(trials[0])


@pytest.mark.parametrize("inside", ["run.json", "notes.txt"])
def test_a_folder_that_holds_anything_is_not_taken(inside: str, small: Suite, tmp_path: Path) -> None:
    (tmp_path / inside).write_text("mine")
    with pytest.raises(UserError, match=r"already exists; choose another with --out, or continue with --resume"):
        Run.create(tmp_path, MANIFEST, small, "")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {inside: "mine"}


def test_an_empty_folder_is_taken(small: Suite, small_text: str, tmp_path: Path) -> None:
    assert Run.open(Run.create(tmp_path, MANIFEST, small, small_text).path).suite == small


@pytest.mark.parametrize(("path", "message"), [("file", "already exists"), ("file/run", "can't be written: Not a dir")])
def test_a_place_where_no_folder_can_be_is_told(path: str, message: str, small: Suite, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match=message):
        Run.create(tmp_path / path, MANIFEST, small, "")


@pytest.mark.parametrize("path", [".", "gone", "file"])
def test_what_is_no_run_directory_is_told(path: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match=r"is not a run directory \(it has no run\.json\)$"):
        Run.open(tmp_path / path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"schema_version": 1, "db', "is damaged: Unterminated string"),
        ("{}", "is damaged: 'schema_version'"),
        ('{"schema_version": "new"}', "is damaged: '>' not supported"),
        ('{"schema_version": 1}', r"is damaged: dbbench: Field required"),
        (f'{{"schema_version": {SCHEMA + 1}, "other": 1}}', rf"was written by a newer dbbench \(format {SCHEMA + 1}, this one reads {SCHEMA}\); upgrade$"),
    ],
)  # fmt: skip
def test_a_manifest_that_cannot_be_read_is_told(text: str, message: str, run: Run) -> None:
    (run.path / "run.json").write_text(text)
    with pytest.raises(RunError, match=message):
        Run.open(run.path)


def test_a_run_without_its_suite_is_damaged(run: Run) -> None:
    (run.path / "suite.yaml").unlink()
    with pytest.raises(RunError, match=r"is damaged: .*No such file"):
        Run.open(run.path)


def test_faults_of_a_runs_suite_are_told_with_their_place(run: Run) -> None:
    (run.path / "suite.yaml").write_text("dbbench: 2\n")
    with pytest.raises(SuiteError, match=r"suite\.yaml:1:10: dbbench: 2: expected"):
        Run.open(run.path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "Expecting property name"),
        ("{}", "steps: Field required"),
        (None, "steps: join-1 is ok without a value"),
    ],
)
def test_a_result_that_cannot_be_read_is_told_with_what_to_do(
    text: str | None, message: str, run: Run, trials: list[Trial]
) -> None:
    finish(run, trials[0], steps=[{"name": "join-1", "outcome": "ok", "value": None}])
    if text is not None:
        (run.directory(trials[0]) / "result.json").write_text(text)
    for read in (run.results, lambda: run.result(trials[0])):
        with pytest.raises(RunError, match=rf"result\.json is damaged: .*{message}.*; remove .* and --resume the run$"):
            read()


def test_a_run_is_for_one_dbbench_at_a_time(run: Run) -> None:
    other = (
        "import sys; from pathlib import Path; from dbbench.results.run_directory import Run\n"
        "with Run.open(Path(sys.argv[1])).locked(): print('got it')"
    )
    command = [sys.executable, "-c", other, str(run.path)]
    with run.locked():
        refused = subprocess.run(command, capture_output=True, text=True, check=False)
        with pytest.raises(RunError, match="another dbbench is at work on"), Run.open(run.path).locked():
            pass
    assert f"RunError: another dbbench is at work on {run.path}" in refused.stderr
    assert subprocess.run(command, capture_output=True, text=True, check=False).stdout == "got it\n"


def test_a_lock_ends_with_an_exception(run: Run) -> None:
    with pytest.raises(KeyError), run.locked():
        raise KeyError
    with run.locked():
        pass


def test_a_document_is_written_in_one_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.json"
    atomic_json.write(path, {"é": 1})
    seen: list[tuple[Any, Any]] = []
    replace = os.replace

    def watched(source: Path, target: Path) -> None:
        seen.append((json.loads(Path(source).read_text("utf-8")), atomic_json.read(path)))
        replace(source, target)

    monkeypatch.setattr(os, "replace", watched)
    atomic_json.write(path, {"é": 2})
    assert seen == [({"é": 2}, {"é": 1})]  # the new one was whole while the old one still stood
    assert atomic_json.read(path) == {"é": 2}
    assert os.listdir(tmp_path) == ["a.json"]


def test_a_document_that_cannot_be_written_leaves_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    atomic_json.write(path, 1)
    with pytest.raises(TypeError):
        atomic_json.write(path, {("no", "key"): 1})
    assert atomic_json.read(path) == 1
    assert os.listdir(tmp_path) == ["a.json"]


def test_a_text_that_is_no_utf_8_is_written_all_the_same(tmp_path: Path) -> None:
    text = b"caf\xe9".decode(errors="surrogateescape")
    atomic_json.write(tmp_path / "a.json", text)
    assert atomic_json.read(tmp_path / "a.json") == text


def test_a_place_that_is_taken_leaves_no_temporary_file(tmp_path: Path) -> None:
    (tmp_path / "a.json").mkdir()
    with pytest.raises(IsADirectoryError):
        atomic_json.write(tmp_path / "a.json", 1)
    assert os.listdir(tmp_path) == ["a.json"]


def test_results_are_frozen(run: Run, trials: list[Trial]) -> None:
    finish(run, trials[0])
    result: TrialResult = run.result(trials[0])
    with pytest.raises(ValueError, match="frozen"):
        result.seconds = 0.0
