"""The fixture `dbbench_run`, for a team's own tests: pytest finds it wherever dbbench is installed.

    def test_the_new_settings_are_not_slower(dbbench_run):
        run = dbbench_run("orders.yaml", engines=["sqlite", "sqlite@small"],
                          settings={"sqlite@small": {"cache_mib": 4}}, rounds=10)
        run.assert_not_slower("sqlite@small", than="sqlite", by=0.1)

It imports little: pytest loads it for tests of anything.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import dbbench

if TYPE_CHECKING:
    from dbbench import RunFrames


@pytest.fixture
def dbbench_run(tmp_path: Path) -> Callable[..., RunFrames]:
    """`dbbench.run`, with the run directories in the test's own folder unless `out` says otherwise."""
    numbers = count(1)

    def run(suite: str | os.PathLike[str], **asked: Any) -> RunFrames:
        return dbbench.run(suite, **{"out": tmp_path / f"dbbench-run-{next(numbers)}", **asked})

    return run
