"""Real runs compared: one engine with itself, a slowed one, and runs that are not alike."""

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from tests.conftest import TESTS, Dbbench, run_here
from tests.trials_here import trials_here

TINY = str(TESTS.parent / "docs" / "examples" / "tiny.yaml")
ENGINE = "faulty-slowed"
#: Fifty times as long: at a load of 20, five rounds did not find ten times.
SLOWED = 4900


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run and one with slow queries, of five rounds each, and one of one round; with copies of them."""
    folder = tmp_path_factory.mktemp("runs")
    for name, *how in (
        ("after", "--rounds", "5"),
        ("slow", "--rounds", "5", "--set", f"{ENGINE}.percent={SLOWED}"),
        ("quick", "--quick"),
    ):
        words = ("suite", TINY, "-e", ENGINE, *how, "--format", "csv", "--out", name)
        with trials_here():
            run_here(folder, *words, plugins=("faulty",), status=0)
    copied(folder, "after", "before", created="2026-01-03T00:00:00Z")
    copied(folder, "quick", "seed", seed=8, created="2026-01-01T00:00:00Z")
    copied(folder, "quick", "sql", created="2026-01-02T00:00:00Z")
    suite = folder / "sql" / "suite.yaml"
    suite.write_text(suite.read_text().replace("SELECT Id, Celsius FROM", "SELECT Id, Celsius  FROM"))
    return folder


def copied(runs: Path, run: str, name: str, **changes: object) -> None:
    shutil.copytree(runs / run, runs / name)
    document = json.loads((runs / name / "run.json").read_text())
    (runs / name / "run.json").write_text(json.dumps(document | changes))


Compared = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def compared(dbbench_here: Dbbench, runs: Path) -> Compared:
    """`dbbench compare ...` in the folder of the runs. No plugin is there: comparing needs no engine."""
    return partial(dbbench_here, "compare", folder=runs)


def counts(done: subprocess.CompletedProcess[str]) -> int:
    """How many steps the summary line counts."""
    words = ["broke", "slower", "larger", "mended", "faster", "smaller", "can't tell", "the same", "no figure"]
    line = next(
        line for line in reversed(done.stdout.splitlines()) if line.endswith(tuple(words)) and line[0].isdigit()
    )
    return sum(int(part.split()[0]) for part in line.split(", "))


def test_like_runs_of_one_engine_have_a_verdict_for_each_step(compared: Compared) -> None:
    done = compared("before", "after")
    assert (done.returncode, done.stderr) == (0, "")
    assert counts(done) == 4
    assert re.search(rf"^the same \(\d\): {ENGINE} .*\bsize\b", done.stdout, re.MULTILINE)
    assert "broke" not in done.stdout
    assert "differs:" not in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_a_slowed_engine_is_slower_and_held_up_by_the_gate(compared: Compared) -> None:
    done = compared("before", "slow", "--fail-above", "5%")
    assert (done.returncode, done.stderr) == (1, "")
    assert "\nslower (" in done.stdout
    assert f"  {ENGINE} hot " in done.stdout
    assert f"differs: {ENGINE}: percent: 0 -> {SLOWED}" in done.stdout
    assert f"{ENGINE} hot: slower" in " ".join(done.stdout[done.stdout.index("\ngate: failed at 5 %: ") :].split())
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert compared("before", "slow").returncode == 0  # without the gate


def test_markdown_for_a_comment(compared: Compared) -> None:
    done = compared("before", "slow", "--markdown", "--fail-above", "5%")
    assert done.returncode == 1
    assert done.stdout.startswith("### dbbench: ")
    assert "**Gate:** failed at 5 %: `" in done.stdout
    assert f"| slower | `{ENGINE}` | `hot` | " in done.stdout
    assert "\x1b" not in done.stdout


def test_one_round_decides_nothing_and_says_how_many_would(compared: Compared) -> None:
    done = compared("quick", "before", "--fail-above", "5%")
    assert done.returncode == 3
    assert f"gate: undecided at 5 %: no timed step of {ENGINE} could be decided" in " ".join(done.stdout.split())
    assert compared("quick", "before", "--fail-above", "5%", "--fail-on-unknown").returncode == 1
    assert compared("quick", "before").returncode == 0
    assert "differs:" not in done.stdout
    assert "can't tell (3)" in done.stdout
    text = " ".join(done.stdout.split())
    assert f"{ENGINE}: 1 and 5 rounds can't decide 3 steps; run both again with --rounds 5 or more" in text


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ("seed", "seed: 7 in quick, 8 in seed"),
        ("sql", "scenario readings, step hot, sql: ...ECT Id, Celsius FROM Reading WHERE"),
    ],
)
def test_unlike_runs_are_refused(compared: Compared, other: str, words: str) -> None:
    done = compared("quick", other, "--fail-above", "5%", "--across-machines")
    assert (done.returncode, done.stdout) == (2, "")
    assert words in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


def test_another_machine_is_refused_or_stamped(runs: Path, compared: Compared) -> None:
    machine = json.loads((runs / "after" / "run.json").read_text())["machine"]
    copied(runs, "after", "elsewhere", machine={**machine, "cpu": "Abacus"})
    refused = compared("before", "elsewhere")
    assert refused.returncode == 2
    assert f"CPU: {machine['cpu']} in before, Abacus in elsewhere" in refused.stderr
    stamped = compared("before", "elsewhere", "--across-machines")
    assert stamped.returncode == 0
    assert "DIFFERENT MACHINES" in stamped.stdout
    assert "**Different machines**" in compared("before", "elsewhere", "--across-machines", "--markdown").stdout


@pytest.mark.parametrize(
    ("gate", "words"),
    [
        ("--fail-above=five", "'five' is not a share like 5% or 0.05"), ("--fail-above=0%", "0% is not between 0 %"),
        ("--fail-above=5", "5 is not between 0 % and 100 %: write 5% or 0.05"), ("--fail-above=nan", "nan is not between 0 %"),
        ("--fail-above=1%", "a gate of 1 % is too small"), ("--fail-on-unknown", "add the gate, like --fail-above 5%"),
    ],
)  # fmt: skip
def test_a_gate_that_makes_no_sense_is_refused(compared: Compared, gate: str, words: str) -> None:
    done = compared("before", "after", gate)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in " ".join(done.stderr.split())
