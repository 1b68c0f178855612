"""Every built-in engine through the same kit."""

from dbbench.testing import EngineContract, SQLContract


class TestSQLite(SQLContract):
    engine = "sqlite"


class TestAPSW(SQLContract):
    engine = "sqlite+apsw"


class TestDuckDB(SQLContract):
    engine = "duckdb"


class TestDuckDBArrow(SQLContract):
    engine = "duckdb+arrow"


class TestFirebird(SQLContract):
    engine = "firebird"


class NullContract(EngineContract):
    test_tells_its_versions = None  # it is the harness itself


class TestNull(NullContract):
    engine = "null"


class TestNullArrow(NullContract):
    engine = "null+arrow"


def test_every_engine_has_a_contract_test() -> None:
    from dbbench import registry

    tested = {cls.engine for cls in (*_all(EngineContract),) if "engine" in vars(cls)}
    built_in = {name for name in registry.names() if not name.startswith("faulty")}
    assert built_in <= tested


def _all(cls: type) -> list[type]:
    return [found for sub in cls.__subclasses__() for found in (sub, *_all(sub))]
