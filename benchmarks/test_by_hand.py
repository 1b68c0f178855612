"""Each step of `invoices` by dbbench, as a user runs it, against the same by hand in a process of its own, alternating."""

import csv
import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import median

import pytest

from benchmarks.by_hand import ENGINES

LEAST, MOST, PAIRS = 0.9, 1.1, 5
#: What is outside for a reason that docs/method.md gives.
EXPLAINED = {
    **{(engine, "scan-3"): "1 to 2 ms, after other work" for engine in ("sqlite", "duckdb")},
    **{(engine, "insert-1"): "waits for the disk" for engine in ENGINES},
}


def ours(engine: str, out: Path) -> dict[str, float]:
    command = [sys.executable, "-m", "dbbench", "suite", "invoices", "--quick", "--engine", engine, "--out", str(out)]
    subprocess.run(command, check=True, capture_output=True, text=True)
    with (out / "summary.csv").open() as lines:
        rows = [row for row in csv.DictReader(lines) if row["engine"] == engine and row["unit"] == "s"]
    return {row["step"]: float(row["value"]) for row in rows}


def theirs(engine: str, folder: Path) -> dict[str, float]:
    """What is left there when a benchmark is broken off goes with pytest's own folders."""
    command = [sys.executable, "-m", "benchmarks.by_hand", engine]
    environment = {**os.environ, "TMPDIR": str(folder)}
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    return dict(json.loads(done.stdout))


@pytest.mark.parametrize("engine", list(ENGINES))
def test_ratios(engine: str, tmp_path: Path) -> None:
    times: dict[str, list[tuple[float, float]]] = {}
    for number in range(PAIRS):
        if number % 2:
            by_hand, own = theirs(engine, tmp_path), ours(engine, tmp_path / str(number))
        else:
            own, by_hand = ours(engine, tmp_path / str(number)), theirs(engine, tmp_path)
        for step in by_hand:
            times.setdefault(step, []).append((own[step], by_hand[step]))
    # What else the machine does can only add time: the least of each side is what the two programs need.
    found = {step: min(a for a, _ in pairs) / min(b for _, b in pairs) for step, pairs in times.items()}
    for step, pairs in times.items():
        each = sorted(a / b for a, b in pairs)
        print(
            f"\n  {engine} {step}: {found[step]:.2f} (pairs {each[0]:.2f}, {median(each):.2f}, {each[-1]:.2f})", end=""
        )
    outside = {step for step, ratio in found.items() if not LEAST <= ratio <= MOST and (engine, step) not in EXPLAINED}
    assert not outside, found
