"""The conformance tests themselves: right engines pass, and each mutant of one fails the clause that it breaks."""

from pathlib import Path
from typing import Any

import pytest

from dbbench.engine.offered import offers
from dbbench.testing import (
    BlocksContract,
    EngineContract,
    KeyValueContract,
    ObjectContract,
    SQLContract,
    TextContract,
    VectorContract,
)
from dbbench.testing.clause import title
from tests.kit import MUTANTS, RIGHT, verdicts

#: Each one runs pytest anew.
pytestmark = [pytest.mark.matrix, pytest.mark.usefixtures("faulty_engines")]


@pytest.mark.parametrize("engine", RIGHT, ids=lambda engine: engine.name)
def test_a_right_engine_passes(engine: type[Any], tmp_path: Path) -> None:
    found = verdicts(engine, tmp_path)
    assert len(found) >= (30 if offers(engine, "query") or offers(engine, "read") else 20)
    assert {name: verdict.detail for name, verdict in found.items() if verdict.outcome == "failed"} == {}


@pytest.mark.parametrize("engine", MUTANTS, ids=lambda engine: engine.name)
def test_a_mutant_fails_the_clause_that_it_breaks(engine: type[Any], tmp_path: Path) -> None:
    found = verdicts(engine, tmp_path, only=engine.clause)
    assert set(found) == {engine.clause}
    assert found[engine.clause].outcome == "failed"
    assert "see docs/plugins.md#" in found[engine.clause].detail


def test_each_clause_has_a_mutant() -> None:
    broken = {engine.clause for engine in MUTANTS}
    contracts = (
        *(EngineContract, SQLContract, KeyValueContract, BlocksContract),
        *(ObjectContract, VectorContract, TextContract),
    )
    clauses = {title(name) for contract in contracts for name in dir(contract) if name.startswith("test_")}
    assert clauses == broken
