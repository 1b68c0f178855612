"""Suites of a million values or without an end, that read files of others or write: told within seconds, with the first faults."""

import json
import os
import time
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest
from ruamel.yaml import YAML

from dbbench.datasets import own_files
from dbbench.datasets.own_files import files_of
from dbbench.errors import UserError
from dbbench.runs.choice import check_clients
from dbbench.suite.loader import parse_suite
from tests.attack.conftest import Ask
from tests.conftest import TESTS
from tests.trials_here import trials_here

SMALL = (TESTS / "unit" / "small.yaml").read_text("utf-8")
#: Seconds on a busy machine; without limits each of these takes many minutes.
LONG = 120


def bomb() -> str:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    return SMALL + "\n".join(lines)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        pytest.param(SMALL + "x: [" + "1, " * 1_000_000 + "]\n", "expected at most 100,000 values", id="values"),
        pytest.param(SMALL + "".join(f"key{n}: 1\n" for n in range(50_000)), "key0: expected one of the keys", id="keys"),
        pytest.param(bomb(), "expected at most 100,000 values in 40 levels", id="aliases"),
        pytest.param(SMALL + "x: &a [*a]\n", "expected at most 100,000 values in 40 levels", id="itself"),
        pytest.param(SMALL + "x: " + "[" * 50_000, "nested too deeply", id="deep"),
        pytest.param(SMALL + "#" * 5 * 2**20, "larger than 4 MiB", id="large"),
        pytest.param(SMALL.replace("title: Small", f"title: {'x' * 100_000}"), "at most 300 characters", id="title"),
        pytest.param(
            SMALL + "".join(f"  - {{name: s{n}, title: S, dataset: things, steps: []}}\n" for n in range(2_000)),
            "2,000 faults, of which these are the first 100", id="scenarios",
        ),
        pytest.param(SMALL.replace("title: Small", 'title: "\\e[2Jgone"'), "expected printable text", id="escape"),
        pytest.param(SMALL.replace("title: Small", 'title: "\\ud800"'), "expected printable text", id="surrogate"),
        pytest.param(SMALL.replace("name: main", '"\\e[2J": main'), "expected a plain text or number as the key", id="key"),
    ],
)  # fmt: skip
def test_a_monstrous_suite_is_told_within_seconds(text: str, fault: str, ask: Ask, tmp_path: Path) -> None:
    path = tmp_path / "suite.yaml"
    path.write_text(text, "utf-8")
    began = time.monotonic()
    done = ask("check", path)
    assert time.monotonic() - began < LONG
    assert done.returncode == 2
    assert fault in done.stdout
    assert len(done.stdout) < 100_000
    assert "\x1b" not in done.stdout


def test_so_many_faults_are_counted_and_the_first_are_told(ask: Ask, tmp_path: Path) -> None:
    path = tmp_path / "suite.yaml"
    path.write_text(SMALL + "".join(f"key{n}: 1\n" for n in range(5_000)), "utf-8")
    done = ask("check", path)
    lines = done.stdout.splitlines()
    assert [f": key{n}: expected one of" in line for n, line in enumerate(lines[:100])] == [True] * 100
    assert lines[100:] == ["5,000 faults, of which these are the first 100"]


@pytest.mark.parametrize("kind", ["pipe", "folder", "device"])
def test_a_suite_that_is_no_file_is_told(kind: str, ask: Ask, tmp_path: Path) -> None:
    path = Path("/dev/zero") if kind == "device" else tmp_path / "suite.yaml"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    assert ask("check", path).returncode == 2


#: Paths and globs that lead out of the suite's folder: never followed, however long they would take.
OUTSIDE = [
    "/etc/passwd", "/*/*/*/*/*", "/proc/*/*", "../elsewhere/mine", "link.csv", "in/*.csv", "in/../../elsewhere/mine",
]  # fmt: skip


def reading(folder: Path, pattern: str, key: str) -> Path:
    """A suite with the pattern in place of the rows of a table, or of an answer."""
    document = YAML(typ="safe").load(SMALL)
    (scenario,) = document["scenarios"]
    if key == "rows":
        columns = {"Id": {"type": "integer"}}
        document["datasets"]["things"]["tables"] = {
            "T": {"rows": {"file": pattern}, "primary_key": "Id", "columns": columns}
        }
        scenario |= {"steps": scenario["steps"][:1], "charts": []}
    else:
        scenario["steps"][1] |= {"answer": {"file": pattern, "columns": {"Name": "varchar(6)"}}, "read": "Name"}
    path = folder / "suite.yaml"
    path.write_text(json.dumps(document))
    return path


@pytest.mark.parametrize("key", ["rows", "answer"])
@pytest.mark.parametrize("pattern", OUTSIDE)
def test_a_file_outside_the_suites_folder_is_named_and_not_read(
    pattern: str, key: str, ask: Ask, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "mine").write_text("secret\n")
    (tmp_path / "suites" / "in").mkdir(parents=True)
    for link in ("link.csv", "in/one.csv"):
        (tmp_path / "suites" / link).symlink_to(tmp_path / "elsewhere" / "mine")
    path = reading(tmp_path / "suites", pattern, key)
    out = ("--out", tmp_path / "out")
    began = time.monotonic()
    for command in (["check", path], ["dataset", path, *out], ["suite", path, "-e", "sqlite", *out]):
        done = ask(*command)
        assert done.returncode == 2
        assert "dbbench: the suite reads files outside its folder: /" in done.stdout
        assert "add --allow-outside" in done.stdout
        assert "secret" not in done.stdout
    assert time.monotonic() - began < LONG
    assert not (tmp_path / "out").exists()
    if pattern == "link.csv" and key == "rows":
        done = ask("check", path, "--allow-outside")
        assert "has no column 'Id'" in done.stdout
    if pattern == "/proc/*/*":
        assert ask("check", path, "--allow-outside").returncode == 2


