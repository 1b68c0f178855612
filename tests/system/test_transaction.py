"""Steps of transactions as a user has them: books that balance, and engines that lose an update."""

from pathlib import Path

import pytest

from dbbench.suite.loader import find_suite
from dbbench.testing.contract import usable
from tests.conftest import Rows, run_suite, summary
from tests.trials_here import no_null_engine, trials_here
from tests.unit.bank import TEXT

pytestmark = pytest.mark.matrix

#: What its clients have read comes from their processes.
READS = "books-reads"
#: Engine -> words of the detail.
FAULTS = {
    "books-lost": "balance: ",
    "books-stale": "balance: ",
    "books-moves": "books: ",
    "books-halves": "balance: ",
    "books-forgets": "balance: ",
    READS: "read from Account in timed transactions: column Name: 'name ",
    "books-empties": "read from Account in timed transactions: column Name: null instead of 'name ",
    "books-later": "read from Account in timed transactions: column Name: null instead of 'name ",
    "books-vanishes": "after the last step, seen anew: balance: ",
}
LIES = tuple(FAULTS)
#: Layers that prepare statements themselves.
LOW = ("postgresql+pq", "mysql+_mysql")


@pytest.fixture(scope="module")
def books(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of one faulty engine beside SQLite and DuckDB, clients in two processes."""
    text = TEXT.replace("{threads: 2}", "{threads: 2, processes: 2}")
    with no_null_engine():
        return run_suite(tmp_path_factory.mktemp("books"), text, (READS, "sqlite", "duckdb"), "--format", "csv,md")


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory, books: Path) -> Rows:
    """That run, and one of all others and the low layers, clients in two threads."""
    with no_null_engine(), trials_here():
        others = run_suite(tmp_path_factory.mktemp("faulty"), TEXT, ({*FAULTS} - {READS}) | {*LOW})
    return summary(books) | summary(others)


@pytest.mark.parametrize("engine", FAULTS)
def test_an_engine_that_loses_something_is_wrong_and_has_no_rank(faulty: Rows, engine: str) -> None:
    row = faulty["bank", engine]
    assert (row["outcome"], row["value"]) == ("wrong", "")
    assert FAULTS[engine] in row["detail"]


@pytest.mark.parametrize("engine", LOW)
def test_what_a_low_layer_has_prepared_outlasts_rollbacks(faulty: Rows, engine: str) -> None:
    usable(engine)
    row = faulty["bank", engine]
    assert (row["outcome"], row["verified"]) == ("ok", "yes")


@pytest.mark.parametrize("engine", ["sqlite", "duckdb"])
def test_one_that_loses_nothing_has_a_figure(books: Path, engine: str) -> None:
    row = summary(books)["bank", engine]
    assert row["outcome"] == "ok", row["detail"]
    assert float(row["value"]) > 0


def test_the_report_has_a_column_for_each_transaction(books: Path) -> None:
    text = (books / "report" / "index.md").read_text("utf-8").casefold()
    columns = ("deposit", "refused", "look", "retries", "rolled back")
    for words in (*columns, "checked afterwards: balance, bookings, books."):
        assert words in text
    assert "/s" in text


KEEPERS = ("sqlite", "postgresql", "mysql")
#: What takes long in order-entry, and what stands for it here.
BRIEFER = {
    "clients: {threads: 4, processes: 4}": "clients: {threads: 8, processes: 2}",
    "[{threads: 2, processes: 4}, {threads: 8, processes: 4}, {threads: 32, processes: 4}]": (
        "[{threads: 8}, {threads: 64, processes: 2}]"
    ),
    "duration: 4s": "duration: 1s",
}


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Rows:
    """A run of order-entry on all of them, briefer: its clients type and think."""
    text = find_suite("order-entry").read_text("utf-8")
    for now, briefer in BRIEFER.items():
        assert text.count(now) == 1
        text = text.replace(now, briefer)
    with no_null_engine(), trials_here():
        return summary(
            run_suite(tmp_path_factory.mktemp("kept"), text, KEEPERS, "--quick", "--scale", "0.02", status=None)
        )


@pytest.mark.parametrize("engine", KEEPERS)
def test_the_books_of_order_entry_balance(kept: Rows, engine: str) -> None:
    usable(engine)
    for step in ("opening", "trading", "desks-8", "desks-128"):
        assert (kept[step, engine]["outcome"], kept[step, engine]["verified"]) == ("ok", "yes")
