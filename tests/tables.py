"""Tables as a suite declares them, in one line each."""

from collections.abc import Sequence
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
