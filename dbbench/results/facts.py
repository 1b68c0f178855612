"""What the open mappings of a run directory hold, as far as dbbench reads it: each key's shape, checked when read.

A type checker knows these keys and their types. Other keys are kept as they are, so that a run of a later version, or
with an engine's own words, is read whole. What dbbench writes and never reads is declared, but not checked.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import (
    Annotated,
    Any,
    Literal,
    Required,  # pydantic asks for this one before Python 3.12
)

from pydantic import AfterValidator, ConfigDict, Field, SkipValidation, with_config
from typing_extensions import TypedDict

from dbbench.suite.base import EngineName, Title

#: The percentiles of any calls that reports show, and the parts of an object's time in the order in which they come.
SHOWN = ("p50", "p90", "p99", "p99.9")
PARTS = ("execute", "fetch", "materialise")

#: A figure in base units: seconds, bytes, or a number per second.
Amount = Annotated[float, Field(ge=0, le=1e18)]
_Count = Annotated[int, Field(ge=0, le=10**18)]
#: Whole or not, as it was written.
_Number = Annotated[int | float, Field(ge=0, le=1e18)]
_AboveZero = Annotated[int | float, Field(gt=0, le=1e18)]
_Words = dict[str, str]

_open = with_config(ConfigDict(extra="allow"))


def _with(found: Any, *required: str) -> Any:
    """The mapping, which must have these keys. Raises ValueError."""
    if missing := [key for key in required if key not in found]:
        raise ValueError(f"the key {missing[0]!r} is missing")
    return found


@_open
class EngineFacts(TypedDict, total=False):
    """What the probe found of an engine."""

    status: Required[str]
    engine: EngineName | Literal[""]
    detail: str
    install: str
    title: Title | None
    #: What the reader of a report calls it; empty in a run's own manifest.
    label: str
    license: str
    publication: str
    publication_note: str
    ranked: bool
    versions: _Words
    lacks: _Words
    url: str


@_open
class CrashCheckFacts(TypedDict, total=False):
    """What `dbbench durability` had found of it before."""

    passed: Required[bool]
    kills: Required[_Count]
    day: Required[datetime.date]


@_open
class ToldFacts(TypedDict, total=False):
    """What a worker recorded of the engine that it opened."""

    title: Title
    versions: _Words
    settings: dict[str, object]
    tier: str
    publication: str
    publication_note: str
    crash_check: CrashCheckFacts


@_open
class MachineFacts(TypedDict, total=False):
    """See `machine.describe`."""

    cpu: str
    threads: _Count | None
    memory_bytes: _Count
    system: str
    kernel: str
    file_system: str
    python: str
    packages: _Words


@_open
class FdatasyncFacts(TypedDict, total=False):
    """Seconds that a sync of the disk took."""

    median: Required[_Number]


@_open
class NoiseFacts(TypedDict, total=False):
    """See `noise.before` and `noise.between`."""

    others: _Number | None
    steal: _Number | None
    throttled: _Number | None
    governor: str | None
    frequency_limit_hz: _Number | None
    frequency_most_hz: _Number | None
    on_battery: bool | None
    memory_available: _Number | None
    memory_total: _Number | None
    disk_free: _Number | None
    disk_total: _Number | None
    overwritten: _Number | None
    fdatasync: FdatasyncFacts | None


@_open
class Rows(TypedDict, total=False):
    """A dataset's size."""

    rows: Required[dict[str, _Count]]
    csv_bytes: Required[_Count]
    key: SkipValidation[str]


def _some(times: TimesFacts) -> TimesFacts:
    if "percentiles" in times and (not times["count"] or times["max"] is None):
        raise ValueError("percentiles of no calls")
    return times


@_open
class TimesFacts(TypedDict, total=False):
    """What calls took, in nanoseconds; with percentiles come the bins of the histogram and their counts."""

    unit: SkipValidation[Literal["ns"]]
    min: SkipValidation[_Number | None]
    bins: SkipValidation[list[int]]
    counts: SkipValidation[list[_Count]]
    count: Required[_Count]
    sum: Required[_Number]
    max: Required[_Number | None]
    percentiles: Annotated[dict[str, _Number | None], AfterValidator(lambda found: _with(found, *SHOWN))]


