"""A site of many runs: what is listed, withheld, left out and refused."""

import base64
import hashlib
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dbbench.errors import UserError
from dbbench.report.site import write
from tests.conftest import Dbbench
from tests.fabricated import MANY, fabricate


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("runs")
    few = {name: MANY[name] for name in ("sqlite", "duckdb", "turso")}  # one of them with failures
    return [fabricate(folder / name, few).path for name in ("first", "second")]


def test_every_run_has_a_page_and_a_line(runs: list[Path], tmp_path: Path) -> None:
    assert write(runs, tmp_path / "site") == []
    pages = sorted((tmp_path / "site" / "runs").iterdir())
    assert len(pages) == 2
    text = (tmp_path / "site" / "index.html").read_text()
    assert text.count("<tr data-suite=") == 2
    for page in pages:
        assert f'href="runs/{page.name}#' in text
        assert "SQLite" in page.read_text()


def test_the_page_allows_its_own_script_alone(runs: list[Path], tmp_path: Path) -> None:
    write(runs[:1], tmp_path / "site")
    text = (tmp_path / "site" / "index.html").read_text()
    (script,) = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    assert f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'" in text
    assert "http" not in script


def test_a_site_is_made_anew_and_what_is_gone_is_removed(runs: list[Path], tmp_path: Path) -> None:
    write(runs, tmp_path / "site")
    (tmp_path / "site" / "CNAME").write_text("bench.example")
    write(runs[:1], tmp_path / "site")
    assert len([*(tmp_path / "site" / "runs").iterdir()]) == 1
    assert (tmp_path / "site" / "CNAME").exists()


def test_another_folder_is_not_written_to(runs: list[Path], tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(UserError, match="is not empty and not a dbbench site"):
        write(runs, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_a_list_of_pages_from_elsewhere_removes_nothing_else(runs: list[Path], tmp_path: Path) -> None:
    (tmp_path / "kept.html").write_text("mine")
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "site.json").write_text('{"pages": ["../kept.html", "runs/../../kept.html", 7]}')
    write(runs[:1], tmp_path / "site")
    assert (tmp_path / "kept.html").exists()


def test_a_damaged_run_is_left_out_and_named(runs: list[Path], tmp_path: Path, dbbench_here: Dbbench) -> None:
    (tmp_path / "damaged").mkdir()
    (tmp_path / "damaged" / "run.json").write_text("{")
    out = str(tmp_path / "site")
    done = dbbench_here("site", str(runs[0]), str(tmp_path / "damaged"), "--out", out, status=1)
    assert "left out: " in done.stderr
    assert "damaged" in done.stderr
    assert f"wrote {out}" in done.stdout
    none = dbbench_here("site", str(tmp_path / "damaged"), "--out", str(tmp_path / "other"), status=2)
    assert "dbbench: no run to show: " in none.stderr


def test_hostile_titles_are_escaped(tmp_path: Path) -> None:
    hostile = "\"><script>alert(1)</script>'"
    run = fabricate(tmp_path / "run", {"sqlite": replace(MANY["sqlite"], title=hostile), "duckdb": MANY["duckdb"]})
    write([run.path], tmp_path / "site")
    for page in (tmp_path / "site").rglob("*.html"):
        assert "<script>alert" not in page.read_text()
        assert "alert(1)" in page.read_text()


def test_a_site_by_cpu_time_says_so_and_leaves_out_who_keeps_none(
    runs: list[Path], tmp_path: Path, dbbench_here: Dbbench
) -> None:
    def cost(result: dict[str, Any]) -> None:
        for step in result["steps"]:
            if step.get("unit") == "s":  # the other way round than by the clock
                step["usage"] = {"cpu": {"duckdb": 0.01, "sqlite": 0.02}.get(result["engine_name"], 0.0001)}

    few = {name: MANY[name] for name in ("sqlite", "duckdb")}
    kept = fabricate(tmp_path / "kept", few, change=cost).path
    done = dbbench_here("site", str(kept), str(runs[0]), "--metric", "cpu", "--out", "site", status=1)
    assert f"left out: {runs[0]}: the run keeps no CPU time" in done.stderr
    text = (tmp_path / "site" / "index.html").read_text()
    assert "Invoices, by CPU time" in text
    assert re.search(r"DuckDB \(rows\)<.*×1\.00<.*SQLite \(sqlite3\)<.*×2\.00<", text, re.DOTALL)
