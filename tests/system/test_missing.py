"""A machine that lacks what an engine needs: tests are skipped with what to do, and `engines install` does it."""

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import TESTS, Dbbench

pytestmark = pytest.mark.matrix

#: As the dynamic loader words it, where unixODBC is missing.
WITHOUT_LIBRARY = 'raise ImportError("libodbc.so.2: cannot open shared object file: No such file or directory")\n'


@pytest.fixture
def without_odbc(tmp_path: Path) -> str:
    """A PYTHONPATH with which pyodbc can't be imported for want of unixODBC."""
    folder = tmp_path / "without"
    folder.mkdir()
    (folder / "pyodbc.py").write_text(WITHOUT_LIBRARY)
    return str(folder)


@pytest.mark.parametrize(("required", "status"), [("", 0), ("odbc+sqlite", 1)])
def test_tests_of_an_engine_that_lacks_a_library_are_skipped_unless_required(
    without_odbc: str, tmp_path: Path, required: str, status: int
) -> None:
    (tmp_path / "test_kit.py").write_text(
        "from dbbench.testing import SQLContract\nclass TestODBC(SQLContract):\n    engine = 'odbc+sqlite'\n"
    )
    # The configuration is this project's: warnings are errors.
    command = [sys.executable, "-m", "pytest", "-c", str(TESTS.parent / "pyproject.toml"), "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, "-q", "-rs", str(tmp_path / "test_kit.py"), "-k", "says_what_it_is or tells_its_settings"],
        env={**os.environ, "PYTHONPATH": without_odbc, "DBBENCH_REQUIRE": required},
        cwd=tmp_path, capture_output=True, text=True, timeout=1200, check=False,
    )  # fmt: skip
    assert done.returncode == status, done.stdout + done.stderr
    why = "the Python module pyodbc needs libodbc.so.2, a library of the system; apt install unixodbc libsqliteodbc"
    assert why in done.stdout
    assert ("2 skipped" in done.stdout) == (status == 0)


def test_install_asks_before_it_runs_and_ends_by_what_is_so(
    dbbench_here: Dbbench, without_odbc: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    printed = dbbench_here("engines", "install", "--print", "odbc+sqlite").stdout.splitlines()
    assert printed[0] == "apt-get install -y --no-install-recommends unixodbc libsqliteodbc"
    assert printed[1].startswith(f"{sys.executable} -P -m pip install ")
    assert printed[1].endswith(" 'pyodbc>=5.1'")
    assert dbbench_here("engines", "install", "--debian", "odbc+sqlite").stdout == "unixodbc libsqliteodbc\n"
    with monkeypatch.context() as patch:  # other tests' runs use this environment
        patch.setattr("dbbench.host.processes.at_work", list)
        patch.setenv("PYTHONPATH", without_odbc)
        patch.setattr("sys.stdin", io.StringIO())  # nobody answers
        asked = dbbench_here("engines", "install", "odbc+sqlite")
    assert "Run this now? [y/N]" in asked.stdout
    assert asked.returncode == 1
    there = dbbench_here("engines", "install", "sqlite", status=0)
    assert "sqlite  available" in there.stdout
    assert "pip" not in there.stdout
    assert dbbench_here("engines", "install", "oracel").returncode == 2


def test_jars_are_fetched_by_the_one_door_and_their_checksums_hold(dbbench_here: Dbbench, tmp_path: Path) -> None:
    """By a Maven whose jar of H2 is another one."""
    pytest.importorskip("jpype")
    maven = tmp_path / "bin" / "mvn"
    maven.parent.mkdir()
    maven.write_text('#!/bin/sh\nfor folder; do :; done\necho "not H2" > "${folder#*=}/h2-2.4.240.jar"\n')
    maven.chmod(0o755)
    cache, home = tmp_path / "cache", tmp_path / "home"
    home.mkdir()
    path = f"{maven.parent}{os.pathsep}{os.environ['PATH']}"
    variables = {"PATH": path, "DBBENCH_CACHE": str(cache), "HOME": str(home)}
    printed = dbbench_here("engines", "install", "--print", "h2", "derby", **variables).stdout
    assert f"{sys.executable} -P -m dbbench_plugins.jdbc.jars h2 derby\n" in printed
    fetched = subprocess.run(
        [sys.executable, "-m", "dbbench_plugins.jdbc.jars", "h2"],
        env={**os.environ, **variables}, capture_output=True, text=True, timeout=1200, check=False,
    )  # fmt: skip
    assert fetched.returncode == 2
    assert "is not the jar that it should be" in fetched.stderr
    assert not list(cache.rglob("*.jar"))
