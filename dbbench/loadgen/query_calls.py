"""What each call of a query under load does: run, step to the end, count the rows."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import repeat
from operator import call

from dbbench.engine.base import Engine, Session
from dbbench.engine.null import query_of
from dbbench.engine.operations import prepared
from dbbench.errors import WrongAnswer
from dbbench.loadgen.key_streams import CallStream
from dbbench.loadgen.loops import COUNTING


@dataclass(frozen=True)
class QueryCalls:
    """One query, again and again, of which one column is read and `rows` rows must come."""

    sql: str
    column: int
    rows: int
    endless: bool = True

    def check(self, engine: Engine, session: Session) -> None:
        """Raise Unsupported if the engine has no queries."""
        prepared(engine, session, "query")

    def prepare(self, engine: Engine, session: Session, number: int, of: int) -> CallStream:
        """One client's calls. A call raises WrongAnswer if it has another number of rows."""
        run = query_of(engine, session, self.sql, self.rows)
        read = COUNTING[session.result_format]
        column, rows = self.column, self.rows

        def query() -> None:
            if (found := read(run(), column)) != rows:
                raise WrongAnswer(f"{found:,} rows instead of {rows:,}")

        return CallStream(call, repeat(query))
