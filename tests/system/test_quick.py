"""`--quick` on a suite that says how little it does then."""

import json
from pathlib import Path

import pytest

from tests.conftest import TESTS, run_dbbench

TINY = (TESTS.parent / "docs" / "examples" / "tiny.yaml").read_text()


@pytest.mark.parametrize(
    ("how", "scale", "seconds"),
    [
        ((), 0.1, 55),
        pytest.param(("--scale", "1"), 1, 600, marks=pytest.mark.matrix),
        pytest.param(("--trial-timeout", "99"), 0.1, 99, marks=pytest.mark.matrix),
        pytest.param(("--scale", "0.5"), 0.5, 600, marks=pytest.mark.matrix),
    ],
)
def test_a_first_look_does_what_the_suite_says_unless_a_scale_is_given(
    tmp_path: Path, how: tuple[str, ...], scale: float, seconds: float
) -> None:
    (tmp_path / "tiny.yaml").write_text(f"{TINY}\nquick: {{scale: 0.1, trial_seconds: 55}}\n")
    done = run_dbbench(
        tmp_path, "suite", "tiny.yaml", "--quick", "-e", "sqlite", "--format", "csv", "--out", "run", *how
    )
    assert done.returncode == 0, done.stdout + done.stderr
    manifest = json.loads((tmp_path / "run" / "run.json").read_text())
    assert (manifest["rounds"], manifest["scale"], manifest["limits"]["seconds"]) == (1, scale, seconds)
    told = "--quick: one round at scale 0.1, at most 55 s for a trial (--scale 1 for all of the work)" in done.stdout
    assert told is ("--scale" not in how)
