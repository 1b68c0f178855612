"""A trial's steps one after another, in this process, on the null engine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dbbench.datasets.cache import materialise
from dbbench.run.worker import Trial
from dbbench.suite.loader import parse_suite

SUITE = """\
dbbench: 1
name: s
title: S
description: S
datasets:
  r: {records: {count: 50, key_bytes: 16, value_bytes: 16}}
scenarios:
  - name: a
    title: A
    dataset: r
    steps:
      - {kind: keyvalue, name: fill, title: Fill, operation: insert}
      - {kind: mix, name: mixed, title: Mixed, weights: {update: 1}, rate: {per_second: 10000000, seconds: 0.002}}
      - {kind: keyvalue, name: read, title: Read, operation: read}
"""


def test_a_saturated_step_leaves_its_data_to_those_after_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DBBENCH_CACHE", str(tmp_path / "cache"))
    suite = parse_suite(SUITE, "s.yaml")
    (scenario,) = suite.scenarios
    (tmp_path / "work").mkdir()
    trial: dict[str, Any] = {
        "engine": "null", "round": 1, "rounds": 2, "answers": {}, "options": {}, "limits": {}, "work": str(tmp_path / "work"), "run": str(tmp_path),
        "scenario": scenario.model_dump(mode="json"), "dataset": suite.datasets["r"].model_dump(mode="json"),
        "files": str(materialise(suite.datasets["r"]).directory),
    }  # fmt: skip
    (tmp_path / "trial.json").write_text(json.dumps(trial))
    Trial(tmp_path).run()
    steps = json.loads((tmp_path / "steps.json").read_text())["steps"]
    assert [step["outcome"] for step in steps] == ["ok", "saturated", "ok"]
