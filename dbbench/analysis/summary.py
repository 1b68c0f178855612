"""From the trials of a run to one row for each step and engine, best to worst."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

from dbbench.analysis.ranking import Rank, ranks, told_apart
from dbbench.analysis.statistics import Estimate, estimate, geometric_mean, paired_mean, paired_ratio
from dbbench.analysis.steadiness import unsteady
from dbbench.outcome import Outcome
from dbbench.store import Manifest, StepResult, TrialResult
from dbbench.suite import Scenario, Suite, Tier, WorstOfLast

#: Files whose names a remark gives.
_NAMED = 3


@dataclass(frozen=True)
class Row:
    """One engine's result in one step. Values in `unit`; `ratio` is to the best engine's median."""

    scenario: str
    step: str
    engine: str
    title: str
    outcome: Outcome
    #: False for a null engine, which shows the harness's own share.
    ranked: bool = True
    #: Whether its work was checked in every round. If not, it has a figure, but no place and no ratio.
    verified: bool = True
    metric: str = ""
    unit: str = ""
    direction: str = "lower"
    blocks: tuple[float, ...] = ()
    #: The rounds that the blocks are of.
    of_rounds: tuple[int, ...] = ()
    value: float | None = None
    low: float | None = None
    high: float | None = None
    rank: Rank | None = None
    #: The engines of the step that are proven better.
    better: frozenset[str] = frozenset()
    #: How many times the best engine's, with its interval.
    ratio: Estimate | None = None
    #: What is odd about its rounds, in words: see `steadiness`.
    unsteady: str = ""
    #: Where the ratio's interval and the test differ, in words.
    doubt: str = ""
    harness_share: float | None = None
    #: By the method of the benchmark that is reproduced, where the suite asks for it and has the rounds.
    original: float | None = None
    detail: str = ""
    #: The facts of the last round.
    facts: dict[str, Any] | None = None
    #: The facts of each round, in order.
    rounds: tuple[dict[str, Any], ...] = ()
    #: The clause by which there are no figures here, where there would be some: see `publication`.
    withheld: str = ""

    @property
    def remarks(self) -> str:
        """All that there is to say of it, in words."""
        return "; ".join(filter(None, (self.detail, self.unsteady, self.doubt)))

    @property
    def measured(self) -> bool:
        """Whether it has a figure, be it one that is withheld."""
        return self.value is not None or (bool(self.withheld) and self.outcome is Outcome.OK)

    @property
    def checked(self) -> bool | None:
        """Whether its figure is of verified work; None where it has no figure, and for a null engine."""
        return self.verified if self.measured and self.ranked else None


@dataclass(frozen=True)
class Resources:
    """What an engine's trials used, medians over rounds. Memory is above the null engine's where that ran."""

    engine: str
    title: str
    peak_memory: float | None
    cpu_seconds: float | None
    written_bytes: float | None
    seconds: float | None
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Standing:
    """An engine over all steps of a scenario: the geometric mean of its ratios to the best, if it did all.

    `low` and `high` are its interval.
    """

    engine: str
    title: str
    mean_ratio: float | None
    rows: dict[str, Row]
    low: float | None = None
    high: float | None = None

    @property
    def failures(self) -> int:
        """In how many steps it has no figure."""
        return sum(not row.measured for row in self.rows.values())


def summarise(suite: Suite, manifest: Manifest, results: Sequence[TrialResult]) -> list[Row]:
    """All rows, in the order of scenarios and steps, each step best to worst and then the failed ones."""
    rows: list[Row] = []
    called = titles(manifest, results)
    for scenario in suite.scenarios:
        for step in scenario.steps:
            found = [
                _row(scenario, step.name, engine, called[engine], manifest, results) for engine in manifest.engines
            ]
            rows += placed([row for row in found if row is not None])
    return rows


def titles(manifest: Manifest, results: Sequence[TrialResult]) -> dict[str, str]:
    """What to call each engine: after the server that answered, else as its plugin does, with the user's own name."""
    told = {result.engine_name: str(result.engine["title"]) for result in results if result.engine.get("title")}
    found = {}
    for name, probed in manifest.engines.items():
        title = told.get(name) or probed.get("title")
        own = f" [{name.partition('@')[2] or name}]" if manifest.plugin(name) != name else ""
        found[name] = f"{title}{own}" if title else name
    return found


