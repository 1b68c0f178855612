"""The rule for caches: a quarter of a trial's memory, and not more than the data can fill."""

from pathlib import Path

import pytest

from dbbench.engine.options import Shares
from dbbench.results.run_directory import Run
from dbbench.run.shares import shares_of
from dbbench.suite.loader import parse_suite
from dbbench.testing.suite_text import suite_text
from tests.unit.test_store import MANIFEST

GIB, RECORDS = 2**30, "records: {count: 50, key_bytes: 16, value_bytes: 16}"


def run_of(folder: Path, clients: int, text_bytes: int, **limits: int) -> Run:
    steps = "      - {kind: keyvalue, name: fill, title: Fill, operation: insert}\n"
    steps += f"      - {{kind: keyvalue, name: read, title: Read, operation: read, clients: {clients}}}\n"
    text = suite_text("a", RECORDS, "") + steps
    datasets = {"a": {"rows": {}, "csv_bytes": text_bytes, "key": "k"}, "b": {"rows": {}, "csv_bytes": 1, "key": "k"}}
    manifest = MANIFEST.model_copy(update={"limits": limits, "datasets": datasets})
    return Run.create(folder / "run", manifest, parse_suite(text, "s.yaml"), text)


@pytest.mark.parametrize(
    ("clients", "text_bytes", "limits", "expected"),
    [
        (1, 4 * 2**20, {"memory": 16 * GIB}, Shares(64, 64, 8192)),  # little data: as much as each cache has had before
        (1, 100 * 2**20, {"memory": 16 * GIB}, Shares(800, 800, 8192)),
        (1, 16 * GIB, {"memory": 16 * GIB}, Shares(4096, 4096, 8192)),
        (1, 16 * GIB, {"memory": 16 * GIB, "memory_limit": 2 * GIB}, Shares(512, 512, 1024)),
        (1, 16 * GIB, {"memory": GIB, "memory_limit": 2 * GIB}, Shares(256, 256, 512)),
        (8, 100 * 2**20, {"memory": 16 * GIB}, Shares(800, 512, 8192)),  # a cache each, the quarter together
        (64, 4 * 2**20, {"memory": GIB // 8}, Shares(32, 1, 64)),
    ],
)  # fmt: skip
def test_a_cache_has_a_quarter_of_the_memory_at_most(
    clients: int, text_bytes: int, limits: dict[str, int], expected: Shares, tmp_path: Path
) -> None:
    assert shares_of(run_of(tmp_path, clients, text_bytes, **limits)) == expected
