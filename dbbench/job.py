"""What the clients of a step are to do, and what they measured: plain data, which goes to other processes and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from dbbench.keyvalue import Draws, Inputs, from_json, to_json
from dbbench.measure import Kept
from dbbench.samples import Samples
from dbbench.suite import Rate
from dbbench.transactions import Transactions


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
    inputs: Inputs | Draws | Transactions | None = None
    #: So many sessions for all clients together, for transactions alone; each process has its share. None: one each.
    pool: int | None = None
    #: Whether each client's thread is bound to a processor of its own.
    affinity: bool = False

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


@dataclass
class Measurement:
    """What some clients measured. `kept`, and latencies, only at a rate. The span in nanoseconds of the clock."""

    warm_up: Samples = field(default_factory=Samples)
    service: Samples = field(default_factory=Samples)
    latency: Samples = field(default_factory=Samples)
    kept: Kept | None = None
    begin: int = 0
    end: int = 0
    #: Service times by operation, where there are several.
    by: dict[str, Samples] = field(default_factory=dict)
    #: What the calls counted by themselves.
    counts: dict[str, int] = field(default_factory=dict)
    #: How long each client took for all of its calls, in nanoseconds, in no order.
    spans: list[int] = field(default_factory=list)

    @property
    def per_second(self) -> float:
        """Calls made in a second of the span, by all clients together."""
        return self.service.count / max(self.end - self.begin, 1) * 1e9

    def merge(self, other: Measurement) -> None:
        """Take what another client measured."""
        for mine, its in zip(self._samples(), other._samples(), strict=True):
            mine.merge(its)
        for name, samples in other.by.items():
            self.by.setdefault(name, Samples()).merge(samples)
        for name, count in other.counts.items():
            self.counts[name] = self.counts.get(name, 0) + count
        self.spans += other.spans
        both = [kept for kept in (self.kept, other.kept) if kept]
        if both:
            due, late, dropped = (sum(getattr(kept, key) for kept in both) for key in ("due", "late", "dropped"))
            self.kept = Kept(due, late, dropped, saturated=any(kept.saturated for kept in both))
        self.begin = min(self.begin or other.begin, other.begin)
        self.end = max(self.end, other.end)

    def to_json(self) -> dict[str, Any]:
        """In a form for a pipe."""
        samples: dict[str, Any] = {key: getattr(self, key).to_json() for key in ("warm_up", "service", "latency")}
        samples["by"] = {name: each.to_json() for name, each in self.by.items()}
        samples |= {"counts": self.counts, "spans": self.spans}
        return {**samples, "kept": asdict(self.kept) if self.kept else None, "begin": self.begin, "end": self.end}

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> Measurement:
        """What `to_json` gave."""
        warm_up, service, latency = (Samples.from_json(document[key]) for key in ("warm_up", "service", "latency"))
        kept = Kept(**document["kept"]) if document["kept"] else None
        by = {name: Samples.from_json(each) for name, each in document["by"].items()}
        return cls(
            warm_up,
            service,
            latency,
            kept,
            document["begin"],
            document["end"],
            by,
            document["counts"],
            document["spans"],
        )

    def _samples(self) -> tuple[Samples, ...]:
        return self.warm_up, self.service, self.latency


def _inputs(document: Mapping[str, Any]) -> Inputs | Draws | Transactions:
    if document["kind"] != Transactions.__name__:
        return from_json(document)
    return Transactions(**{key: value for key, value in document.items() if key != "kind"})
