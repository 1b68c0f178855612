"""A trial's steps one after another, in this process, on the null engine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dbbench.run.worker import Worker
from tests.unit.orders import FILL, order

STEPS = (
    FILL,
    "kind: mix, name: mixed, title: Mixed, weights: {update: 1}, rate: {per_second: 10000000, seconds: 0.002}",
    "kind: keyvalue, name: read, title: Read, operation: read",
)


def test_a_saturated_step_leaves_its_data_to_those_after_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DBBENCH_CACHE", str(tmp_path / "cache"))
    order(tmp_path, *STEPS)
    (tmp_path / "work").mkdir()
    Worker(tmp_path).run()
    steps = json.loads((tmp_path / "steps.json").read_text())["steps"]
    assert [step["outcome"] for step in steps] == ["ok", "saturated", "ok"]
