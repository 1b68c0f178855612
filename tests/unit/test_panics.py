"""A driver in Rust panics with what is no Exception: the kit makes an error of it, and the tests after it are their own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from dbbench.testing.clause import panics_as_errors


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
