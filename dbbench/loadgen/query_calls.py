"""What each call of a query or a statement under load does; some calls' rows are kept to be compared.

A query without parameters counts its rows, and keeps one column. Others take values drawn for each call.
"""

import random
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from operator import call, itemgetter
from typing import Any

import pyarrow as pa

from dbbench.engine.base import Engine, Session
from dbbench.engine.null import does_work, query_of
from dbbench.engine.offered import offers, prepared
from dbbench.errors import Unsupported, WrongAnswer
from dbbench.loadgen.kept_calls import KeptResults, kept_places
from dbbench.loadgen.key_streams import CallStream
from dbbench.loadgen.loops import COUNTING, KEEPING
from dbbench.loadgen.transaction_body import prepare_text
from dbbench.loadgen.transaction_draws import Text
from dbbench.loadgen.transaction_mix import PREMADE, TransactionMix


@dataclass(frozen=True)
class DrawnCalls:
    """One text with its parameters: that of the only statement of a mix.

    Of a query one `column` of each row is read, and a null engine gives `rows` of them.
    """

    mix: TransactionMix
    column: int = 0
    rows: int = 0
    endless: bool = True

    @property
    def text(self) -> Text:
        """The statement."""
        return self.mix.plans[0].groups[0].statements[0]

    def check(self, engine: Engine, session: Session) -> None:
        """Raise Unsupported if the engine's statements take no parameters."""
        if not offers(type(engine), "call") or "transactions" in engine.missing_features:
            raise Unsupported(f"{engine.name} takes no parameters in a statement")

    def prepare(self, engine: Engine, session: Session, number: int, of: int) -> CallStream:
        """One client's calls."""
        run = prepare_text(engine, session, self.text)
        if not self.text.reads:
            return CallStream(call, (partial(run, *each) for each in self.values(number, of)), premade=PREMADE)
        if not does_work(engine):
            given = [(0,) * (self.column + 1)] * self.rows
            run = lambda *_values: given  # noqa: E731 - in the place of what a driver prepares
        one, samples = itemgetter(self.column), KeptResults()
        # Nobody asks how many rows there were, and to count them would take 1 µs of a call.
        read_all = deque[Any](maxlen=0).extend

        def read(*values: Any) -> None:
            read_all(map(one, run(*values)))

        def keep(place: int, *values: Any) -> None:
            rows = run(*values)
            samples.append((place, rows))
            read_all(map(one, rows))

        def calls() -> Iterator[Callable[[], object]]:
            sampled = kept_places(random.SystemRandom())
            following = next(sampled)
            for place, values in enumerate(self.values(number, of)):
                if place == following:
                    following = next(sampled)
                    yield partial(keep, place, *values)
                else:
                    yield partial(read, *values)

        return CallStream(call, calls(), premade=PREMADE, kept=samples, results=[samples])

    def values(self, number: int, of: int) -> Iterator[Sequence[Any]]:
        """The values of one client's calls, without an end, in the order in which the text has its parameters."""
        for named in self._blocks(number, of):
            columns = [named[name] for name in self.text.names]
            yield from zip(*columns, strict=True)

    def named(self, number: int, of: int, places: Sequence[int]) -> dict[int, dict[str, Any]]:
        """The parameters of some of one client's calls: place -> name -> value."""
        found: dict[int, dict[str, Any]] = {}
        left, first = sorted(set(places)), 0
        blocks = self._blocks(number, of)
        while left:
            block = next(blocks)
            size = len(next(iter(block.values())))
            while left and left[0] < first + size:
                place = left.pop(0)
                found[place] = {name: values[place - first] for name, values in block.items()}
            first += size
        return found

    def _blocks(self, number: int, of: int) -> Iterator[dict[str, list[Any]]]:
        for _, (columns,) in self.mix.drawn(number, of, None):
            yield {name: drawn.tolist() for name, drawn in columns.own.items()}


@dataclass(frozen=True)
class QueryCalls:
    """One query, again and again, of which one column is read and one of these numbers of `rows` must come."""

    sql: str
    column: int
    rows: tuple[int, ...]
    #: Whether the column is kept of some calls, which nobody can predict.
    keeps: bool = True
    endless: bool = True

    def check(self, engine: Engine, session: Session) -> None:
        """Raise Unsupported if the engine has no queries."""
        prepared(engine, session, "query")

    def prepare(self, engine: Engine, session: Session, number: int, of: int) -> CallStream:
        """One client's calls. A call raises WrongAnswer if it has another number of rows."""
        run = query_of(engine, session, self.sql, self.rows[0])
        read = COUNTING[session.result_format]
        keep = KEEPING[session.result_format]
        column, rows = self.column, self.rows
        samples = list[tuple[int, Any]]()

        def query() -> None:
            if (found := read(run(), column)) not in rows:
                raise WrongAnswer(f"{found:,} rows instead of {rows[0]:,}")

        def kept() -> None:
            samples.append((len(samples), partial(_as_rows, keep(run(), column))))

        def calls() -> Iterator[Callable[[], object]]:
            places = kept_places(random.SystemRandom())
            following = next(places) if self.keeps else -1
            for place in count():
                yield kept if place == following else query
                if place == following:
                    following = next(places)

        return CallStream(call, calls(), kept=samples)


def _as_rows(column: Any) -> Any:
    """A kept column, as rows of one value."""
    arrays = list(column)
    if arrays and isinstance(arrays[0], pa.Array):
        return pa.table([pa.chunked_array(arrays)], names=["1"])
    return list(zip(arrays, strict=False))