def resources(manifest: Manifest, results: Sequence[TrialResult], scenario: str) -> list[Resources]:
    """What each engine's trials used, by name."""
    found = []
    nulls = [result for result in results if not ranked(manifest, result.engine_name)]
    base = _median(result.peak_memory for result in nulls if result.scenario_name == scenario)
    for name, title in titles(manifest, results).items():
        mine = [result for result in results if result.engine_name == name and result.scenario_name == scenario]
        if not mine or not ranked(manifest, name):
            continue
        memory = _median(result.peak_memory for result in mine)
        remarks = Counter(remark for result in mine for remark in result.remarks)
        found.append(
            Resources(
                engine=name,
                title=title,
                peak_memory=None if memory is None else max(0.0, memory - (base or 0)),
                cpu_seconds=_median(result.cpu_seconds for result in mine),
                written_bytes=_median(result.written_bytes for result in mine),
                seconds=_median(result.seconds for result in mine if result.seconds),
                remarks=tuple(_in_rounds(remark, times, manifest.rounds) for remark, times in remarks.items()),
            )
        )
    return found


def standings(rows: Sequence[Row], scenario: Scenario) -> list[Standing]:
    """Engines by the geometric mean of their ratios; those that failed in a step come after the rest.

    A step that was verified for no engine is not in the mean, and neither are sizes.
    """
    figures = [row for row in rows if row.scenario == scenario.name and row.ranked and row.measured]
    unverified = {row.step for row in figures} - {row.step for row in figures if row.verified}
    steps = [step.name for step in scenario.steps]
    bests = {row.step: row for row in reversed(rows) if row.scenario == scenario.name and row.ratio is not None}
    by_engine: dict[str, dict[str, Row]] = {}
    for row in rows:
        if row.scenario == scenario.name and row.step in steps and row.ranked:
            by_engine.setdefault(row.engine, {})[row.step] = row
    found = []
    for engine, mine in by_engine.items():
        timed = [step for step in steps if step in mine and mine[step].unit != "B" and step not in unverified]
        mean = _mean([(mine[step], bests[step]) for step in timed if step in bests])
        title = next(iter(mine.values())).title
        means = (None, None, None) if mean is None else (mean.value, mean.low, mean.high)
        found.append(Standing(engine, title, means[0], mine, *means[1:]))
    return sorted(found, key=lambda item: (item.mean_ratio is None, item.mean_ratio or 0, item.failures, item.engine))


def _mean(steps: Sequence[tuple[Row, Row]]) -> Estimate | None:
    """The geometric mean of the ratios of some rows to the best ones of their steps; None if one has no ratio."""
    ratios = [row.ratio.value for row, _ in steps if row.ratio is not None]
    if len(ratios) < len(steps) or not ratios or not all(ratios):
        return None
    pairs = [_paired(row, best) for row, best in steps]
    # Some steps may lack rounds that others have, and a size of 0 has no logarithm.
    if len({len(ours) for ours, _ in pairs}) > 1 or min(min(ours) for ours, _ in pairs) <= 0:
        return Estimate(geometric_mean(ratios), None, None)
    return paired_mean(pairs)


def ranked(manifest: Manifest, engine: str) -> bool:
    """Whether an engine takes part, which the null engine doesn't."""
    return bool(manifest.engines.get(engine, {}).get("ranked", True))


