"""What `dbbench report` takes, in CPU seconds, against saving as many trivial figures."""

import datetime
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

from dbbench.analysis.comparability import Side
from dbbench.analysis.history import history
from dbbench.results.run_directory import Run
from tests.fabricated import MANY, fabricate, longer_invoices, many

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
#: On 2 cores of a Xeon they were 1.93 and 3.28, with nothing of Python compiled beforehand.
AT_MOST, MANY_AT_MOST = 2.3, 4.0
PAIRS = 3
#: A history's own share, as a multiple of reading the runs: 0.6 where it was 2.7 with an interval of each figure.
HISTORY_AT_MOST = 1.0
#: A site: how many runs, and how long it may take at most.
RUNS, SITE_SECONDS = 100, 60


def cpu_seconds(*command: str | Path) -> float:
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0
    return usage.ru_utime + usage.ru_stime


def ratio(path: Path) -> float:
    """All formats of a report against the trivial figures, in turn."""
    program = Path(sys.executable).with_name("dbbench")
    cpu_seconds(program, "report", path)  # so that caches of fonts and templates are filled
    pairs = [
        (cpu_seconds(program, "report", path), cpu_seconds(sys.executable, "-P", "-c", TRIVIAL)) for _ in range(PAIRS)
    ]
    found = median(ours / theirs for ours, theirs in pairs)
    print(f"\n  {min(ours for ours, _ in pairs):.1f} s, ratio {found:.2f}")
    return found


def test_a_report_of_eight_engines_and_eight_steps(tmp_path: Path) -> None:
    run = fabricate(tmp_path / "run", {name: MANY[name] for name in ENGINES}, rounds=6)
    assert len(run.suite.scenarios[0].steps) == 8
    assert ratio(run.path) <= AT_MOST


def test_a_report_of_forty_engines_and_ten_steps(tmp_path: Path) -> None:
    run = fabricate(tmp_path / "run", many(40), suite=longer_invoices(tmp_path, 10), rounds=10)
    assert len(run.suite.scenarios[0].steps) == 10
    assert ratio(run.path) <= MANY_AT_MOST


def test_a_site_of_a_hundred_runs(tmp_path: Path) -> None:
    """Of eight engines, eight steps and six rounds each, one run copied with other dates."""
    first = fabricate(tmp_path / "run-0", {name: MANY[name] for name in ENGINES}, rounds=6)
    paths = [first.path]
    for day in range(1, RUNS):
        paths.append(shutil.copytree(first.path, tmp_path / f"run-{day}"))
        created = first.manifest.created + datetime.timedelta(days=day)
        Run(paths[-1], first.manifest.model_copy(update={"created": created}), first.suite).save()
    start = time.perf_counter()
    spent = cpu_seconds(sys.executable, "-P", "-m", "dbbench", "site", *paths, "--out", tmp_path / "site")
    taken = time.perf_counter() - start
    print(f"\n  {taken:.1f} s, {spent:.1f} s of CPU time")
    assert len([*(tmp_path / "site" / "runs").iterdir()]) == RUNS
    assert taken < SITE_SECONDS


def test_a_history_takes_little_more_than_reading_its_runs(tmp_path: Path) -> None:
    """Reading is what a history can't do without; intervals are for its files."""
    first = fabricate(tmp_path / "r0", dict(list(MANY.items())[:2]), rounds=5)
    for day in range(1, RUNS):
        copy = shutil.copytree(first.path, tmp_path / f"r{day}")
        run = Run.open(copy)
        run.manifest = run.manifest.model_copy(
            update={"created": first.manifest.created + datetime.timedelta(days=day)}
        )
        run.save()
    runs = [Run.open(path) for path in tmp_path.iterdir()]
    ratios = []
    for _ in range(PAIRS):
        start = time.process_time()
        sides = [Side.read(run) for run in runs]
        read = time.process_time()
        history(sides, intervals=False)
        ratios.append((time.process_time() - read) / (read - start))
    assert median(ratios) <= HISTORY_AT_MOST
