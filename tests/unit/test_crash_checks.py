"""Results of `dbbench durability` that runs name: for which engine they hold, and how reports word them."""

import importlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dbbench.engine.fingerprint import fingerprint
from dbbench.report.conditions import promised
from dbbench.report.remarks import detail
from dbbench.report.run_view import view
from dbbench.results import crash_checks
from dbbench.results.crash_checks import CrashCheck, Subject
from dbbench.suite.model import Tier
from dbbench_plugins.dict import Dict
from dbbench_plugins.virtualfile import VirtualFile
from tests.fabricated import MANY, fabricate

SUBJECT = Subject("sqlite", "power", {"SQLite": "3.50.0", "dbbench": "0.1.0"}, "ext4", {"cache_mib": "32"})
PASSED = CrashCheck(passed=True, kills=5, day="2026-11-22")
OTHERS: dict[str, dict[str, Any]] = {
    "engine": {"engine": "sqlite+apsw"},
    "tier": {"tier": "process"},
    "version": {"versions": {"SQLite": "3.50.1", "dbbench": "0.1.0"}},
    "option": {"options": {}},
    "file system": {"file_system": "tmpfs"},
    "code": {"code": "another"},
}


@pytest.fixture(autouse=True)
def _folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DBBENCH_DATA", str(tmp_path / "data"))


def test_the_last_result_is_found() -> None:
    assert crash_checks.find(SUBJECT) is None
    crash_checks.keep(SUBJECT, PASSED)
    assert crash_checks.find(SUBJECT) == PASSED
    failed = replace(PASSED, passed=False)
    crash_checks.keep(SUBJECT, failed)
    assert crash_checks.find(SUBJECT) == failed


@pytest.mark.parametrize("other", OTHERS)
def test_of_another_engine_nothing_is_known(other: str) -> None:
    crash_checks.keep(SUBJECT, PASSED)
    assert crash_checks.find(replace(SUBJECT, **OTHERS[other])) is None


def test_an_engines_code_is_told_from_what_it_was_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An author changes the settings of a tier in the source, and no version with them."""
    source = "from dbbench_plugins.dict import Dict\nclass Mine(Dict):\n    durability = {}\n"
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "dbbench_of_mine.py").write_text(source)
    kind = importlib.import_module("dbbench_of_mine").Mine
    before = fingerprint(kind)
    assert before == fingerprint(kind) != fingerprint(Dict)
    (tmp_path / "dbbench_of_mine.py").write_text(source.replace("{}", "{1: 2}"))
    assert fingerprint(kind) != before


def test_what_an_engines_own_modules_import_is_its_code_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "dbbench_in_parts").mkdir()
    (tmp_path / "dbbench_in_parts" / "__init__.py").write_text(
        "from dbbench_plugins.dict import Dict\nclass Mine(Dict): ...\n"
    )
    kind = importlib.import_module("dbbench_in_parts").Mine
    before = fingerprint(kind)
    (tmp_path / "dbbench_in_parts" / "log.py").write_text("sync = None\n")
    assert fingerprint(kind) != before


def test_the_log_of_virtualfile_is_its_code(monkeypatch: pytest.MonkeyPatch) -> None:
    before, read = fingerprint(VirtualFile), Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda path: b"" if path.name == "log.py" else read(path))
    assert fingerprint(VirtualFile) != before


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"subject": 1, "check": {}}'])
def test_a_damaged_result_is_none(text: str) -> None:
    crash_checks.keep(SUBJECT, PASSED)
    (file,) = crash_checks.folder().iterdir()
    file.write_text(text)
    assert crash_checks.find(SUBJECT) is None


def checked(**check: Any) -> dict[str, Any]:
    return {"crash_check": {"passed": True, "kills": 5, "day": "2026-11-22", **check}}


def words(tmp_path: Path, *told: dict[str, Any]) -> str:
    engines = {name: replace(MANY[name], told=more) for name, more in zip(("sqlite", "duckdb"), told, strict=True)}
    run = fabricate(tmp_path / "run", engines)
    shown = view(run)
    (text,) = (item.durability for item in shown.scenarios)
    assert f"durability: {text} · " in shown.captions(run.suite.scenarios[0])[-1]
    assert ("Durability", f"invoices: {promised(Tier.POWER, text)}") in shown.facts
    return text


def test_who_failed_a_crash_check_has_figures_and_sizes_but_no_rank(tmp_path: Path) -> None:
    engines = {name: replace(MANY[name], told=checked(passed=name != "duckdb")) for name in ("sqlite", "duckdb", "h2")}
    shown = view(fabricate(tmp_path / "run", engines, rounds=6))
    rows = [row for row in shown.rows if row.engine == "duckdb"]
    assert {row.rank is None for row in rows if row.unit != "B"} == {True}
    assert all(row.value and "a crash check of these versions" in detail(row) for row in rows if row.unit != "B")
    assert {row.rank is None for row in rows if row.unit == "B"} == {False}
    assert {row.rank is None for row in shown.rows if row.engine == "sqlite"} == {False}


def test_what_was_never_tried_is_declared(tmp_path: Path) -> None:
    assert words(tmp_path, {}, {}) == "power (declared)"
    assert promised(Tier.POWER, "power (declared)").startswith("commits survive power loss, as the vendors document")
    assert promised(Tier.POWER, "power; declared: A") == "power; declared: A"


def test_a_crash_check_is_named_with_its_kills_and_day(tmp_path: Path) -> None:
    assert words(tmp_path, {}, checked()) == (
        "power; crash check passed (5 kills, 22 Nov 2026): DuckDB (rows); declared: SQLite (sqlite3)"
    )


def test_one_that_failed_is_named_too(tmp_path: Path) -> None:
    assert words(tmp_path, checked(), checked(passed=False, kills=1)) == (
        "power; crash check passed (5 kills, 22 Nov 2026): SQLite (sqlite3); "
        "crash check failed (1 kill, 22 Nov 2026): DuckDB (rows)"
    )
