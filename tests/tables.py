"""Tables as a suite declares them, in few words."""

from collections.abc import Sequence
from textwrap import indent
from typing import Any

from dbbench.suite.dataset import Table


def table_of(columns: dict[str, str | dict[str, Any]], *, rows: int = 1, indexes: Sequence[str] = ()) -> Table:
    """A table whose first column is its key; of a column that is only a type, a sequence is made."""
    whole = {
        name: {"type": given, "values": {"kind": "sequence"}} if isinstance(given, str) else given
        for name, given in columns.items()
    }
    return Table.model_validate(
        {"rows": rows, "primary_key": next(iter(columns)), "indexes": indexes, "columns": whole}
    )


def one_table(name: str, rows: int, *columns: str) -> str:
    """The text of a suite's dataset with one table: a key that counts, and further columns as a suite has them."""
    each = ("Id: {type: integer, values: {kind: sequence}}", *columns)
    head = f"tables:\n  {name}:\n    rows: {rows}\n    primary_key: Id\n    columns:\n"
    return head + indent("\n".join(each), " " * 6)
