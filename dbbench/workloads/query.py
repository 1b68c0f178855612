"""A query: run, and its cursor stepped to the end, one column of each row read. Warm, or from a cold start.

One more call than the figure needs is made with the same prepared query, and every row of it is compared. Its place
among the others is drawn, so that an engine can't answer that one alone rightly.
"""

import random
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from enum import Enum, auto
from functools import partial
from itertools import repeat
from operator import ne
from typing import Any

import numpy as np
import pyarrow as pa

from dbbench.answers.compare import arrow_batch, as_batches, as_table, check_batches
from dbbench.answers.stored import only_column, ranks_of, row_count
from dbbench.engine.offered import read_only
from dbbench.engine.sql.session import SQLSession
from dbbench.engine.variants import database
from dbbench.errors import NotVerified, Unsupported, WrongAnswer
from dbbench.host.collector import collector_off
from dbbench.host.meters import CallMeter
from dbbench.host.metric import shared
from dbbench.loadgen.clients import arranged
from dbbench.loadgen.first_calls import told_apart
from dbbench.loadgen.job import ClientTimings, Job
from dbbench.loadgen.loops import COUNTING, KEEPING, timed
from dbbench.loadgen.query_calls import QueryCalls
from dbbench.results.facts import StepFacts
from dbbench.results.outcome import Outcome
from dbbench.suite.answer import EngineAnswer, SqlAnswer
from dbbench.suite.steps.query import QueryStep
from dbbench.workloads import cold_start, drawn_query, load_control, stale_answers
from dbbench.workloads.context import StepContext, StepMeasurement
from dbbench.workloads.known import checked_by, known_answers

#: Answers of more rows are counted in the timed calls, without keeping the column that is read. A column of an Arrow
#: batch may keep all of the batch in memory.
KEPT_ROWS = {"rows": 1_000_000, "columns": 1_000_000, "batches": 100_000}


#: Nanoseconds below which a single warm-up is followed by more, and how many: the first calls are the slowest.
SHORT, MORE = 10_000_000, 2


class Call(Enum):
    """What a call is made for."""

    WARM_UP = auto()
    TIMED = auto()
    CHECKED = auto()


def measure(step: QueryStep, context: StepContext) -> StepMeasurement:
    """Make the calls in read-only sessions, where the system has them: the text of a query may hide a write."""
    with context.reading():
        if step.parameters:
            return drawn_query.measure(step, context)
        return _under_load(step, context) if step.controlled else _one_by_one(step, context)


def _one_by_one(step: QueryStep, context: StepContext) -> StepMeasurement:
    """Time each iteration whole: run and step; before a cold one the engine is closed, off the clock, and opened.

    The outcome is wrong if any call gave another number of rows than the reference, or other values in the column that
    is read, or if the checked call gave another value anywhere.
    """
    run, expected, facts = _prepared(step, context)
    answer = _Answer(step, context, expected)
    times: dict[Call, list[float]] = {Call.WARM_UP: [], Call.TIMED: []}
    cold = cold_start.ColdCalls()
    meters = {Call.WARM_UP: CallMeter(context.engine), Call.TIMED: CallMeter(context.engine)}
    opened = 0.0
    with collector_off():
        rest = deque(calls(step, context))
        while rest:
            call = rest.popleft()
            reading: AbstractContextManager[None] = nullcontext()
            opening = 0.0
            if step.cache == "cold":
                dropped = cold_start.start_cold(context)
                read_only(context.engine, context.session, on=True)
                preparing, run = timed(partial(context.prepare_query, context.statement(step), row_count(expected[0])))
                opening = context.opened + preparing / 1e9
                reading = cold.call(context, dropped, opening, timed=call is Call.TIMED)
                opened += opening if call is Call.TIMED else 0.0
                meters[Call.TIMED].look(context.engine)  # another one now
            if call is Call.CHECKED:
                with context.aside(), reading:
                    answer.compare(run())
                continue
            with reading, meters[call]:
                nanoseconds, given = timed(lambda: answer.read(run(), answer.column))  # noqa: B023 - called at once
            times[call].append(opening + nanoseconds / 1e9)
            if call is Call.WARM_UP and len(times[call]) == step.warm_up_calls == 1 and nanoseconds < SHORT:
                rest.extendleft([Call.WARM_UP] * MORE)
            answer.glance(given)
            del given
    facts |= cold.facts | answer.facts
    if step.cache == "warm":
        facts |= told_apart(np.rint(np.multiply(times[Call.TIMED], 1e9)).astype(np.int64))
    outcome = Outcome.WRONG if answer.wrong else Outcome.OK
    usage = meters[Call.TIMED].usage(sum(times[Call.TIMED]) - opened)
    return StepMeasurement(
        "time",
        "s",
        times[Call.TIMED],
        times[Call.WARM_UP],
        facts,
        outcome=outcome,
        detail=answer.wrong,
        usage=shared(usage, len(times[Call.TIMED])),
    )


