"""A query whose parameters are drawn for each call. Of some calls all rows are kept, and compared afterwards.

Each client keeps the rows of calls at random places, ever fewer as it goes on; COMPARED of all these are compared.
"""

import random
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pyarrow as pa

from dbbench.answers.compare import check_batches
from dbbench.answers.given import question
from dbbench.answers.stored import read_answers, refused, row_count
from dbbench.errors import NotVerified, Unsupported, WrongAnswer
from dbbench.loadgen.clients import arranged
from dbbench.loadgen.job import ClientTimings, Job, Kept
from dbbench.loadgen.query_calls import DrawnCalls
from dbbench.results.facts import StepFacts
from dbbench.results.outcome import Outcome
from dbbench.suite.changes import Changes
from dbbench.suite.steps.query import QueryStep
from dbbench.workloads import load_control
from dbbench.workloads.context import StepContext, StepMeasurement
from dbbench.workloads.drawn import drawn_calls
from dbbench.workloads.known import checked_by, known_answers

#: Calls that are compared: of each the answer is computed from the whole dataset.
COMPARED = 12


def measure(step: QueryStep, context: StepContext) -> StepMeasurement:
    """Measure like a query under load. The outcome is wrong if a call that was compared gave anything else."""
    engine = context.engine
    clients = arranged(engine, step.clients)
    known, _ = known_answers(step, context)
    calls = drawn_calls(step, context, column=step.read_column(known[0].column_names if known else ()))
    if not context.does_work:
        if not known:
            raise Unsupported("the number of rows to return is unknown")
        first = calls.named(0, clients.count, [0])[0]
        try:
            calls = replace(calls, rows=row_count(_expected(step, [first], context)[0][0]))
        except NotVerified as exc:
            raise Unsupported(f"the number of rows to return is unknown: {exc}") from exc
    samples: list[Kept] = []

    def driven(job: Job) -> ClientTimings:
        found = context.drive(job, clients)
        samples.extend(found.kept)
        return found

    job = Job("query", (), 0, step.iterations, seed=calls.mix.known.seed, inputs=calls, each=True)
    measured = load_control.measure(step, job, clients, driven, context.note)
    facts: StepFacts = {**measured.facts, "gives": "rows", "cache": step.cache}
    if not context.does_work or not known:
        return replace(measured, facts=facts)
    chosen = random.Random(calls.mix.known.seed).sample(samples, min(COMPARED, len(samples)))
    try:
        with context.aside():
            others = _compare(step, context, calls, clients.count, chosen)
    except WrongAnswer as exc:
        facts |= checked_by(step, context)
        return replace(measured, facts=facts, outcome=Outcome.WRONG, detail=str(exc))
    except NotVerified as exc:
        context.data.no_answer[step.name] = str(exc)
        return replace(measured, facts=facts)
    facts |= {**checked_by(step, context), "compared": len(chosen)}
    if others:
        facts["other_forms"] = sorted(others)
    return replace(measured, facts=facts)


def first_call(step: QueryStep, context: StepContext) -> tuple[str, str]:
    """The query with the values of the first client's first call as literals, and a line that names them.

    The seed draws them, so that they are the same for every engine and in every round.
    """
    calls = drawn_calls(step, context)
    (drawn,) = calls.named(0, step.clients.count, [0]).values()
    values = [_literal(drawn[name]) for name in calls.text.names]
    sql = "".join(f"{piece}{value}" for piece, value in zip_longest(calls.text.pieces, values, fillvalue=""))
    return sql, f"with {', '.join(f'{name} = {value}' for name, value in drawn.items())}:\n"


def _literal(value: object) -> str:
    return str(value) if isinstance(value, int | float | Decimal) else "'{}'".format(str(value).replace("'", "''"))


def _compare(step: QueryStep, context: StepContext, calls: DrawnCalls, of: int, chosen: list[Kept]) -> set[str]:
    """The other forms of columns. Raises WrongAnswer, which names the call's parameters."""
    others: set[str] = set()
    clients = sorted({each.client for each in chosen})
    drawn = {
        client: calls.named(client, of, [each.place for each in chosen if each.client == client]) for client in clients
    }
    values = [drawn[each.client][each.place] for each in chosen]
    for each, named, answers in zip(chosen, values, _expected(step, values, context), strict=True):
        wrong = []
        for answer in answers:
            try:
                others |= check_batches(each.table.to_batches(), answer, declared=context.session.declared)
            except WrongAnswer as exc:
                wrong.append(str(exc))
        if len(wrong) == len(answers):
            said = ", ".join(f"{name} = {value}" for name, value in named.items())
            raise WrongAnswer(f"with {said}: {wrong[0]}")
    return others


def _expected(step: QueryStep, values: Sequence[Mapping[str, Any]], context: StepContext) -> list[list[pa.Table]]:
    """The right answers of each call. Raises NotVerified if there is none."""
    found = []
    asked = question(step, context.changes.get(step.name, Changes()).statements)
    questions = [replace(asked, parameters=each) for each in values]
    with tempfile.TemporaryDirectory(prefix="dbbench-drawn-") as folder:
        for path in context.compute(questions, context.tables, context.files, Path(folder)):
            answers = read_answers(path)
            if why := refused(answers):
                raise NotVerified(f"answer not computed: {why}")
            found.append(answers)
    return found
