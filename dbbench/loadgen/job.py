"""The order for a step's clients and their measurements: plain data that passes between processes."""

from __future__ import annotations

import base64
import traceback
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal

import pyarrow as pa
import pyarrow.ipc
from pydantic import ConfigDict, PlainSerializer, PlainValidator, TypeAdapter, with_config

from dbbench.answers.compare import as_table
from dbbench.errors import DbbenchError, TimedOut, Unsupported, UserError, WrongAnswer
from dbbench.host.metric import Usage, total
from dbbench.loadgen.histogram import Samples, SentSamples
from dbbench.loadgen.key_streams import KeySequence, OperationMix
from dbbench.loadgen.loops import ScheduleStats
from dbbench.loadgen.query_calls import DrawnCalls, QueryCalls
from dbbench.loadgen.search_calls import NearestSearches, TextSearches
from dbbench.loadgen.timeline import SentTimeline, Timeline
from dbbench.loadgen.transaction_mix import TransactionMix
from dbbench.loadgen.transactions import Transactions
from dbbench.suite.model import Tier
from dbbench.suite.steps.timed import Rate

#: Their validators are built when clients in other processes ask for them.
_deferred = with_config(ConfigDict(defer_build=True))
#: What the calls of some kinds take: plain data that prepares each client's `CallStream`. Each kind has required fields
#: of its own, so that it is known again.
Inputs = (
    DrawnCalls
    | KeySequence
    | NearestSearches
    | OperationMix
    | QueryCalls
    | TextSearches
    | TransactionMix
    | Transactions
)


@dataclass(frozen=True)
class Job:
    """What each client does: a prepared operation, called `warm_up` times, then `calls` times or at a rate."""

    operation: str
    arguments: tuple[Any, ...]
    warm_up: int
    calls: int
    rate: Rate | None = None
    #: Of random arrivals.
    seed: int = 0
    #: What each call takes, if it takes anything; it knows the operation and the number of calls then.
    inputs: Inputs | None = None
    #: Sessions of all clients together, for transactions alone; each process has its share. None: one for each client.
    pool: int | None = None
    #: Whether each client's thread is bound to a processor of its own.
    affinity: bool = False
    #: Seconds for which calls count, in place of a number of calls; a rate may say it itself.
    duration: float | None = None
    #: Whether `calls` are of each client where they take inputs.
    each: bool = False
    #: Each client's warm-up in seconds, besides its calls, and the time in which the load grows.
    warm_up_seconds: float = 0.0
    ramp_up: float = 0.0
    #: Seconds after which no client begins a further one of its `warm_up` calls.
    longest_warm_up: float | None = None
    #: Transactions end, and the step with them, if they take longer than this, in seconds.
    time_limit: float | None = None

    @property
    def seconds(self) -> float:
        """Seconds in which calls arrive at the rate."""
        assert self.rate is not None
        return self.rate.seconds or self.duration or 0.0

    @property
    def endless(self) -> bool:
        """Whether the inputs have more calls than are made: `calls`, the time or the rate says when it is enough."""
        return self.inputs is None or getattr(self.inputs, "endless", False)


@_deferred
@dataclass(frozen=True)
class ClientOrder:
    """What processes of clients are to do, the same for all of them. The URL isn't in it."""

    #: The engine's class.
    engine: str
    directory: str
    tier: Tier
    options: dict[str, object]
    job: Job
    #: The clients of each process, and all clients.
    threads: int
    of: int
    #: Whether the engine has a server.
    served: bool
    #: The number of the process's first client, and whether the process keeps to one processor.
    first: int = 0
    bound: bool = False


def _as_table(rows: Any) -> pa.Table:
    return rows if isinstance(rows, pa.Table) else as_table(rows, keep_nulls=True)


def _as_text(rows: Any) -> str:
    sink, table = pa.BufferOutputStream(), _as_table(rows)
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return base64.b64encode(sink.getvalue().to_pybytes()).decode("ascii")


def _as_rows(text: str) -> pa.Table:
    with pa.ipc.open_stream(base64.b64decode(text)) as reader:
        return reader.read_all()


@dataclass(frozen=True)
class Kept:
    """What one call of a client returned: of the client's calls the one with the number `place`, from 0.

    Of calls that read records the rows are all calls', and made only when no client calls any longer; `place` is the
    number of the first call that counts.
    """

    client: int
    place: int
    rows: Annotated[Any, PlainValidator(_as_rows), PlainSerializer(_as_text)]

    @property
    def table(self) -> pa.Table:
        """The rows with the types that came. Raises WrongAnswer if a column has none."""
        return _as_table(self.rows)

    def made(self) -> Kept:
        """The same with its rows made."""
        return replace(self, rows=self.rows()) if callable(self.rows) else self


