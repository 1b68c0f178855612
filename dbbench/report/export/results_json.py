"""results.json: a run with all rows, ratios and ranks, for other programs. `dbbench report --schema` has its schema.

Times are in seconds, sizes in bytes, rates in operations per second. Every key is always there; what is not known is
null.
"""

import datetime
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from dbbench.analysis.footprint import Footprint, Resources
from dbbench.analysis.recorded import Recall, Searches
from dbbench.analysis.row import Row
from dbbench.analysis.standings import Standing
from dbbench.host import atomic_json
from dbbench.host.metric import BaseUnit
from dbbench.report.remarks import notes, unsteady, worded
from dbbench.report.run_view import ScenarioView, View
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


class RecallResult(_Part):
    """Recall of searches for the nearest vectors: medians over the rounds."""

    mean: float = Field(description="The share of the true neighbours that the timed searches found")
    interval: Interval | None = Field(description="95 %, by queries")
    p5: float = Field(description="The fifth percentile of the queries'")
    knob: str = Field(description="What the engine trades accuracy for speed by; empty without one")
    effort: float | None = Field(description="Its least value that reached the recall; null without a knob")


class SearchResult(_Part):
    """Searches for texts: medians over the rounds."""

    matches: float = Field(description="The texts that match, on average, whatever the search returned of them")
    checked: float = Field(description="The timed calls whose answers were compared")
    ndcg: float | None = Field(description="Of ranked searches, beside BM25; null for others")
    ndcg_by_chance: float | None = Field(description="That of a random order of the texts that match")


class ResultRow(_Part):
    """One engine in one step. Rows go best to worst, then those without a rank."""

    engine: str
    title: str
    outcome: Outcome = Field(description="The worst of all rounds")
    ranked: bool = Field(description="False for a null engine, which shows the harness's own share")
    verified: bool | None = Field(description="Whether its work was checked; null where there is no figure")
    withheld: str = Field(description="The licence's clause that withholds the figure; empty if nothing is withheld")
    detail: str = Field(description="Why the outcome isn't ok, and remarks")
    unsteady: str = Field(description="Flags of unsteady rounds; empty if none")
    metric: str = Field(
        description="time, latency, throughput, data size, size (a total), or by `--metric` CPU time or undelayed time; "
        "empty where nothing was measured"
    )
    unit: Literal["", BaseUnit]
    direction: Literal["lower", "higher"] = Field(description="Which values are better")
    rank: str | None = Field(description='Like "2", or a range like "1-4"')
    rank_best: int | None
    rank_worst: int | None
    value: float | None = Field(description="The median of the rounds")
    interval: Interval | None = Field(
        description="95 %; of two to five rounds the least and the greatest, which cover the median less often"
    )
    blocks: tuple[float, ...] = Field(description="The value of each round, in order")
    ratio: Ratio | None
    harness_share: float | None = Field(description="The harness's part of the value, as a fraction of one")
    size_parts: dict[str, float] | None = Field(
        description="Bytes on disk in the last round: data, index (both: not told apart), journal and other are the "
        "value; reserved (log) and empty (database) are not in it. Null where no parts were kept"
    )
    growth: Growth | None = Field(description="Null for the first size, and where no parts were kept")
    compact_seconds: float | None = Field(
        description="Seconds of the engine's own compaction before the size in the last round; null without one"
    )
    recall: RecallResult | None = Field(description="Null for other steps than searches for the nearest vectors")
    search: SearchResult | None = Field(description="Null for other steps than searches for texts")


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
    peak_memory: float | None = Field(description="In excess of the null engine's")
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
    published: bool = Field(description="Whether figures are withheld because a licence forbids publishing")
    stopped: str = Field(description="Why no further round was run; empty if all were")
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


def write(shown: View, _stems: Sequence[str] = ()) -> Path:
    """Write it into the view's folder."""
    path = shown.folder / "results.json"
    atomic_json.write(path, document(shown).model_dump(mode="json"))
    return path


