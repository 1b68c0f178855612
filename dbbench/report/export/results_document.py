"""The shape of results.json. `dbbench report --schema` prints it as a JSON Schema.

Times are in seconds, sizes in bytes, rates in operations per second. Every key is always there; what is not known is null.
"""

from __future__ import annotations

import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from dbbench.host.metric import BaseUnit
from dbbench.results.outcome import Outcome

#: The least and the greatest value.
Interval = tuple[float, float]


class _Part(BaseModel):
    # A figure that is not a number would be no JSON.
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Ratio(_Part):
    """How many times the best engine's median."""

    value: float
    interval: Interval | None = Field(description="95 %, by whole rounds; null for the best engine and with one round")


class Growth(_Part):
    """Growth of what the data cost since the size before: medians over the rounds."""

    bytes: float
    share: float | None = Field(description="Of the size before")
    bytes_per_added_row: float | None = Field(description="Null where no row was added")


class ResultRow(_Part):
    """One engine in one step. Rows go best to worst, then those without a rank."""

    engine: str
    title: str
    outcome: Outcome = Field(description="Of several rounds the worst")
    ranked: bool = Field(description="False for a null engine, which shows the harness's own share")
    verified: bool | None = Field(description="Whether its work was checked; null where there is no figure")
    withheld: str = Field(description="The clause by which there is no figure here; empty if nothing is withheld")
    detail: str = Field(description="Why the outcome isn't ok, and remarks")
    unsteady: str = Field(description="What is odd about its rounds; empty if nothing is")
    metric: str = Field(
        description="time, latency, throughput, data size, or size (a total); empty where nothing was measured"
    )
    unit: Literal["", BaseUnit]
    direction: Literal["lower", "higher"] = Field(description="Which values are better")
    rank: str | None = Field(description='Like "2", or a range like "1-4"')
    rank_best: int | None
    rank_worst: int | None
    value: float | None = Field(description="The median of the rounds")
    interval: Interval | None = Field(description="95 %; with fewer than six rounds the least and the greatest")
    blocks: tuple[float, ...] = Field(description="The value of each round, in order")
    ratio: Ratio | None
    harness_share: float | None = Field(description="The harness's part of the value, as a fraction of one")
    size_parts: dict[str, float] | None = Field(
        description="Bytes on disk in the last round: data, index (both: not told apart), journal and other are the "
        "value; reserved (log) and empty (database) are not in it. Null where no parts were kept"
    )
    growth: Growth | None = Field(description="Null for the first size, and where no parts were kept")
    compact_seconds: float | None = Field(
        description="What the engine's own compaction before a size took in the last round; null without one"
    )


class ResultStep(_Part):
    """One step of a scenario."""

    name: str
    title: str
    rows: tuple[ResultRow, ...]


class Overall(_Part):
    """One engine over all timed steps of a scenario."""

    engine: str
    withheld: bool
    mean_ratio: float | None = Field(description="The geometric mean of its ratios, if it has one in every timed step")
    interval: Interval | None


class Used(_Part):
    """What the trials of an engine used: medians over the rounds."""

    engine: str
    withheld: bool
    peak_memory: float | None = Field(description="Above that of the null engine")
    cpu_seconds: float | None
    written_bytes: float | None
    remarks: tuple[str, ...]


class ResultScenario(_Part):
    """One scenario."""

    name: str
    durability: str
    overall: tuple[Overall, ...] = Field(description="Best to worst")
    used: tuple[Used, ...]
    steps: tuple[ResultStep, ...]


class SystemUnderTest(_Part):
    """An engine that ran, in words."""

    engine: str
    title: str
    versions: str
    settings: str
    license: str


class ResultsDocument(_Part):
    """The results of a dbbench run."""

    #: It grows when a key goes or means something else; a new key alone doesn't change it.
    schema_version: Literal[1] = 1
    dbbench: str = Field(description="The version of dbbench that made the run")
    suite: str
    created: datetime.datetime
    scale: float
    seed: int
    rounds: int
    published: bool = Field(description="Whether figures are left out that a licence forbids to publish")
    stopped: str = Field(description="Why there was no further round; empty if all were run")
    machine: dict[str, Any]
    datasets: dict[str, Any] = Field(description="Dataset -> rows of its tables, bytes as CSV")
    notes: tuple[str, ...] = Field(description="Remarks and warnings")
    systems: tuple[SystemUnderTest, ...]
    not_run: dict[str, str] = Field(description="Engine -> why it was not run")
    scenarios: tuple[ResultScenario, ...]


def schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of results.json."""
    found = ResultsDocument.model_json_schema(mode="serialization")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **found}
