"""What the trials of an engine used besides time: memory, CPU, bytes written; and sizes over the life of the data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from dbbench.analysis.remarks import About, Remark, of_trials
from dbbench.analysis.statistics import known_median
from dbbench.results.facts import StepFacts
from dbbench.results.run_directory import Manifest
from dbbench.results.trial import StepResult, TrialResult
from dbbench.suite.model import Scenario


@dataclass(frozen=True)
class Footprint:
    """One engine at one size step, medians over rounds, in bytes; None where it is not known.

    `written` is what the process wrote since the size step before, the flush of this one included, and
    `given` the rows that it was given meanwhile, as CSV.
    """

    engine: str
    title: str
    #: What the data cost: the figure that is ranked.
    value: float
    #: Apparent bytes of all files, and their bytes on disk.
    total: float
    allocated: float
    #: Of the total, what is no cost of the data. None in runs that kept no parts, whose figure is the total.
    reserved: float | None
    empty: float | None
    #: By how much the data cost more than at the size step before, where there is one, and as a share of that.
    grown: float | None
    grown_share: float | None
    #: Bytes that each row costs that was added since then; None where none was, or there is no size before.
    per_added_row: float | None
    before_flush: float | None
    #: What the flush took, which is not in any step's time.
    flush_seconds: float | None
    #: What the engine's own compaction took, where the step has one.
    compact_seconds: float | None
    #: Bytes in use by the count of a runtime's collector.
    heap: float | None
    rows: float | None
    csv_bytes: int | None
    written: float | None
    given: float | None

    @property
    def per_row(self) -> float | None:
        """Bytes that each row costs."""
        return self.value / self.rows if self.rows else None

    @property
    def csv_ratio(self) -> float | None:
        """How many times the size of the same rows as CSV."""
        return self.value / self.csv_bytes if self.csv_bytes else None

    @property
    def amplification(self) -> float | None:
        """Bytes written for each byte given. None where nothing was given, or the system counts nothing written."""
        return self.written / self.given if self.given and self.written else None


def footprint(
    scenario: Scenario, step: str, engine: str, title: str, results: Sequence[TrialResult], csv_bytes: int | None
) -> Footprint | None:
    """An engine's footprint at a size step; None if it has no size there."""
    names = [item.name for item in scenario.steps]
    here = names.index(step)
    sizes = [index for index, item in enumerate(scenario.steps) if item.unit == "B" and index < here]
    since = names[sizes[-1] + 1 if sizes else 0 : here + 1]
    mine = [r for r in results if (r.engine_name, r.scenario_name) == (engine, scenario.name)]
    found = [(result, size) for result in mine if (size := result.step(step)) is not None and size.value is not None]
    if not found:
        return None
    written, given = [], []
    for result, _ in found:
        steps = [item for name in since if (item := result.step(name)) is not None]
        amounts = [item.written_bytes for item in steps]
        written.append(None if None in amounts else sum(amount or 0 for amount in amounts))
        given.append(sum(item.facts.get("csv_bytes", 0) for item in steps))
    facts = [size.facts for _, size in found]
    shares = [fact.get("size_parts", {}) for fact in facts]
    before = names[sizes[-1]] if sizes else None
    growth = [each for result, size in found if before and (each := _growth(result.step(before), size))]
    return Footprint(
        engine=engine,
        title=title,
        value=median(size.value or 0 for _, size in found),
        total=median(sum(file["apparent"] for file in fact.get("files", ())) for fact in facts),
        reserved=known_median(share.get("reserved") for share in shares),
        empty=known_median(share.get("empty") for share in shares),
        grown=known_median(each.bytes for each in growth),
        grown_share=known_median(each.share for each in growth),
        per_added_row=known_median(each.per_added_row for each in growth),
        allocated=median(sum(file["allocated"] for file in fact.get("files", ())) for fact in facts),
        before_flush=known_median(fact.get("before_flush") for fact in facts),
        flush_seconds=known_median(fact.get("flush_seconds") for fact in facts),
        compact_seconds=known_median(fact.get("compact_seconds") for fact in facts),
        heap=known_median(fact.get("heap") for fact in facts),
        rows=known_median(fact.get("rows") for fact in facts),
        csv_bytes=csv_bytes,
        written=known_median(written),
        given=known_median(given),
    )


def footprints(
    scenario: Scenario, step: str, titles: Mapping[str, str], results: Sequence[TrialResult], csv_bytes: int | None
) -> dict[str, Footprint]:
    """Engine -> its footprint at a size step, for those of `titles` that have a size there."""
    found = {engine: footprint(scenario, step, engine, title, results, csv_bytes) for engine, title in titles.items()}
    return {engine: known for engine, known in found.items() if known is not None}


@dataclass(frozen=True)
class _Growth:
    """Growth of a size since the one before it, in one round."""

    bytes: float
    share: float | None
    per_added_row: float | None


def _growth(before: StepResult | None, size: StepResult) -> _Growth | None:
    """Return the growth since the size before; None where that has no figure, or they are totals, with logs in them."""
    if before is None or before.value is None or size.value is None or "size_parts" not in size.facts:
        return None
    grown, added = size.value - before.value, size.facts.get("rows", 0) - before.facts.get("rows", 0)
    return _Growth(grown, grown / before.value if before.value else None, grown / added if added > 0 else None)


def size_parts(facts: StepFacts) -> Mapping[str, float]:
    """Bytes of a size by what they are for. The index, where known, is taken out of the data; else both are one."""
    if "size_parts" in facts:
        return facts["size_parts"]
    found: dict[str, float] = {}
    for file in facts.get("files", []):
        found[file["part"]] = found.get(file["part"], 0) + file["apparent"]
    index = facts.get("index")
    if index is None:
        found["both"] = found.pop("data", 0)
    elif index:
        found["index"] = index
        found["data"] = found.get("data", 0) - index
    return found


@dataclass(frozen=True)
class Resources:
    """What an engine's trials used, medians over rounds. Memory is above the null engine's where that ran."""

    engine: str
    title: str
    peak_memory: float | None
    cpu_seconds: float | None
    written_bytes: float | None
    seconds: float | None
    remarks: tuple[Remark, ...] = ()


def resources(manifest: Manifest, results: Sequence[TrialResult], scenario: str) -> list[Resources]:
    """What each engine's trials used, by name. That of a server at a URL isn't seen: it is None beside private servers'
    and engines' in the process.
    """
    found = []
    nulls = [result for result in results if not manifest.ranked(result.engine_name)]
    base = known_median(result.peak_memory for result in nulls if result.scenario_name == scenario)
    at_url = {name for name, probed in manifest.engines.items() if probed.get("url")}
    mixed = any(manifest.ranked(name) for name in {result.engine_name for result in results} - at_url)
    for name, title in manifest.titles(results).items():
        mine = [result for result in results if result.engine_name == name and result.scenario_name == scenario]
        if not mine or not manifest.ranked(name):
            continue
        unseen = mixed and name in at_url
        memory = None if unseen else known_median(result.peak_memory for result in mine)
        found.append(
            Resources(
                engine=name,
                title=title,
                peak_memory=None if memory is None else max(0.0, memory - (base or 0)),
                cpu_seconds=None if unseen else known_median(result.cpu_seconds for result in mine),
                written_bytes=None if unseen else known_median(result.written_bytes for result in mine),
                seconds=known_median(result.seconds for result in mine if result.seconds),
                remarks=(*of_trials(mine), *[Remark(About.USES_UNSEEN)] * unseen),
            )
        )
    return found
