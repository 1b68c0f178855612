"""What loads and other steps that write must leave: later steps need it, and lies about it are caught."""

from __future__ import annotations

from pathlib import Path

import pytest

from dbbench import registry
from dbbench.errors import Unavailable
from dbbench.testing.contract import missing
from tests.conftest import Dbbench, summary

AFTER_THE_LOAD = ("size-loaded", "churn", "size-churned", "sums-warm", "sums-cold")


@pytest.fixture
def lmdb() -> None:
    try:
        registry.load("lmdb")
    except Unavailable as exc:
        missing("lmdb", exc.reason)


@pytest.mark.usefixtures("lmdb")
def test_no_empty_store_is_ranked(dbbench: Dbbench, tmp_path: Path) -> None:
    done = dbbench("suite", "lifecycle", "--scale", "0.02", "--quick", "-e", "sqlite", "-e", "lmdb", "--out", "run")
    rows = summary(tmp_path / "run")
    assert rows["load", "lmdb"]["outcome"] == "unsupported"
    for step in AFTER_THE_LOAD:
        row = rows[step, "lmdb"]
        assert (row["outcome"], row["value"], row["rank"]) == ("not run", "", "")
        assert row["detail"].startswith("load unsupported: ")
        assert rows[step, "sqlite"]["outcome"] == "ok"
    table = done.stdout[done.stdout.index("Size after the load") :]
    assert "not run" in table[: table.index("Churn")]
