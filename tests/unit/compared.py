"""Runs to compare: their rows, whole runs of the small suite, and the comparison as the terminal shows it."""

import datetime
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dbbench.analysis.comparability import Side
from dbbench.analysis.compare import Comparison
from dbbench.analysis.gate import gated
from dbbench.analysis.remarks import About, Remark
from dbbench.analysis.row import Row
from dbbench.analysis.verdicts import Pair, compare_rows
from dbbench.report.terminal import comparison
from dbbench.results.outcome import Outcome
from dbbench.results.run_directory import Manifest
from dbbench.results.trial import StepResult, TrialResult
from dbbench.suite.model import Suite

#: Six blocks about 1, within 1 %.
STEADY = (0.995, 0.998, 1.0, 1.001, 1.003, 1.006)
MACHINE = {
    "cpu": "EPYC", "cores": 2, "threads": 4, "memory_bytes": 16 * 2**30, "system": "Debian", "kernel": "6.1",
    "architecture": "x86_64", "python": "CPython 3.12", "file_system": "ext4", "packages": {"numpy": "2.0"},
}  # fmt: skip


def times(factor: float, blocks: tuple[float, ...] = STEADY) -> tuple[float, ...]:
    return tuple(factor * block for block in blocks)


def row(blocks: tuple[float, ...] = STEADY, step: str = "join", engine: str = "a", **more: Any) -> Row:
    value = float(np.median(blocks)) if blocks else None
    known = {"outcome": Outcome.OK, "metric": "time", "unit": "s"}
    return Row("main", step, engine, engine, trial_means=blocks, value=value, **(known | more))


def bad(outcome: Outcome = Outcome.CRASHED, detail: str = "signal 11", **more: Any) -> Row:
    return row((), outcome=outcome, remarks=(Remark(About.RECORDED, detail),), **more)


def one(old: Row, new: Row, **how: Any) -> Pair:
    """One run a side."""
    (pair,) = compare_rows([[old]], [[new]], **how)
    return pair


def six_runs(rows: Sequence[Row]) -> list[list[Row]]:
    """Each row's blocks as runs; what has one block or none is the same in each."""
    return [
        [
            replace(row, trial_means=row.trial_means[n : n + 1], value=row.trial_means[n])
            if len(row.trial_means) == 6
            else row
            for row in rows
        ]
        for n in range(6)
    ]


def several(old: Row, new: Row, **how: Any) -> Pair:
    """Six runs a side."""
    (pair,) = compare_rows(six_runs([old]), six_runs([new]), **how)
    return pair


def side(suite: Suite, name: str = "r1", factor: float = 1.0, **more: Any) -> Side:
    """A run of the small suite by engines a and null, six rounds."""
    day = 1 if name == "r1" else 2
    known: dict[str, Any] = {
        "dbbench": "0.1", "suite": suite.name, "created": datetime.datetime(2026, 1, day, tzinfo=datetime.UTC),
        "engines": {
            "a": {"status": "available", "title": "A", "versions": {"A": "1.4"}},
            "null": {"status": "available", "title": "Null", "ranked": False},
        },
        "rounds": 6, "scale": 1.0, "seed": 7, "limits": {"seconds": 600.0}, "machine": MACHINE,
        "datasets": {"things": {"rows": {"Parent": 10, "Child": 100}, "csv_bytes": 900}},
    }  # fmt: skip
    engine = more.pop("engine", {"versions": {"A": "1.4"}, "settings": {"cache_mib": 64}})
    null = more.pop("null", 0.001)
    results = [
        TrialResult(
            id=f"{who}-{number}", scenario_name="main", engine_name=who, round=number, engine=engine if who == "a" else {},
            steps=tuple(StepResult(name=step, outcome=Outcome.OK, metric="time", unit="s", value=value * block) for step in ("load", "join")),
        )
        for number, block in enumerate(STEADY, 1)
        for who, value in (("a", factor), ("null", null))
    ]  # fmt: skip
    return Side(name, Manifest(**(known | more)), suite, results)


def many(suite: Suite, name: str, factor: float = 1.0, **more: Any) -> list[Side]:
    """Four runs that differ by half a percent."""
    day = 1 if name == "old" else 11
    return [
        side(
            suite,
            f"{name}-{n}",
            factor * block,
            created=datetime.datetime(2026, 1, day + n, tzinfo=datetime.UTC),
            **more,
        )
        for n, block in enumerate(STEADY[:4], 1)
    ]


def terminal(found: Comparison, gate: float | None = None, *, strict: bool = False) -> str:
    from rich.console import Console

    console = Console(width=400, record=True, soft_wrap=True)
    applied = None if gate is None else gated(found.pairs, gate, strict=strict, gone=found.gone)
    with console.capture() as captured:
        comparison.show(found, console, gate=applied)
    return captured.get()
