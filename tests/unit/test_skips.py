"""What the end of a test run says of skipped tests: a line for each reason with its engines, and what failed after them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import TESTS

SKIPPING = """\
import pytest

class Kit:
    @pytest.mark.parametrize("number", range(3))
    def test_one(self, number):
        pytest.skip("can't load: it only reads")

    def test_two(self):
        pytest.skip(f"{self.engine}: no server")

class TestA(Kit):
    engine = "a"

class TestB(Kit):
    engine = "b"

@pytest.mark.skip(reason="Windows only")
def test_three():
    pass

def test_four():
    assert False, "this one failed"
"""


@pytest.mark.parametrize("workers", [["-p", "no:xdist"], ["-n", "2"]])
def test_skips_are_a_line_for_each_reason_with_its_engines_and_failures_last(
    tmp_path: Path, workers: list[str]
) -> None:
    (tmp_path / "conftest.py").write_text(
        "from tests.skips import Skips\n\ndef pytest_configure(config):\n    config.pluginmanager.register(Skips())\n"
    )
    (tmp_path / "test_some.py").write_text(SKIPPING)
    command = [sys.executable, "-m", "pytest", "-rxXEf", "-q", "-p", "no:cacheprovider", *workers, str(tmp_path)]
    done = subprocess.run(
        [*command, "--rootdir", str(tmp_path)],
        cwd=TESTS.parent,
        env={**os.environ, "PYTEST_ADDOPTS": ""},  # whoever runs these tests may have asked for more
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    lines = done.stdout.splitlines()
    first = next(place for place, text in enumerate(lines) if "9 skipped" in text)
    assert lines[first + 1 : first + 5] == [
        "    1  Windows only",
        "    1  a: no server",
        "    1  b: no server",
        "    6  can't load: it only reads (a, b)",
    ], done.stdout
    assert "short test summary info" in lines[first + 5]
    assert lines[first + 6].startswith("FAILED ")
    assert "test_some.py::test_four" in lines[first + 6]
    assert "SKIPPED" not in done.stdout