_Times = Annotated[TimesFacts, AfterValidator(_some)]
#: One for each second or so of a step.
_Counts = Annotated[list[_Count], Field(max_length=1_000)]
_Latencies = Annotated[list[_Number | None], Field(max_length=1_000)]


@_open
class TimelineFacts(TypedDict, total=False):
    """A step by slots of `seconds` each."""

    seconds: Required[_AboveZero]
    calls: Required[_Counts]
    p50: Required[_Latencies]
    p99: Required[_Latencies]


@_open
class TransactionCounts(TypedDict, total=False):
    """Figures of one transaction of several."""

    committed: Required[_Count]
    rolled_back: Required[_Count]
    retries: Required[dict[str, _Count]]


@_open
class ClientsFacts(TypedDict, total=False):
    """Facts of the clients that called."""

    threads: Required[_Count]
    processes: Required[_Count]


@_open
class ArrivalsFacts(TypedDict, total=False):
    """Calls of a schedule."""

    dropped: SkipValidation[_Count]
    saturated: SkipValidation[bool]
    in_time: SkipValidation[_Count]
    late: Required[_Count]
    due: Required[_Count]


@_open
class FindFacts(TypedDict, total=False):
    """What a search for the highest rate found: the lowest that failed, and why it ended early."""

    failed: Required[_Number | None]
    ended: str


@_open
class OutsideFacts(TypedDict, total=False):
    """Files beside the database's folder."""

    bytes: Required[_Count]
    files: Required[list[str]]


@_open
class FairnessFacts(TypedDict, total=False):
    """How alike the clients of a round fared."""

    fastest: Required[_Number]
    slowest: Required[_Number]
    jain: Required[_Number]


@_open
class FileFacts(TypedDict, total=False):
    """A file of a database, in bytes."""

    name: SkipValidation[str]
    part: Required[str]
    apparent: Required[_Count]
    allocated: Required[_Count]


@_open
class HostFacts(TypedDict, total=False):
    """A host that clients of a step were on: see `cluster.hosts`. Times in seconds, `busy` a share of processors."""

    name: Required[Annotated[str, Field(max_length=100)]]
    clients: Required[_Count]
    calls: Required[_Count]
    per_second: Required[_Number]
    busy: Required[Annotated[float, Field(ge=0, le=1)] | None]
    round_trip: Required[_Number]
    bound: Required[_Number]
    late: Required[_Number]
    cpu: str
    threads: _Count | None
    kernel: str


@_open
class RoundHost(TypedDict, total=False):
    """A host that ran whole rounds, and what it is."""

    name: Required[Annotated[str, Field(max_length=100)]]
    cpu: str
    threads: _Count | None
    memory_bytes: _Count
    kernel: str


@_open
class ClusterFacts(TypedDict, total=False):
    """The hosts of a step, and the seconds from the first start to the last end."""

    hosts: Required[Annotated[list[HostFacts], Field(min_length=1, max_length=1_000)]]
    span: Required[_Number]


class AnswerFacts(TypedDict, total=False):
    """Facts of queries and of other steps that are compared."""

    agrees: _Count
    answer_by: str
    disputes: _Count
    differs: Annotated[list[str], Field(max_length=10)]
    checked_by: str
    compared: _Count
    rows: _Count
    gives: str
    other_forms: list[str]
    cache: str
    why: str
    #: From a cold start: seconds to open the engine, connect and prepare; bytes read after that.
    opened: _Number
    read_bytes: _Count


class LoadFacts(TypedDict, total=False):
    """Facts of loads and of other steps that write."""

    takes: str
    csv_bytes: _Count
    load_parts: dict[str, _Number]
    making_rows: _Number


class SizeFacts(TypedDict, total=False):
    """Facts of a database's size, in bytes and seconds."""

    files: list[FileFacts]
    #: What the bytes of all files are for; they add up to the files' own. Runs before 24 November 2026 have none.
    size_parts: Mapping[str, _Number]
    index: _Number | None
    heap: _Number | None
    before_flush: _Number | None
    flush_seconds: _Number
    compact_seconds: _Number
    outside: OutsideFacts


