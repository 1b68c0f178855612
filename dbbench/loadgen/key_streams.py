"""What each call of a key-value step takes: one operation in an order, or a mix drawn at random.

Keys and values are made before the clock, a chunk at a time. Both kinds are plain data, so that a process of
clients can be told of them, and both can say afterwards what a store must hold.
"""

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count, starmap
from operator import call
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from dbbench.datasets.records import Numbers, RecordSet, Zipfian, shuffled
from dbbench.engine.base import Engine, Session
from dbbench.engine.null import does_work
from dbbench.engine.offered import prepared
from dbbench.errors import WrongAnswer
from dbbench.loadgen.histogram import Samples
from dbbench.loadgen.kept_calls import KeptCalls, KeptResults
from dbbench.loadgen.loops import CHUNK, Record
from dbbench.loadgen.share import share
from dbbench.suite.dataset import Records

#: Bytes of keys and values that are made and held at a time, as nearly as may be.
_PIECE = 8 * 2**20
#: Bytes of the calls that are made before an endless loop, about, and what Python adds to each.
_HELD, _OBJECT = 2**26, 200
#: Records made at a time, if they are small. Making them drives the engine's data out of the processor's caches, so
#: that making a thousand at a time adds a tenth to the time of a fast read.
_MOST = 32_768

#: The order in which the operations of a mix are numbered.
OPERATIONS = ("read", "update", "insert", "scan", "modify")
#: What each asks of a session.
_NEEDS = {
    "read": ("read",),
    "update": ("update",),
    "insert": ("insert",),
    "scan": ("range",),
    "modify": ("read", "update"),
}


#: Of a call that reads: its number among those that count, the key that it took, how many records it asked for, and
#: one that it returned.
ReadRow = tuple[int, bytes, int, bytes | None, bytes | None]
#: The types that hold their bytes: a class of the driver's could make them when it is looked at.
_BYTES = (bytes, bytearray, memoryview)
#: Likewise what holds a record, and the records of a range.
_LISTS = (list, tuple)
#: A call's key, the records that it asked for, and those that it returned.
_Read = tuple[bytes, int, Sequence[Any]]


def _read_rows(
    engine: Engine, sample: KeptCalls, read: Callable[[Any, Any], _Read | None]
) -> Callable[[Sequence[tuple[Any, Any]]], list[ReadRow]] | None:
    """The splitter of kept calls, for an engine that returns something."""
    if not does_work(engine):
        return None

    def rows(calls: Sequence[tuple[Any, Any]]) -> list[ReadRow]:
        found: list[ReadRow] = []
        for number, (taken, returned) in zip(sample.places, calls, strict=True):
            if (one := read(taken, returned)) is not None:
                key, wanted, pairs = one
                some: Sequence[tuple[bytes | None, bytes | None]] = [*map(_pair, pairs)] or [(None, None)]
                found += [(number, key, wanted, *pair) for pair in some]
        return found

    return rows


def _pair(given: Any) -> tuple[bytes, bytes]:
    if type(given) not in _LISTS or len(given) != 2:
        raise WrongAnswer(f"a timed call returned {type(given).__name__} in place of bytes, or a tuple of two")
    return _as_bytes(given[0]), _as_bytes(given[1])


def _as_bytes(given: Any) -> bytes:
    if type(given) not in _BYTES:
        raise WrongAnswer(f"a timed call returned {type(given).__name__} in place of bytes")
    return bytes(given)


def _of_a_read(taken: bytes, returned: Any) -> _Read:
    """The value of the key, or a pair of key and value."""
    if returned is None:
        return taken, 1, ()
    return taken, 1, [(taken, returned) if type(returned) in _BYTES else returned]


def _bound(run: Any, more: int) -> tuple[Any, ...]:
    """The innermost function of a partial, and what is bound to it before the last `more` arguments."""
    arguments = (*run.args[: len(run.args) - more], *run.keywords.values())
    return run.func, *map(id, arguments)  # the very same, for some can't be hashed


def _of_a_mix(bound: Mapping[str, tuple[Any, ...]], taken: Any, returned: Any) -> _Read | None:
    """What a call of a mix has read; None of one that only writes."""
    if _bound(taken, 1) == bound.get("read"):  # all others take one more
        return _of_a_read(taken.args[-1], returned)
    called = _bound(taken, 2)
    if called == bound.get("scan") and type(taken.args[-1]) is int:  # a write may be the same function
        key, wanted = taken.args[-2:]
        if type(returned) not in _LISTS:
            raise WrongAnswer(f"a timed call returned {type(returned).__name__} in place of a list of records")
        return key, wanted, returned
    return _of_a_read(taken.args[0], returned) if called == bound.get("modify") else None


