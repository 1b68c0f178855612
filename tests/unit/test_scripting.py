"""What scripts and tests of others call: it is refused as on the command line, and asserts what a gate says."""

import inspect
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

import dbbench
from dbbench import scripting
from dbbench.cli.suite import suite as suite_command
from dbbench.errors import UserError
from dbbench.report.frames import RunFrames
from dbbench.runs import plan
from dbbench.runs.request import Request
from tests.docs.test_docs import ROOT, blocks
from tests.fabricated import Fake, fabricate

PAGE = (ROOT / "docs" / "python.md").read_text("utf-8")


def test_the_name_is_there_and_costs_nothing() -> None:
    code = (
        "import sys, dbbench; assert {'run', 'open_run'} <= set(dbbench.__all__); "
        "heavy = {'numpy', 'pydantic', 'pandas', 'matplotlib', 'click', 'rich', 'scipy', 'pyarrow', 'ruamel'}; "
        "print(sorted(heavy & {name.partition('.')[0] for name in sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")
    assert plan.DEFAULT_ROUNDS == 8  # the package beside it, whichever was imported first
    assert callable(dbbench.run)


def test_every_option_of_the_command_is_an_argument() -> None:
    """Some are the command's alone: it resumes, a gate is an assertion here, and a script needs no file of options."""
    names = {"settings": "settings", "sweeps": "sweeps", "urls": "urls", "formats": "formats", "built": "builds"}
    options = {names.get(str(each.name), each.name) for each in suite_command.params} - {
        "resume",
        "gates",
        "fail_on_unknown",
        "metric",
        "config",
    }
    arguments = set(inspect.signature(scripting.run).parameters)
    assert arguments == options
    told = inspect.getdoc(scripting.run) or ""
    assert [name for name in names.values() if f"`{name}`" not in told] == []


def test_what_is_asked_reaches_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scripting, "new_run", new_run := Mock(side_effect=UserError("stop")))
    with pytest.raises(UserError, match="stop"):
        dbbench.run(
            "invoices", engines=["duckdb"], settings={"sqlite": {"wal": True}}, sweeps={"sqlite.cache_mib": [4, 8]},
            urls={"mine": "postgresql://me@h/db"}, out="r", precision=0.05, time_limit=60, trial_timeout=9, seed=3,
        )  # fmt: skip
    (found,) = new_run.call_args.args
    assert found.engines == ("duckdb", "sqlite@cache_mib-4", "sqlite@cache_mib-8")
    assert found.options["sqlite"] == {"wal": "true"}
    assert found.options["sqlite@cache_mib-8"] == {"cache_mib": "8"}
    assert (found.out, found.precision, found.time_limit) == (Path("r"), 0.05, 60)
    assert (found.trial_timeout, found.seed) == (9, 3)
    assert set(found.urls) == {"mine"}


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"rounds": 0}, "rounds: 0 is not above 0 and at most 1,000"), ({"rounds": 1001}, "at most 1,000"),
        ({"scale": -1.0}, "scale: -1"), ({"precision": float("nan")}, "precision: nan"), ({"seed": -1}, "seed: -1"),
        ({"trial_memory": 0}, "trial_memory: 0 is not above 0"), ({"quick": True, "rounds": 6}, "--quick is one round"),
        ({"formats": ["pdf"]}, "unknown format 'pdf'"),
        ({"sweeps": {"sqlite.cache_mib": [4]}}, "needs two values or more"), ({"engines": ["sqlit"]}, "sqlit"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(asked: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=message):
        dbbench.run("invoices", **{"out": tmp_path / "r", **asked})
    assert not (tmp_path / "r").exists()


# The assertion


def opened(path: Path, slow: float, rounds: int = 10) -> RunFrames:
    fakes = {"sqlite": Fake("SQLite"), "sqlite@small": Fake("SQLite [small]", slow)}
    return dbbench.open_run(fabricate(path / "fabricated", fakes, rounds=rounds).path)


def test_what_is_not_slower_passes(tmp_path: Path) -> None:
    opened(tmp_path, 1.02).assert_not_slower("sqlite@small", than="sqlite", by=0.1)


@pytest.mark.parametrize(
    ("slow", "rounds", "message"),
    [
        (1.5, 10, r"join-1 +slower .*×1\.5(.|\n)*gate sqlite@small/sqlite: failed at 10 %"),
        (1.0, 2, r"2 rounds can't decide(.|\n)*use\s--rounds\s5\sor\smore"),
    ],
)
def test_what_is_slower_or_can_not_be_told_fails(tmp_path: Path, slow: float, rounds: int, message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        opened(tmp_path, slow, rounds).assert_not_slower("sqlite@small", than="sqlite", by=0.1)


@pytest.mark.parametrize(
    ("engine", "by", "message"), [("sqlite@smal", 0.1, "did you mean"), ("sqlite@small", 10, "is not a share")]
)
def test_an_assertion_of_nothing_is_refused(tmp_path: Path, engine: str, by: float, message: str) -> None:
    with pytest.raises(UserError, match=message):
        opened(tmp_path, 1.0).assert_not_slower(engine, than="sqlite", by=by)


@pytest.mark.parametrize(("slow", "fails"), [(1.0, False), (1.5, True)])
def test_the_test_of_the_page_says_what_the_run_shows(
    dbbench_run: Callable[..., RunFrames], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, slow: float, fails: bool
) -> None:
    """The page's test as it stands, with the fixture as pytest finds it; only the run is one that exists."""
    (example,) = (text for text in blocks(PAGE, "python") if "dbbench_run" in text)
    usual = inspect.signature(scripting.run)

    def fabricated(*arguments: Any, **asked: Any) -> RunFrames:
        bound = usual.bind(*arguments, **asked).arguments
        assert (bound["suite"], bound["out"]) == ("orders.yaml", tmp_path / "dbbench-run-1")
        return opened(tmp_path, slow, bound["rounds"])

    monkeypatch.setattr(scripting, "run", fabricated)
    names: dict[str, Any] = {}
    exec(example, names)
    with pytest.raises(AssertionError, match="failed at 10 %") if fails else nullcontext():
        names["test_the_small_cache_is_not_slower"](dbbench_run)


def test_a_url_can_be_taken_from_a_variable_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """While a run lasts no trial sees the variable; the next run in the same process asks for it once more."""
    seen: list[tuple[str, bool]] = []

    def stop(request: Request) -> None:
        seen.append((request.urls["postgresql"], "BENCH_URL" in os.environ))
        raise UserError("far enough")

    monkeypatch.setenv("BENCH_URL", "postgresql://me:secret@host/db")
    monkeypatch.setattr(scripting, "new_run", stop)
    for _ in range(2):
        with pytest.raises(UserError, match="far enough"):
            scripting.run("invoices", urls={"postgresql": "env:BENCH_URL"})
    assert seen == [("postgresql://me:secret@host/db", False)] * 2
