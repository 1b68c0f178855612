"""Runs from Python, with the command line's rules."""

from pathlib import Path

import pytest

import dbbench
from dbbench.errors import UserError
from tests.trials_here import trials_here

SMALL = Path(__file__).parents[1] / "unit" / "small.yaml"


def test_a_script_makes_a_run_and_reads_it(tmp_path: Path) -> None:
    settings = {"sqlite@small": {"cache_mib": 4}}
    with trials_here():
        run = dbbench.run(SMALL, engines=["sqlite", "sqlite@small"], settings=settings, rounds=1, out=tmp_path / "run")
    assert (run.run.manifest.options, run.run.manifest.rounds) == ({"sqlite@small": {"cache_mib": "4"}}, 1)
    assert run.run.manifest.finished is not None
    files = {path.name for path in (tmp_path / "run").iterdir()}
    assert files == {"results.json", "run.json", "suite.yaml", "summary.csv", "trials"}
    with pytest.raises(AssertionError, match=r"1 round can't decide(.|\n)*use\s--rounds\s5\sor\smore"):
        run.assert_not_slower("sqlite@small", than="sqlite", by=0.1)
    with pytest.raises(UserError, match="already exists"):
        dbbench.run(SMALL, engines=["sqlite"], out=tmp_path / "run")