def _under_load(step: QueryStep, context: StepContext) -> StepMeasurement:
    """Calls by clients: the rows of each are counted; all values are compared in a call before them and one after."""
    run, expected, facts = _prepared(step, context)
    answer = _Answer(step, context, expected)

    def compare() -> None:
        if answer.compares and not answer.wrong:
            with context.aside():
                answer.compare(run())

    engine, seed = context.engine, context.files.manifest["seed"]
    keeps = answer.compares and answer.keeps
    inputs = QueryCalls(context.statement(step), answer.column, answer.counts, keeps)
    job = Job("query", (), 0, step.iterations, seed=seed, inputs=inputs, each=True)
    clients = arranged(engine, step.clients)

    def driven(job: Job) -> ClientTimings:
        found = context.drive(job, clients)
        with context.aside():
            for each in found.kept:
                answer.look(each.table)
        return found

    compare()
    try:
        measured = load_control.measure(step, job, clients, driven, context.note)
    except WrongAnswer as exc:
        answer.wrong = answer.wrong or str(exc)
        facts |= answer.facts
        return StepMeasurement("time", "s", [0.0], facts=facts, outcome=Outcome.WRONG, detail=answer.wrong)
    compare()
    facts["prepare"] += measured.facts.get("prepare", 0.0)
    measured = replace(measured, facts={**measured.facts, **facts, **answer.facts})
    return replace(measured, outcome=Outcome.WRONG, detail=answer.wrong) if answer.wrong else measured


def _prepared(step: QueryStep, context: StepContext) -> tuple[Callable[[], Any], list[pa.Table], StepFacts]:
    """The query, the answers of which each is right, and facts of them.

    Where nobody knows any, it is the rows of a first call, off the clock: the other calls must give the same.
    """
    known, _ = known_answers(step, context)
    if not known and not context.does_work:
        raise Unsupported("the number of rows to return is unknown")
    rows = row_count(known[0]) if known else 0
    preparing, run = timed(partial(context.prepare_query, context.statement(step), rows))
    facts = checked_by(step, context) if known else StepFacts()
    if not known:
        with context.aside():
            known = [as_table(run())]
            if step.answer == "agree":
                assert context.group is not None
                facts = {"agrees": context.group(known[0], step=step.name)}
    facts |= {"rows": row_count(known[0]), "gives": context.session.result_format, "cache": step.cache}
    facts["prepare"] = preparing / 1e9
    return run, known, facts


def check(step: QueryStep, context: StepContext) -> None:
    """One of the calls was compared when it was made.

    Raises NotVerified if there was nothing to compare with, or only what the same engine has returned.
    """
    if why := known_answers(step, context)[1]:
        raise NotVerified(why)
    if isinstance(step.answer, EngineAnswer) and database(step.answer.engine) == database(context.engine.name):
        raise NotVerified(f"its answer was compared with {step.answer.engine}'s own")


def calls(step: QueryStep, context: StepContext) -> list[Call]:
    """The calls in order. Nobody can foretell the place of the checked call.

    Right before a timed call it is followed by a warm-up, for the comparing has used the processor's caches.
    """
    usual = [Call.WARM_UP] * step.warm_up_calls + [Call.TIMED] * step.iterations
    if not context.does_work:
        return usual
    place = random.SystemRandom().randrange(len(usual) + 1)
    settling = [Call.WARM_UP] if step.warm_up_calls <= place < len(usual) and step.warm_up_calls else []
    return [*usual[:place], Call.CHECKED, *settling, *usual[place:]]


