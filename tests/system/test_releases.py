"""Releases that can't be had, imported or opened: each ends in an outcome with its reason, and harms no other variant."""

import json
from pathlib import Path

import pytest

from dbbench.testing.contract import missing
from tests.conftest import TESTS, Dbbench, summary
from tests.wheels import offline, wheel

pytestmark = pytest.mark.matrix  # pip or uv makes four environments

SMALL = str(TESTS / "unit" / "small.yaml")
ENGINE = "sqlite+apsw"
#: A driver that says what it is, and ends the process when a database is opened.
ABORTS = """
import os

class ExecutionCompleteError(Exception):
    pass

def sqlite_lib_version():
    return "9.9"

def apsw_version():
    return "3.96.0"

def Connection(path):
    os.abort()
"""


def test_a_release_that_fails_in_any_way_is_an_outcome_and_harms_no_other(
    tmp_path: Path, dbbench_here: Dbbench
) -> None:
    pytest.importorskip("apsw")
    index = tmp_path / "index"
    index.mkdir()
    wheel(index, "apsw", "3.96.0", ABORTS)
    wheel(index, "apsw", "3.97.0", "raise RuntimeError('made for another system')")
    other = wheel(index, "apsw", "3.98.0", "")
    other.rename(index / "apsw-3.98.0-cp27-cp27m-win32.whl")
    labels = ("3.96", "3.97", "3.98", "3.99")
    chosen = [word for label in labels for word in ("-e", f"{ENGINE}@{label}")]
    variables = offline(index) | {"DBBENCH_CACHE": str(tmp_path / "cache")}
    done = dbbench_here(
        "suite", SMALL, "-e", ENGINE, "-e", f"{ENGINE}@again", *chosen, "--quick", "--format", "csv", "--out", "r",
        **variables,
    )  # fmt: skip
    assert done.returncode == 1, done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    found = {engine: row for (step, engine), row in summary(tmp_path / "r").items() if step == "join"}
    for well in (ENGINE, f"{ENGINE}@again"):
        assert found[well]["outcome"] == "ok"
        assert float(found[well]["value"]) > 0
    outcomes = {label: found[f"{ENGINE}@{label}"] for label in labels}
    assert [row["outcome"] for row in outcomes.values()] == ["crashed", *["unavailable"] * 3]
    assert "SIGABRT" in outcomes["3.96"]["detail"]
    assert "broken: " in outcomes["3.97"]["detail"]
    assert "made for another system" in outcomes["3.97"]["detail"]
    for label in ("3.98", "3.99"):
        assert f"apsw=={label}" in outcomes[label]["detail"]
    variants = json.loads((tmp_path / "r" / "run.json").read_text())["variants"]
    assert {label: variants[f"{ENGINE}@{label}"]["release"] for label in labels} == {
        "3.96": "3.96.0", "3.97": "3.97.0", "3.98": "", "3.99": "",
    }  # fmt: skip


@pytest.mark.parametrize(("engine", "old"), [("duckdb", "1.1"), (ENGINE, "3.48")])
def test_an_old_release_of_a_real_driver_is_measured(
    tmp_path: Path, dbbench_here: Dbbench, engine: str, old: str
) -> None:
    """The plugin drives it, though it is older than what a new environment gets."""
    done = dbbench_here(
        "suite", SMALL, "-e", engine, "-e", f"{engine}@{old}", "--quick", "--format", "csv", "--out", "r"
    )
    found = {name: row for (step, name), row in summary(tmp_path / "r").items() if step == "join"}
    if found[f"{engine}@{old}"]["outcome"] == "unavailable":
        missing(engine, found[f"{engine}@{old}"]["detail"])
    assert {row["outcome"] for row in found.values()} == {"ok"}, found
    assert done.returncode == 0, done.stdout + done.stderr
