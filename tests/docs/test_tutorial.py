"""The tutorial of docs/README.md runs as it stands, but for its installation, on less data and for fewer rounds."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import summary
from tests.docs.test_docs import ROOT, blocks, section

pytestmark = pytest.mark.matrix

#: What is written -> what is run, which takes less time.
LESS = {
    "100_001": "2_001",
    "--out first": "--out first --quick --scale 0.02",
    "--out second": "--out second --quick",
    "--rounds 6": "--rounds 1",
}


def test_the_tutorial_runs(tmp_path: Path) -> None:
    install, *rest = blocks(section((ROOT / "docs" / "README.md").read_text("utf-8"), "## Tutorial"), "sh")
    assert "pip install" in install
    script = "set -e\n" + "".join(rest)
    for written, run in LESS.items():
        assert written in script
        script = script.replace(written, run)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, env={**os.environ, "PATH": path},
        capture_output=True, text=True, timeout=1200, check=False,
    )  # fmt: skip
    # The last command is the gate, which may find the small cache slower.
    assert done.returncode in (0, 1, 3), done.stdout + done.stderr
    assert "gate sqlite@small/sqlite: " in done.stdout
    rows = summary(tmp_path / "second")
    assert {rows["best-customers", engine]["verified"] for engine in ("sqlite", "duckdb")} == {"yes"}