@dataclass(frozen=True)
class CallStream:
    """One client's calls: `run` is called `through` what is `given`."""

    run: Callable[..., object]
    given: Iterable[Any]
    through: Callable[[Callable[..., object], Iterable[Any]], Iterable[object]] = map
    #: Calls whose arguments are held at a time.
    at_once: int = CHUNK
    #: The operations of each chunk of calls, as they are given out; empty if there is one only.
    codes: deque[NDArray[np.int64]] | None = None
    #: What the calls count by themselves, such as retries by their reasons.
    counts: dict[str, int] = field(default_factory=dict)
    #: Endless calls of all clients together that are made before the start.
    premade: int = 0
    #: Looks at what the last call of the warm-up returned. Raises Unsupported if it isn't what such calls return.
    look: Callable[[Any], None] | None = None
    #: What the codes stand for.
    names: Sequence[str] = OPERATIONS
    #: Of calls whose answers are compared afterwards: the number of each from 0, and the rows that it returned.
    kept: Sequence[tuple[int, Any]] = ()
    #: What the calls add such answers to, within the clock.
    results: Sequence[KeptResults] = ()
    #: What keeps the results of some calls; None where there is nothing to keep.
    sample: KeptCalls | None = None
    #: The rows of calls that were kept by what they took and returned. Raises WrongAnswer for what is no answer.
    rows_of: Callable[[Sequence[tuple[Any, Any]]], list[ReadRow] | pa.Table] | None = None
    #: Seconds for which the client pauses after each call, given out with the calls; None if it never does.
    pauses: Iterator[float] | None = None
    #: How it pauses.
    pause: Callable[[float], object] = time.sleep

    def recorder(self, whole: Samples, by: dict[str, Samples]) -> Record:
        """Takes times into `whole`, and by operation where there are several; copies the results so far."""
        if self.codes is None and not self.results:
            return whole.record
        codes, results = self.codes, self.results

        def record(times: NDArray[np.int64]) -> None:
            for each in results:
                each.copy_new()
            whole.record(times)
            if codes is None:
                return
            kinds = _next(codes, len(times))
            # numpy's `unique` would import a package of 40 ms, between the first two chunks of calls.
            for code in np.flatnonzero(np.bincount(kinds)).tolist():
                by.setdefault(self.names[code], Samples()).record(times[kinds == code])

        return record


def _next(codes: deque[NDArray[np.int64]], count: int) -> NDArray[np.int64]:
    """Take the next `count` of them, in whatever pieces they were given out."""
    found = [codes.popleft()]
    while (more := sum(map(len, found)) - count) < 0:
        found.append(codes.popleft())
    if more:
        found[-1], rest = np.split(found[-1], [len(found[-1]) - more])
        codes.appendleft(rest)
    return found[0] if len(found) == 1 else np.concatenate(found)


