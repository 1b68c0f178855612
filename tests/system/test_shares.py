"""The share of the memory for an engine's cache, and the cache that the engine is installed with."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dbbench.engine import Shares, Tier, fetch
from dbbench.suite.dataset import Records
from dbbench.testing.contract import usable
from tests.conftest import Opened

pytestmark = pytest.mark.matrix
_MIB = 2**20


def told(query: str) -> Callable[[Any], object]:
    """What the first row of a query says."""

    def ask(engine: Any) -> object:
        session = engine.connect()
        found = fetch(session, query)[0][0]
        session.close()
        return found

    return ask


def in_java(name: str) -> Callable[[Any], object]:
    """A property of the JVM."""

    def ask(_engine: Any) -> object:
        import jpype

        return jpype.JClass("java.lang.System").getProperty(name)

    return ask


def set_aside(engine: Any) -> object:
    """MiB of a cache of Berkeley DB's, which makes one of less than 500 MB a quarter larger than it was told."""
    gib, rest, _ = engine.environment.get_cachesize()
    return gib * 1024 + rest // _MIB


def paged(engine: Any) -> object:
    """MiB of the cache of a store, which is there only when its blocks are laid out."""
    engine.create_store(Records(count=10, key_bytes=8, value_bytes=100))
    return engine.store.capacity * engine.store.layout.page_bytes // _MIB


#: Engine -> its option, how to ask the engine for it, and what it says of 80 MiB and as it is installed, if that is one
#: answer everywhere. LevelDB can't be asked.
CACHES: dict[str, tuple[str, Callable[[Any], object], str, str]] = {
    "sqlite": ("cache_mib", told("SELECT cache_size FROM pragma_cache_size"), "-81920", "-2000"),
    "sqlite+apsw": ("cache_mib", told("SELECT cache_size FROM pragma_cache_size"), "-81920", "-2000"),
    "postgresql": ("shared_buffers_mib", told("SELECT current_setting('shared_buffers')"), "80MB", "128MB"),
    "mysql+pymysql": ("buffer_pool_mib", told("SELECT @@innodb_buffer_pool_size / 1048576"), "80.0000", "128.0000"),
    "h2": ("cache_mib", told("SELECT SETTING_VALUE FROM INFORMATION_SCHEMA.SETTINGS WHERE SETTING_NAME = 'info.CACHE_MAX_SIZE'"), "80", ""),
    "duckdb": ("memory_limit_mib", told("SELECT current_setting('memory_limit')"), "80.0 MiB", ""),
    "hsqldb": ("cache_mib", told("SELECT PROPERTY_VALUE FROM INFORMATION_SCHEMA.SYSTEM_PROPERTIES WHERE PROPERTY_NAME = 'hsqldb.cache_size'"), "81920", "10000"),
    "derby": ("cache_mib", in_java("derby.storage.pageCacheSize"), "20480", "None"),
    "firebird": ("cache_mib", lambda engine: engine.settings()["cache_mib"], "80", ""),
    "berkeleydb": ("cache_mib", set_aside, "100", "0"),
    "rocksdb": ("cache_mib", lambda engine: engine.database.property_int_value("rocksdb.block-cache-capacity"), f"{80 * _MIB}", ""),
    "virtualfile": ("cache_mib", paged, "80", "64"),
}  # fmt: skip


def weakest(name: str) -> Tier:
    """The first tier that an engine has."""
    kind = usable(name)
    return min(Tier, key=lambda tier: tier not in kind.durability)


@pytest.mark.parametrize("name", CACHES)
def test_an_engine_takes_its_share_unless_it_is_left_as_installed(name: str, opened: Opened, tmp_path: Path) -> None:
    option, ask, of_80, installed = CACHES[name]
    found = {}
    for case, options in ("share", {}), ("set", {option: "80"}), ("installed", {option: "as-installed"}):
        engine = opened(name, weakest(name), folder=tmp_path / case, shares=Shares(96, 96, 4096), **options)
        found[case] = str(ask(engine))
        engine.close()
    assert len(set(found.values())) == 3, found
    assert found["set"] == of_80
    assert found["installed"] == (installed or found["installed"])


def test_a_cache_of_berkeley_db_may_be_larger_than_a_gib(opened: Opened) -> None:
    assert set_aside(opened("berkeleydb", weakest("berkeleydb"), cache_mib=1100)) == 1100


@pytest.mark.parametrize(("name", "part"), [("h2", 2), ("hsqldb", 8), ("derby", 16)])
def test_a_share_of_a_heap_leaves_room_for_objects(name: str, part: int, opened: Opened, tmp_path: Path) -> None:
    for case, options in ("share", {}), ("set", {"cache_mib": 4000}):
        engine = opened(name, Tier.POWER, folder=tmp_path / case, shares=Shares(4000, 4000, 4096), **options)
        heap, cache = engine.settings()["heap_mib"], engine.options.cache_mib
        engine.close()
        assert cache == (4000 if case == "set" else min(4000, heap // part))