#: What a copy of an engine's folder has of a step's acknowledged commits, if all is well.
ALL_THERE = "all there"


class CallFacts(TypedDict, total=False):
    """Facts of calls by one or more clients."""

    #: Whether an event loop awaited the calls.
    awaited: bool
    #: The result of a copy of the engine's folder, taken right after the last call.
    copy: str
    #: Why nothing shows that its commits were synced, which it promises.
    syncs: str
    operations: _Count
    calls: _Count
    #: The median time of a client's first calls over that of its later ones, where the two are told apart.
    first_calls: _Number
    times: Annotated[dict[str, _Times], AfterValidator(lambda found: _with(found, "service time") if found else found)]
    per_second: _Number
    clients: ClientsFacts
    arrivals: ArrivalsFacts
    timeline: TimelineFacts
    find: FindFacts
    cluster: ClusterFacts


class ObjectFacts(TypedDict, total=False):
    """Facts of objects that were made of rows."""

    objects: _Count
    connect: _Number
    prepare: _Number
    not_parted: str
    parts: Annotated[dict[str, _Number], AfterValidator(lambda found: _with(found, *PARTS) if found else found)]


@_open
class RecallFacts(TypedDict, total=False):
    """The recall of the timed searches, with its interval and fifth percentile; the effort."""

    mean: Required[_Number]
    low: Required[_Number]
    high: Required[_Number]
    p5: Required[_Number]
    queries: Required[_Count]
    knob: str
    effort: _Count | None
    #: The least effort found all neighbours; or the most gave the same answers as the least.
    exact: bool
    without_effect: bool


@_open
class AddingFacts(TypedDict, total=False):
    """Vectors or texts that one client added while others searched, of those it had to, and the seconds of that.

    `found_after` is the time from the last acknowledgement until a search found it.
    """

    added: Required[_Count]
    of: Required[_Count]
    seconds: Required[_AboveZero]
    found_after: _Number


class SearchingFacts(TypedDict, total=False):
    """Facts of searches for vectors or texts."""

    adding: AddingFacts


class NearestFacts(TypedDict, total=False):
    """Facts of searches for the nearest vectors."""

    recall: RecallFacts


@_open
class SearchFacts(TypedDict, total=False):
    """Calls that were checked, the texts that match on average; of ranked ones the mean NDCG, and a random order's."""

    checked: Required[_Count]
    matches: Required[_Number]
    ndcg: _Number
    ndcg_by_chance: _Number


class TextFacts(TypedDict, total=False):
    """Facts of searches for texts."""

    search: SearchFacts


class TransactionFacts(TypedDict, total=False):
    """Facts of transactions that may be retried, and what the database counted of them."""

    retries: dict[str, _Count]
    counted: dict[str, int]
    by_transaction: dict[str, TransactionCounts]
    fairness: FairnessFacts
    transactions: _Count
    inserts: _Count
    updates: _Count
    deletes: _Count
    selects: _Count
    left: _Count


class TotalFacts(TypedDict, total=False):
    """Facts of a sum of steps."""

    of: SkipValidation[list[str]]


#: Keys that come together.
_TOGETHER = (
    ("fairness", "retries", "counted", "clients"),
    ("transactions", "inserts", "updates", "deletes", "selects", "left", "retries"),
    ("arrivals", "per_second"),
    ("by_transaction", "per_second"),
    ("load_parts", "making_rows"),
    ("times", "per_second"),
    ("connect", "prepare", "parts", "not_parted"),
)


@_open
class StepFacts(
    AnswerFacts,
    LoadFacts,
    SizeFacts,
    CallFacts,
    ObjectFacts,
    NearestFacts,
    SearchingFacts,
    TextFacts,
    TransactionFacts,
    TotalFacts,
    total=False,
):
    """What a workload reports of a step besides its figure."""


def _whole(facts: StepFacts) -> StepFacts:
    for first, *others in _TOGETHER:
        if first in facts:
            _with(facts, *others)
    return facts


#: The same, of which keys that belong together are there together.
CheckedStepFacts = Annotated[StepFacts, AfterValidator(_whole)]
