"""A query whose parameters are drawn for each call. Of some calls all rows are kept, and compared when the clock has stopped.

Which calls these are is drawn from the seed, among all of the clients' calls: the first, and ever fewer of the later ones.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pyarrow as pa

from dbbench.answers.compare import check_batches
from dbbench.answers.in_parts import rows_of
from dbbench.answers.ties import row_count
from dbbench.errors import Unsupported, WrongAnswer
from dbbench.loadgen.drawn_calls import DrawnCalls
from dbbench.loadgen.job import ClientTimings, Job, Kept
from dbbench.results.facts import StepFacts
from dbbench.results.outcome import Outcome
from dbbench.suite.answer import Answer, bound
from dbbench.suite.steps.query import QueryStep
from dbbench.workloads import load_control
from dbbench.workloads.context import StepContext, StepMeasurement
from dbbench.workloads.drawn import drawn_calls

#: Calls that are compared: of each the answer is computed from the whole dataset.
COMPARED = 12


def measure(step: QueryStep, context: StepContext) -> StepMeasurement:
    """As a query under load is measured. The outcome is wrong if a call that was compared gave anything else."""
    engine = context.engine
    clients = engine.info().concurrency.arranged(step.clients)
    calls = drawn_calls(step, context, column=step.read_column)
    if not context.does_work:
        if step.answer is None:
            raise Unsupported("nobody knows how many rows to give")
        first = calls.named(0, clients.count, [0])[0]
        calls = replace(calls, rows=row_count(_expected(step, first, context)))
    kept: list[Kept] = []

    def driven(job: Job) -> ClientTimings:
        found = context.drive(job, clients)
        kept.extend(found.kept)
        return found

    job = Job("query", (), 0, step.iterations, seed=calls.mix.known.seed, inputs=calls, each=True)
    measured = load_control.measure(step, job, clients, driven, context.note)
    facts: StepFacts = {**measured.facts, "gives": "rows", "cache": step.cache}
    if not context.does_work or step.answer is None:
        return replace(measured, facts=facts)
    chosen = random.Random(calls.mix.known.seed).sample(kept, min(COMPARED, len(kept)))
    try:
        with context.aside():
            others = _compare(step, context, calls, clients.count, chosen)
    except WrongAnswer as exc:
        return replace(measured, facts=facts, outcome=Outcome.WRONG, detail=str(exc))
    facts["compared"] = len(chosen)
    if others:
        facts["other_forms"] = sorted(others)
    return replace(measured, facts=facts)


def _compare(step: QueryStep, context: StepContext, calls: DrawnCalls, of: int, chosen: list[Kept]) -> set[str]:
    """The other forms of columns. Raises WrongAnswer, which names the call's parameters."""
    others: set[str] = set()
    answers: dict[str, pa.Table] = {}
    for client in sorted({each.client for each in chosen}):
        mine = [each for each in chosen if each.client == client]
        drawn = calls.named(client, of, [each.place for each in mine])
        for each in mine:
            values = drawn[each.place]
            said = ", ".join(f"{name} = {value}" for name, value in values.items())
            if said not in answers:
                answers[said] = _expected(step, values, context)
            try:
                others |= check_batches(
                    each.table.to_batches(), answers[said], ordered=step.ordered, declared=context.session.declared
                )
            except WrongAnswer as exc:
                raise WrongAnswer(f"with {said}: {exc}") from exc
    return others


def _expected(step: QueryStep, values: Mapping[str, Any], context: StepContext) -> pa.Table:
    assert isinstance(step.answer, Answer)
    pieces = rows_of(bound(step.answer, values), context.files, with_ties=True)
    return pa.concat_tables(pieces, promote_options="default")
