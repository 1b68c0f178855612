"""Variants of one engine in one run."""

import json
import shutil
from pathlib import Path

from tests.conftest import Dbbench, summary

SMALL = Path(__file__).parents[1] / "unit" / "small.yaml"


def test_variants_run_beside_their_engine_with_settings_of_their_own(tmp_path: Path, dbbench_here: Dbbench) -> None:
    suite = tmp_path / "mine.yaml"
    suite.write_text(
        f"{SMALL.read_text()}variants:\n  sqlite@written: {{settings: {{cache_mib: 7}}, env: {{MALLOC_ARENA_MAX: 2}}}}\n"
    )
    chosen = ["-e", "sqlite", "-e", "sqlite@small", "-e", "sqlite@written", "--set", "sqlite@small.cache_mib=4"]
    dbbench_here("suite", "mine.yaml", *chosen, "--rounds", "1", "--format", "csv,html", "--out", "r", status=0)
    names = {"sqlite", "sqlite@small", "sqlite@written"}
    assert {engine for step, engine in summary(tmp_path / "r") if step == "join"} == {*names, "(null)"}
    page = (tmp_path / "r" / "report" / "index.html").read_text()
    assert "SQLite (sqlite3) [small]" in page
    trials = {
        json.loads(path.read_text())["engine_name"]: path for path in (tmp_path / "r").glob("trials/*/result.json")
    }
    kept = {name: json.loads(path.read_text())["engine"]["settings"] for name, path in trials.items() if name in names}
    cached = {name: each["cache_mib"] for name, each in kept.items()}
    assert cached == {"sqlite": 64, "sqlite@small": 4, "sqlite@written": 7}
    assert [name for name, each in kept.items() if "MALLOC_ARENA_MAX" in each] == ["sqlite@written"]
    assert kept["sqlite@written"]["MALLOC_ARENA_MAX"] == "2"

    shutil.rmtree(trials["sqlite@small"].parent)
    shutil.rmtree(trials["sqlite@written"].parent)
    suite.unlink()
    dbbench_here("suite", "--resume", "r", "--format", "csv", status=0)
    assert json.loads(trials["sqlite@small"].read_text())["engine"]["settings"]["cache_mib"] == 4
    assert json.loads(trials["sqlite@written"].read_text())["engine"]["settings"]["MALLOC_ARENA_MAX"] == "2"
