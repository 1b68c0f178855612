"""What checks cost: the timed loop with and without kept calls, and a trial with and without copies, floors and kept calls."""

import json
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter_ns
from typing import Any

import pytest

from dbbench.host.collector import collector_off
from dbbench.loadgen import loops
from dbbench.loadgen.kept_calls import KeptCalls
from tests.conftest import environment

#: The most that kept calls may add to a loop, and checks to a trial.
LOOP, TRIAL = 1.02, 1.15
CALLS, PAIRS, ROUNDS = 20_000, 300, 8


def nothing(_key: int) -> None:
    """The null engine's call."""


def loop(sample: KeptCalls | None) -> int:
    """Nanoseconds of a stream of calls, as its own clock has them."""
    times: list[int] = []

    def record(found: Any) -> None:
        times.append(int(found.sum()))

    loops.stream(nothing, range(CALLS), record, perf_counter_ns, sample=sample)
    return sum(times)


def test_kept_calls_cost_the_null_loop_next_to_nothing() -> None:
    """The fastest of many alternating runs: no other process had a part in it."""
    sides: list[Callable[[], int]] = [lambda: loop(KeptCalls()), partial(loop, None)]
    best = [10**12, 10**12]
    with collector_off():
        for number in range(PAIRS):
            for side in (0, 1) if number % 2 else (1, 0):
                best[side] = min(best[side], sides[side]())
    print(f"\n  null loop {best[0] / best[1]:.3f}: {best[0] / CALLS:.1f} and {best[1] / CALLS:.1f} ns a call")
    assert best[0] / best[1] <= LOOP


@pytest.mark.parametrize("suite", ["invoices", "mixes"])
def test_checks_add_little_to_a_trial(tmp_path: Path, suite: str) -> None:
    """SQLite beside itself without those checks, by turns in one run. In the first round alone are there copies."""
    asked = ["-e", "sqlite", "-e", "slow-unchecked", "--scale", "0.1", "--rounds", str(ROUNDS), "--format", "json"]
    done = subprocess.run(
        [sys.executable, "-m", "dbbench", "suite", suite, "--out", str(tmp_path / "run"), *asked],
        env=environment("faulty"), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    steps: dict[str, list[float]] = {}
    for number in range(1, ROUNDS + 1):
        checked, plain = (_steps(tmp_path / "run", number, engine) for engine in ("sqlite", "slow-unchecked"))
        steps.setdefault("all of it", []).append(_elapsed(checked) / _elapsed(plain))
        for one, other in zip(checked, plain, strict=True):
            assert one["name"] == other["name"]
            if one["value"] and one["unit"] == "s":
                steps.setdefault(one["name"], []).append(one["value"] / other["value"])
    for name, ratios in steps.items():
        print(f"  {suite}, {name}: {median(ratios):.3f} (from {min(ratios):.3f} to {max(ratios):.3f})")
    assert median(steps["all of it"]) <= TRIAL


def _steps(run: Path, number: int, engine: str) -> list[Any]:
    """Return the steps of all scenarios of a round. Trials are in another order in each round."""
    steps = [
        step
        for path in run.glob(f"trials/*-round{number}-*-{engine}/result.json")
        for step in json.loads(path.read_text("utf-8"))["steps"]
    ]
    return sorted(steps, key=lambda step: str(step["name"]))


def _elapsed(steps: list[Any]) -> float:
    return sum(float(step["elapsed"]) for step in steps)
