"""What the open mappings of a run directory hold, as far as dbbench reads it: the shape of each key, checked when it is read.

Other keys are kept as they are. For those who use them they are plain dictionaries.
"""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, ConfigDict, Field

from dbbench.suite.model import EngineName

#: The percentiles of any calls that reports show, and the parts of an object's time in the order in which they come.
SHOWN = ("p50", "p90", "p99", "p99.9")
PARTS = ("execute", "fetch", "materialise")

#: A figure in base units: seconds, bytes, or a number per second.
Amount = Annotated[float, Field(ge=0, le=1e18)]

if TYPE_CHECKING:
    EngineFacts = dict[str, Any]
    MachineFacts = dict[str, Any]
    NoiseFacts = dict[str, Any]
    Rows = dict[str, Any]
    StepFacts = dict[str, Any]
    ToldFacts = dict[str, Any]
else:
    from typing_extensions import TypedDict  # pydantic asks for this one before Python 3.12

    #: A title stands on every chart.
    _Title = Annotated[str, Field(max_length=300)]
    _Count = Annotated[int, Field(ge=0, le=10**18)]
    #: Whole or not, as it was written.
    _Number = Annotated[int | float, Field(ge=0, le=1e18)]

    def _open(name: str, *required: str, **keys: Any) -> Any:
        """A mapping with these keys, of which none but the required ones need be there, and any others."""
        shape = TypedDict(name, keys, total=False)
        shape.__pydantic_config__ = ConfigDict(extra="allow")
        return Annotated[shape, AfterValidator(lambda found: _with(found, *required))]

    def _with(found: dict[str, Any], *required: str) -> dict[str, Any]:
        if missing := [key for key in required if key not in found]:
            raise ValueError(f"the key {missing[0]!r} is missing")
        return found

    def _if_any(*required: str) -> Any:
        return AfterValidator(lambda found: _with(found, *required) if found else found)

    _Words = dict[str, str]
    #: What the probe found of an engine.
    EngineFacts = _open(
        "EngineFacts", "status",
        status=str, engine=EngineName | Literal[""], detail=str, install=str, title=_Title | None, license=str, publication=str,
        publication_note=str, ranked=bool, versions=_Words, lacks=_Words, url=str,
    )  # fmt: skip
    #: What a worker recorded of the engine that it opened.
    ToldFacts = _open(
        "ToldFacts",
        title=_Title, versions=_Words, settings=dict[str, Any], tier=str, publication=str, publication_note=str,
        crash_check=_open("CrashCheck", "passed", "kills", "day", passed=bool, kills=_Count, day=datetime.date),
    )  # fmt: skip
    #: See `machine.describe`.
    MachineFacts = _open(
        "MachineFacts",
        cpu=str, threads=_Count | None, memory_bytes=_Count, system=str, kernel=str, file_system=str, python=str,
        packages=_Words,
    )  # fmt: skip
    #: See `noise.before` and `noise.between`.
    NoiseFacts = _open(
        "NoiseFacts",
        others=_Number | None, steal=_Number | None, throttled=_Number | None, governor=str | None,
        frequency_limit_hz=_Number | None, frequency_most_hz=_Number | None, on_battery=bool | None,
        memory_available=_Number | None, memory_total=_Number | None, disk_free=_Number | None,
        disk_total=_Number | None, overwritten=_Number | None,
        fdatasync=_open("Fdatasync", "median", median=_Number) | None,
    )  # fmt: skip
    #: A dataset's size.
    Rows = _open("Rows", "rows", "csv_bytes", rows=dict[str, _Count], csv_bytes=_Count)

    def _some(times: dict[str, Any]) -> dict[str, Any]:
        if "percentiles" in times and (not times["count"] or times["max"] is None):
            raise ValueError("percentiles of no calls")
        return times

    _Percentiles = Annotated[dict[str, _Number | None], AfterValidator(lambda found: _with(found, *SHOWN))]
    _Times = Annotated[
        _open("Times", "count", "sum", "max", count=_Count, sum=_Number, max=_Number | None, percentiles=_Percentiles),
        AfterValidator(_some),
    ]
    #: One for each second or so of a step.
    _Counts = Annotated[list[_Count], Field(max_length=1_000)]
    _Latencies = Annotated[list[_Number | None], Field(max_length=1_000)]
    #: Of one transaction of several.
    _Transaction = _open(
        "Transaction",
        "committed",
        "rolled_back",
        "retries",
        committed=_Count,
        rolled_back=_Count,
        retries=dict[str, _Count],
    )
    _Clients = _open("Clients", "threads", "processes", threads=_Count, processes=_Count)
    _FACTS = _open(
        "StepFacts",
        agrees=_Count, checked_by=str, compared=_Count, rows=_Count, csv_bytes=_Count, gives=str, takes=str, cache=str, why=str, operations=_Count, objects=_Count,
        times=Annotated[dict[str, _Times], _if_any("service time")], per_second=_Number, clients=_Clients,
        arrivals=_open("Arrivals", "late", "due", late=_Count, due=_Count),
        timeline=_open("Timeline", "seconds", "calls", "p50", "p99", seconds=_Number, calls=_Counts, p50=_Latencies, p99=_Latencies),
        find=_open("Find", "failed", failed=_Number | None),
        retries=dict[str, _Count], counted=dict[str, int], by_transaction=dict[str, _Transaction],
        other_forms=list[str], outside=_open("Outside", "bytes", "files", bytes=_Count, files=list[str]),
        fairness=_open("Fairness", "fastest", "slowest", "jain", fastest=_Number, slowest=_Number, jain=_Number),
        connect=_Number, prepare=_Number, not_parted=str,
        parts=Annotated[dict[str, _Number], _if_any(*PARTS)],
        files=list[_open("File", "part", "apparent", "allocated", part=str, apparent=_Count, allocated=_Count)],
        load_parts=dict[str, _Number], making_rows=_Number,
        index=_Number | None, before_flush=_Number | None, flush_seconds=_Number,
        transactions=_Count, inserts=_Count, updates=_Count, deletes=_Count, selects=_Count, left=_Count,
    )  # fmt: skip
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

    def _whole(facts: dict[str, Any]) -> dict[str, Any]:
        for first, *others in _TOGETHER:
            if first in facts:
                _with(facts, *others)
        return facts

    #: What a workload tells of a step besides its figure.
    StepFacts = Annotated[_FACTS, AfterValidator(_whole)]
