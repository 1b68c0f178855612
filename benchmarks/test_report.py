"""What `dbbench report` takes, in CPU seconds, against saving as many trivial figures."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from statistics import median

from tests.fabricated import MANY, fabricate

#: Matplotlib's own start and its smallest figures, as PNG and as SVG.
TRIVIAL = """
import io
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
for _ in range(8):
    figure = Figure()
    figure.add_subplot().barh(range(8), range(8))
    FigureCanvasAgg(figure).print_png(io.BytesIO())
    FigureCanvasSVG(figure).print_svg(io.BytesIO())
"""
ENGINES = ("sqlite", "sqlite+apsw", "duckdb", "duckdb+arrow", "firebird", "postgresql", "mysql", "h2")
AT_MOST = 3.2
PAIRS = 5


def cpu_seconds(*command: str | Path) -> float:
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0
    return usage.ru_utime + usage.ru_stime


def test_a_report_of_eight_engines_and_eight_steps(tmp_path: Path) -> None:
    run = fabricate(tmp_path / "run", {name: MANY[name] for name in ENGINES}, rounds=6)
    assert len(run.suite.scenarios[0].steps) == 8
    program = Path(sys.executable).with_name("dbbench")
    cpu_seconds(program, "report", run.path)  # so that caches of fonts and templates are filled
    pairs = [
        (cpu_seconds(program, "report", run.path), cpu_seconds(sys.executable, "-P", "-c", TRIVIAL))
        for _ in range(PAIRS)
    ]
    ratio = median(ours / theirs for ours, theirs in pairs)
    print(f"\n  {min(ours for ours, _ in pairs):.1f} s, ratio {ratio:.2f}")
    assert ratio <= AT_MOST
