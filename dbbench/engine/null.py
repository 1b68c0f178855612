"""The null engines, which do no work: their time is the harness's own share. Only this module knows them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from dbbench.engine.offered import prepared

if TYPE_CHECKING:
    from dbbench.engine.base import Engine, Session

#: The one for each form that rows come in: what a harness adds depends on what it reads. Loops over columns run inside
#: the system; the other operations of such a session are Python's. Rows that are awaited come by an event loop.
NULLS = {"rows": "null", "batches": "null+arrow", "columns": "null", "awaited": "null+async"}


def nulls(forms: Iterable[str]) -> list[str]:
    """The names of the null engines that take part beside engines which return rows in these forms."""
    wanted = set(forms)
    return list(dict.fromkeys(name for form, name in NULLS.items() if form in wanted))


def does_work(engine: Engine | type[Engine]) -> bool:
    """Whether an engine does anything that could be compared, explained, ranked or found again on disk."""
    return not engine.is_null


def query_of(engine: Engine, session: Session, sql: str, rows: int) -> Callable[[], Any]:
    """A query, prepared. A null engine has no data, and must be told how many rows to give."""
    expected = {} if does_work(engine) else {"expected_rows": rows}
    run: Callable[[], Any] = prepared(engine, session, "query")(sql, **expected)
    return run
