"""The whole program: start-up, the time around a trial, the default run."""

import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import median
from time import perf_counter

from dbbench.engine import registry

HELP_AT_MOST = 8
QUICK_SECONDS = 2.5
DEFAULT_SECONDS = 300


def program(*arguments: str) -> None:
    subprocess.run([Path(sys.executable).with_name("dbbench"), *arguments], check=True, stdout=subprocess.DEVNULL)


def test_help_is_quick(ratio) -> None:
    nothing = [sys.executable, "-c", "pass"]
    found = ratio(lambda: program("--help"), lambda: subprocess.run(nothing, check=True), pairs=21)
    assert found <= HELP_AT_MOST


def test_little_time_goes_by_outside_the_steps(tmp_path: Path) -> None:
    """`suite invoices --quick --engine sqlite`: wall time less what the workers spent in their steps."""
    outside = []
    for number in range(6):
        out = tmp_path / str(number)
        start = perf_counter()
        program("suite", "invoices", "--quick", "--engine", "sqlite", "--out", str(out))
        wall = perf_counter() - start
        results = [json.loads(path.read_text()) for path in out.glob("trials/*/result.json")]
        outside.append(wall - sum(step["elapsed"] for result in results for step in result["steps"]))
    print(f"\n  outside the steps: {median(outside[1:]):.2f} s (from {min(outside[1:]):.2f} to {max(outside[1:]):.2f})")
    assert median(outside[1:]) <= QUICK_SECONDS  # the first one draws the data


def test_the_default_run_is_done_in_five_minutes(tmp_path: Path) -> None:
    engines = [name for name in registry.names() if "faulty" not in name]
    start = perf_counter()
    program("suite", "invoices", "--out", str(tmp_path / "run"))
    taken = perf_counter() - start
    trials = len(os.listdir(tmp_path / "run" / "trials"))
    print(f"\n  {taken:.0f} s for {trials} trials of {', '.join(engines)}")
    assert taken <= DEFAULT_SECONDS
