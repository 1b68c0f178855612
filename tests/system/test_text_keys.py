"""A table under text keys to which a statement adds rows: its own rows are told from the added ones, and checked."""

from itertools import product
from pathlib import Path

from dbbench.testing.suite_text import suite_text
from tests.conftest import run_suite, summary
from tests.trials_here import trials_here

SUITE = suite_text(
    "codes",
    """
    tables:
      Codes:
        rows: {file: codes.csv, count: 200}
        primary_key: Code
        columns:
          Code: {type: varchar(12)}
          Amount: {type: integer}
    """,
    """
    - {kind: load, name: load, title: Load}
    - kind: statement
      name: insert
      title: Insert of a row whose key lies between the others
      sql: INSERT INTO Codes (Code, Amount) SELECT MAX(Code) || 'x', 1000 FROM Codes WHERE Code LIKE 'k05%'
      iterations: 10
      adds: {table: Codes, rows: 1}
    """,
    durability="process",
)


def test_added_rows_among_text_keys_are_no_fault(tmp_path: Path) -> None:
    (tmp_path / "codes.csv").write_text("Code,Amount\n" + "".join(f"k{n:03}é,{n}\n" for n in range(200)), "utf-8")
    with trials_here():
        rows = summary(run_suite(tmp_path, SUITE, ("sqlite", "duckdb"), status=0))
    for each in product(("load", "insert"), ("sqlite", "duckdb")):
        assert (rows[each]["outcome"], rows[each]["verified"]) == ("ok", "yes"), rows[each]["detail"]
