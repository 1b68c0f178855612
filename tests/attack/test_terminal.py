"""Terminals that can't show everything, and outputs that nobody reads: the files are written, the status is the run's."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import environment


def report(run: Path, shell: str, **variables: str) -> subprocess.CompletedProcess[bytes]:
    """`dbbench report` in a shell's line, where $DBBENCH stands for it."""
    script = f"{sys.executable} -m dbbench report {run} --format csv"
    return subprocess.run(
        ["bash", "-c", f"set -o pipefail; {shell.replace('$DBBENCH', script)}"],
        env=environment(**variables), capture_output=True, timeout=300, check=False,
    )  # fmt: skip


ASCII = {"PYTHONIOENCODING": "ascii"}
C = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


@pytest.mark.parametrize("variables", [ASCII, {"PYTHONIOENCODING": "latin-1"}, C])
def test_what_a_terminal_lacks_is_replaced(variables: dict[str, str], run: Path) -> None:
    done = report(run, "$DBBENCH", **variables)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"Overall: geometric mean" in done.stdout
    ratio = "×1.00".encode(variables.get("PYTHONIOENCODING", "ascii"), "replace").replace(b"?", b"x")
    assert ratio in done.stdout
    assert b"?" not in done.stdout  # neither a ratio nor a unit
    assert (run / "summary.csv").stat().st_size > 100


@pytest.mark.parametrize(
    "line",
    ["$DBBENCH >&-", "$DBBENCH >&- 2>&- <&-", "$DBBENCH | true", "$DBBENCH | head -1", "$DBBENCH 2>&1 | head -c 1"],
)
def test_an_output_that_nobody_reads_ends_quietly_with_the_runs_status(line: str, run: Path) -> None:
    done = report(run, line)
    assert (done.returncode, done.stderr) == (0, b"")
    assert (run / "summary.csv").stat().st_size > 100


def test_a_run_that_went_wrong_keeps_its_status_in_a_closed_pipe(run: Path) -> None:
    result = min((run / "trials").glob("*-sqlite")) / "result.json"
    result.write_text(result.read_text().replace('"outcome": "ok"', '"outcome": "failed"'))
    for line in ("$DBBENCH | true", "$DBBENCH >&-"):
        done = report(run, line)
        assert (done.returncode, done.stderr) == (1, b"")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_a_full_disk_behind_the_output_is_told(run: Path) -> None:
    done = report(run, "$DBBENCH > /dev/full")
    assert done.stderr == b"dbbench: the output can't be written: No space left on device\n"
    assert (run / "summary.csv").stat().st_size > 100


def test_a_run_that_cannot_be_written_to_is_shown_and_told(run: Path) -> None:
    (run / "summary.csv").unlink(missing_ok=True)
    (run / "summary.csv").mkdir()
    done = report(run, "$DBBENCH")
    assert done.returncode == 2
    assert b"Overall: geometric mean" in done.stdout
    assert b"the report can't be written to" in done.stderr
