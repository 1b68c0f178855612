"""A trial's steps once more under strace: when, and what its sync calls say of them."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dbbench.cluster.place import Place
from dbbench.engine.urls import VARIABLE
from dbbench.host import atomic_json
from dbbench.host.processes import INTERRUPTED
from dbbench.results.outcome import Outcome
from dbbench.results.trial import StepResult, Trial, TrialResult
from dbbench.runs import strace, traced
from dbbench.runs.order import TrialOrder
from dbbench.runs.supervisor import Supervisor
from tests.unit.orders import FILL, order

READ = "kind: keyvalue, name: read, title: Read, operation: read"
FIRST, SECOND = Trial("001-round1-a-x", "a", "x", 1), Trial("001-round1-a-x", "a", "x", 2)


def step(name: str = "fill", commits: int = 3, **more: Any) -> StepResult:
    return StepResult(name=name, **{"outcome": Outcome.OK, "commits": commits, **more})


def result(*steps: StepResult, tier: str = "power", trial: Trial = FIRST) -> TrialResult:
    return trial.result(steps or [step()], engine={"tier": tier}, seconds=40.0)


def ordered(folder: Path, **more: Any) -> TrialOrder:
    made = order(folder, FILL, READ)
    return made.model_copy(update={"trial": FIRST, "rounds": 8, **more})


def test_the_steps_that_write_are_done_once_more(tmp_path: Path) -> None:
    made = traced.order_of(ordered(tmp_path, copied=("fill",)), result(), tmp_path / "again")
    assert made is not None
    made.write(tmp_path)
    assert (TrialOrder.read(tmp_path).steps, TrialOrder.read(tmp_path).copied) == (("fill",), ())
    assert (made.trial.round, made.process.seconds, made.process.work) == (2, 40, str(tmp_path / "again" / "work"))


@pytest.mark.parametrize(
    ("rounds", "took", "limit"), [(5, 40, 25), (8, 40, 40), (50, 40, 40), (8, 1, 10), (8, 999, 300)]
)
def test_it_takes_no_longer_than_a_run_allows(tmp_path: Path, rounds: int, took: float, limit: float) -> None:
    first = result().model_copy(update={"seconds": took})
    made = traced.order_of(ordered(tmp_path, rounds=rounds), first, tmp_path)
    assert made is not None
    assert made.process.seconds == limit


@pytest.mark.parametrize(
    ("more", "given"),
    [
        ({"trial": SECOND}, result()),
        ({"rounds": 4}, result()),
        ({"place": Place(("here",), "clients")}, result()),
        ({}, result(tier="process")),
        ({}, result(step(commits=0))),
        ({}, result(step(verified=False))),
        ({}, result(step(outcome=Outcome.FAILED))),
    ],
)
def test_nothing_is_counted_of_who_promises_nothing_or_has_no_rank(
    tmp_path: Path, more: dict[str, Any], given: TrialResult
) -> None:
    assert traced.order_of(ordered(tmp_path, **more), given, tmp_path) is None


def test_nothing_is_counted_at_a_url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "db://host")
    assert traced.order_of(ordered(tmp_path), result(), tmp_path) is None


def judged(folder: Path, syncs: int, *steps: StepResult, again: StepResult | None = None, more: str = "") -> Any:
    """The first trial's result where the second one made some sync calls in its step, and one after it."""
    result(again or step(), trial=SECOND).write(folder)
    sync = f"7 fdatasync(4<{folder}/work/data/file>) = 0\n"
    marks = [
        f'7 openat(AT_FDCWD</y>, "{folder}/fill.{place}", O_RDONLY|O_CLOEXEC) = -1 ENOENT (No)\n' for place in PLACES
    ]
    calls = folder / "strace.txt"
    calls.write_text(more + sync + marks[0] + syncs * sync + f"7 fsync(4<{folder}/x>) = 0\n" + marks[1] + sync)
    return traced.judged(result(*steps), folder, calls)


PLACES = ("begun", "done")


def test_each_commit_has_a_sync_call_of_the_step_itself(tmp_path: Path) -> None:
    why: Any = {"facts": {"syncs": "fewer than 20 commits", "calls": 3}}
    (kept,) = judged(tmp_path, 3, step(**why)).steps
    assert (kept.verified, kept.facts) == (True, {"calls": 3})
    (unsynced,) = judged(tmp_path, 2, step(**why, detail="slow")).steps
    assert (unsynced.verified, unsynced.facts) == (False, {"calls": 3})
    assert unsynced.detail == "slow; no rank: commits didn't reach the disk: 2 sync calls for 3 commits"


def test_a_total_of_it_has_no_rank_either(tmp_path: Path) -> None:
    fill, other, total = judged(tmp_path, 0, step(), step("b", 0), step("c", 0, facts={"of": ["fill", "b"]})).steps
    assert (fill.verified, other.verified, total.verified) == (False, True, False)
    assert total.detail == "not verified: commits of fill didn't reach the disk"


def test_who_can_not_be_traced_is_accused_of_nothing(tmp_path: Path) -> None:
    ring = "7 io_uring_setup(64, {flags=0}) = 5<anon_inode:[io_uring]>\n"
    for found, why in (
        (judged(tmp_path, 0, more=ring), "it uses io_uring_setup, where strace doesn't see them"),
        (judged(tmp_path, 0, again=step(outcome=Outcome.TIMEOUT)), "under strace: timeout"),
        (judged(tmp_path, 0, again=step("other")), "under strace: no result"),
        (traced.judged(result(), tmp_path / "none", tmp_path), "under strace: [Errno 2] No such file or directory"),
        (traced.not_counted(result(), "strace is missing"), "strace is missing"),
    ):
        (step_,) = found.steps
        assert step_.verified
        assert step_.facts["syncs"].startswith(why)


def test_one_that_fell_short_under_strace_has_committed_as_well(tmp_path: Path) -> None:
    (kept,) = judged(tmp_path, 3, again=step(outcome=Outcome.SATURATED)).steps
    assert (kept.verified, kept.facts) == (True, {})


def test_a_count_that_is_interrupted_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = ordered(tmp_path)
    made.model_copy(update={"process": replace(made.process, work=str(tmp_path / "work"))}).write(tmp_path)
    monkeypatch.setattr(strace, "unusable", str)
    monkeypatch.setattr(Supervisor, "run", lambda _: INTERRUPTED)
    assert Supervisor(tmp_path)._count_syncs(result()) == INTERRUPTED
    (kept,) = TrialResult.model_validate(atomic_json.read(tmp_path / "result.json")).steps
    assert (kept.verified, kept.facts["syncs"]) == (True, "interrupted")
    assert not (tmp_path / "work").exists()
