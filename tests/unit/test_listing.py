"""What is said of engines and suites, in words and as JSON, and how the command line is found."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from dbbench.engine.install import Steps
from dbbench.engine.probe import Probed, look
from dbbench.host.processes import at_work, python
from dbbench.report.terminal.engines import absent_lines, engine_lines, overview_lines
from tests.conftest import run_here
from tests.waiting import until


def test_engines_that_are_left_out_are_named_and_a_broken_one_says_why() -> None:
    absent = {
        "gone": Probed("gone", "unavailable", detail="no driver", install="pip install gone"),
        "hurt": Probed("hurt", "broken", detail="its import raised OSError"),
        "idle": Probed("idle", "available"),
        "lost": Probed("lost", "unavailable", detail="no library"),
        "open": Probed("open", "available", by_name_only="it opens a port"),
        "still": Probed("still", "available"),
    }
    assert list(absent_lines(absent, ["idle", "still"], columns=80)) == [
        "broken: hurt: its import raised OSError",
        "unavailable (see `dbbench engines`): gone, lost",
        "only with --engine (see `dbbench engines NAME`): open",
        "2 other engines don't support this suite",
    ]
    assert all(len(line) <= 30 for line in absent_lines(absent, [], columns=30))


def test_an_overview_has_a_line_for_each_available_engine_and_for_each_reason_why_others_are_not() -> None:
    engines = {
        "alpha": Probed("alpha", "unavailable", detail="no driver", install="pip install alpha"),
        "alpha+orm": Probed("alpha+orm", "unavailable", detail="no other driver"),
        "gamma": Probed("gamma", "unavailable", detail="no driver"),
        "gamma+core": Probed("gamma+core", "unavailable", detail="no driver"),
        "beta": Probed("beta", "available", versions={"Beta": "1.2", "beta-driver": "3"}),
        "delta": Probed("delta", "available", title="Delta", by_name_only="it opens a port"),
        "hurt": Probed("hurt", "broken", detail="its import raised OSError"),
    }
    assert list(overview_lines(engines, columns=60)) == [
        "available: 2",
        "  beta   Beta 1.2, beta-driver 3",
        "  delta  Delta (only with --engine)",
        "broken: 1 (`dbbench engines NAME` shows the whole error)",
        "  hurt   its import raised OSError",
        "unavailable: 4 (`dbbench engines NAME` says what it needs)",
        "  no driver: alpha; gamma, +core",
        "  no other driver: alpha+orm",
        "details of all: dbbench engines --all",
    ]


def test_a_long_reason_is_cut_so_that_an_engine_stays_on_its_line() -> None:
    engines = {"hurt": Probed("hurt", "broken", detail="word " * 100)}
    (line,) = [line for line in overview_lines(engines, columns=60) if line.startswith("  hurt")]
    assert len(line) <= 60
    assert line.endswith("word ...")


def test_options_are_listed_with_their_defaults() -> None:
    engines = {name: look(name, name, {}, url=False) for name in ("sqlite", "duckdb")}
    options = [line.strip() for line in engine_lines(engines, verbose=True, columns=1_000) if "--set" in line]
    assert (
        "--set sqlite.cache_mib=...  page cache of a connection, MiB; as-installed for its own default [default: a share of the memory]"
        in options
    )
    assert [line[-15:] for line in options if "duckdb.indexes" in line] == ["[default: true]"]
    assert not [line for line in options if "duckdb.threads" in line and "[default" in line]  # DuckDB's own choice


def as_json(*arguments: str) -> Any:
    return json.loads(run_here(Path(), *arguments, "--json", status=0).stdout)


def test_engines_and_suites_are_listed_as_json() -> None:
    (engine,) = as_json("engines", "sqlite")["engines"]
    assert (engine["name"], engine["status"]) == ("sqlite", "available")
    assert engine["defaults"]["cache_mib"] == "a share of the memory"
    suites = {each["name"]: each["title"] for each in as_json("suites")["suites"]}
    assert suites["order-entry"]


@pytest.mark.parametrize(
    ("word", "meant"), [("run", "did you mean 'suite'?"), ("list", "did you mean 'suites' or 'engines'?")]
)
def test_a_command_that_other_tools_have_is_named_as_ours(word: str, meant: str) -> None:
    assert meant in run_here(Path(), word, "invoices", status=2).stderr


@pytest.mark.parametrize("yes", [[], ["--yes"]])
def test_nothing_is_installed_while_another_dbbench_uses_the_environment(
    yes: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = {"duckdb": Probed("duckdb", "unavailable", detail="no driver", install="pip install duckdb")}
    monkeypatch.setattr("dbbench.engine.probe.probe", lambda _names: missing)
    monkeypatch.setattr("dbbench.engine.registry.install_steps", lambda _names: Steps((), ("duckdb",), ()))
    monkeypatch.setattr("dbbench.host.processes.at_work", lambda: [4321])
    monkeypatch.setattr(subprocess, "run", lambda *_words, **_how: pytest.fail("it was installed"))
    done = run_here(Path(), "engines", "install", "duckdb", *yes, status=2)
    assert "another dbbench uses this environment (process 4321)" in done.stderr


def test_only_what_runs_in_this_environment_is_at_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands, among them one that still draws its data, and children of theirs: here a real one, then as listed."""
    with subprocess.Popen(python("dbbench.host.apart"), stdin=subprocess.PIPE, stderr=subprocess.DEVNULL) as child:
        assert until(lambda: child.pid in at_work())
        assert os.getpid() not in at_work()
        child.kill()

    class Listed:
        def __init__(self, pid: int, *words: str) -> None:
            self.pid, self.info = pid, {"cmdline": list(words) or None}

    folder = os.path.dirname(sys.executable)
    command, checker = (
        (f"{folder}/python3.99", f"{folder}/dbbench", "suite"),
        python("dbbench.durability.checker", "DIR"),
    )
    processes = [
        Listed(1, *command), Listed(2, "/elsewhere/bin/python", *command[1:]), Listed(3, *python("pip", "dbbench")),
        Listed(4), Listed(5, *checker), Listed(6, sys.executable, "-m", "dbbench", "suite"), Listed(7, sys.executable),
        Listed(os.getpid(), *command),
    ]  # fmt: skip
    monkeypatch.setattr(psutil, "process_iter", lambda _attrs: processes)
    assert at_work() == [1, 5, 6]
