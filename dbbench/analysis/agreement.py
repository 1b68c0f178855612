"""Answers that the reference has not computed: those of an engine, and those that engines give alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from dbbench.results.outcome import Outcome
from dbbench.results.trial import StepResult, TrialResult

if TYPE_CHECKING:
    from dbbench.analysis.row import Row


def confirmed(results: Sequence[TrialResult], scenario: str, step: str) -> bool:
    """Whether an engine of another database gave the reference engine's answer, so that it doesn't stand by itself."""
    found = [result.step(step) for result in results if result.scenario_name == scenario]
    return any(
        each is not None and each.verified and each.outcome is Outcome.OK and "checked_by" in each.facts
        for each in found
    )


def checked_by(steps: Sequence[StepResult]) -> list[str]:
    """By what an answer was checked, if that isn't the reference."""
    known = {str(step.facts["checked_by"]) for step in steps if "checked_by" in step.facts}
    return [f"answer checked against {'a file' if name == 'file' else name}" for name in sorted(known)]


def disputed(rows: Sequence[Row], results: Sequence[TrialResult]) -> list[Row]:
    """The rows of a step, without ranks if engines of several databases agree with each other, and not with the reference.

    Then one of the engines, the reference and the text of the query is at fault, and nobody can tell which.
    """
    groups: dict[str, set[tuple[int, int]]] = {}
    differs: dict[str, Sequence[str]] = {}
    for result in results:
        found = result.step(rows[0].step) if rows and result.scenario_name == rows[0].scenario else None
        if found is not None:
            groups.setdefault(result.engine_name, set()).add((result.round, found.facts.get("disputes", 0)))
            differs.setdefault(result.engine_name, found.facts.get("differs", []))
    sides = {
        engine: [other for other, theirs in groups.items() if theirs == mine]
        for engine, mine in groups.items()
        if all(number for _, number in mine)
    }
    sides = {engine: side for engine, side in sides.items() if len({_database(other) for other in side}) > 1}
    if not sides:
        return list(rows)
    most = max(map(len, sides.values()))
    words = f"disputed: {most} engines agree with each other, not with the reference"
    settle = "settle it in the suite, with `rows` or a `file` as the answer"
    return [
        replace(row, outcome=Outcome.DISPUTED, detail=f"{words} ({', '.join(differs[row.engine])}); {settle}")
        if row.engine in sides
        else replace(row, verified=False, detail="; ".join(filter(None, (words, row.detail))))
        if row.outcome is Outcome.OK and row.ranked
        else row
        for row in rows
    ]


def _database(engine: str) -> str:
    return engine.partition("+")[0]


def agreed(rows: Sequence[Row]) -> list[Row]:
    """The rows of a step, each with whether its answer is the one that most engines gave, where nobody knows better."""
    groups = {row.engine: _groups(row.rounds) for row in rows if row.outcome is Outcome.OK}
    groups = {engine: numbers for engine, numbers in groups.items() if numbers}
    if not groups:
        return list(rows)
    votes = Counter(next(iter(numbers)) for numbers in groups.values() if len(numbers) == 1)
    ranking = votes.most_common(2)
    most = ranking[0] if ranking and (len(ranking) == 1 or ranking[0][1] > ranking[1][1]) else None
    return [
        replace(row, detail="; ".join(filter(None, (_words(groups[row.engine], most, len(groups)), row.detail))))
        if row.engine in groups
        else row
        for row in rows
    ]


def _groups(rounds: Sequence[Mapping[str, object]]) -> set[int]:
    return {int(str(facts["agrees"])) for facts in rounds if "agrees" in facts}


def _words(numbers: set[int], most: tuple[int, int] | None, engines: int) -> str:
    if len(numbers) > 1:
        return "its answer was not the same in all rounds"
    if engines == 1:
        return "no other engine to compare its answer with"
    if most is None:
        return "engines differ, and no answer has more engines than another"
    number, votes = most
    if votes == engines:
        return f"all {engines} engines agree on the answer"
    if numbers == {number}:
        return f"{votes} of {engines} engines agree on the answer"
    return f"DIFFERS from the answer that {votes} of {engines} engines agree on"
