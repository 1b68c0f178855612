"""Which engines the plain test command takes through the kit: one or two of each family, all from pip."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.trials_here import engines_seen_here, reference_here

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


@pytest.fixture(scope="session", autouse=True)
def _seen_here() -> Iterator[None]:
    """The process that opens an engine in each clause is the one that looks at it for a whole trial, too."""
    with engines_seen_here(), reference_here():
        yield
