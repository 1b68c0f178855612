"""What the clients of a step are to do, and what they measured: plain data, which goes to other processes and back."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.ipc

from dbbench.answers.compare import as_table
from dbbench.loadgen.drawn_calls import DrawnCalls
from dbbench.loadgen.histogram import Samples
from dbbench.loadgen.key_streams import KeySequence, OperationMix, to_json
from dbbench.loadgen.loops import ScheduleStats
from dbbench.loadgen.query_calls import QueryCalls
from dbbench.loadgen.timeline import Timeline
from dbbench.loadgen.transaction_mix import TransactionMix
from dbbench.loadgen.transactions import Transactions
from dbbench.suite.steps.timed import Rate

#: What the calls of some kinds take: plain data that prepares each client's `CallStream`.
Inputs = DrawnCalls | KeySequence | OperationMix | QueryCalls | TransactionMix | Transactions
_INPUTS: Mapping[str, type[Inputs]] = {
    kind.__name__: kind for kind in (KeySequence, OperationMix, QueryCalls, Transactions)
}


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
    #: Transactions end, and the step with them, if they take longer than this, in seconds.
    time_limit: float | None = None

    @property
    def seconds(self) -> float:
        """For how long calls arrive at the rate."""
        assert self.rate is not None
        return self.rate.seconds or self.duration or 0.0

    @property
    def endless(self) -> bool:
        """Whether the inputs have more calls than are made: `calls`, the time or the rate says when it is enough."""
        return self.inputs is None or getattr(self.inputs, "endless", False)

    def to_json(self) -> dict[str, Any]:
        """In a form for a pipe."""
        rate = self.rate.model_dump() if self.rate else None
        return {**asdict(self), "rate": rate, "inputs": to_json(self.inputs) if self.inputs else None}

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Job:
        """What `to_json` gave."""
        rate = Rate.model_validate(document["rate"]) if document["rate"] else None
        inputs = _inputs(document["inputs"]) if document["inputs"] else None
        return cls(**{**document, "arguments": tuple(document["arguments"]), "rate": rate, "inputs": inputs})


@dataclass(frozen=True)
class Kept:
    """What one call of a client returned: of the client's calls the one with the number `place`, from 0."""

    client: int
    place: int
    rows: Any

    @property
    def table(self) -> pa.Table:
        """The rows with the types that came. Raises WrongAnswer if a column has none."""
        return self.rows if isinstance(self.rows, pa.Table) else as_table(self.rows, keep_nulls=True)

    def to_json(self) -> dict[str, Any]:
        """The rows as text."""
        sink, table = pa.BufferOutputStream(), self.table
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        text = base64.b64encode(sink.getvalue().to_pybytes()).decode("ascii")
        return {"client": self.client, "place": self.place, "rows": text}

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Kept:
        """What `to_json` gave."""
        with pa.ipc.open_stream(base64.b64decode(document["rows"])) as reader:
            return cls(document["client"], document["place"], reader.read_all())


@dataclass
class ClientTimings:
    """What some clients measured. `schedule`, and latencies, only at a rate. The span in nanoseconds of the clock."""

    warm_up: Samples = field(default_factory=Samples)
    service: Samples = field(default_factory=Samples)
    latency: Samples = field(default_factory=Samples)
    schedule: ScheduleStats | None = None
    begin: int = 0
    end: int = 0
    #: Service times by operation, where there are several.
    by: dict[str, Samples] = field(default_factory=dict)
    #: What the calls counted by themselves.
    counts: dict[str, int] = field(default_factory=dict)
    #: How long each client took for all of its calls, in nanoseconds, in no order.
    spans: list[int] = field(default_factory=list)
    #: Each client's number, and how many calls it made in all, the warm-up included.
    made: list[tuple[int, int]] = field(default_factory=list)
    #: Rows of some calls, that are to be compared.
    kept: list[Kept] = field(default_factory=list)
    #: The calls that count, over the seconds.
    timeline: Timeline = field(default_factory=Timeline)
    #: CPU seconds of the calls that count, of all clients together; None where they can't be told from other work.
    cpu_seconds: float | None = None
    #: The run delay of the same calls, of all clients together; None where the system doesn't tell, or at a rate.
    delay_seconds: float | None = None
    #: Nanoseconds from the common start to when the last of the clients really began.
    late: int = 0

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
        self.cpu_seconds = _sum(self.cpu_seconds, other.cpu_seconds)
        self.delay_seconds = _sum(self.delay_seconds, other.delay_seconds)
        self.late = max(self.late, other.late)
        both = [schedule for schedule in (self.schedule, other.schedule) if schedule]
        if both:
            due, late, dropped = (
                sum(getattr(schedule, key) for schedule in both) for key in ("due", "late", "dropped")
            )
            self.schedule = ScheduleStats(due, late, dropped, saturated=any(schedule.saturated for schedule in both))
        self.begin = min(self.begin or other.begin, other.begin)
        self.end = max(self.end, other.end)

    def to_json(self) -> dict[str, Any]:
        """In a form for a pipe."""
        samples: dict[str, Any] = {key: getattr(self, key).to_json() for key in ("warm_up", "service", "latency")}
        samples["by"] = {name: each.to_json() for name, each in self.by.items()}
        samples |= {"counts": self.counts, "spans": self.spans, "made": self.made}
        samples["timeline"] = self.timeline.to_json()
        samples["kept"] = [each.to_json() for each in self.kept]
        return {
            **samples,
            "schedule": asdict(self.schedule) if self.schedule else None,
            "begin": self.begin,
            "end": self.end,
            "cpu_seconds": self.cpu_seconds,
            "delay_seconds": self.delay_seconds,
            "late": self.late,
        }

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> ClientTimings:
        """What `to_json` gave."""
        warm_up, service, latency = (Samples.from_json(document[key]) for key in ("warm_up", "service", "latency"))
        schedule = ScheduleStats(**document["schedule"]) if document["schedule"] else None
        by = {name: Samples.from_json(each) for name, each in document["by"].items()}
        return cls(
            warm_up,
            service,
            latency,
            schedule,
            document["begin"],
            document["end"],
            by,
            document["counts"],
            document["spans"],
            [(number, made) for number, made in document["made"]],
            [Kept.from_json(each) for each in document["kept"]],
            Timeline.from_json(document["timeline"]),
            document["cpu_seconds"],
            document["delay_seconds"],
            document["late"],
        )

    def _samples(self) -> tuple[Samples, ...]:
        return self.warm_up, self.service, self.latency


def _sum(one: float | None, other: float | None) -> float | None:
    """None if either isn't known."""
    return None if one is None or other is None else one + other


def _inputs(document: Mapping[str, Any]) -> Inputs:
    for kind in (DrawnCalls, TransactionMix):
        if document["kind"] == kind.__name__:
            return kind.from_json(document)
    return _INPUTS[document["kind"]](**{key: value for key, value in document.items() if key != "kind"})


def together(found: list[ClientTimings]) -> ClientTimings:
    """What some clients measured, as one: the first one's, that the others' are merged into."""
    whole, *rest = found
    for each in rest:
        whole.merge(each)
    return whole
