"""Each step of `invoices` by dbbench, as a user runs it, against the same by hand in a process of its own, alternating."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path
from statistics import median

import pytest

from benchmarks.by_hand import ENGINES

LEAST, MOST, PAIRS = 0.9, 1.1, 5
#: What is outside for a reason that docs/method.md gives.
EXPLAINED: dict[tuple[str, str], str] = {}


def ours(engine: str, out: Path) -> dict[str, float]:
    command = [
        sys.executable,
        "-m",
        "dbbench.cli",
        "suite",
        "invoices",
        "--quick",
        "--engine",
        engine,
        "--out",
        str(out),
    ]
    subprocess.run(command, check=True, capture_output=True, text=True)
    with (out / "summary.csv").open() as lines:
        rows = [row for row in csv.DictReader(lines) if row["engine"] == engine and row["unit"] == "s"]
    return {row["step"]: float(row["value"]) for row in rows}


def theirs(engine: str) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.by_hand", engine], check=True, capture_output=True, text=True
    )
    return dict(json.loads(done.stdout))


@pytest.mark.parametrize("engine", list(ENGINES))
def test_ratios(engine: str, tmp_path: Path) -> None:
    ratios: dict[str, list[float]] = {}
    for number in range(PAIRS):
        if number % 2:
            by_hand, own = theirs(engine), ours(engine, tmp_path / str(number))
        else:
            own, by_hand = ours(engine, tmp_path / str(number)), theirs(engine)
        for step in by_hand:
            ratios.setdefault(step, []).append(own[step] / by_hand[step])
    found = {step: median(each) for step, each in ratios.items()}
    for step, each in ratios.items():
        print(f"\n  {engine} {step}: {found[step]:.2f} (from {min(each):.2f} to {max(each):.2f})", end="")
    outside = {step for step, each in found.items() if not LEAST <= each <= MOST and (engine, step) not in EXPLAINED}
    assert not outside, found
