"""The two commands together run every test, each of them once; what is named is run whole."""

import json
import re
import subprocess
import sys

import pytest

from tests.conftest import TESTS

pytestmark = pytest.mark.matrix


#: Folders that have tests of both kinds stand for all: one whose tests say it, and one whose conftest.py does. With them
#: a file of tests of units that says it, and one that doesn't.
SAID = ("-o", "testpaths=tests/attack")
ADDED = ("-o", "testpaths=tests/contract tests/unit/test_environments.py tests/unit/test_units.py")


#: Starts pytest with each list of words, one after another, for what takes longest is to import.
COLLECT = """
import json, sys, pytest
for words in json.loads(sys.argv[1]):
    assert pytest.main(["--collect-only", "-q", *words]) == 0
    print("END", flush=True)
"""


def collected(*commands: list[str]) -> list[tuple[list[str], str]]:
    """The tests that pytest would run by each command, and what it says in the end."""
    done = subprocess.run(
        [sys.executable, "-c", COLLECT, json.dumps(commands)],
        cwd=TESTS.parent, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    *parts, _ = done.stdout.split("END\n")
    return [(re.findall(r"^tests/\S+\.py::.*$", part, re.MULTILINE), part) for part in parts]


def test_the_two_commands_run_each_test_once_and_a_named_file_is_run_whole(pytestconfig: pytest.Config) -> None:
    assert pytestconfig.getini("testpaths") == ["tests"]
    asked = [[*ADDED, *words] for words in ([], ["-m", "matrix"], ["-m", "matrix or not matrix"])]
    (quick, told), (matrix, _), (whole, _), (named, rest) = collected(*asked, ["tests/attack/test_servers.py"])
    assert quick
    assert "/test_units.py" in " ".join(quick)
    assert "/test_environments.py" in " ".join(matrix)
    assert sorted(quick + matrix) == sorted(whole)
    assert f"\n{len(matrix)} tests: " in told
    assert "nox -s everything" in told
    assert len(named) > 10
    assert "left out" not in rest


def test_workers_leave_out_the_same() -> None:
    """Of a plain command with xdist no test is run that is named like a server's."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *SAID, "-n", "2", "-q", "-k", "test_a_second_server_is_a_copy_without_a_secret"],
        cwd=TESTS.parent, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == pytest.ExitCode.NO_TESTS_COLLECTED, done.stdout[-2000:]
    assert "To run them too: nox -s everything" in done.stdout
