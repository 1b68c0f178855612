"""Answers from elsewhere than the reference: from one engine, or agreed by several."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from dbbench.analysis.remarks import About, Remark
from dbbench.engine.variants import database
from dbbench.results.outcome import Outcome
from dbbench.results.trial import StepResult, TrialResult

if TYPE_CHECKING:
    from dbbench.analysis.row import Row


def confirmed(results: Sequence[TrialResult], scenario: str, step: str) -> bool:
    """Whether an engine of another database confirmed the reference engine's answer."""
    found = [result.step(step) for result in results if result.scenario_name == scenario]
    return any(
        each is not None and each.verified and each.outcome is Outcome.OK and "checked_by" in each.facts
        for each in found
    )


def disputed(rows: Sequence[Row], results: Sequence[TrialResult]) -> list[Row]:
    """The rows of a step, without ranks if engines of several databases agree and the reference doesn't.

    Then one of the engines, the reference and the text of the query is at fault, and dbbench can't tell which.
    """
    groups: dict[str, dict[int, int]] = {}
    differs: dict[str, Sequence[str]] = {}
    for result, found in _steps(rows, results):
        if found.outcome in (Outcome.OK, Outcome.WRONG):  # it has an answer
            groups.setdefault(result.engine_name, {})[result.round] = found.facts.get("disputes", 0)
            differs.setdefault(result.engine_name, found.facts.get("differs", []))
    groups = {engine: answers for engine, answers in groups.items() if all(answers.values())}
    sides = {engine: [other for other in groups if _alike(mine, groups[other])] for engine, mine in groups.items()}
    sides = {engine: side for engine, side in sides.items() if len({database(other) for other in side}) > 1}
    if not sides:
        return list(rows)
    most = max(map(len, sides.values()))
    return [
        replace(
            row,
            outcome=Outcome.DISPUTED,
            remarks=(Remark(About.DISPUTED, names=tuple(differs[row.engine]), count=most),),
        )
        if row.engine in sides and row.outcome is Outcome.WRONG
        else replace(row, verified=False, remarks=(Remark(About.DISPUTES, count=most), *row.remarks))
        if row.outcome is Outcome.OK and row.ranked
        else row
        for row in rows
    ]


def _steps(rows: Sequence[Row], results: Sequence[TrialResult]) -> Iterator[tuple[TrialResult, StepResult]]:
    """Each trial that has the step of these rows, with it."""
    for result in results:
        if rows and result.scenario_name == rows[0].scenario and (found := result.step(rows[0].step)) is not None:
            yield result, found


def _alike(mine: Mapping[int, int], theirs: Mapping[int, int]) -> bool:
    """Whether two engines gave the same answer in each round that both answered in, if there is one."""
    common = mine.keys() & theirs.keys()
    return bool(common) and all(mine[number] == theirs[number] for number in common)


def agreed(rows: Sequence[Row], results: Sequence[TrialResult]) -> list[Row]:
    """The rows of a step, each with whether its answer is the majority's in `results`, where there is no reference."""
    groups: dict[str, set[int]] = {}
    bad = {result.engine_name for result, found in _steps(rows, results) if found.outcome is not Outcome.OK}
    for result, found in _steps(rows, results):
        if "agrees" in found.facts and result.engine_name not in bad:
            groups.setdefault(result.engine_name, set()).add(found.facts["agrees"])
    votes = Counter(next(iter(numbers)) for numbers in groups.values() if len(numbers) == 1)
    ranking = votes.most_common(2)
    most = ranking[0] if ranking and (len(ranking) == 1 or ranking[0][1] > ranking[1][1]) else None
    return [
        replace(row, remarks=(_remark(groups[row.engine], most, len(groups)), *row.remarks))
        if row.engine in groups
        else row
        for row in rows
    ]


def _remark(numbers: set[int], most: tuple[int, int] | None, engines: int) -> Remark:
    if len(numbers) > 1:
        return Remark(About.ROUNDS_DIFFER)
    if engines == 1:
        return Remark(About.NO_OTHER_ENGINE)
    if most is None:
        return Remark(About.NO_MAJORITY)
    number, votes = most
    agrees = About.ALL_AGREE if votes == engines else About.AGREES if numbers == {number} else About.DIFFERS
    return Remark(agrees, count=votes, of=engines)
