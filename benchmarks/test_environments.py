"""Environments of other releases: how long one takes to be made, and what one that is kept adds to the start of a trial."""

import importlib.metadata
import os
import subprocess
import sys
from compileall import compile_dir
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from time import perf_counter

import pytest

from dbbench.engine.environments import prepared
from dbbench.errors import Unavailable
from dbbench.host.processes import environment, first_on_path

PACKAGE = "duckdb"
MADE_WITHIN = 30.0
ADDED_AT_MOST_MS = 50.0
PAIRS = int(os.environ.get("DBBENCH_PAIRS", "21"))
#: What a worker imports before it opens an engine of this package.
START = "import dbbench.runs.worker, dbbench_plugins.duckdb, duckdb"


@pytest.fixture(scope="module")
def made() -> tuple[Path, float]:
    """An environment of the release that is installed beside dbbench, so that nothing else differs, and how long it took to make."""
    version = importlib.metadata.version(PACKAGE)
    start = perf_counter()
    try:
        folder = prepared(PACKAGE, version).folder
    except Unavailable as exc:
        pytest.skip(f"{PACKAGE} {version} can't be fetched: {exc}")
    return folder, perf_counter() - start


def started(**more: str) -> float:
    """CPU seconds of a start: it waits for nothing but a processor once its files were read, so other programs don't disturb it."""
    child = subprocess.Popen([sys.executable, "-P", "-c", START], env=environment(**more))
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0
    return used.ru_utime + used.ru_stime


def test_an_environment_is_soon_made(made: tuple[Path, float]) -> None:
    """With the download, by uv or pip, into an empty cache of dbbench's own."""
    print(f"\n  made in {made[1]:.1f} s")
    assert made[1] <= MADE_WITHIN


def test_a_kept_environment_adds_little_to_a_start(made: tuple[Path, float], benchmark) -> None:
    """A B B A; the first of each fills the page cache. The quickest are compared: what else the machine does only adds."""
    kept = first_on_path(made[0])
    for folder in find_spec(PACKAGE).submodule_search_locations:  # an environment has its bytecode, too
        compile_dir(folder, quiet=2)
    for more in ({}, kept):
        started(**more)
    taken: dict[bool, list[float]] = {False: [], True: []}
    for number in range(PAIRS):
        for within in (False, True) if number % 2 else (True, False):
            taken[within].append(started(**kept) if within else started())
    least, middle = ({within: count(each) * 1e3 for within, each in taken.items()} for count in (min, median))
    added = least[True] - least[False]
    benchmark.pedantic(lambda: None, rounds=1)
    benchmark.extra_info["added_ms"] = round(added, 1)
    print(
        f"\n  adds {added:.0f} ms to {least[False]:.0f} ms (medians {middle[True]:.0f} and {middle[False]:.0f} ms, {PAIRS} pairs)"
    )
    assert added <= ADDED_AT_MOST_MS
