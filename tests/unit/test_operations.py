"""The families of operations are what sessions have: same methods, same parameters."""

import inspect
from pathlib import Path
from typing import Any

import pytest

from dbbench.engine import base, registry
from dbbench.engine.offered import OPERATIONS
from dbbench.engine.operations import (
    FAMILIES,
    KeyValueOperations,
    ObjectOperations,
    SQLOperations,
    TransactionOperations,
)
from dbbench.engine.sql.session import SQLSession
from dbbench.errors import Unavailable


def methods(family: type) -> dict[str, Any]:
    return {name: member for name, member in vars(family).items() if inspect.isfunction(member) and name[0] != "_"}


def parameters(method: Any) -> list[tuple[str, Any, Any]]:
    return [(each.name, each.kind, each.default) for each in inspect.signature(method).parameters.values()]


@pytest.mark.parametrize("family", [SQLOperations, TransactionOperations, KeyValueOperations, ObjectOperations])
def test_a_sql_session_has_all_of_a_family(family: type) -> None:
    for name, method in methods(family).items():
        assert parameters(getattr(SQLSession, name)) == parameters(method), name


@pytest.mark.parametrize(
    "name", ["sqlite", "duckdb", "dict", "rawfile", "virtualfile", "lmdb", "leveldb", "redis", "dbm.gnu"]
)
def test_what_an_engine_has_of_a_family_has_the_parameters_of_it(name: str) -> None:
    try:
        engine = registry.find(name)
    except Unavailable as exc:
        pytest.skip(exc.reason)
    known = methods(KeyValueOperations)
    offered = [operation for operation in known if callable(getattr(engine.session_class, operation, None))]
    assert offered
    for operation in offered:
        assert parameters(getattr(engine.session_class, operation)) == parameters(known[operation]), operation


def test_every_operation_is_of_a_family() -> None:
    every = {name for family in FAMILIES for name in methods(family)}
    assert {f"prepare_{operation}" for operation in OPERATIONS} <= every


def test_the_contract_stays_short() -> None:
    assert len(Path(base.__file__).read_text().splitlines()) < 240
