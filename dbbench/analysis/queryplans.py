"""The engines' own query plans, as recorded by the trials."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from dbbench.analysis.remarks import About, Remark
from dbbench.results.run_directory import Run
from dbbench.results.trial import TrialResult
from dbbench.suite.model import Scenario


@dataclass(frozen=True)
class QueryPlan:
    """An engine's plan of a query. `note`: why it has no text, or a remark; `engines`: who has it, with titles."""

    step: str
    engine: str
    title: str
    text: str = ""
    note: Remark | None = None
    engines: tuple[tuple[str, str], ...] = ()


def query_plans(
    run: Run, scenario: Scenario, titles: Mapping[str, str], results: Sequence[TrialResult]
) -> list[QueryPlan]:
    """A plan for each query and each engine that was asked for it, the first round's."""
    found = []
    trials: dict[str, list[tuple[TrialResult, Collection[str]]]] = {}
    for result in results:
        if result.scenario_name == scenario.name:
            trials.setdefault(result.engine_name, []).append((result, run.query_plans(result.id)))
    for step in scenario.steps:
        for engine, title in titles.items():
            mine = trials.get(engine, [])
            texts = [
                text
                for trial, planned in mine
                if step.name in planned and (text := run.query_plan(trial.id, step.name))
            ]
            reasons = [known.no_plan for trial, _ in mine if (known := trial.step(step.name)) and known.no_plan]
            if texts:
                found.append(QueryPlan(step.name, engine, title, texts[0], _others(texts)))
            elif reasons:
                found.append(QueryPlan(step.name, engine, title, note=Remark(About.RECORDED, reasons[0])))
    return found


def plans_of(run: Run, results: Sequence[TrialResult], scenario: str, step: str, engine: str) -> list[str]:
    """An engine's plans of a step, one for each round that has one. Raises RunError."""
    mine = (each for each in results if (each.scenario_name, each.engine_name) == (scenario, engine))
    return [text for each in mine if (text := run.query_plan(each.id, step))]


def plan_changed(ours: Sequence[str], theirs: Sequence[str]) -> bool:
    """Whether no plan of one side is like one of the other's. Without plans on both sides nothing has changed."""
    return bool(ours and theirs) and {*map(shape, ours)}.isdisjoint(map(shape, theirs))


def _others(texts: Sequence[str]) -> Remark | None:
    """Whether other rounds had another plan. Estimates of rows and costs come from samples: numbers don't count."""
    others = sum(shape(text) != shape(texts[0]) for text in texts)
    return Remark(About.OTHER_PLANS, count=others, of=len(texts)) if others else None


def shape(text: str) -> str:
    """A plan, or a line of one, without its numbers and the rules of its boxes, whose length follows from them."""
    return " ".join(re.sub(r"[\d.,eE+-]*\d|[\u2500-\u257f]+", " ", text).split())