def test_a_glob_that_goes_through_too_many_names_is_refused(
    ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a1", "a2", "b1"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "rows.csv").write_text("Id\n1\n")
        (tmp_path / name / ".hidden.csv").write_text("none\n")
    path = reading(tmp_path, "a*/*.csv", "rows")
    assert files_of("a*/*.csv", tmp_path) == [tmp_path / "a1" / "rows.csv", tmp_path / "a2" / "rows.csv"]
    monkeypatch.setattr(own_files, "_MOST_NAMES", 7)
    done = ask("check", path)
    assert (done.returncode, "goes through more than 7 names" in done.stdout) == (2, True)


def test_import_says_how_a_suite_of_files_elsewhere_is_run(ask: Ask, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("Id\n1\n")
    for out, allow in (("suite.yaml", ""), ("suites/suite.yaml", " --allow-outside")):
        done = ask("import", tmp_path / "rows.csv", "--suite", tmp_path / out)
        assert done.stdout.endswith(f"run it: dbbench suite {tmp_path / out}{allow}\n")


@pytest.mark.parametrize("sql", ["COPY (SELECT 1) TO 'x.csv'", "SELECT 1 AS Name; COPY Parent TO PROGRAM 'sh'"])
@pytest.mark.parametrize("place", ["sql", "dialects", "check", "invariant"])
def test_a_query_is_one_select(place: str, sql: str, ask: Ask, tmp_path: Path) -> None:
    document = YAML(typ="safe").load(SMALL)
    steps = document["scenarios"][0]["steps"]
    if place == "check":
        check = {"sql": sql, "columns": ["Child.Amount"], "rows": [[1]]}
        steps.append({"kind": "statement", "name": "s", "title": "S", "sql": "DELETE FROM Child", "check": check})
    elif place == "invariant":
        pays = {"name": "t", "weight": 1, "statements": [{"sql": "DELETE FROM Child"}]}
        step = {"kind": "transaction", "name": "s", "title": "S", "calls": 1, "transactions": [pays]}
        steps.append({**step, "invariants": [{"name": "i", "sql": sql}]})
    else:
        steps[1] |= {"sql": sql} if place == "sql" else {"dialects": {"duckdb": sql}}
    path = tmp_path / "suite.yaml"
    path.write_text(json.dumps(document))
    done = ask("check", path)
    assert (done.returncode, done.stdout.count("expected one SELECT, with no semicolon")) == (2, 1), done.stdout


def test_check_and_suite_say_what_a_suite_may_do(ask: Ask, tmp_path: Path) -> None:
    path = tmp_path / "suite.yaml"
    path.write_text(SMALL)
    told = "its SQL runs with your rights, on files too: 1 step may read"
    assert ask("check", path).stdout == f"{path}: ok\n  {told}\n"
    assert ask("check", "invoices").stdout == "invoices: ok\n"
    with trials_here():
        done = ask("suite", path, "-e", "sqlite", "--quick", "--format", "csv", "--out", tmp_path / "run")
    assert f"small: {told}\n" in done.stdout
    statement = "{kind: statement, name: s, title: S, sql: DELETE FROM Child}"
    path.write_text(SMALL.replace("      - kind: query", f"      - {statement}\n      - kind: query"))
    assert ask("check", path).stdout.endswith(": 1 step may read, 1 step may read and write\n")


def test_no_more_clients_are_started_than_the_machine_has_memory_for(run: Path, ask: Ask, tmp_path: Path) -> None:
    """Neither by a suite nor by the suite in a run directory, also when it is explained, unless the user allows it."""
    many = SMALL.replace("kind: query", "kind: query\n        clients: {processes: 100000, threads: 100000}")
    (tmp_path / "suite.yaml").write_text(many)
    (run / "suite.yaml").write_text(many)
    fresh = ["suite", tmp_path / "suite.yaml", "-e", "sqlite", "--out", tmp_path / "out"]
    for command in (fresh, ["suite", "--resume", run], ["explain", run, "--step", "join"]):
        done = ask(*command)
        assert done.returncode == 2
        assert "join has 10,000,000,000 clients, more than the " in done.stdout
        assert "add --max-clients 10000000000" in done.stdout
    assert not (tmp_path / "out").exists()
    done = ask("explain", run, "--step", "join", "--max-clients", 9)
    assert "more than the 9 that --max-clients allows" in done.stdout


@pytest.mark.parametrize(
    ("memory", "allowed", "hosts", "most"), [(2**30, None, 1, 256), (2**36, None, 2, 2048), (2**30, 9, 4, 9)]
)
def test_how_many_clients_a_step_may_have(
    memory: int, allowed: int | None, hosts: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(total=memory))
    why = "--max-clients allows" if allowed else "start unasked"
    for count in (most, most + 1):
        suite = parse_suite(SMALL.replace("kind: query", f"kind: query\n        clients: {count}"), "suite.yaml")
        with nullcontext() if count == most else pytest.raises(UserError, match=f"the {most:,} that {why};"):
            check_clients(suite, allowed, hosts)
