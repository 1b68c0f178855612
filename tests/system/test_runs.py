"""`dbbench runs`, and the word for the newest run."""

import datetime
import os
from pathlib import Path

import pytest

from tests.conftest import run_dbbench, run_here
from tests.fabricated import Fake, fabricate


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two finished runs, one interrupted and one damaged; the newest is in the current folder."""
    (tmp_path / "dbbench-runs").mkdir()
    for days, (place, engines) in enumerate(
        (("dbbench-runs/b", "xy"), ("dbbench-runs/a", "x"), ("newest", "xyz"), ("dbbench-runs/damaged", "x"))
    ):
        run = fabricate(tmp_path / place, {name: Fake(name.upper()) for name in engines}, rounds=1)
        run.manifest.created += datetime.timedelta(days=days)
        run.manifest.finished = None if place.endswith("/a") else run.manifest.finished
        run.save()
    (tmp_path / "dbbench-runs" / "damaged" / "suite.yaml").unlink()
    (tmp_path / "dbbench-runs" / "other").mkdir()
    return tmp_path


def test_runs_are_listed_the_newest_first(folder: Path) -> None:
    done = run_dbbench(folder, "runs", TZ="UTC")
    assert done.stdout.splitlines() == [
        "newest  2026-11-23 06:00  invoices, 1 round: x, y, z",
        f"dbbench-runs{os.sep}a  2026-11-22 06:00  invoices, 1 round, interrupted: x",
        f"dbbench-runs{os.sep}b  2026-11-21 06:00  invoices, 1 round: x, y",
    ]
    assert done.returncode == 1
    assert done.stderr.startswith(f"dbbench-runs{os.sep}damaged  can't be read: ")
    assert run_here(folder, "runs", "dbbench-runs/other").stdout.startswith("no runs here; make one with ")


def test_the_newest_run_is_the_latest_to_every_command(folder: Path) -> None:
    assert "wrote newest/summary.csv" in run_here(folder, "report", "latest", "--format", "csv").stdout
    assert "newest and newest are one and the same run" in run_here(folder, "compare", "newest", "latest").stderr
    (folder / "latest").mkdir()
    assert "latest is not a run directory" in run_here(folder, "report", "latest").stderr
    (folder / "empty").mkdir()
    none = run_here(folder / "empty", "suite", "--resume", "latest", status=2)
    assert "there is no run in " in none.stderr
