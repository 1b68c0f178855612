"""The conformance kit: each clause says why it matters and where to read on, and no assertion is without words."""

import ast
import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

import dbbench.testing
from dbbench.cli.plugin import _run_kit, findings, verdict_lines
from dbbench.errors import UserError
from dbbench.testing import (
    BlocksContract,
    EngineContract,
    KeyValueContract,
    ObjectContract,
    SQLContract,
    kit,
    objects,
    verdicts,
)
from dbbench.testing.clause import difference, expect, expect_equal, expect_error, panics_as_errors, reason
from dbbench.testing.verdicts import Verdict, Verdicts, read

CONTRACTS = (EngineContract, SQLContract, KeyValueContract, BlocksContract, ObjectContract)
CLAUSES = {
    f"{contract.__name__}.{name}": getattr(contract, name)
    for contract in CONTRACTS
    for name in dir(contract)
    if name.startswith("test_")
}
PLUGINS = (Path(__file__).parents[2] / "docs" / "plugins.md").read_text("utf-8")
SECTIONS = {
    re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")
    for heading in re.findall(r"^#+ (.+)$", PLUGINS, re.MULTILINE)
}


@pytest.mark.parametrize("name", CLAUSES)
def test_each_clause_says_why_it_matters_and_where_to_read_on(name: str) -> None:
    test = CLAUSES[name]
    assert len(reason(test)) > 10
    assert test.section in SECTIONS


def test_no_assertion_of_the_kit_is_without_words() -> None:
    for path in Path(dbbench.testing.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            assert not isinstance(node, ast.Assert), f"{path.name}:{node.lineno}"
            assert not (isinstance(node, ast.Attribute) and node.attr == "raises"), f"{path.name}:{node.lineno}"


@pytest.mark.parametrize(
    ("got", "expected", "said"),
    [
        (0, 4, "expected 4, got 0"),
        (None, b"x", "expected b'x', got None"),
        ([1, 2], [1, 3], "item 1: expected 3, got 2"),
        ([1], [1, 2], "expected 2 items, got 1: [1]"),
        ({1: "a"}, {1: "a", 2: "b"}, "expected 2 entries, got 1; 2 is missing"),
        ({1: "a", 2: "b"}, {1: "a"}, "expected 1 entries, got 2; 2 should not be there"),
        ({1: "a"}, {1: "b"}, "at 1 expected 'b', got 'a'"),
    ],
)
def test_says_what_differs(got: object, expected: object, said: str) -> None:
    assert difference(got, expected) == said
    with pytest.raises(AssertionError, match=re.escape(f"rows: {said}")):
        expect_equal("rows", got, expected)


def test_says_which_error_was_expected() -> None:
    with expect_error("an insert", ValueError, "twice"):
        raise ValueError("twice")
    with pytest.raises(AssertionError, match="an insert: expected an error, got none"), expect_error("an insert"):
        pass
    with (
        pytest.raises(AssertionError, match="an insert: expected ValueError, got KeyError: 'x'"),
        expect_error("an insert", ValueError),
    ):
        raise KeyError("x")
    with (
        pytest.raises(AssertionError, match="an insert: expected an error that says 'twice', got once"),
        expect_error("an insert", ValueError, "twice"),
    ):
        raise ValueError("once")
    expect(holds=True, message="")


def failed(clause: str, message: str, place: str = "") -> Verdict:
    at = f"\nat {place}" if place else ""
    return Verdict(clause, "failed", f"{message}{at}\nclause: {clause}\nwhy: it matters\nsee docs/plugins.md")


def test_clauses_that_fail_for_one_cause_are_one_finding() -> None:
    raised, where = "OperationalError: no table", "mine.py:12, in insert"
    found = [
        failed("a whole trial is right", f"step load: expected ok, got failed: {raised} 03"),
        *(failed(f"clause {number}", f"{raised} {number:02}", where) for number in range(1, 20)),
        failed("another", f"{raised} 01", "mine.py:30, in read"),
        failed("a count", "rows: expected 4, got 0"),
        failed("the same count", "rows: expected 4, got 0"),
        failed("another count", "rows: expected 4, got 1"),
        failed("a bare assert", ""),
        Verdict("right", "passed"),
    ]
    assert {alike[0].clause: len(alike) for alike in findings(found)} == {
        "a bare assert": 1, "a count": 2, "another count": 1, "clause 1": 20, "another": 1
    }  # fmt: skip
    text = "\n".join(verdict_lines(found, 1_000))
    assert text.count("\nfailed: ") == 5
    assert text.count("OperationalError") == 2


@pytest.mark.parametrize(("name", "options"), [("duckdb", {"indexes": False}), ("sqlite", {"statistics": False})])
def test_an_engine_may_be_what_its_options_make_of_it(name: str, options: dict[str, bool], tmp_path: Path) -> None:
    contract: Any = kit(name, options=options)()
    engine = contract.usable()
    with contract.opening(engine, tmp_path) as opened:
        contract.test_opens_without_changing_what_its_class_says(engine, opened, tmp_path)


def test_an_option_reaches_the_kit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "asked.json").write_text('{"engine": "sqlite", "options": {"cache_mib": "1"}}', "utf-8")
    monkeypatch.setattr("sys.argv", ["verdicts", str(tmp_path)])
    monkeypatch.setattr(pytest, "main", lambda *_arguments, **_how: 0)
    verdicts.main()
    made = runpy.run_path(str(tmp_path / "test_sqlite.py"))["TestEngine"]
    assert (made.engine, made.options) == ("sqlite", {"cache_mib": "1"})


