"""The context of a trial's steps: what a step works on, what it measures, and what it leaves to later steps.

A trial has one `StepContext`. Each step gets it, and returns a `StepMeasurement`. `StepsSoFar`, the only part that
changes with every step, is what later steps and their checks may rely on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, fields
from pathlib import Path
from time import perf_counter
from typing import Any, Literal, TypeVar

import pyarrow as pa

from dbbench.answers import question
from dbbench.answers.stored import Question
from dbbench.datasets.absent import Absent
from dbbench.datasets.cache import Files
from dbbench.datasets.records import ExpectedRecords, RecordSet
from dbbench.datasets.texts import TextSet
from dbbench.datasets.vectors import VectorSet
from dbbench.engine.base import Engine, Session, Setup
from dbbench.engine.null import does_work, query_of
from dbbench.engine.offered import read_only
from dbbench.engine.sql.session import SQLEngine
from dbbench.errors import Unsupported
from dbbench.host.metric import BaseUnit, Usage
from dbbench.host.processes import descendants, kill
from dbbench.host.usage import forget_peak, peak_memory, resident
from dbbench.loadgen import clients
from dbbench.loadgen.job import ClientTimings, Job
from dbbench.results.facts import StepFacts
from dbbench.results.outcome import FELL_SHORT, Outcome
from dbbench.results.trial import StepResult
from dbbench.suite.changes import Changes
from dbbench.suite.dataset import TEXT_TABLE, Table
from dbbench.suite.steps.base import Clients, Step
from dbbench.suite.steps.sql import SqlStep
from dbbench.suite.steps.statement import Check
from dbbench.suite.steps.transaction import Invariant
from dbbench.workloads.ondisk import Kind, others
from dbbench.workloads.searches import Tried

T = TypeVar("T")
#: Runs a job by clients.
Driver = Callable[..., ClientTimings]


@dataclass(frozen=True)
class Added:
    """Rows that a statement step has added to a table, with consecutive keys and otherwise alike.

    `values` are those of the columns that the suite gives.
    """

    step: str
    values: Mapping[str, int | float | str]
    rows: int


@dataclass(frozen=True)
class Leaves:
    """The state of the data after a step, as far as the step has changed it."""

    #: Table -> number of its rows.
    rows: Mapping[str, int] = field(default_factory=dict)
    #: Table into which a load has put rows of the dataset -> its columns.
    loaded: Mapping[str, Iterable[str]] = field(default_factory=dict)
    #: Tables that hold exactly the rows of the dataset.
    filled: Sequence[str] = ()
    records: ExpectedRecords | None = None
    #: The vectors or texts that aren't there.
    absent: Absent | None = None
    #: Invariant of the step -> the number that its query must return.
    numbers: Mapping[str, int] = field(default_factory=dict)


@dataclass
class StepsSoFar:
    """The state that the steps so far must have left the data in, and their results."""

    #: Table -> number of its rows.
    rows: dict[str, int] = field(default_factory=dict)
    #: Table whose content is known -> the step that last filled it, and the rows that statements have added since.
    left_by: dict[str, str] = field(default_factory=dict)
    added: dict[str, list[Added]] = field(default_factory=dict)
    #: Tables that were known before updates -> the last of these steps, and their texts.
    updated: dict[str, tuple[str, tuple[str, ...]]] = field(default_factory=dict)
    #: Loaded table -> columns whose values no statement may have deleted or set: the least that is there.
    untouched: dict[str, set[str]] = field(default_factory=dict)
    #: Texts of statements that may have changed tables.
    texts: list[str] = field(default_factory=list)
    #: Queries whose answer is no longer known -> why.
    no_answer: dict[str, str] = field(default_factory=dict)
    #: The records as the steps must have left them.
    expected_records: ExpectedRecords = field(default_factory=ExpectedRecords)
    #: The same before the latest step that changed them.
    records_before: ExpectedRecords = field(default_factory=ExpectedRecords)
    #: The vectors or texts that the steps have left out or deleted.
    absent: Absent = field(default_factory=Absent)
    #: Step -> invariant -> the number that its query must return.
    numbers: dict[str, Mapping[str, int]] = field(default_factory=dict)
    #: The results of steps that have a figure in seconds.
    timed: dict[str, StepResult] = field(default_factory=dict)
    #: The steps among them whose work was not checked.
    unverified: set[str] = field(default_factory=set)
    #: Step, or the one step that a sweep was made from -> effort -> what trying it showed.
    efforts: dict[str, dict[int, Tried]] = field(default_factory=dict)
    #: Step -> the fault in what its timed calls returned; empty if there is none.
    returned: dict[str, str] = field(default_factory=dict)

    def accept(self, step: Step, measured: StepMeasurement) -> None:
        """Record what a measured step has left. This comes before its checks, which change nothing."""
        leaves = measured.leaves
        self.rows.update(leaves.rows)
        self.left_by.update(dict.fromkeys(leaves.filled, step.name))
        self.untouched.update((name, {*columns}) for name, columns in leaves.loaded.items())
        self.numbers[step.name] = leaves.numbers
        if leaves.records is not None:
            self.records_before, self.expected_records = self.expected_records, leaves.records
        if leaves.absent is not None:
            self.absent = leaves.absent
            self.left_by.pop(TEXT_TABLE, None)


@dataclass
class StepContext:
    """An open engine with one session, and the tables, dataset and answers of its trial.

    These are fixed, but for the engine and session, which a restart replaces. `data` changes with every step.
    """

    engine: Engine
    session: Session
    tables: Mapping[str, Table]
    files: Files
    answers: Mapping[str, Path]
    data: StepsSoFar = field(default_factory=StepsSoFar)
    #: Query -> the changes that earlier steps make to its tables.
    changes: Mapping[str, Changes] = field(default_factory=dict)
    #: The dataset's records, if it has records and not tables.
    records: RecordSet | None = None
    #: The dataset's vectors, if it has vectors.
    vectors: VectorSet | None = None
    #: The dataset's texts, if it has texts; `tables` has their table then.
    texts: TextSet | None = None
    #: The arguments to make the engine again; None if it is never restarted.
    setup: Setup | None = None
    #: Bytes of files by kind before tables are made; of `other`, after. Empty without a size step.
    empty: Mapping[Kind, int] = field(default_factory=dict)
    #: The run's round, from 1.
    round: int = 1
    last_round: bool = False
    #: Returns the number of the group of engines with the same answer to a step; None if no other answers are kept.
    group: Callable[..., int] | None = None
    #: Seconds that the latest restart took to open the engine and connect.
    opened: float = 0.0
    #: Whether its private server was killed.
    killed: bool = False
    #: The peak of memory before the latest block of `aside`, in bytes.
    peak: int = 0
    #: Computes right answers, where it is not counted as the engine's work.
    compute: Callable[[Sequence[Question], Mapping[str, Table], Files, Path], list[Path]] = question.compute
    #: Runs clients, here or on the hosts of a cluster.
    driver: Driver = clients.drive
    #: To be called when a step has made its last timed call, before the plugin is called again. Later calls do nothing.
    returned: Callable[[], object] = lambda: None
    #: Reports a line about the progress of a long step.
    note: Callable[[str], None] = lambda _line: None

    def drive(self, job: Job, clients: Clients, *, last: bool = False, **more: Any) -> ClientTimings:
        """Run a job by clients; returns what they measured. Raises Unsupported if the engine can't serve them all.

        `last`: the step's last timed calls are among these. `more` is what only clients of this machine take
        (`clients.drive`).
        """
        returned = self.returned if last else lambda: None
        timings = self.driver(self.engine, self.session, job, clients, returned, **more)
        returned()
        return timings

    def restart(self, between: Callable[[], T]) -> T:
        """Close the session and the engine, call `between`, and open a new engine object with a new session.

        Returns what `between` returned. `opened` has the seconds of opening and connecting.
        """
        assert self.setup is not None
        with suppress(Exception) if self.killed else nullcontext():  # each driver has its own error for a lost server
            self.session.close()
        self.killed = False
        self.engine.close()
        given = between()
        engine = type(self.engine)(self.setup)
        before = perf_counter()
        engine.open()
        self.engine = engine
        self.session = engine.connect()
        self.opened = perf_counter() - before
        return given

    def kill_server(self) -> None:
        """Kill the processes of a private server (SIGKILL), so that it writes nothing more. Call `restart` next."""
        mine = descendants()
        if doomed := [mine[number] for number in self.engine.processes() if number in mine]:
            kill(doomed)
            self.killed = True

    @property
    def does_work(self) -> bool:
        """Whether the engine does anything: the answers of a null engine are compared with nothing."""
        return does_work(self.engine)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Exclude the memory that a check uses within the block from the engine's peak."""
        self.peak = max(self.peak, (peak_memory() or 0) + resident(others(self.engine)))
        try:
            yield
        finally:
            pa.default_memory_pool().release_unused()
            forget_peak()

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Have the session be read-only within the block, where its system can. A restart makes one that is not."""
        read_only(self.engine, self.session, on=True)
        try:
            yield
        except BaseException:
            with suppress(Exception):  # its connection is lost, say; the step tells why
                read_only(self.engine, self.session, on=False)
            raise
        read_only(self.engine, self.session, on=False)

    @contextmanager
    def new_session(self) -> Iterator[None]:
        """Use a second session within the block. The first stays open, so the second sees only what is committed.

        An engine for one client at a time has its first session closed before, and keeps the second.
        """
        before = self.session
        if self.engine.info().concurrency.threads == 1:
            before.close()
            self.session = self.engine.connect()
            yield
            return
        self.session = self.engine.connect()
        try:
            yield
        finally:
            self.session.close()
            self.session = before

    @contextmanager
    def base_session(self) -> Iterator[tuple[Engine, Session]]:
        """The engine and session that have SQL: of an access layer the base engine with a new session."""
        if self.engine.base_engine is None:
            yield self.engine, self.session
            return
        session = self.engine.base_engine.connect()
        try:
            yield self.engine.base_engine, session
            self.returned()  # a session may write when it is closed
        finally:
            session.close()

    def prepare_query(self, sql: str, expected_rows: int) -> Callable[[], Any]:
        """Prepare a query; returns its callable. A null engine, which has no data, gives `expected_rows` rows."""
        return query_of(self.engine, self.session, sql, expected_rows)

    def statement(self, step: SqlStep | Check | Invariant) -> str:
        """The step's SQL for this engine, names quoted. Raises Unsupported as `in_dialect` does."""
        return self.quoted(self.in_dialect(step.sql, step.dialects))

    def in_dialect(self, sql: str, dialects: Mapping[str, str]) -> str:
        """SQL for this engine's dialect, of `dialects` or else `sql`. Raises Unsupported if the suite's is empty."""
        name = self.engine.info().dialect
        if not (text := dialects.get(name, sql)):
            raise Unsupported(f"the suite has no statement for it in the dialect {name}")
        return text

    def quoted(self, sql: str) -> str:
        """SQL with the names of tables and columns quoted as this engine does it."""
        return self.engine.sql.translate(sql, self.tables) if isinstance(self.engine, SQLEngine) else sql


