"""What each call of a query under load does: run, step to the end, count the rows. Some calls' column is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import count
from operator import call
from typing import Any

import pyarrow as pa

from dbbench.engine.base import Engine, Session
from dbbench.engine.null import query_of
from dbbench.engine.operations import prepared
from dbbench.errors import WrongAnswer
from dbbench.loadgen.drawn_calls import kept_places
from dbbench.loadgen.key_streams import CallStream
from dbbench.loadgen.loops import COUNTING, KEEPING


@dataclass(frozen=True)
class QueryCalls:
    """One query, again and again, of which one column is read and `rows` rows must come."""

    sql: str
    column: int
    rows: int
    #: Whether the column is kept of some calls, which are drawn from the seed.
    keeps: bool = True
    seed: int = 0
    endless: bool = True

    def check(self, engine: Engine, session: Session) -> None:
        """Raise Unsupported if the engine has no queries."""
        prepared(engine, session, "query")

    def prepare(self, engine: Engine, session: Session, number: int, of: int) -> CallStream:
        """One client's calls. A call raises WrongAnswer if it has another number of rows."""
        run = query_of(engine, session, self.sql, self.rows)
        read = COUNTING[session.result_format]
        keep = KEEPING[session.result_format]
        column, rows = self.column, self.rows
        samples = list[tuple[int, Any]]()

        def query() -> None:
            if (found := read(run(), column)) != rows:
                raise WrongAnswer(f"{found:,} rows instead of {rows:,}")

        def kept() -> None:
            samples.append((len(samples), partial(_as_rows, keep(run(), column))))

        def calls() -> Iterator[Callable[[], object]]:
            places = kept_places(self.seed, number)
            following = next(places) if self.keeps else -1
            for place in count():
                yield kept if place == following else query
                if place == following:
                    following = next(places)

        return CallStream(call, calls(), kept=samples)


def _as_rows(column: Any) -> Any:
    """A column that was kept, as rows of it alone."""
    arrays = list(column)
    if arrays and isinstance(arrays[0], pa.Array):
        return pa.table([pa.chunked_array(arrays)], names=["1"])
    return list(zip(arrays, strict=False))