def _row(
    scenario: Scenario, step: str, engine: str, title: str, manifest: Manifest, results: Sequence[TrialResult]
) -> Row | None:
    probed = manifest.engines[engine]
    part = ranked(manifest, engine)
    if probed["status"] != "available":
        detail = "; ".join(filter(None, (f"{probed['status']}: {probed['detail']}", probed.get("install"))))
        return Row(scenario.name, step, engine, title, Outcome.UNAVAILABLE, part, detail=detail)
    mine = [result for result in results if (result.engine_name, result.scenario_name) == (engine, scenario.name)]
    taken = [(result.round, found) for result in mine if (found := result.step(step)) is not None]
    steps = [found for _, found in taken]
    if not steps:
        return None
    outcome = max((result.outcome for result in steps), key=lambda item: item.badness)
    remarks = Counter(remark for result in mine for remark in result.remarks)
    notes = [_in_rounds(remark, times, len(mine)) for remark, times in remarks.items()]
    if outcome is not Outcome.OK:
        return Row(
            scenario.name, step, engine, title, outcome, part,
            detail="; ".join([_detail(outcome, steps), *notes]),
            metric=steps[0].metric, unit=steps[0].unit, direction=steps[0].direction,
        )  # fmt: skip
    blocks = tuple(result.value for result in steps if result.value is not None)
    middle = estimate(blocks)
    return Row(
        scenario=scenario.name,
        step=step,
        engine=engine,
        title=title,
        outcome=outcome,
        ranked=part,
        metric=steps[0].metric,
        unit=steps[0].unit,
        direction=steps[0].direction,
        blocks=blocks,
        of_rounds=tuple(number for number, result in taken if result.value is not None),
        value=middle.value,
        low=middle.low,
        high=middle.high,
        original=_original(scenario.worst_of_last, blocks, steps[0].direction),
        verified=all(result.verified for result in steps),
        detail="; ".join(
            [
                *_unverified(steps, part=part),
                *_other_forms(steps),
                *_lukewarm(steps),
                *_elsewhere(steps),
                *_stronger(scenario, steps[0].unit, mine, part=part),
                *notes,
            ]
        ),
        unsteady=unsteady(blocks) if part and steps[0].unit != "B" else "",
        facts=steps[-1].facts,
        rounds=tuple(result.facts for result in steps),
    )


def _unverified(steps: Sequence[StepResult], *, part: bool) -> list[str]:
    """That nothing of a step was checked, and why. Of the null engine there is nothing to check."""
    unchecked = [step for step in steps if not step.verified]
    return [_in_rounds(unchecked[0].detail, len(unchecked), len(steps))] if unchecked and part else []


def _other_forms(steps: Sequence[StepResult]) -> list[str]:
    """Which values came as other types than the suite's, in any round: a driver has less or more to do for them."""
    others = {form for step in steps for form in step.facts.get("other_forms", ())}
    return [f"not in the suite's own types: {', '.join(sorted(others))}"] if others else []


def _lukewarm(steps: Sequence[StepResult]) -> list[str]:
    """That a step which should have been cold was not, and why."""
    warm = [step.facts for step in steps if step.facts.get("cache") == "lukewarm"]
    return [_in_rounds(f"lukewarm: {warm[0].get('why', '')}", len(warm), len(steps))] if warm else []


def _elsewhere(steps: Sequence[StepResult]) -> list[str]:
    """That an engine keeps files outside of its directory, which a size counts."""
    found = [step.facts["outside"] for step in steps if "outside" in step.facts]
    if not found:
        return []
    names = sorted({os.path.basename(name) for outside in found for name in outside["files"]})
    named = ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if names[_NAMED:] else "")
    most = max(int(outside["bytes"]) for outside in found)
    return [_in_rounds(f"{most:,} bytes of it outside of the engine's directory ({named})", len(found), len(steps))]


def _stronger(scenario: Scenario, unit: str, results: Sequence[TrialResult], *, part: bool) -> list[str]:
    """That an engine promises more than it was asked for, and may be slower by it. A size is what it is."""
    given = next((str(result.engine["tier"]) for result in results if result.engine.get("tier")), "")
    words = stronger(given, scenario.durability)
    return [words] if words and part and unit != "B" else []


def stronger(given: str, asked: Tier) -> str:
    """Of a durability tier that promises more than the one asked for: that it does."""
    tiers = [str(tier) for tier in Tier]
    if given not in tiers or tiers.index(given) <= tiers.index(asked):
        return ""
    return f"durability {given}, more than was asked for ({asked})"


def _original(method: WorstOfLast | None, blocks: Sequence[float], direction: str) -> float | None:
    """The worst of the last blocks, as the benchmark that is reproduced had it; None if rounds are missing."""
    if method is None or len(blocks) < method.runs:
        return None
    last = blocks[method.runs - method.last : method.runs]
    return min(last) if direction == "higher" else max(last)


