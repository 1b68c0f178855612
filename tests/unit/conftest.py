"""A small suite, the built-in one, and the null engine. The cache of datasets is set in tests/conftest.py."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from dbbench.datasets.cache import Files, materialise
from dbbench.engine.base import Setup
from dbbench.suite.dataset import Dataset
from dbbench.suite.loader import find_suite, load_suite, parse_suite
from dbbench.suite.model import Suite, Tier
from dbbench_plugins.null import Null
from tests.trials_here import reference_here


@pytest.fixture(autouse=True)
def _reference_here() -> Iterator[None]:
    with reference_here():
        yield


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a cache of the test's own."""
    monkeypatch.setenv("DBBENCH_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture(scope="session")
def small_text() -> str:
    return (Path(__file__).parent / "small.yaml").read_text("utf-8")


@pytest.fixture(scope="session")
def small(small_text: str) -> Suite:
    return parse_suite(small_text, "small.yaml")


@pytest.fixture(scope="session")
def invoices() -> Suite:
    return load_suite(find_suite("invoices"))


@pytest.fixture(scope="session")
def invoices_data(invoices: Suite) -> Dataset:
    return invoices.datasets["invoices"]


@pytest.fixture(scope="session")
def invoices_files(invoices_data: Dataset) -> Files:
    """The invoices at a small scale."""
    return materialise(invoices_data, scale=0.03)


@pytest.fixture
def null(tmp_path: Path) -> Null:
    return Null(Setup(tmp_path, Tier.POWER))