class _Answer:
    """The answers of which each is right, and what was wrong with the calls' first."""

    def __init__(self, step: QueryStep, context: StepContext, expected: list[pa.Table]) -> None:
        self.column = step.read_column(expected[0].column_names)
        self.rows = context.session.result_format != "batches"
        self.expected = expected
        #: Of LIKE's rows some systems return more.
        self.counts = tuple(dict.fromkeys(map(row_count, expected)))
        self.ordered = step.ordered
        #: Of an answer that an engine computed nobody knows the types.
        self.declared = None if isinstance(step.answer, EngineAnswer) else context.session.declared
        self.compares = context.does_work
        form = context.session.result_format
        self.keeps = max(self.counts) <= KEPT_ROWS[form]
        self.read: Callable[[Any, int], Any] = (KEEPING if self.keeps else COUNTING)[form]
        self.wrong = ""
        self.facts = StepFacts()
        self._group = (
            partial(context.group, step=step.name) if context.group and isinstance(step.answer, SqlAnswer) else None
        )
        #: Hashes of columns that were right, in their order.
        self._right: set[int] = set()
        #: The latest column that was right.
        self._seen: pa.Table | None = None

    def compare(self, given: Any) -> None:
        """Compare every column of every row."""
        try:
            schema = ranks_of(self.expected[0])[0].schema
            batches = [*(as_batches(given, schema) if self.rows else map(arrow_batch, given))]
        except WrongAnswer as exc:
            self.wrong = self.wrong or str(exc)
            return
        if found := self._fault(batches, self.expected):
            self.wrong = self.wrong or str(found)
            if self._group:
                self.facts |= {"disputes": self._group(as_table(batches)), "differs": [*found.rows]}

    def look(self, column: pa.Table) -> None:
        """Compare a column that a timed call has read, as a table of it alone."""
        if column.num_rows not in self.counts:
            self.wrong = self.wrong or f"{column.num_rows:,} rows instead of {self.counts[0]:,}"
        elif column.num_rows and self.compares and not (self._seen and column.equals(self._seen)):
            columns = [only_column(each, self.column) for each in self.expected]
            if wrong := self._fault(column.to_batches(), columns):
                self.wrong = self.wrong or str(wrong)
            else:
                self._seen = column

    def _fault(self, batches: Sequence[pa.RecordBatch], expected: Sequence[pa.Table]) -> WrongAnswer | None:
        """What is wrong with rows, if none of the answers is theirs."""
        faults = []
        for answer in expected:
            try:
                others = check_batches(batches, answer, ordered=self.ordered, declared=self.declared)
            except WrongAnswer as exc:
                faults.append(exc)
            else:
                if others:
                    self.facts["other_forms"] = sorted({*others, *self.facts.get("other_forms", ())})
                return None
        return max(faults, key=lambda fault: len(fault.rows))  # of answers with as many rows

    def glance(self, given: Any) -> None:
        """Compare what a timed call has left: the number of rows, and the column that it read."""
        if self.keeps and not self.rows:
            self.look(_as_column(given))
            return
        count = len(given) if self.keeps else given
        if count not in self.counts:
            self.wrong = self.wrong or f"{count:,} rows instead of {self.counts[0]:,}"
        elif count and self.keeps and self.compares and (found := _hash(given)) not in self._right:
            columns = [only_column(each, self.column) for each in self.expected]
            batches = [*as_batches(zip(given, strict=False), ranks_of(columns[0])[0].schema)]
            if wrong := self._fault(batches, columns):
                self.wrong = self.wrong or str(wrong)
            else:
                self._right.add(found)


def _as_column(arrays: Sequence[pa.Array]) -> pa.Table:
    return pa.table([pa.chunked_array(arrays)] if arrays else [pa.nulls(0)], names=["1"])


def _hash(values: list[Any]) -> int:
    """The same for the same values in the same order; another each time, if a driver's values can't be hashed."""
    try:
        # -1 has the hash of -2. The tuples follow one another, for each takes memory.
        return hash((hash(tuple(values)), hash(tuple(map(ne, values, repeat(-1))))))
    except TypeError:
        return random.getrandbits(62)


def explain(step: QueryStep, context: StepContext) -> str:
    """The engine's own plan of the query. Raises whatever a driver may, and Unsupported if there is none to be had."""
    if not isinstance(context.session, SQLSession):
        raise Unsupported("no query plan available")
    sql, drawn = drawn_query.first_call(step, context) if step.parameters else (context.statement(step), "")
    text = context.session.explain(sql).strip()
    if not text:
        raise Unsupported("it returned an empty query plan")
    return drawn + text


def check_change(step: QueryStep, context: StepContext) -> None:
    """Whether its answer follows its data. Raises WrongAnswer, or Unsupported where there is no way to find out."""
    stale_answers.check(step, context)