@dataclass(frozen=True)
class KeySequence:
    """`count` records from `first` on, in an order; `transaction` of them go into one call, if more than one."""

    records: Records
    seed: int
    scale: float
    operation: str
    order: str
    first: int
    count: int
    version: int = 0
    transaction: int = 1
    #: How many records from `first` on are drawn from in random order, or have one in the middle; 0 means `count`.
    among: int = 0
    #: Whether the calls go on for ever: each client takes its share again, in further versions, or inserts further on.
    endless: bool = False

    @property
    def needed(self) -> str:
        """The session's operation."""
        return f"{self.operation}_many" if self.transaction > 1 else self.operation

    def check(self, engine: Engine, session: Session) -> None:
        """Raise Unsupported if the engine has no such operation."""
        prepared(engine, session, self.needed)

    def prepare(self, engine: Engine, session: Session, number: int, of: int) -> CallStream:
        """One client's share of the calls."""
        reads = self.operation in ("read", "seek")
        run = prepared(engine, session, self.needed)(**({"snapshot": True} if reads else {}))
        spread = self._pairs and self.transaction == 1
        at_once = max(min(CHUNK, self._at_once // self.transaction), 1)
        through = starmap if spread else map
        stream = CallStream(run, self._share(number, of), through, at_once, premade=self._premade // self.transaction)
        if not reads:
            return stream
        sample = KeptCalls(self._length)
        return replace(stream, sample=sample, rows_of=_read_rows(engine, sample, _of_a_read))

    @property
    def _length(self) -> int:
        return self.records.key_bytes + self.records.value_bytes

    @property
    def _premade(self) -> int:
        each = self.records.key_bytes + (self.records.value_bytes if self._pairs else 0)
        return int(_HELD // (each + _OBJECT))

    @property
    def _pairs(self) -> bool:
        return self.operation in ("insert", "update")

    def _share(self, number: int, of: int) -> Iterator[Any]:
        records = RecordSet(self.records, self.seed, self.scale)
        for places, version in self._places(number, of):
            numbers = self._numbers(places)
            items: list[Any] = records.pairs(numbers, version) if self._pairs else records.keys(numbers)
            if self.transaction == 1:
                yield from items
            else:
                yield from (items[at : at + self.transaction] for at in range(0, len(items), self.transaction))

    def _places(self, number: int, of: int) -> Iterator[tuple[Numbers, int]]:
        """A piece of one client's share after another, with the version to write."""
        at_once = max(self._at_once // self.transaction, 1) * self.transaction
        if self.endless and self.operation == "insert":
            for start in count(0, at_once):
                yield np.arange(start, start + at_once, dtype=np.uint64) * np.uint64(of) + np.uint64(number), 0
        share = self.share(number, of)
        for lap in count() if self.endless else (0,):
            for start in range(share.start, share.stop, at_once):
                yield np.arange(start, min(start + at_once, share.stop), dtype=np.uint64), self.version + lap

    def share(self, number: int, of: int) -> range:
        """One client's places in the order; all of them where there are too few to share them out for ever."""
        if self.endless and self.count < of:
            return range(self.count)
        return share(self.count, number, of)

    def taken(self, made: int, number: int, of: int) -> int:
        """How many records one client has taken in `made` calls: the last transaction of a share may be a short one."""
        if self.operation == "insert":
            return made * self.transaction
        share = len(self.share(number, of))
        laps, rest = divmod(made, -(-share // self.transaction))
        return laps * share + min(rest * self.transaction, share)

    @property
    def _at_once(self) -> int:
        each = self.records.key_bytes + (self.records.value_bytes if self._pairs else 0)
        # In an endless loop they are made while other clients call, or while a call is due: a few at a time.
        return int(max(min(4 * CHUNK if self.endless else _MOST, _PIECE // each), 1))

    def _numbers(self, places: Numbers) -> Numbers:
        if self.order == "same":  # one in the middle; of a write the first, as versions are kept by spans from there
            return np.full(len(places), self.first + (0 if self._pairs else (self.among or self.count) // 2), np.uint64)
        if self.order == "random":
            places = shuffled(places, self.among or self.count, self.seed)
        return places + np.uint64(self.first)


@dataclass(frozen=True)
class OperationMix:
    """A mix of `operations` calls on the records from `first` up to `next`, which inserts add to.

    Each client inserts numbers of its own, and reads the records that were there at the start and those that it
    has inserted itself, so that it never asks for one that isn't there.
    """

    records: Records
    seed: int
    scale: float
    first: int
    next: int
    operations: int
    weights: Mapping[str, float]
    keys: str
    scan_length: int
    #: The greatest version that any record has; each write has one of its own above it.
    version: int = 0
    #: Whether the calls go on for ever, whatever `operations` says.
    endless: bool = False

    def check(self, engine: Engine, session: Session) -> None:
        """Raise Unsupported if the engine lacks an operation."""
        for operation in self.weights:
            for needed in _NEEDS[operation]:
                prepared(engine, session, needed)

    def prepare(self, engine: Engine, session: Session, number: int, of: int) -> CallStream:
        """One client's share of the calls."""
        runs: dict[str, Callable[..., object]] = {}
        for name in {needed for operation in self.weights for needed in _NEEDS[operation]}:
            runs[name] = prepared(engine, session, name)()

        def modify(key: bytes, value: bytes) -> object:
            found = runs["read"](key)
            runs["update"](key, value)
            return found

        calls = {"scan": runs.get("range"), "modify": modify}
        calls |= {name: run for name, run in runs.items() if name != "range"}
        codes: deque[NDArray[np.int64]] = deque()
        premade = int(_HELD // (self.records.value_bytes + _OBJECT))
        share = self._share(calls, codes, number, of)
        bound = {name: _bound(partial(run), 0) for name, run in calls.items() if run}
        longest = self.scan_length if "scan" in self.weights else 1
        sample = KeptCalls(longest * (self.records.key_bytes + self.records.value_bytes))
        rows_of = _read_rows(engine, sample, partial(_of_a_mix, bound))
        return CallStream(
            call, share, at_once=self._at_once, codes=codes, premade=premade, sample=sample, rows_of=rows_of
        )

    def _share(self, calls: Mapping[str, Any], codes: deque[NDArray[np.int64]], number: int, of: int) -> Iterator[Any]:
        records = RecordSet(self.records, self.seed, self.scale)
        for kinds, numbers, versions, lengths in self.drawn(number, of):
            codes.append(kinds)
            keys, values = records.keys(numbers), records.values(numbers, versions)
            for kind, key, value, length in zip(kinds.tolist(), keys, values, lengths.tolist(), strict=True):
                operation = OPERATIONS[kind]
                if operation == "read":
                    yield partial(calls["read"], key)
                elif operation == "scan":
                    yield partial(calls["scan"], key, length)
                else:
                    yield partial(calls[operation], key, value)

    def drawn(
        self, number: int, of: int, made: int | None = None
    ) -> Iterator[tuple[NDArray[np.int64], Numbers, Numbers, NDArray[np.int64]]]:
        """One client's operations, numbers of records, versions to write and lengths of scans, a chunk at a time.

        Those of its first `made` calls, if it is given.
        """
        if made is None:
            yield from self._drawn(number, of)
            return
        rest = made
        for drawn in self._drawn(number, of) if made else ():
            kinds, numbers, versions, lengths = drawn
            yield kinds[:rest], numbers[:rest], versions[:rest], lengths[:rest]
            rest -= len(kinds)
            if rest <= 0:
                return

    def _drawn(self, number: int, of: int) -> Iterator[tuple[NDArray[np.int64], Numbers, Numbers, NDArray[np.int64]]]:
        random = np.random.default_rng((self.seed, number, of))
        base = self.next - self.first
        zipfian = Zipfian(base) if self.keys != "uniform" else None
        weights = np.array([self.weights.get(name, 0.0) for name in OPERATIONS])
        mine = len(share(self.operations, number, of))
        inserted = done = 0
        while self.endless or done < mine:
            size = self._at_once if self.endless else min(self._at_once, mine - done)
            kinds = random.choice(len(OPERATIONS), size, p=weights / weights.sum())
            inserts = kinds == OPERATIONS.index("insert")
            before = inserted + np.cumsum(inserts) - inserts
            uniform = random.random(size)
            ranks = (uniform * base).astype(np.uint64) if zipfian is None else zipfian.draw(uniform)
            numbers = self._latest(ranks, before, number, of) if self.keys == "latest" else self._spread(ranks, base)
            numbers = np.where(inserts, self.next + number + of * before, numbers).astype(np.uint64)
            turns = np.arange(done, done + size, dtype=np.uint64)
            versions = np.where(inserts, 0, self.version + 1 + turns * of + number).astype(np.uint64)
            lengths = random.integers(1, self.scan_length + 1, size)
            yield kinds, numbers, versions, lengths
            inserted += int(inserts.sum())
            done += size

    @property
    def _at_once(self) -> int:
        return int(max(min(CHUNK, _PIECE // self.records.value_bytes), 1))

    def inserted(self, number: int, of: int, made: int | None = None) -> int:
        """The number of records that one client inserts, in its first `made` calls if given."""
        return sum(int((kinds == OPERATIONS.index("insert")).sum()) for kinds, *_ in self.drawn(number, of, made))

    def _spread(self, ranks: Numbers, base: int) -> Numbers:
        """The popular ones all over the keys, not side by side."""
        places = shuffled(ranks, base, self.seed) if self.keys == "zipfian" else ranks
        found: Numbers = places + np.uint64(self.first)
        return found

    def _latest(self, ranks: Numbers, before: NDArray[np.int64], number: int, of: int) -> NDArray[np.int64]:
        """Rank 0 is the newest: first this client's own inserts, then those that were there."""
        back = ranks.astype(np.int64)
        own = self.next + number + of * (before - 1 - back)
        return np.where(back < before, own, self.next - 1 - (back - before))
