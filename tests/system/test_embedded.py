"""Engines inside the process: plugins without their drivers, and settings that take."""

import json
import subprocess
import sys
from typing import Any

import pytest

from dbbench.engine import SQLEngine, fetch
from dbbench.suite.model import Tier
from dbbench.testing.contract import usable
from tests.conftest import Opened

pytestmark = pytest.mark.matrix

#: Engine -> its drivers.
DRIVERS = {
    "sqlite+apsw": ["apsw"], "duckdb": ["duckdb"], "firebird": ["firebird"], "libsql": ["libsql"], "turso": ["turso"],
    "chdb": ["chdb", "pandas"], "sqlalchemy": ["sqlalchemy"],
}  # fmt: skip
_WITHOUT = """
import json, sys
drivers = json.loads(sys.argv[1])
for name in (name for needed in drivers.values() for name in needed):
    sys.modules[name] = None  # an import of it now fails
from dbbench.engine import registry
from dbbench.errors import Unavailable
for name in drivers:
    found = registry.find(name)
    try:
        registry.load(name)
    except Unavailable as exc:
        print(json.dumps([name, found.title, exc.reason]))
"""


def test_a_plugin_tells_its_title_without_its_driver() -> None:
    command = [sys.executable, "-c", _WITHOUT, json.dumps(DRIVERS)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1200, check=True)
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert [name for name, title, _ in told if title] == [*DRIVERS]
    assert [name for name, _, reason in told if f"module {DRIVERS[name][0]}" not in reason] == []


@pytest.mark.parametrize("name", ["sqlite", "sqlite+apsw", "libsql", "turso"])
@pytest.mark.parametrize("tier", list(Tier))
def test_the_pragmas_of_a_tier_take(name: str, tier: Tier, opened: Opened) -> None:
    if tier not in usable(name).durability:
        pytest.skip("refused, as the contract tests")
    engine = opened(name, tier, page_size="8192")
    engine.connect()
    told = engine.settings()
    assert {key: told[key] for key in engine.durability[tier]} == engine.durability[tier]
    assert told["page_size"] == "8192"


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("firebird", {"cache_mib": 24, "page_size": 4096}),
        ("h2", {"cache_mib": 24}),
        ("hsqldb", {"cache_mib": 24}),
        ("chdb", {"threads": 3}),
        ("duckdb", {"threads": 3}),
    ],
)
def test_an_engine_answers_with_the_options_that_it_was_given(name: str, given: dict[str, Any], opened: Opened) -> None:
    engine = opened(name, Tier.POWER, **given)
    assert isinstance(engine, SQLEngine)
    session = engine.connect()
    found = {each: int(fetch(session, query)[0][0]) for each, query in engine.option_queries.items()}
    assert found == given
