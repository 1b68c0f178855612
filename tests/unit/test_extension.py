"""`--resume RUN --rounds N`: rounds that are added count as if the run had been planned with them."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import dbbench
from dbbench.datasets.cache import Files
from dbbench.engine.options import Shares
from dbbench.engine.probe import Probed
from dbbench.errors import RunError, UserError
from dbbench.host import atomic_json
from dbbench.report.run_view import View, view
from dbbench.results.run_directory import Run, VariantFacts
from dbbench.runs import resume, runner
from dbbench.runs.plan import Ready, plan
from dbbench.scripting import carry_out
from dbbench.suite.model import Suite
from tests.fabricated import MACHINE, NULLS, Fake, fabricate, result_of

FAKES = {"a": Fake("A", 1.0), "b": Fake("B", 1.3)}


def probed(name: str) -> Probed:
    versions = {} if name in NULLS else {"driver": "1.0"}
    return Probed(name=name, engine=name, status="available", detail="", versions=versions)


@pytest.fixture(autouse=True)
def today(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The engines and the machine of today, which are those of the run unless a test changes them."""
    found: dict[str, Any] = {"machine": MACHINE, "a": probed("a"), "b": probed("b")}
    monkeypatch.setattr(resume.machine, "describe", lambda _folder: found["machine"])
    monkeypatch.setattr(
        resume, "probe", lambda names, *_rest: {name: found.get(name) or probed(name) for name in names}
    )
    monkeypatch.setattr(resume, "drawn_again", lambda _run: {})
    monkeypatch.setattr(resume, "answers_again", lambda _run, _files: {"invoices": {}})
    return found


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The trials that the runner has done, in order, by the fakes."""
    names: list[str] = []

    def trial(ready: Ready, *_rest: object) -> str:
        for each in ready.trials:
            if not ready.run.finished(each):
                names.append(each.id)
                result = result_of(ready.run, each, {**FAKES, **NULLS}[each.engine])
                atomic_json.write(ready.run.begin(each) / "result.json", result)
        return ""

    monkeypatch.setattr("dbbench.scripting.run_trials", trial)
    return names


def finished(path: Path, rounds: int) -> Run:
    """A run whose manifest knows the versions of its engines, with the plan of its own seed."""
    fakes = {name: replace(fake, probed={"versions": {"driver": "1.0"}}) for name, fake in FAKES.items()}
    return fabricate(path, fakes, rounds=rounds, seed=2006)


def figures(shown: View) -> list[tuple[object, ...]]:
    return [(row.scenario, row.step, row.engine, row.trial_means, row.value, row.low, row.rank) for row in shown.rows]


def test_a_run_with_rounds_added_is_one_that_had_them_from_the_start(tmp_path: Path, ran: list[str]) -> None:
    whole, run = finished(tmp_path / "whole", 6), finished(tmp_path / "run", 2)
    assert not any(row.rank for row in view(run).rows if row.unit == "s")
    carry_out(resume.resumed_run(run.path, None, rounds=6))
    again = Run.open(run.path)
    assert (again.manifest.rounds, again.manifest.finished is not None) == (6, True)
    assert {name.split("-")[1] for name in ran} == {"round3", "round4", "round5", "round6"}
    assert figures(view(again)) == figures(view(whole))
    assert {str(row.rank) for row in view(again).rows if row.engine == "b" and row.unit == "s"} == {"2"}


def test_a_budget_of_the_run_holds_no_longer(tmp_path: Path, ran: list[str]) -> None:
    run = finished(tmp_path / "run", 2)
    run.manifest = run.manifest.model_copy(update={"precision": 0.9, "time_limit": 1.0, "stopped": "out of time"})
    run.save()
    carry_out(resume.resumed_run(run.path, None, rounds=3))
    manifest = Run.open(run.path).manifest
    assert (manifest.rounds, manifest.precision, manifest.time_limit, manifest.stopped) == (3, None, None, "")


def test_the_caches_of_a_run_stay_as_they_were(tmp_path: Path) -> None:
    run = finished(tmp_path / "run", 2)
    before = {**run.manifest.limits, "cache": 7.0, "client_cache": 3.0, "engine_memory": 11.0}
    run.manifest = run.manifest.model_copy(update={"limits": before})
    run.save()
    ready = replace(resume.resumed_run(run.path, None, rounds=3), datasets={"invoices": Files(tmp_path)})
    assert runner.order_of(ready, ready.trials[-1], tmp_path).shares == Shares(7, 3, 11)
    assert Run.open(run.path).manifest.limits == before


def test_a_run_whose_caches_follow_an_older_rule_is_not_continued(tmp_path: Path) -> None:
    run = finished(tmp_path / "run", 2)
    limits = {"seconds": 600.0, "memory": float(2**34)}
    run.manifest = run.manifest.model_copy(update={"limits": limits})
    run.save()
    assert view(Run.open(run.path)).rows
    with pytest.raises(UserError, match="its caches follow an older rule; start a new run"):
        resume.resumed_run(run.path, None)
    for folder in run.path.glob("trials/*"):
        shutil.rmtree(folder)
    resume.resumed_run(run.path, None)
    assert Run.open(run.path).manifest.limits.keys() > limits.keys()


def test_a_run_that_another_is_at_work_on_gets_no_rounds(tmp_path: Path) -> None:
    run = finished(tmp_path / "run", 2)
    before = (run.path / "run.json").read_bytes()
    with run.locked(), pytest.raises(RunError, match="another dbbench is at work on"):
        resume.resumed_run(run.path, None, rounds=3)
    assert (run.path / "run.json").read_bytes() == before


def test_an_extension_that_was_interrupted_goes_on(tmp_path: Path, ran: list[str]) -> None:
    run = finished(tmp_path / "run", 2)
    resume.resumed_run(run.path, None, rounds=4)
    carry_out(resume.resumed_run(run.path, None))
    assert len(ran) == 2 * 4
    assert len(Run.open(run.path).results()) == 4 * 4


def test_trials_past_the_digits_of_the_first_ones_keep_their_order(small: Suite, tmp_path: Path) -> None:
    few, many = (plan(small, ["a"], rounds=rounds, seed=1, digits=3) for rounds in (999, 1000))
    assert few == many[:999]
    run = finished(tmp_path / "run", 1)
    assert run.digits() == 3
    first = sorted(path.name for path in (run.path / "trials").iterdir())
    for name in ("1000", "0999"):
        folder = run.path / "trials" / f"{name}-round1-invoices-a"
        folder.mkdir()
        result = result_of(run, plan(run.suite, ["a"], rounds=1, seed=1)[0], FAKES["a"])
        atomic_json.write(folder / "result.json", {**result, "id": folder.name})
    assert [result.id[:5] for result in run.results()] == [*(name[:5] for name in first), "0999-", "1000-"]


@pytest.mark.parametrize(
    ("changed", "rounds", "message"),
    [
        ({}, 2, "has 2 rounds; --rounds is the total number"),
        ({"a": replace(probed("a"), versions={"driver": "2.0"})}, None, "a: driver 1.0 then, driver 2.0 now"),
        ({"machine": {**MACHINE, "cpu": "Another"}}, 6, r"CPU: AMD EPYC 9B14 then, Another now\nstart a new run"),
        ({"a": replace(probed("a"), versions={"driver": "2.0"})}, 6, "a: driver 1.0 then, driver 2.0 now"),
        (
            {"b": replace(probed("b"), status="broken", detail="no library")},
            6,
            r"b: available then, broken \(no library\)",
        ),
    ],
)
def test_rounds_that_would_be_of_something_else_are_refused(
    tmp_path: Path, today: dict[str, Any], changed: dict[str, Any], rounds: int | None, message: str
) -> None:
    run = finished(tmp_path / "run", 2)
    shutil.rmtree(run.path / "trials" / run.results()[-1].id)
    before = (run.path / "run.json").read_bytes()
    today.update(changed)
    with pytest.raises(UserError, match=message):
        resume.resumed_run(run.path, None, rounds=rounds)
    if rounds is None:
        assert resume.resumed_run(run.path, None, counts=False)
    assert (run.path / "run.json").read_bytes() == before


def test_a_program_whose_plugin_is_gone_is_a_difference(tmp_path: Path, today: dict[str, Any]) -> None:
    """`--from` named it, and nobody can tell by which option."""
    run = finished(tmp_path / "run", 2)
    shutil.rmtree(run.path / "trials" / run.results()[-1].id)
    run.manifest.variants["a"] = VariantFacts(engine="a", build="a library")
    run.save()
    today["a"] = replace(probed("a"), status="broken", detail="no module")
    with pytest.raises(UserError, match=r"a: available then, broken \(no module\) now"):
        resume.resumed_run(run.path, None)


def test_a_finished_run_is_reported_anywhere_and_one_without_a_result_goes_on_where_it_began(
    tmp_path: Path, today: dict[str, Any]
) -> None:
    """Else its report would name the machine that it began on."""
    run = finished(tmp_path / "run", 2)
    today["machine"] = {**MACHINE, "cpu": "Another"}
    resume.resumed_run(run.path, None)
    for folder in run.path.glob("trials/*"):
        shutil.rmtree(folder)
    with pytest.raises(UserError, match="CPU: AMD EPYC 9B14 then, Another now"):
        resume.resumed_run(run.path, None)


def test_rounds_of_another_dbbench_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = finished(tmp_path / "run", 2)
    monkeypatch.setattr(dbbench, "__version__", "9.9")
    with pytest.raises(UserError, match=r"dbbench: 0\.1\.0 then, 9\.9 now"):
        resume.resumed_run(run.path, None, rounds=6)


def test_the_runner_is_given_what_is_not_done_yet(tmp_path: Path) -> None:
    """The runner's own rule, which the fake one above repeats."""
    run = finished(tmp_path / "run", 2)
    ready = resume.resumed_run(run.path, None, rounds=3)
    assert sum(not run.finished(trial) for trial in ready.trials) == 4
    assert runner.seconds_left(ready.trials, run.done(ready.trials), None) == 16.0
