"""`--quick` on a suite that says how little it does then."""

import json
from pathlib import Path

from tests.conftest import TESTS, Dbbench
from tests.trials_here import trials_here

TINY = (TESTS.parent / "docs" / "examples" / "tiny.yaml").read_text()


def test_a_first_look_does_what_the_suite_says(dbbench_here: Dbbench, tmp_path: Path) -> None:
    (tmp_path / "tiny.yaml").write_text(f"{TINY}\nquick: {{scale: 0.1, trial_seconds: 55}}\n")
    asked = ("--quick", "--trial-timeout", "50", "-e", "sqlite", "--format", "csv", "--out", "run")
    with trials_here():
        done = dbbench_here("suite", "tiny.yaml", *asked, status=0)
    manifest = json.loads((tmp_path / "run" / "run.json").read_text())
    assert (manifest["rounds"], manifest["scale"], manifest["limits"]["seconds"]) == (1, 0.1, 50)
    assert "--quick: one round at scale 0.1, at most 50 s for a trial (--scale 1 for all of the work)" in done.stdout