@dataclass
class ClientTimings:
    """What some clients measured. `schedule`, and latencies, only at a rate. The span in nanoseconds of the clock."""

    warm_up: SentSamples = field(default_factory=Samples)
    service: SentSamples = field(default_factory=Samples)
    latency: SentSamples = field(default_factory=Samples)
    schedule: ScheduleStats | None = None
    begin: int = 0
    end: int = 0
    #: Service times by operation, where there are several.
    by: dict[str, SentSamples] = field(default_factory=dict)
    #: What the calls counted by themselves.
    counts: dict[str, int] = field(default_factory=dict)
    #: How long each client took for all of its calls, in nanoseconds, in no order.
    spans: list[int] = field(default_factory=list)
    #: Each client's number, and how many calls it made in all, the warm-up included.
    made: list[tuple[int, int]] = field(default_factory=list)
    #: Rows of some calls, that are to be compared.
    kept: list[Kept] = field(default_factory=list)
    #: The calls that count, over the seconds.
    timeline: SentTimeline = field(default_factory=Timeline)
    #: What the calls that count used, of all clients together, as far as it can be told from other work: nothing at a
    #: rate.
    usage: Usage = field(default_factory=dict)
    #: Nanoseconds from the common start to when the last of the clients really began.
    late: int = 0
    #: Nanoseconds that the slowest of them took to prepare its calls.
    prepare: int = 0

    @property
    def per_second(self) -> float:
        """Calls made in a second of the span, by all clients together."""
        return self.service.count / max(self.end - self.begin, 1) * 1e9

    @property
    def calls(self) -> int:
        """All that were made, the warm-up included."""
        return self.warm_up.count + self.service.count

    def merge(self, other: ClientTimings) -> None:
        """Take what another client measured."""
        for mine, its in zip(self._samples(), other._samples(), strict=True):
            mine.merge(its)
        for name, samples in other.by.items():
            self.by.setdefault(name, Samples()).merge(samples)
        for name, count in other.counts.items():
            self.counts[name] = self.counts.get(name, 0) + count
        self.spans += other.spans
        self.made += other.made
        self.kept += other.kept
        self.timeline.merge(other.timeline)
        self.usage = total([self.usage, other.usage])
        self.late = max(self.late, other.late)
        self.prepare = max(self.prepare, other.prepare)
        both = [schedule for schedule in (self.schedule, other.schedule) if schedule]
        if both:
            due, late, dropped = (
                sum(getattr(schedule, key) for schedule in both) for key in ("due", "late", "dropped")
            )
            self.schedule = ScheduleStats(due, late, dropped, saturated=any(schedule.saturated for schedule in both))
        self.begin = min(self.begin or other.begin, other.begin)
        self.end = max(self.end, other.end)

    def _samples(self) -> tuple[Samples, ...]:
        return self.warm_up, self.service, self.latency


def together(found: list[ClientTimings]) -> ClientTimings:
    """What some clients measured, as one: the first one's, that the others' are merged into. Raises WrongAnswer."""
    whole, *rest = found
    for each in rest:
        whole.merge(each)
    whole.kept = [each.made() for each in whole.kept]
    return whole


@dataclass(frozen=True)
class Failure:
    """The reason why clients have no times, as their process reports it."""

    kind: Literal["wrong", "timed out", "unsupported", "refused", "failed"]
    text: str

    @classmethod
    def of(cls, exc: Exception) -> Failure:
        """An exception's message for the process that gave the order."""
        if isinstance(exc, WrongAnswer | TimedOut):
            return cls("wrong" if isinstance(exc, WrongAnswer) else "timed out", str(exc))
        if isinstance(exc, Unsupported):
            return cls("unsupported", str(exc))
        if isinstance(exc, UserError):
            return cls("refused", str(exc))
        traceback.print_exc()
        return cls("failed", f"{type(exc).__name__}: {exc}")

    def exception(self, where: str) -> DbbenchError:
        """WrongAnswer, TimedOut or Unsupported; UserError or ClientFailed with `where` it was."""
        match self.kind:
            case "wrong":
                return WrongAnswer(self.text)
            case "timed out":
                return TimedOut(self.text)
            case "unsupported":
                return Unsupported(self.text)
            case "refused":
                return UserError(f"{where}: {self.text}")
            case "failed":
                return ClientFailed(f"{where}: {self.text}")


class ClientFailed(DbbenchError):
    """A process of clients came to a bad end."""


@_deferred
@dataclass(frozen=True)
class Reply:
    """A reply of a client process: that it is ready, its measurements, or why it failed."""

    timings: ClientTimings | None = None
    failure: Failure | None = None


#: To JSON and back, for another process.
ORDER, REPLY = TypeAdapter(ClientOrder), TypeAdapter(Reply)
