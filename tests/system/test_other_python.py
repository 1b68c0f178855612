"""A trial in another Python: a fake that says it is newer, and then runs what it is given in this one."""

import json
import os
import sys
from pathlib import Path

from tests.conftest import run_dbbench, summary

SMALL = Path(__file__).parents[1] / "unit" / "small.yaml"
_PROGRAM = """#!/bin/sh
if [ "$1" = -I ]; then echo '{said}'; exit; fi
echo "$3" >> {log}
exec {real} "$@"
"""


def test_a_trial_runs_in_the_python_of_its_variant(tmp_path: Path) -> None:
    folder, log = tmp_path / "bin", tmp_path / "log.txt"
    folder.mkdir()
    program, uv = folder / "python3.98", folder / "uv"
    said = json.dumps([str(program), "3.98.1", "cpython-398", "linux-x86_64"])
    program.write_text(_PROGRAM.format(said=said, log=log, real=sys.executable))
    uv.write_text("#!/bin/sh\nexit 0\n")  # all that dbbench needs is in this Python
    for each in (program, uv):
        each.chmod(0o755)
    command = ["suite", str(SMALL), "-e", "sqlite@py398", "-e", "sqlite", "--quick", "--out", "run", "--format", "csv"]
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    run_dbbench(tmp_path, *command, PATH=path, DBBENCH_CACHE=str(tmp_path / "cache"), status=0)
    assert {row["outcome"] for row in summary(tmp_path / "run").values()} == {"ok"}
    workers = ["dbbench.runs.worker"] * 2  # the second opens a copy
    assert log.read_text().split() == ["dbbench.engine.probe", *workers]
    facts = json.loads((tmp_path / "run" / "run.json").read_text())["variants"]["sqlite@py398"]
    assert (facts["python"], facts["python_release"]) == ("3.98", "3.98.1")
