"""Engines that are broken, hang, crash or fail by themselves: what is said of each, and that it holds up no other."""

import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from dbbench.engine import probe as probing
from dbbench.engine import registry
from dbbench.engine.probe import look, probe
from dbbench.suite.loader import find_suite
from dbbench_plugins.sqlite import SQLite
from tests.conftest import run_suite, summary
from tests.plugins import declare
from tests.trials_here import trials_here


def test_two_plugins_of_one_name_are_an_error(dbbench_here, tmp_path: Path) -> None:
    declare(tmp_path, "dbbench-doubled", "[dbbench.engines]\nsqlite = dbbench_plugins.sqlite:SQLite\n")
    done = dbbench_here("engines", plugins=(str(tmp_path),), status=2)
    assert "two plugins are called 'sqlite': dbbench (dbbench_plugins.sqlite:SQLite) and dbbench-doubled" in done.stderr


def test_a_broken_and_an_absent_engine_are_told_apart(dbbench_here) -> None:
    done = dbbench_here("engines", "faulty-driver", "faulty-import", "faulty-kills-import", plugins=("faulty",))
    lines = {line.split()[0]: line for line in done.stdout.splitlines() if line[:1].strip()}
    assert done.returncode == 0
    assert " unavailable " in lines["faulty-driver"]
    assert " broken " in lines["faulty-import"]
    assert "broken on import" in lines["faulty-import"]
    assert "signal 11" in lines["faulty-kills-import"]
    assert "install: pip install --force-reinstall dbbench-faulty" in done.stdout


@pytest.mark.parametrize(
    ("attribute", "value", "detail"),
    [
        ("title", 301 * "x", "title: String should have at most 300 characters"),
        (
            "license",
            None,
            "dbbench_plugins.sqlite:SQLite: SQLite.license is None: Input should be a valid string (see docs/plugins.md)",
        ),
        ("versions", lambda: {"SQLite": None}, "versions.SQLite: Input should be a valid string"),
        ("versions", lambda: None, "versions: Input should be a valid dictionary"),
    ],
)
def test_an_engine_that_says_what_no_run_can_hold_is_broken(
    monkeypatch: pytest.MonkeyPatch, attribute: str, value: object, detail: str
) -> None:
    monkeypatch.setattr(SQLite, attribute, value)
    found = look("sqlite", "sqlite", {}, url=False)
    assert (found.status, found.detail) == ("broken", detail)


def test_an_interruption_of_dbbench_alone_ends_what_looks_at_engines(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Each child leaves its process id, interrupts its parent and never answers; after a minute it would hang."""
    code = "import os, signal, sys, time; open(os.path.join(sys.argv[1], str(os.getpid())), 'w').close(); "
    code += "os.kill(os.getppid(), signal.SIGINT); time.sleep(1_000)"
    monkeypatch.setattr(probing, "python", lambda *_arguments, **_how: [sys.executable, "-c", code, str(tmp_path)])
    with pytest.raises(KeyboardInterrupt):
        probe(["sqlite", "duckdb", "null"])
    (started,) = tmp_path.iterdir()  # no other was asked after it
    assert not psutil.pid_exists(int(started.name))


def test_an_engine_that_is_named_twice_is_looked_at_once() -> None:
    assert [engine.status for engine in probe(["dict", "null", "dict"]).values()] == ["available", "available"]


def test_an_engine_whose_name_is_none_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "names", lambda: ["my engine!"])
    why = "'my engine!' can't be an engine's name: it has letters, digits and + . _ -, and at most 64"
    found = look("my engine!", "my engine!", {}, url=False)
    assert (found.status, found.detail) == ("broken", why)


@pytest.mark.usefixtures("faulty_engines")
def test_an_engine_that_hangs_when_it_is_imported_holds_up_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAULTY_IMPORT_HANGS", "1")
    monkeypatch.setattr("dbbench.engine.probe._SECONDS", 15.0)
    found = probe(["null", "faulty-kills-import", "sqlite"])
    assert [engine.status for engine in found.values()] == ["available", "broken", "available"]
    assert found["faulty-kills-import"].detail == "importing it hangs (more than 15 s)"


@pytest.mark.parametrize("engine", ["sqlite", "chdb"])
def test_a_crash_in_a_process_with_other_drivers_ends_it(engine: str) -> None:
    """Some drivers put in handlers of their own for faults, whoever's they are."""
    fault = f"from dbbench.engine import registry; registry.load({engine!r}); import ctypes; ctypes.string_at(1)"
    done = subprocess.run([sys.executable, "-c", fault], capture_output=True, timeout=1200, check=False)
    assert done.returncode == -signal.SIGSEGV


def test_what_fails_on_one_engine_is_that_engines_outcome(tmp_path: Path) -> None:
    """SQL that is wrong, after which the next step is run; and a load, after which nothing that needs it is."""
    text = find_suite("invoices").read_text("utf-8")
    broken = text.replace("        read: Total\n", "        dialects: {sqlite: SELECT nonsense}\n        read: Total\n")
    assert broken != text
    with trials_here():
        rows = summary(run_suite(tmp_path, broken, ("sqlite", "duckdb", "faulty-unloadable"), "--scale", "0.02"))
    assert rows["join-2", "sqlite"]["outcome"] == "failed"
    assert "nonsense" in rows["join-2", "sqlite"]["detail"]
    assert rows["join-2", "duckdb"]["outcome"] == "ok"
    assert rows["scan-1", "sqlite"]["outcome"] == "ok"
    assert rows["bulk-insert", "faulty-unloadable"]["detail"] == "RuntimeError: no load today"
    for step in ("database-size", "join-1", "join-2", "insert-1", "scan-1", "scan-2", "scan-3"):
        assert rows[step, "faulty-unloadable"]["outcome"] == "not run"
        assert rows[step, "faulty-unloadable"]["detail"] == "bulk-insert failed: RuntimeError: no load today"
