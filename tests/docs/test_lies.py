"""The groups of plugins that docs/method.md says lie: a test of a whole run tries each."""

import re

from tests.docs.test_docs import ROOT, section
from tests.plugins import faulty_engines

FOUND, _, NOT_FOUND = section((ROOT / "docs" / "method.md").read_text("utf-8"), "## Lies").partition("Not found:")
GROUPS = re.findall(r"`([a-z]+-)\*`", FOUND)
#: The plugins of the groups, but for those that fail in other ways than by a lie (`faulty-`).
LIES = [name for name in faulty_engines() if name.startswith(tuple(GROUPS)) and not name.startswith("faulty-")]
TRIED = "".join(path.read_text("utf-8") for path in (ROOT / "tests" / "system").glob("*.py"))


def test_each_lie_is_a_plugin_that_a_test_tries() -> None:
    assert [group for group in GROUPS if not any(name.startswith(group) for name in faulty_engines())] == []
    assert [name for name in (*LIES, *re.findall(r"`([a-z]+-[a-z-]+)`", FOUND)) if f'"{name}"' not in TRIED] == []


def test_seventy_kinds_of_lies_are_found_or_named_with_the_reason() -> None:
    assert len(LIES) >= 70
    rows = [line.split("|")[1:-1] for line in NOT_FOUND.splitlines() if line.startswith("| ")]
    assert all(len(row) == 2 and all(cell.strip() for cell in row) for row in rows)
    assert len(rows) > 10
