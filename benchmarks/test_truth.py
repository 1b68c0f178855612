"""Do the ranks tell the truth? A run of one engine under two names, and one of an engine that is slower by design."""

import csv
import subprocess
import sys
from collections import Counter
from pathlib import Path

from tests.conftest import environment

TIMED = ("bulk-insert", "join-1", "join-2", "insert-1", "scan-1", "scan-2", "scan-3")
RUNS = 10


def run(out: Path, *arguments: str) -> dict[str, dict[str, str]]:
    """Engine -> rank, for each step."""
    command = [sys.executable, "-m", "dbbench", "suite", "invoices", "--out", str(out)]
    done = subprocess.run(
        [*command, *arguments], env=environment("faulty"), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found: dict[str, dict[str, str]] = {}
    with open(out / "summary.csv", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["metric"] == "time" and row["rank"]:
                found.setdefault(row["step"], {})[row["engine"]] = row["rank"]
    return found


def test_one_engine_under_two_names_is_a_tie(tmp_path: Path) -> None:
    ties: Counter[str] = Counter()
    for number in range(RUNS):
        ranks = run(
            tmp_path / str(number),
            "-e",
            "sqlite",
            "-e",
            "faulty-twin",
            "--scale",
            "0.1",
            "--rounds",
            "6",
            "--seed",
            str(number),
        )
        for step in TIMED:
            ties[step] += set(ranks[step].values()) == {"1-2"}
    total = sum(ties.values())
    print(
        f"\n  A/A: {total} ties of {RUNS * len(TIMED)}; " + ", ".join(f"{step} {ties[step]}/{RUNS}" for step in TIMED)
    )
    assert total >= 0.93 * RUNS * len(TIMED)


def test_an_engine_that_waits_a_fifth_longer_is_told_apart(tmp_path: Path) -> None:
    ranks = run(
        tmp_path / "run", "-e", "sqlite", "-e", "faulty-slowed", "--set", "faulty-slowed.percent=20", "--rounds", "8"
    )
    print(f"\n  A/B: {ranks}")
    for step in ("join-1", "join-2", "scan-1", "scan-2"):
        assert ranks[step] == {"sqlite": "1", "faulty-slowed": "2"}
