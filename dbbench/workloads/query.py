"""A query: run, and its cursor stepped to the end, one column of each row read. Warm, or from a cold start.

One more call than the figure needs is made with the same prepared query, and every row of it is compared. Its place
among the others is drawn, so that an engine can't answer that one alone rightly.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from enum import Enum, auto
from typing import Any

import pyarrow as pa

from dbbench.engine import prepared
from dbbench.errors import Unsupported, WrongAnswer
from dbbench.filecache import Dropped
from dbbench.measure import collector_off, read_batches, read_column, read_rows, timed
from dbbench.oracle import read_answer
from dbbench.outcome import Outcome
from dbbench.sql import SQLSession
from dbbench.suite import QueryStep
from dbbench.verify import check_batches, check_rows
from dbbench.workloads import cold
from dbbench.workloads.bench import Bench, Measured

#: Answers of more rows are counted in the timed calls, without keeping the column that is read.
KEPT_ROWS = 1_000_000


class Call(Enum):
    """What a call is made for."""

    WARM_UP = auto()
    TIMED = auto()
    CHECKED = auto()


def measure(step: QueryStep, bench: Bench) -> Measured:
    """Time each iteration whole: run and step; before a cold one the engine is restarted, off the clock.

    The outcome is wrong if any call gave another number of rows than the oracle, or other values in the column that is
    read, or if the checked call gave another value anywhere.
    """
    expected = read_answer(bench.answers[step.name])
    facts: dict[str, Any] = {"rows": expected.num_rows, "gives": bench.session.gives, "cache": step.cache}
    answer = _Answer(step, bench, expected)
    run = prepare(step, bench, expected.num_rows)
    times: dict[Call, list[float]] = {Call.WARM_UP: [], Call.TIMED: []}
    drops: dict[Call, list[Dropped]] = {call: [] for call in Call}
    with collector_off():
        for call in calls(step, bench):
            if step.cache == "cold":
                drops[call].append(cold.start_cold(bench))
                run = prepare(step, bench, expected.num_rows)
            if call is Call.CHECKED:
                with bench.aside():
                    answer.compare(run())
                continue
            nanoseconds, given = timed(lambda: answer.read(run(), answer.column))  # noqa: B023 - called at once
            times[call].append(nanoseconds / 1e9)
            answer.glance(given)
            del given
    facts |= cold.facts(drops[Call.TIMED])
    if answer.others:
        facts["other_forms"] = sorted(answer.others)
    outcome = Outcome.WRONG if answer.wrong else Outcome.OK
    return Measured("time", "s", times[Call.TIMED], times[Call.WARM_UP], facts, outcome=outcome, detail=answer.wrong)


def check(step: QueryStep, bench: Bench) -> None:
    """One of the calls was compared when it was made."""


def calls(step: QueryStep, bench: Bench) -> list[Call]:
    """The calls in order. In so many rounds as there are places the checked one has been at each.

    Right before a timed call it is followed by a warm-up, for the comparing has used the processor's caches.
    """
    usual = [Call.WARM_UP] * step.warm_up + [Call.TIMED] * step.iterations
    if not bench.engine.ranked:
        return usual
    places = len(usual) + 1
    order = random.Random(f"{bench.files.manifest['seed']} {step.name}").sample(range(places), places)
    place = order[(bench.round - 1) % places]
    settling = [Call.WARM_UP] if step.warm_up <= place < len(usual) and step.warm_up else []
    return [*usual[:place], Call.CHECKED, *settling, *usual[place:]]


class _Answer:
    """The oracle's answer, and what was wrong with the calls' first."""

    def __init__(self, step: QueryStep, bench: Bench, expected: pa.Table) -> None:
        self.column = step.answer.select.index(step.read)
        self.rows = bench.session.gives == "rows"
        self.expected = expected
        self.ordered = bool(step.answer.order_by)
        self.declared = bench.session.declared
        self.ranked = bench.engine.ranked
        self.keeps = self.rows and expected.num_rows <= KEPT_ROWS
        self.read: Callable[[Any, int], Any] = read_batches
        if self.rows:
            self.read = read_column if self.keeps else read_rows
        self.others: set[str] = set()
        self.wrong = ""
        #: Hashes of columns that were right, in their order.
        self._right: set[int] = set()

    def compare(self, given: Any) -> None:
        """Compare every column of every row."""
        compare = check_rows if self.rows else check_batches
        try:
            self.others |= compare(given, self.expected, ordered=self.ordered, declared=self.declared)
        except WrongAnswer as exc:
            self.wrong = self.wrong or str(exc)

    def glance(self, given: Any) -> None:
        """Compare what a timed call has left: the number of rows, and the column that it read."""
        count = len(given) if self.keeps else given
        if count != self.expected.num_rows:
            self.wrong = self.wrong or f"{count:,} rows instead of {self.expected.num_rows:,}"
        elif self.keeps and self.ranked and (found := _hash(given)) not in self._right:
            column = self.expected.select([self.column])
            try:
                check_rows(zip(given, strict=False), column, ordered=self.ordered, declared=self.declared)
            except WrongAnswer as exc:
                self.wrong = self.wrong or str(exc)
            else:
                self._right.add(found)


def _hash(values: list[Any]) -> int:
    """The same for the same values in the same order; another each time, if a driver's values can't be hashed."""
    try:
        return hash(tuple(values))
    except TypeError:
        return random.getrandbits(62)


def explain(step: QueryStep, bench: Bench) -> str:
    """The engine's own plan of the query. Raises whatever a driver may, and Unsupported if there is none to be had."""
    if not isinstance(bench.session, SQLSession):
        raise Unsupported("it tells no query plan")
    text = bench.session.explain(bench.statement(step)).strip()
    if not text:
        raise Unsupported("it tells an empty query plan")
    return text


def prepare(step: QueryStep, bench: Bench, expected_rows: int) -> Callable[[], Any]:
    """The query, prepared. The null engine has no data: it is told how many rows to give, so that stepping is timed."""
    told = {} if bench.engine.ranked else {"expected_rows": expected_rows}
    run: Callable[[], Any] = prepared(bench.engine, bench.session, "query")(bench.statement(step), **told)
    return run
