"""How much longer a run takes, from how long its trials took so far, and when it has done enough."""

import io
from pathlib import Path

import pytest
from rich.console import Console
from rich.text import Text

from dbbench.analysis.budget import reached
from dbbench.report.remarks import stopped
from dbbench.report.terminal import progress
from dbbench.results.outcome import Outcome
from dbbench.results.run_directory import Run
from dbbench.results.trial import Progress, StepResult, Trial, TrialResult
from dbbench.runs.runner import seconds_left
from tests.fabricated import Fake, fabricate

ENGINES = ("a", "b", "c")
SECONDS = {"a": 1.0, "b": 2.0, "c": 3.0}


def trials(rounds: int) -> list[Trial]:
    return [Trial(f"{n}-{engine}", "main", engine, n) for n in range(1, rounds + 1) for engine in ENGINES]


def done(count: int) -> dict[str, TrialResult]:
    return {trial.id: trial.result((), seconds=SECONDS[trial.engine]) for trial in trials(50)[:count]}


def printed(run: Run, *reports: Progress, terminal: bool = False, publish: bool = False) -> str:
    out = io.StringIO()
    with progress.watched(Console(file=out, width=200, force_terminal=terminal), run, publish=publish) as report:
        for each in reports:
            report(each)
    return out.getvalue()


@pytest.mark.parametrize(("finished", "left"), [(3, 24.0), (4, 23.0), (15, 0.0)])
def test_without_a_budget_all_rounds_count(finished: int, left: float) -> None:
    assert seconds_left(trials(5), done(finished), None) == pytest.approx(left)


@pytest.mark.parametrize(
    ("finished", "limit", "left"),
    [
        (3, 20, 12.0),  # three rounds of 6 s fit
        (5, 20, 9.0),
        (9, 20, 0.0),
        (3, 5, 0.0),  # the first round is always run
        (4, 5, 5.0),  # one that has begun is finished
        (3, 10_000, 49 * 6.0),  # no more than there may be
    ],
)
def test_within_a_time_limit_only_rounds_that_fit_count(finished: int, limit: float, left: float) -> None:
    assert seconds_left(trials(50), done(finished), limit) == pytest.approx(left)


def test_nothing_is_said_of_the_first_trials() -> None:
    assert seconds_left(trials(50), done(2), 20) is None


@pytest.mark.parametrize(
    ("at_most", "words"), [(False, "1.0 s, about 20 s left"), (True, "1.0 s, at most about 20 s left")]
)
def test_where_precision_may_end_the_run_earlier_the_time_left_is_at_most(
    tmp_path: Path, at_most: bool, words: str
) -> None:
    run = fabricate(tmp_path / "run", {"a": Fake("A")}, rounds=1)
    ended = Progress(trials(1)[0], 1, 9, result=done(1)["1-a"], seconds_left=20.0, at_most=at_most)
    assert printed(run, ended).strip().endswith(words)


@pytest.mark.parametrize("terminal", [False, True])
def test_null_engines_are_no_lines_and_not_counted(tmp_path: Path, terminal: bool) -> None:
    run = fabricate(tmp_path / "run", {"a": Fake("A"), "b": Fake("B")}, rounds=2)
    for result in run.results():
        run.discard(Trial(result.id, "invoices", result.engine_name, result.round))
    bad = [StepResult(name="q", outcome=Outcome.UNSUPPORTED)]
    ended = [Trial(engine, "invoices", engine, 1) for engine in ("a", "null", "null+arrow", "b")]
    reports = [Progress(trial, number, 8, result=trial.result(bad)) for number, trial in enumerate(ended, 1)]
    found = printed(run, *reports, terminal=terminal)
    lines = [line.split() for line in Text.from_ansi(found).plain.splitlines() if "unsupported" in line]
    assert [(line[0], line[3]) for line in lines] == [("1/4", "a"), ("2/4", "b")]
    assert "null" not in found


def test_a_trial_that_runs_again_counts_once(tmp_path: Path) -> None:
    """As where a host was lost with its round, or the disk was full."""
    run = fabricate(tmp_path / "run", {"a": Fake("A")}, rounds=2)
    result = next(each for each in run.results() if each.engine_name == "a")
    found = printed(run, Progress(Trial(result.id, "invoices", "a", 1), 1, 6, result=result))
    assert found.split()[0] == "2/2"


@pytest.mark.parametrize("terminal", [False, True])
@pytest.mark.parametrize(("publish", "shown"), [(False, "q: try 1: 70 calls/s: passed"), (True, "q: try 1")])
def test_each_note_of_a_long_step_is_a_line_unless_its_engine_is_null(
    tmp_path: Path, terminal: bool, publish: bool, shown: str
) -> None:
    run = fabricate(tmp_path / "run", {"a": Fake("A")}, rounds=1)
    notes = [
        Progress(Trial(engine, "invoices", engine, 1), 1, 2, step="q", note="q: try 1: 70 calls/s: passed")
        for engine in ("a", "null")
    ]
    found = printed(run, *notes, terminal=terminal, publish=publish)
    lines = [line.split(maxsplit=3) for line in Text.from_ansi(found).plain.splitlines() if "try" in line]
    assert [(line[2], line[3].rstrip()) for line in lines] == [("a", shown)]


@pytest.mark.parametrize(
    ("rounds", "precision", "time_limit", "words"),
    [
        (6, 0.5, None, "precise enough after 6 rounds: no interval is wider than ±"),
        (6, 0.0001, None, ""),
        (6, None, 1.0, "out of time after 6 rounds: 1 min 36 s of 1 s"),
        (6, 0.0001, 1.0, "not ±0.0%"),
        (6, None, 1e9, ""),
        (1, 0.5, 1.0, "out of time after 1 round: 16 s of 1 s; no interval yet"),
    ],
)
def test_a_run_ends_when_it_is_precise_or_out_of_time(
    rounds: int, precision: float | None, time_limit: float | None, words: str, tmp_path: Path
) -> None:
    run = fabricate(tmp_path / "run", {"a": Fake("A"), "b": Fake("B", 2.0)}, rounds=rounds)
    manifest = run.manifest.model_copy(update={"precision": precision, "time_limit": time_limit})
    stop = reached(run.suite, manifest, run.results(), rounds)
    assert (stop is None) is (words == "")
    assert stop is None or words in stopped(stop)
