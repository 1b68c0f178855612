"""Damaged run directories end in a line that names the file and the fault; a fuzzer finds no traceback and no way out."""

import json
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.attack.conftest import Ask
from tests.attack.drawn import mutated
from tests.attack.test_run_directories import change, outside, trial, twin


def deep(levels: int) -> str:
    return "[" * levels + "]" * levels


#: What may stand in the place of a file, as what a function makes of its path.
DAMAGE: dict[str, Callable[[Path], object]] = {
    "empty": lambda path: path.write_text(""),
    "cut": lambda path: path.write_text(path.read_text("utf-8")[:-40], "utf-8"),
    "NaN": lambda path: path.write_text('{"value": NaN}'),
    "Infinity": lambda path: path.write_text('{"value": -Infinity}'),
    "1e999": lambda path: path.write_text('{"value": 1e999}'),
    "digits": lambda path: path.write_text('{"value": ' + "9" * 5_000 + "}"),
    "deep": lambda path: path.write_text(deep(100_000)),
    "rather deep": lambda path: path.write_text(deep(200)),
    "no object": lambda path: path.write_text("[]"),
    "null": lambda path: path.write_text("null"),
    "no text": lambda path: path.write_bytes(bytes(range(128, 256))),
    "pipe": lambda path: (path.unlink(), os.mkfifo(path)),
    "folder": lambda path: (path.unlink(), path.mkdir()),
    "huge": lambda path: os.truncate(path, 2**40),
}


@pytest.mark.parametrize("name", ["run.json", "suite.yaml", "trials/ID/result.json"])
@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_is_told_by_its_name_in_one_line(damage: str, name: str, run: Path, ask: Ask) -> None:
    path = run / name.replace("ID", trial(run).name)
    DAMAGE[damage](path)
    for command in (["report", run, "--format", "csv"], ["compare", run, run]):
        done = ask(*command)
        assert done.returncode == 2
        assert str(path) in done.stdout
        assert len(done.stdout.splitlines()) == 1 or name == "suite.yaml"


def test_a_run_directory_without_permission_is_told(run: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    (run / "run.json").chmod(0)
    if os.access(run / "run.json", os.R_OK):
        pytest.skip("root may read anything")
    assert "Permission denied" in ask("report", run).stdout


def damaged(path: Path, chance: random.Random) -> str:
    """Change one value of a JSON file; what was done."""
    document = json.loads(path.read_text("utf-8"))
    done = mutated(document, chance, {})
    path.write_text(json.dumps(document), "utf-8")
    return f"{path}: {done}"


@pytest.mark.parametrize(
    "facts",
    [
        {"by_transaction": {"pay": {"committed": 1}}, "per_second": 1},
        {"by_transaction": {"pay": {"committed": 1, "rolled_back": 0, "retries": {}}}}, {"by_transaction": [1]},
        {"other_forms": 3}, {"other_forms": [{}]}, {"outside": {"bytes": 1, "files": [1]}}, {"outside": {"files": []}},
    ],
    ids=str,
)  # fmt: skip
def test_facts_of_another_shape_are_told(facts: dict[str, Any], run: Path, ask: Ask) -> None:
    change(trial(run) / "result.json", lambda result: result["steps"][0]["facts"].update(facts))
    done = ask("report", run, "--format", "csv")
    assert (done.returncode, "is damaged: steps.0.facts" in done.stdout) == (2, True)


@pytest.mark.parametrize("moment", ["0001-01-01T00:00:00", "9999-12-31T23:59:59-12:00"])
def test_a_moment_without_a_time_here_is_told(moment: str, run: Path, ask: Ask) -> None:
    change(run / "run.json", lambda manifest: manifest.update(created=moment))
    assert "is damaged: created: " in ask("runs", run.parent).stdout


@pytest.mark.parametrize("release", ["1..2", "1-foo", "latest"])
def test_a_release_that_is_none_is_told(release: str, run: Path, ask: Ask) -> None:
    variants = {f"sqlite@{name}": {"engine": "sqlite", "release": release} for name in "ab"}
    change(run / "run.json", lambda manifest: manifest.update(variants=variants))
    done = ask("report", run, "--format", "csv")
    assert (done.returncode, "release: " in done.stdout) == (2, True)


@pytest.mark.drawn(250)
def test_no_mutation_of_a_run_ends_in_a_traceback_or_writes_outside(
    seed: int, run: Path, new_run: Path, ask: Ask, tmp_path: Path
) -> None:
    chance = random.Random(seed)
    if seed % 2:
        shutil.rmtree(run)
        shutil.copytree(new_run, run)
    other = twin(run)
    before = outside(tmp_path)
    files = [run / "run.json", *run.glob("trials/*/result.json")]
    told = [damaged(chance.choice(files), chance) for _ in range(chance.randint(1, 2))]
    formats = "svg,html,md,csv" if seed % 8 == 0 else "csv"
    try:
        reported = ask("report", run, "--format", formats)
        ask("report", run, "--format", "csv", "--publish")
        ask("compare", run, other)
        ask("compare", other, run, "--across-machines", "--markdown")
        ask("history", other, run, "--across-machines")
        ask("site", other, run, "--out", tmp_path / "run" / "site")
        if seed % 8 == 3:
            ask("explain", run, "--step", "best", "--seconds", "0.2")
    except Exception as exc:
        raise AssertionError(f"{told}: {exc!r}") from exc
    assert reported.returncode == 0 or len(reported.stdout) > 20
    assert "\x1b" not in reported.stdout
    assert outside(tmp_path) == before
