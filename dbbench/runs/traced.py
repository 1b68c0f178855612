"""The sync calls of a trial's own steps, counted while its writing steps run once more.

After the trial of the first round they do the same under strace, in a new process and on new data; no figure of that is
kept. So that a run takes little longer, it ends when it takes longer than the trial did. Who can't be traced, or not in
that time, is accused of nothing, and a footnote says so.
"""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from dbbench.engine.urls import VARIABLE
from dbbench.host import atomic_json
from dbbench.results.outcome import FELL_SHORT, UNVERIFIED, Outcome
from dbbench.results.trial import StepResult, TrialResult
from dbbench.runs import strace
from dbbench.runs.order import TrialOrder
from dbbench.suite.model import Tier

#: Times are ranked from this number of rounds on; from the other on the trial may take as long as the first did.
_FEWEST_ROUNDS, _ROUNDS = 5, 8
#: Seconds that it may take at most, and those that it may take however short the first was: it has to start.
_LONGEST, _STARTS = 300.0, 10.0
#: Sync calls of each commit that must show. One is what honest engines make; a step may have a few commits less.
_SHARE = 0.9


def order_of(order: TrialOrder, result: TrialResult, directory: Path) -> TrialOrder | None:
    """What the second trial is to do, in a directory of its own; None if nothing is to be counted.

    A trial of a later round: no copies are made of its files, and its loads are checked by samples.
    """
    asked = [step.name for step in result.steps if _promises(step)]
    first = order.trial.round == 1 and order.rounds >= _FEWEST_ROUNDS
    here = not (os.environ.get(VARIABLE) or order.place or order.watch)
    if not (asked and first and here and result.engine.get("tier") == Tier.POWER):
        return None
    steps = tuple(step for step in order.scenario.steps if step.writes)
    seconds = max(_STARTS, min(_LONGEST, result.seconds * min(1, order.rounds / _ROUNDS)))
    return order.model_copy(
        update={
            "trial": replace(order.trial, round=2),
            "copied": (),
            "steps": tuple(step.name for step in steps),
            "scenario": order.scenario.model_copy(update={"steps": steps, "charts": ()}),
            "process": replace(order.process, work=str(directory / "work"), seconds=seconds, group=""),
        }
    )


def judged(result: TrialResult, directory: Path, calls: Path) -> TrialResult:
    """The trial's result with what the second trial in this directory, whose calls strace wrote, shows of it."""
    try:
        again = TrialResult.model_validate(atomic_json.read(directory / "result.json"))
        data = directory / "work" / "data"
        # Its end: the start may have letters that strace writes in a way of its own.
        folder = "/".join(("", *data.parts[-5:], ""))
        with calls.open(encoding="utf-8", errors="replace") as lines:
            syncs, hidden = strace.in_steps(lines, folder)
    except (OSError, ValueError) as exc:
        return not_counted(result, f"under strace: {exc}")
    steps = [
        _judged(step, again.step(step.name), syncs.get(step.name), hidden) if _promises(step) else step
        for step in result.steps
    ]
    accused = {step.name for step in steps if not step.verified}
    for place, step in enumerate(steps):
        if step.verified and (unsure := accused & {*step.facts.get("of", ())}):
            steps[place] = _without_rank(
                step, f"{UNVERIFIED}: commits of {', '.join(sorted(unsure))} didn't reach the disk"
            )
    return result.model_copy(update={"steps": tuple(steps)})


def not_counted(result: TrialResult, why: str) -> TrialResult:
    """The trial's result where no sync was counted."""
    steps = tuple(_not_counted(step, why) if _promises(step) else step for step in result.steps)
    return result.model_copy(update={"steps": steps})


def _promises(step: StepResult) -> bool:
    return step.outcome is Outcome.OK and step.verified and step.commits > 0


def _judged(step: StepResult, again: StepResult | None, syncs: int | None, hidden: Sequence[str]) -> StepResult:
    if again is None or again.outcome not in (Outcome.OK, *FELL_SHORT) or syncs is None:
        return _not_counted(step, f"under strace: {again.outcome if again else 'no result'}")
    known = step.model_copy(update={"facts": {name: fact for name, fact in step.facts.items() if name != "syncs"}})
    if syncs >= again.commits * _SHARE:
        return known
    if hidden:
        return _not_counted(step, f"it uses {' and '.join(hidden)}, where strace doesn't see them")
    return _without_rank(
        known,
        f"no rank: commits didn't reach the disk: {syncs:,} sync calls for {again.commits:,} commit{'s' * (again.commits > 1)}",
    )


def _not_counted(step: StepResult, why: str) -> StepResult:
    return step.model_copy(update={"facts": {**step.facts, "syncs": why}})


def _without_rank(step: StepResult, why: str) -> StepResult:
    return step.model_copy(update={"verified": False, "detail": "; ".join(filter(None, (step.detail, why)))})