@dataclass(frozen=True)
class StepMeasurement:
    """The result of a step in one trial: its samples, in `unit`, and what else was measured.

    `value` is the trial's figure: the mean of the samples, or `mean` where they were too many to keep.
    """

    metric: str
    unit: BaseUnit
    samples: list[float]
    warm_up: list[float] = field(default_factory=list)
    facts: StepFacts = field(default_factory=StepFacts)
    direction: Literal["lower", "higher"] = "lower"
    mean: float | None = None
    outcome: Outcome = Outcome.OK
    detail: str = ""
    leaves: Leaves = field(default_factory=Leaves)
    #: Resources used for a call, or for an operation where the figure is a rate.
    usage: Usage = field(default_factory=dict)
    #: Consecutive commits that changed something: of several clients, those of one.
    commits: int = 0

    @property
    def recorded(self) -> dict[str, Any]:
        """The fields that a result keeps, by name, with the trial's figure."""
        values = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "leaves"}
        return {**values, "value": self.value}

    @property
    def value(self) -> float | None:
        """The trial's figure; None if the step fell short of what was asked for (see FELL_SHORT), wrong or not."""
        if self.outcome in FELL_SHORT or (self.mean is None and not self.samples):
            return None
        return sum(self.samples) / len(self.samples) if self.mean is None else self.mean
