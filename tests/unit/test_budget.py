"""When a run has done enough rounds, and the words for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from dbbench.analysis.budget import reached
from dbbench.report.remarks import stopped
from tests.fabricated import Fake, fabricate


@pytest.mark.parametrize(
    ("precision", "time_limit", "words"),
    [
        (0.5, None, "precise enough after 6 rounds: no interval is wider than ±"),
        (0.0001, None, ""),
        (None, 1.0, "out of time after 6 rounds: 1 min 36 s of 1 s"),
        (0.0001, 1.0, "not ±0.0%"),
        (None, 1e9, ""),
    ],
)
def test_a_run_ends_when_it_is_precise_or_out_of_time(
    precision: float | None, time_limit: float | None, words: str, tmp_path: Path
) -> None:
    run = fabricate(tmp_path / "run", {"a": Fake("A"), "b": Fake("B", 2.0)}, rounds=6)
    manifest = run.manifest.model_copy(update={"precision": precision, "time_limit": time_limit})
    stop = reached(run.suite, manifest, run.results(), 6)
    assert (stop is None) is (words == "")
    assert stop is None or words in stopped(stop)
