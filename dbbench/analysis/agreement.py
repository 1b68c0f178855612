"""Answers that no oracle has computed: a reference engine's, and those that engines give alike."""

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
    """By what an answer was checked, if that isn't the oracle."""
    known = {str(step.facts["checked_by"]) for step in steps if "checked_by" in step.facts}
    return [f"answer checked against {'a file' if name == 'file' else name}" for name in sorted(known)]


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
