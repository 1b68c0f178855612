"""Engines that lie in a query's calls or about what a step has left, or break a promise that no answer shows; beside sqlite."""

import json
from pathlib import Path

import pytest

from tests.conftest import Rows, run_suite, summary
from tests.trials_here import trials_here

pytestmark = pytest.mark.matrix

#: Engine -> the step that it lies in, and words of what is said of it.
LIES = {
    "faulty-second": ("join-2", "instead of"),
    "faulty-key": ("join-2", "column PKeyShipment: 1 instead of 2"),
    "faulty-keeps": ("join-2", "a row of Invoice was deleted, and the answer didn't change"),
    # Of which column is by chance: the call that is checked whole may come before those that read one.
    "faulty-texts": ("join-2", ", which the engine doesn't declare"),
    "faulty-bytes": ("join-1", "bytes in place of text, which the engine doesn't declare"),
    "loads-constant": ("bulk-insert", "rows of Charges, read back: column Code: 'FRT' instead of"),
    "loads-swapped": ("bulk-insert", "rows of Shipment, read back: column TrackingId: "),
    "loads-parents": ("bulk-insert", "rows of Shipment, read back: column InvoiceKey: "),
    "loads-doubled": ("bulk-insert", "rows of Charges, read back: column "),
    "loads-uncommitted": ("bulk-insert", "COUNT(*) of Invoice: 0 instead of 2"),
    "loads-late": ("bulk-insert", "COUNT(*) of Invoice: 0 instead of 2"),
    "loads-shared": ("bulk-insert", "opened by a new process: COUNT(*) of Invoice: 0 instead of 2"),
    "inserts-one-transaction": ("insert-1", "COUNT(*) of Invoice: 2 instead of 53"),
    "inserts-never-committed": ("insert-1", "COUNT(*) of Invoice: 2 instead of 53"),
    "inserts-wrong-keys": ("insert-1", "rows that insert-1 added to Invoice: "),
    "inserts-wrong-row": ("insert-1", "column NetCharge: 100.25 instead of 100.5 (1 of 51 rows differ)"),
    "promises-no-indexes": ("bulk-insert", "no index on Shipment.InvoiceKey, according to the system's catalogue"),
    "promises-other-column": ("bulk-insert", "no index on Shipment.InvoiceKey, according to the system's catalogue"),
    "promises-unsynced": ("bulk-insert", "durability power promises synchronous=FULL, but the session has OFF"),
}
#: Those that lie about a size, which is measured.
SIZES = ("sizes-halved", "sizes-elsewhere")
MORE_LIES = ("loads-middle", "promises-middle", *SIZES)
#: What another process sees through, or counts all files that one has open; with an honest engine.
APART = ("sqlite", "loads-shared", *SIZES)
#: Those that do nothing wrong -> words of the footnote.
HONEST = {
    "sqlite": "returns other types than the suite declares (decimal as float), which may be less work for the driver",
    "faulty-floats": "returns other types than the suite declares (decimal as float, integer as float), which may be less work for the driver",
    "faulty-declares": "returns other types than the suite declares (decimal as text, integer as text), which may be less work for the driver",
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    engines = (name for name in (*HONEST, *LIES) if name not in APART[1:])
    with trials_here():
        return run_suite(tmp_path_factory.mktemp("lies"), "invoices", engines, "--scale", "0.02", "--format", "csv,md")


@pytest.fixture(scope="module")
def rows(run: Path, tmp_path_factory: pytest.TempPathFactory) -> Rows:
    apart = run_suite(tmp_path_factory.mktemp("apart"), "invoices", APART, "--scale", "0.02")
    return summary(run) | summary(apart)


@pytest.fixture(scope="module")
def rounds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of three rounds: the second is neither the first nor the last."""
    folder = tmp_path_factory.mktemp("rounds")
    with trials_here():
        return run_suite(
            folder, "invoices", ("loads-middle", "promises-middle", "sqlite"), "--scale", "0.02", "--rounds", "3"
        )


@pytest.mark.parametrize("engine", LIES)
def test_a_lie_is_wrong_and_has_no_figure(rows: Rows, engine: str) -> None:
    step, words = LIES[engine]
    row = rows[step, engine]
    assert (row["outcome"], row["value"], row["rank"], row["verified"]) == ("wrong", "", "", "")
    assert words in row["detail"]


def test_a_load_is_looked_at_row_by_row_in_every_round(rounds: Path) -> None:
    """Swapped texts leave count, extremes and sums alone; it swaps them in the second round."""
    row = summary(rounds)["bulk-insert", "loads-middle"]
    assert (row["outcome"], row["value"], row["rank"]) == ("wrong", "", "")
    assert "rows of Shipment, read back: column TrackingId: " in row["detail"]


def test_indexes_are_looked_for_in_every_round(rounds: Path) -> None:
    row = summary(rounds)["bulk-insert", "promises-middle"]
    assert (row["outcome"], row["value"], row["rank"]) == ("wrong", "", "")
    assert "no index on Shipment.InvoiceKey, according to the system's catalogue (in 2 of 3 rounds)" in row["detail"]


def test_what_they_do_not_lie_about_stands(rows: Rows) -> None:
    more = {"faulty-keeps": {"join-1", "scan-1", "scan-2", "scan-3"}, "faulty-bytes": {"scan-1", "scan-2"}}
    for engine in (name for name in (*HONEST, *LIES) if name in HONEST or name.startswith("faulty")):
        wrong = {step for (step, name), row in rows.items() if name == engine and row["outcome"] == "wrong"}
        assert wrong == more.get(engine, set()) | {LIES[engine][0]} if engine in LIES else not wrong, engine
        assert rows["bulk-insert", engine]["outcome"] == rows["insert-1", engine]["outcome"] == "ok"
    honest = {step: row for (step, engine), row in rows.items() if engine == "sqlite"}
    assert [row["outcome"] for row in honest.values()] == ["ok"] * 8
    types = "returns other types than the suite declares"  # SQLite has neither dates nor decimals
    assert {row["detail"] for row in honest.values()} <= {
        "",
        f"{types} (decimal as float), which may be less work for the driver",
        f"{types} (date as text, decimal as float), which may be less work for the driver",
    }


@pytest.mark.parametrize("engine", SIZES)
def test_a_size_is_measured_and_not_told(rows: Rows, engine: str) -> None:
    true, found = (rows["database-size", name] for name in ("sqlite", engine))
    assert found["outcome"] == "ok"
    # Of a file elsewhere the pages of empty tables, some 16 kB, count as the empty database's.
    assert float(found["value"]) == pytest.approx(float(true["value"]), rel=0.05, abs=20_000)
    assert ("outside of the engine's directory (hidden.sqlite" in found["detail"]) == (engine == "sizes-elsewhere")


@pytest.mark.parametrize("engine", HONEST)
def test_another_type_of_the_same_value_is_told_in_a_footnote(run: Path, engine: str) -> None:
    assert summary(run)["join-2", engine]["detail"] == HONEST[engine]
    assert HONEST[engine] in (run / "report" / "index.md").read_text()


def test_rows_are_deleted_and_put_back_in_the_first_round_alone(rounds: Path) -> None:
    changes = [
        {step["name"]: step["facts"].get("change") for step in json.loads(path.read_text())["steps"] if "facts" in step}
        for path in sorted(rounds.glob("trials/*-sqlite/result.json"))
    ]
    assert len(changes) == 3
    queries = ("join-1", "join-2", "scan-1", "scan-2", "scan-3")
    assert {name: change for name, change in changes[0].items() if change} == dict.fromkeys(queries, "followed")
    assert not any([*changes[1].values(), *changes[2].values()])
