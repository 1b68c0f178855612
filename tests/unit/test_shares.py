"""The rule for caches: a quarter of a trial's memory, and not more than the data can fill."""

import pytest

from dbbench.engine.options import Shares
from dbbench.runs.shares import shares_of
from dbbench.suite.loader import parse_suite
from dbbench.suite.model import Suite
from dbbench.suite.steps.contention import ContentionStep
from dbbench.suite.steps.search import SearchStep
from dbbench.testing.suite_text import suite_text

GIB, RECORDS = 2**30, "records: {count: 50, key_bytes: 16, value_bytes: 16}"


def suite_of(clients: int) -> Suite:
    steps = "      - {kind: keyvalue, name: fill, title: Fill, operation: insert}\n"
    steps += f"      - {{kind: keyvalue, name: read, title: Read, operation: read, clients: {clients}}}\n"
    return parse_suite(suite_text("a", RECORDS, "") + steps, "s.yaml")


@pytest.mark.parametrize(
    ("clients", "text_bytes", "limits", "expected"),
    [
        (1, 4 * 2**20, {"memory": 16 * GIB}, Shares(64, 64, 8192)),  # little data: as much as each cache has had before
        (1, 100 * 2**20, {"memory": 16 * GIB}, Shares(800, 800, 8192)),
        (1, 16 * GIB, {"memory": 16 * GIB}, Shares(4096, 4096, 8192)),
        (1, 16 * GIB, {"memory": 16 * GIB, "memory_limit": 2 * GIB}, Shares(512, 512, 1024)),
        (1, 16 * GIB, {"memory": GIB, "memory_limit": 2 * GIB}, Shares(256, 256, 512)),
        (8, 100 * 2**20, {"memory": 16 * GIB}, Shares(800, 512, 8192)),  # a cache each, the quarter together
        (1, 2**20, {"memory": GIB // 2}, Shares(64, 64, 128)),  # what is beside a JVM's heap needs the rest
        (1, 2**20, {"memory": 1}, Shares(1, 1, 1)),
        (64, 4 * 2**20, {"memory": GIB // 8}, Shares(32, 1, 32)),
    ],
)  # fmt: skip
def test_a_cache_has_a_quarter_of_the_memory_at_most(
    clients: int, text_bytes: int, limits: dict[str, int], expected: Shares
) -> None:
    assert shares_of(suite_of(clients), limits, text_bytes) == expected


@pytest.mark.parametrize(("pool", "sessions"), [(None, 8), (2, 2), (16, 16)])
def test_clients_that_share_a_pool_have_its_sessions(pool: int | None, sessions: int) -> None:
    asked = {"kind": "contention", "name": "c", "title": "C", "table": "t", "clients": 8, "pool": pool}
    assert ContentionStep.model_validate(asked).sessions == sessions


def test_the_client_that_adds_has_a_session_too() -> None:
    asked = {"kind": "search", "name": "s", "title": "S", "match": {"any": {"among": [21, 900]}}, "clients": 3}
    assert [SearchStep.model_validate({**asked, **more}).sessions for more in ({}, {"adding": {}})] == [3, 4]
