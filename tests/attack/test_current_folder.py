"""dbbench is started in a folder full of traps: none of its files is run, read or missed."""

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from dbbench.testing.contract import usable
from dbbench.testing.suite_text import suite_text
from tests.conftest import environment, summary
from tests.fabricated import MANY, fabricate
from tests.plugins import faulty
from tests.tables import one_table

pytestmark = pytest.mark.matrix

#: Modules that children import: of the standard library, of dbbench's own needs, drivers, and dbbench itself.
MODULES = ("json", "signal", "psutil", "numpy", "pydantic", "pyarrow", "click", "pytest", "sqlite3", "duckdb", "apsw")
MODULES += ("jpype", "dbbench_plugins", "sitecustomize", "conftest")
TRAP = "open({marker!r}, 'a').write(__name__ + '\\n')\nraise SystemExit('a trap: ' + __name__)\n"
TABLE = one_table("T", 100, "N: {type: integer, values: {kind: quantiles, points: {0: 1, 1: 9}}}")
LOAD = "- {kind: load, name: load, title: Load}\n"
INSERT = """
- kind: statement
  name: insert
  title: Insert
  sql: INSERT INTO T (Id, N) SELECT MAX(Id) + 1, 1 FROM T
  iterations: 4
  adds: {table: T}
"""
TABLES_ALONE = ("--quick", "--format", "csv", "--out", "run")
SCRIPT = (str(Path(sys.executable).with_name("dbbench")),)


@pytest.fixture
def trapped(tmp_path: Path) -> Path:
    """A folder with a trap for each module, as a file and as a package, and with files that drivers look for."""
    folder = tmp_path / "trapped"
    folder.mkdir()
    trap = TRAP.format(marker=str(tmp_path / "sprung"))
    for name in MODULES:
        (folder / f"{name}.py").write_text(trap, "utf-8")
    (folder / "dbbench").mkdir()
    (folder / "dbbench" / "__init__.py").write_text(trap, "utf-8")
    (folder / "pytest.ini").write_text("[pytest]\naddopts = --no-such-option\n", "utf-8")
    (folder / "matplotlibrc").write_bytes(b"backend: module://psutil\nfont.size: \xff\n")
    (folder / "derby.properties").write_text("derby.storage.pageSize=nonsense\n", "utf-8")
    (folder / "config.xml").write_text("<no xml", "utf-8")
    return folder


def write_suite(folder: Path, steps: str) -> None:
    (folder / "suite.yaml").write_text(suite_text("trapped", TABLE, steps, durability="process"), "utf-8")


def run(folder: Path, *words: str, **variables: str) -> str:
    """What a command in the folder says, which goes well. Nothing of the folder may have been run afterwards."""
    done = subprocess.run(
        words, cwd=folder, env=environment(**variables), capture_output=True, text=True, timeout=1200, check=False
    )
    sprung = folder.parent / "sprung"
    assert not sprung.exists(), sprung.read_text("utf-8") + done.stderr
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_run_with_clients_in_processes(trapped: Path) -> None:
    write_suite(trapped, LOAD + INSERT + "  clients: {processes: 2}\n")
    said = run(trapped, *SCRIPT, "suite", "suite.yaml", "-e", "sqlite", "--quick", "--out", "run")
    assert "wrote run/report/index.html" in said
    rows = summary(trapped / "run")
    assert rows["load", "sqlite"]["outcome"] == rows["insert", "sqlite"]["outcome"] == "ok"
    assert list((trapped / "run" / "report").glob("*.svg"))


def test_a_history_is_drawn_by_no_settings_of_the_folder(trapped: Path) -> None:
    for day, name in enumerate("ab", 1):
        fabricate(trapped / name, {"sqlite": MANY["sqlite"]}, rounds=1, day=day)
    assert "wrote history/index.html" in run(trapped, *SCRIPT, "history", "a", "b", "--out", "history")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("engines sqlite duckdb derby chdb", "sqlite  available  "),
        ("durability sqlite --tier process --kills 1", "sqlite  process  passed"),
        ("plugin check dict", "after reopening  left out  it offers tier memory alone and keeps no file: nothing is"),
    ],
)
def test_every_other_child(trapped: Path, words: str, said: str) -> None:
    assert said in run(trapped, *SCRIPT, *words.split())


def test_started_as_a_module(trapped: Path) -> None:
    """Where Python itself looks in the current folder, for dbbench and for nothing after it."""
    (trapped / "dbbench" / "__init__.py").unlink()
    (trapped / "dbbench").rmdir()
    run(trapped, sys.executable, "-m", "dbbench", "engines", "sqlite")


def test_a_driver_finds_none_of_its_files(trapped: Path) -> None:
    """Derby would take its settings from the current folder, ClickHouse its configuration."""
    usable("derby")
    usable("chdb")
    write_suite(trapped, LOAD)
    before = {*trapped.iterdir()}
    run(trapped, *SCRIPT, "suite", "suite.yaml", "-e", "derby", "-e", "chdb", *TABLES_ALONE)
    assert {*trapped.iterdir()} - before == {trapped / "run"}


def test_paths_of_the_user_are_meant_from_his_folder(tmp_path: Path) -> None:
    """Trials run in a folder of their own: a database, a folder of plugins and the cache are found all the same."""
    pytest.importorskip("sqlalchemy")
    plugins = f":{os.path.relpath(faulty(), tmp_path)}"
    write_suite(tmp_path, LOAD + INSERT)
    words = ("suite", "suite.yaml", "-e", "faulty-slowed", "--url", "mine=sqlite:///mine.db", *TABLES_ALONE)
    run(tmp_path, *SCRIPT, *words, PYTHONPATH=plugins, DBBENCH_CACHE="cache")
    assert {row["outcome"] for row in summary(tmp_path / "run").values()} == {"ok"}
    with sqlite3.connect(tmp_path / "mine.db") as connection:  # which was opened there, and emptied again
        assert connection.execute("SELECT COUNT(*) FROM sqlite_schema").fetchone() == (0,)
