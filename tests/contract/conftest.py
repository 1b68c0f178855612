"""Which engines the plain test command takes through the kit: one or two of each family, all from pip."""

from pathlib import Path

import pytest

QUICK = {
    "null", "null+arrow", "null+async", "sqlite", "duckdb+arrow", "sqlite+orm", "sqlite+django", "dict", "lmdb",
    "rawfile", "virtualfile",
}  # fmt: skip


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        engine = getattr(getattr(item, "cls", None), "engine", None)
        if engine and engine not in QUICK and Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.matrix)
