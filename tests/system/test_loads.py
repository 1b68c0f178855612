"""What loads must leave: later steps need it."""

import time
from pathlib import Path

import pytest

from dbbench.datasets.cache import materialise
from dbbench.engine.sql.dialect import Dialect
from dbbench.suite.loader import parse_suite
from dbbench.suite.model import Tier
from dbbench.suite.steps.load import LoadStep
from dbbench.testing.contract import usable
from dbbench.testing.suite_text import suite_text
from dbbench.workloads import load
from dbbench.workloads.context import StepContext
from tests.conftest import Dbbench, Opened, summary
from tests.tables import one_table
from tests.trials_here import trials_here

AFTER_THE_LOAD = ("size-loaded", "churn", "size-churned", "sums-warm", "sums-cold")
#: As many reals as `invoices` has, in tenths: their sum in 4 bytes is wrong in the seventh digit.
REALS = suite_text(
    "reals",
    one_table(
        "Weights",
        57589,
        "Weight: {type: real, values: {kind: quantiles, points: {0: 0.1, 0.5: 6, 0.95: 40, 1: 150}, step: 0.1}}",
    ),
    "- {kind: load, name: load, title: Load}",
)
LOAD = LoadStep(kind="load", name="load", title="Load")


def test_reals_are_added_up_in_8_bytes() -> None:
    assert Dialect().total("Weight", "real") == 'SUM(CAST("Weight" AS DOUBLE PRECISION))'
    assert Dialect().total("Amount", "decimal") == 'SUM("Amount")'
    assert Dialect({"real": "DOUBLE", "double": "DOUBLE"}).total("Weight", "real") == 'SUM("Weight")'


@pytest.mark.parametrize("name", ["sqlite", "sqlite+apsw", "libsql", "turso", "odbc+sqlite", "sqlite+core"])
def test_a_flush_leaves_the_log_for_later_commits(name: str, opened: Opened, tmp_path: Path) -> None:
    """Cut off, the file of the log would have to be extended by each commit after it."""
    dataset = parse_suite(REALS, "reals.yaml").datasets["reals"]
    engine = opened(name, Tier.POWER)
    log = tmp_path / "data.sqlite-wal"
    engine.create(dataset.tables)
    bench = StepContext(engine, engine.connect(), dataset.tables, materialise(dataset, scale=0.1), {})
    bench.data.accept(LOAD, load.measure(LOAD, bench))
    before = log.stat().st_size
    started = time.monotonic()
    engine.flush()
    assert time.monotonic() - started < 30  # it waits for no lock, which would take 60 s
    assert log.stat().st_size == before > 0
    (kept,) = (file for file in engine.size().files if file.name == log.name)
    assert (kept.role, kept.apparent) == ("reserved", before)
    with bench.base_session() as (_, session):
        session.prepare_statement("INSERT INTO Weights VALUES (0, 1.5)")()  # type: ignore[attr-defined]
    assert log.stat().st_size == before or name == "turso"  # which cuts its log off by itself


def test_no_empty_store_is_ranked(dbbench_here: Dbbench, tmp_path: Path) -> None:
    usable("lmdb")
    words = ("--scale", "0.02", "--quick", "-e", "sqlite", "-e", "lmdb", "--format", "csv", "--out", "run")
    with trials_here():
        done = dbbench_here("suite", "lifecycle", *words)
    rows = summary(tmp_path / "run")
    assert rows["load", "lmdb"]["outcome"] == "unsupported"
    for step in AFTER_THE_LOAD:
        row = rows[step, "lmdb"]
        assert (row["outcome"], row["value"], row["rank"]) == ("not run", "", "")
        assert row["detail"].startswith("load unsupported: ")
        assert rows[step, "sqlite"]["outcome"] == "ok"
    table = done.stdout[done.stdout.index("Size after the load") :]
    assert "not run" in table[: table.index("Churn")]
