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
    from importlib.metadata import entry_points

    tested = {cls.engine for cls in (*_all(EngineContract),) if "engine" in vars(cls)}
    points = entry_points(group="dbbench.engines")
    built_in = {point.name for point in points if point.dist is not None and point.dist.name == "dbbench"}
    assert built_in
    assert built_in <= tested


def _all(cls: type) -> list[type]:
    return [found for sub in cls.__subclasses__() for found in (sub, *_all(sub))]