def document(shown: View) -> ResultsDocument:
    """A run as its view has it, which has no figure that is withheld."""
    manifest = shown.run.manifest
    return ResultsDocument(
        dbbench=manifest.dbbench,
        suite=shown.run.suite.name,
        created=manifest.created,
        scale=manifest.scale,
        seed=manifest.seed,
        rounds=manifest.rounds,
        published=shown.published,
        stopped=shown.stopped,
        machine=manifest.machine,
        datasets=manifest.datasets,
        notes=(*shown.remarks, *shown.warnings),
        systems=tuple(SystemUnderTest.model_validate(system, from_attributes=True) for system in shown.systems),
        not_run=dict(shown.missing),
        scenarios=tuple(_scenario(scenario, shown) for scenario in shown.scenarios),
    )


def _scenario(scenario: ScenarioView, shown: View) -> ResultScenario:
    name = scenario.scenario.name
    return ResultScenario(
        name=name,
        durability=scenario.scenario.durability,
        overall=tuple(_standing(each, withheld=each.engine in scenario.withheld) for each in scenario.standings),
        used=tuple(_used(each, withheld=each.engine in scenario.withheld) for each in scenario.resources),
        steps=tuple(
            ResultStep(
                name=step.step.name,
                title=step.step.title,
                rows=tuple(
                    _row(row, step.footprints.get(row.engine))
                    for row in shown.rows
                    if (row.scenario, row.step) == (name, step.step.name)
                ),
            )
            for step in scenario.steps
        ),
    )


def _standing(standing: Standing, *, withheld: bool) -> Overall:
    interval = None if withheld else _interval(standing.low, standing.high)
    mean = None if withheld else standing.mean_ratio
    return Overall(engine=standing.engine, withheld=withheld, mean_ratio=mean, interval=interval)


def _used(used: Resources, *, withheld: bool) -> Used:
    names = ("peak_memory", "cpu_seconds", "written_bytes")
    amounts = {name: None if withheld else getattr(used, name) for name in names}
    remarks = () if withheld else tuple(map(worded, used.remarks))
    return Used(engine=used.engine, withheld=withheld, remarks=remarks, **amounts)


def _row(row: Row, found: Footprint | None) -> ResultRow:
    """A withheld row has no figure in it (see `publication`). `found` is its footprint, if it is of a size."""
    ratio = row.ratio and Ratio(value=row.ratio.value, interval=_interval(row.ratio.low, row.ratio.high))
    return ResultRow.model_validate(
        {
            "engine": row.engine, "title": row.title, "outcome": row.outcome, "ranked": row.ranked,
            "verified": row.checked, "withheld": row.withheld, "detail": "; ".join(notes(row)), "unsteady": unsteady(row),
            "metric": row.metric, "unit": row.unit, "direction": row.direction,
            "rank": str(row.rank) if row.rank else None,
            "rank_best": row.rank.best if row.rank else None,
            "rank_worst": row.rank.worst if row.rank else None,
            "value": row.value, "interval": _interval(row.low, row.high), "blocks": row.trial_means,
            "ratio": ratio, "harness_share": row.harness_share, "size_parts": row.kept_size_parts or None,
            "growth": _growth(found), "compact_seconds": row.compact_seconds,
            "recall": _recall(row.recall), "search": _search(row.searches),
        }
    )  # fmt: skip


def _recall(found: Recall | None) -> RecallResult | None:
    if found is None:
        return None
    interval = _interval(found.low, found.high)
    return RecallResult(mean=found.mean, interval=interval, p5=found.p5, knob=found.knob, effort=found.effort)


def _search(found: Searches | None) -> SearchResult | None:
    if found is None:
        return None
    return SearchResult(matches=found.matches, checked=found.checked, ndcg=found.ndcg, ndcg_by_chance=found.by_chance)


def _growth(found: Footprint | None) -> Growth | None:
    if found is None or found.grown is None:
        return None
    return Growth(bytes=found.grown, share=found.grown_share, bytes_per_added_row=found.per_added_row)


def _interval(low: float | None, high: float | None) -> Interval | None:
    return None if low is None or high is None else (low, high)
