"""The table of lies in docs/method.md names plugins that are there, and that a test of a whole run tries."""

import re

from tests.docs.test_docs import ROOT

FAULTY = ROOT / "tests" / "faulty" / "dbbench_faulty-1.0.dist-info" / "entry_points.txt"
PAGE = (ROOT / "docs" / "method.md").read_text("utf-8")
FOUND, _, NOT_FOUND = PAGE.partition("### Lies")[2].partition("### What counts as equal")[0].partition("Not found:")
NAMES = re.findall(r"`([a-z]+-[a-z-]+)`", FOUND)
TRIED = "".join(path.read_text("utf-8") for path in (ROOT / "tests" / "system").glob("*.py"))


def test_each_lie_is_a_plugin_that_a_test_tries() -> None:
    plugins = {line.partition(" ")[0] for line in FAULTY.read_text("utf-8").splitlines()}
    assert set(NAMES) <= plugins
    assert [name for name in NAMES if f'"{name}"' not in TRIED] == []


def test_seventy_kinds_of_lies_are_found_or_named_with_the_reason() -> None:
    assert len(set(NAMES)) >= 70
    rows = [line.split("|")[1:-1] for line in NOT_FOUND.splitlines() if line.startswith("| ")]
    assert all(len(row) == 2 and all(cell.strip() for cell in row) for row in rows)
    assert len(rows) > 10