def placed(rows: Sequence[Row]) -> list[Row]:
    """Rows of one step with ranks, ratios and the harness's share, best first; the null engines' last.

    After the ranked ones come those that were not verified, then the failed ones.
    """
    higher = any(row.direction == "higher" for row in rows)
    nulls = [row for row in rows if not row.ranked]
    good = [row for row in rows if row.value is not None and row.ranked and row.verified]
    good.sort(key=lambda row: ((-1 if higher else 1) * (row.value or 0.0), row.engine))
    unverified = [row for row in rows if row.value is not None and row.ranked and not row.verified]
    unverified.sort(key=lambda row: ((-1 if higher else 1) * (row.value or 0.0), row.engine))
    # An engine with fewer rounds than the others (one that came to harm) has a figure, but no rank.
    most = max((len(row.blocks) for row in good), default=0)
    full = [row for row in good if len(row.blocks) == most]
    common = set.intersection(*(set(row.of_rounds) for row in full)) if full else set()
    whole = {row.engine: _costs(row, common) for row in full}
    apart = told_apart(whole, exact=all(row.unit == "B" for row in good)) if whole else None
    found = {} if apart is None else ranks(whole, apart)
    ratios = {row.engine: _ratio(row, good[0]) for row in good}
    good = [
        replace(
            row,
            rank=found.get(row.engine),
            ratio=ratios[row.engine],
            better=frozenset(better for better, worse in apart or () if worse == row.engine),
            harness_share=_share(row, nulls),
        )
        for row in good
    ]
    good = [replace(row, doubt=_doubt(row, good[0])) for row in good]
    failed = sorted((row for row in rows if row.value is None and row.ranked), key=_failed_order)
    return good + [replace(row, harness_share=_share(row, nulls)) for row in unverified] + failed + nulls


def _costs(row: Row, rounds: Collection[int]) -> list[float]:
    """The blocks of some rounds, as figures of which less is better."""
    blocks = [block for number, block in zip(row.of_rounds, row.blocks, strict=True) if number in rounds]
    return [1 / block if block else math.inf for block in blocks] if row.direction == "higher" else blocks


def _paired(row: Row, best: Row) -> tuple[list[float], list[float]]:
    """Both rows' costs in the rounds that both have."""
    rounds = {*row.of_rounds} & {*best.of_rounds}
    return _costs(row, rounds), _costs(best, rounds)


def _ratio(row: Row, best: Row) -> Estimate | None:
    """How many times the best engine's the cost of this one is; 1 for the best itself.

    None where a block is 0, or where the two have no round in common.
    """
    ours, theirs = _paired(row, best)
    if not theirs or min(theirs) <= 0 or not all(map(math.isfinite, ours + theirs)):
        return None
    return Estimate(1.0, None, None) if row.engine == best.engine else paired_ratio(ours, theirs)


def _doubt(row: Row, best: Row) -> str:
    """What to make of it where the interval of the ratio to the best says something else than the test."""
    ratio = row.ratio
    if row.rank is None or row.unit == "B" or ratio is None or ratio.low is None or ratio.high is None:
        return ""
    outside, apart = ratio.low > 1 or ratio.high < 1, best.engine in row.better
    if outside and not apart:
        return (
            "the interval of this ratio alone is clear of ×1, but the test, which allows for all pairs of engines "
            "and for differences under 2 %, can't tell it from the best"
        )
    if apart and not outside:
        return "the test tells it from the best, though the interval of the ratio includes ×1: read the ratio with care"
    return ""


def _share(row: Row, nulls: Sequence[Row]) -> float | None:
    """The harness's own share of the time: that of the null engine which gave its rows in the same form.

    All of it, if the null engine took longer than the system: its own turn was disturbed then.
    """
    own = next((null.value for null in nulls if _form(null) == _form(row)), None)
    if own is None or not row.value or row.unit == "B":
        return None
    if row.direction == "higher":  # a rate: the time for one operation is one by it
        return min(row.value / own, 1.0) if own else None
    return min(own / row.value, 1.0)


def _failed_order(row: Row) -> tuple[int, str]:
    return row.outcome.badness, row.engine


def _form(row: Row) -> str:
    """How a row's query gave its rows: a harness's share holds for its own form only."""
    return str((row.facts or {}).get("gives", ""))


def _detail(outcome: Outcome, steps: Sequence[StepResult]) -> str:
    """What the first round with this outcome said, and in how many rounds it came."""
    guilty = [step for step in steps if step.outcome is outcome]
    return _in_rounds(guilty[0].detail, len(guilty), len(steps))


def _in_rounds(text: str, times: int, rounds: int) -> str:
    return text if times >= rounds else f"{text} (in {times} of {rounds} rounds)"


def _median(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None
