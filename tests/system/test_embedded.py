"""Engines inside the process: plugins without their drivers, and settings that take."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from dbbench.engine.base import Setup
from dbbench.suite.model import Tier
from dbbench.testing.contract import usable

pytestmark = pytest.mark.matrix

#: Engine -> its drivers.
DRIVERS = {
    "sqlite+apsw": ["apsw"],
    "duckdb": ["duckdb"],
    "firebird": ["firebird"],
    "libsql": ["libsql"],
    "turso": ["turso"],
    "chdb": ["chdb", "pandas"],
    "sqlalchemy": ["sqlalchemy"],
}
_WITHOUT = """
import json, sys
for name in json.loads(sys.argv[2]):
    sys.modules[name] = None  # an import of it now fails
from dbbench.engine import registry
from dbbench.errors import Unavailable
found = registry.find(sys.argv[1])
try:
    registry.load(sys.argv[1])
except Unavailable as exc:
    print(json.dumps([found.title, exc.reason]))
"""


@pytest.mark.parametrize("name", DRIVERS)
def test_a_plugin_tells_its_title_without_its_driver(name: str) -> None:
    command = [sys.executable, "-c", _WITHOUT, name, json.dumps(DRIVERS[name])]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1200, check=True)
    title, reason = json.loads(done.stdout)
    assert title
    assert f"module {DRIVERS[name][0]}" in reason


@pytest.mark.parametrize("name", ["sqlite", "sqlite+apsw", "libsql", "turso"])
@pytest.mark.parametrize("tier", list(Tier))
def test_the_pragmas_of_a_tier_take(name: str, tier: Tier, tmp_path: Path) -> None:
    kind = usable(name)
    if tier not in kind.durability:
        return  # refused, as the contract tests
    engine = kind(Setup(tmp_path, tier, {"page_size": "8192"}))
    engine.open()
    session = engine.connect()
    told = engine.settings()
    session.close()
    engine.close()
    assert {key: told[key] for key in engine.durability[tier]} == engine.durability[tier]
    assert told["page_size"] == "8192"
