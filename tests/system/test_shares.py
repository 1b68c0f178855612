"""The share of the memory for an engine's cache, and the cache that the engine is installed with."""

from pathlib import Path
from typing import Any

import pytest

from dbbench.engine import Setup, Shares, Tier, fetch
from dbbench.testing.contract import usable

pytestmark = pytest.mark.matrix
#: Engine -> its option, and where the engine tells it, what it is installed with and how to ask for it.
CACHES: dict[str, tuple[str, str, str]] = {
    "sqlite": ("cache_mib", "SELECT cache_size FROM pragma_cache_size", "-2000"),
    "sqlite+apsw": ("cache_mib", "SELECT cache_size FROM pragma_cache_size", "-2000"),
    "postgresql": ("shared_buffers_mib", "SELECT current_setting('shared_buffers')", "128MB"),
    "mysql+pymysql": ("buffer_pool_mib", "SELECT @@innodb_buffer_pool_size / 1048576", "128.0000"),
    "h2": ("cache_mib", "SELECT SETTING_VALUE FROM INFORMATION_SCHEMA.SETTINGS WHERE SETTING_NAME = 'info.CACHE_MAX_SIZE'", ""),
    "duckdb": ("memory_limit_mib", "SELECT current_setting('memory_limit')", ""),
    "hsqldb": ("cache_mib", "", ""),
    "derby": ("cache_mib", "", ""),
    "firebird": ("cache_mib", "", ""),
    "berkeleydb": ("cache_mib", "", ""),
    "leveldb": ("cache_mib", "", ""),
    "rocksdb": ("cache_mib", "", ""),
    "virtualfile": ("cache_mib", "", ""),
}  # fmt: skip


def told(engine: Any, query: str) -> str:
    """What the engine says of its cache; its settings where no query asks for it."""
    engine.open()
    try:
        session = engine.connect()
        found = str(fetch(session, query)[0][0]) if query else str(engine.settings().get("cache_mib"))
        session.close()
    finally:
        engine.close()
    return found


@pytest.mark.parametrize("name", CACHES)
def test_an_engine_takes_its_share_unless_it_is_left_as_installed(name: str, tmp_path: Path) -> None:
    kind, (option, query, installed) = usable(name), CACHES[name]
    shares = Shares(96, 96, 4096)
    found = {}
    for case, options in ("share", {}), ("set", {option: "80"}), ("installed", {option: "as-installed"}):
        (tmp_path / case).mkdir()
        engine = kind(
            Setup(tmp_path / case, min(Tier, key=lambda tier: tier not in kind.durability), options, shares=shares)
        )
        found[case] = told(engine, query)
    assert len(set(found.values())) == 3, found
    if installed:
        assert found["installed"] == installed