def test_what_the_caller_asks_of_pytest_is_not_for_the_kit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_ADDOPTS", "-k nothing")
    monkeypatch.setattr(subprocess, "run", run := Mock(return_value=subprocess.CompletedProcess([], 1, b"")))
    with pytest.raises(UserError, match="could not be run"):
        _run_kit("dict", {})
    assert [call.kwargs["env"]["PYTEST_ADDOPTS"] for call in run.call_args_list] == [""]


def test_the_kit_leaves_no_table_of_objects_at_a_url(tmp_path: Path) -> None:
    contract = kit("sqlalchemy", url=f"sqlite:///{tmp_path}/all.db")()
    with contract.opening(contract.usable(), tmp_path) as opened:
        for _ in range(2):
            with objects.filled(opened()):
                pass


class PanicException(BaseException):
    """As pyo3 has it."""


TESTS = """
import pytest
from contextlib import nullcontext
from dbbench.testing.clause import panics_as_errors

class PanicException(BaseException):
    pass

@pytest.fixture
def folder(request):
    return request.node.name

@pytest.fixture
def opened(folder):
    with {around}():
        yield
        if folder == "test_first":
            raise PanicException("called `Option::unwrap()` on a `None` value")

def test_first(folder, opened):
    assert folder == "test_first"

def test_second(folder, opened):
    assert folder == "test_second"

def test_third(folder, opened):
    assert folder == "test_third"
"""


def outcomes(folder: Path, around: str) -> tuple[str, str]:
    """The letters of three tests of which the first ends in a panic, and all that pytest said."""
    (folder / "test_panic.py").write_text(TESTS.format(around=around), "utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", "test_panic.py"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=300)
    return done.stdout.split(maxsplit=1)[0], done.stdout


def test_a_panic_at_a_fixtures_end_is_an_error_of_its_test_alone(tmp_path: Path) -> None:
    letters, said = outcomes(tmp_path, "panics_as_errors")
    assert letters == ".E.."
    assert "RuntimeError: the driver panicked: called `Option::unwrap()`" in said


def test_without_it_later_tests_have_the_fixtures_of_the_first(tmp_path: Path) -> None:
    """What pytest does with a panic: should it learn better, `panics_as_errors` can go."""
    letters, said = outcomes(tmp_path, "nullcontext")
    assert letters.startswith(".EF")
    assert "AssertionError: assert 'test_first' == 'test_second'" in said


def test_other_errors_pass_as_they_are() -> None:
    for error in (KeyboardInterrupt(), SystemExit(1), ValueError("x")):
        with pytest.raises(type(error)), panics_as_errors():
            raise error
    with pytest.raises(RuntimeError, match="the driver panicked: x") as raised, panics_as_errors():
        raise PanicException("x")
    assert isinstance(raised.value.__cause__, PanicException)


def test_a_process_that_ends_as_an_engine_is_closed_ends_in_that_clause(tmp_path: Path) -> None:
    """Its test had passed before."""
    path = tmp_path / "verdicts.jsonl"
    place = ("test_mine.py", 1, "")
    verdicts = Verdicts(path)
    for test in ("t.py::TestEngine::test_keeps_a_value", "t.py::TestEngine::test_keeps_a_key"):
        verdicts.pytest_runtest_logstart(test, place)
        verdicts._keep(Verdict("keeps a value", "passed"))
        if test.endswith("value"):
            verdicts.pytest_runtest_logfinish(test, place)
    assert read(path)[1] == "keeps a key"
    verdicts.pytest_runtest_logfinish("t.py::TestEngine::test_keeps_a_key", place)
    assert read(path)[1] == ""
