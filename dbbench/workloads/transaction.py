"""Transactions of several statements with drawn parameters. Afterwards the suite's invariants hold."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

from dbbench.engine.sql.session import fetch
from dbbench.errors import NotVerified, WrongAnswer
from dbbench.host.metric import shared
from dbbench.loadgen.clients import arranged
from dbbench.loadgen.job import ClientTimings, Job
from dbbench.loadgen.transaction_draws import Group, Plan, Text
from dbbench.loadgen.transaction_mix import NOT_ADDED, OF, ROLLED_BACK, TransactionMix
from dbbench.results.facts import StepFacts, TransactionCounts
from dbbench.results.outcome import Outcome
from dbbench.suite.parameters import Parameter
from dbbench.suite.sql_text import tables_of, words_of
from dbbench.suite.steps.base import Step
from dbbench.suite.steps.transaction import Invariant, Repeated, Statement, Think, Transaction, TransactionStep
from dbbench.workloads import drawn, load_control
from dbbench.workloads.contents import forget
from dbbench.workloads.context import Leaves, StepContext, StepMeasurement
from dbbench.workloads.transaction_reads import by_key, check_reads


def measure(step: TransactionStep, context: StepContext) -> StepMeasurement:
    """Committed transactions in a second. Raises Unsupported without SQL, transactions, or as many clients."""
    engine = context.engine
    clients = arranged(engine, step.clients)
    mix = mix_of(step, context)
    mix.check(engine, context.session)
    numbers = dict(_numbers(step.invariants, context)) if context.does_work else {}
    every = [statement for each in step.transactions for statement in each.every]
    texts = [statement.dialects.get(engine.info().dialect, statement.sql) for statement in every]
    forget(context, texts)
    reads = [read for sql in texts if (read := by_key(sql, context.tables))]
    done: Counter[str] = Counter()
    counts: Counter[str] = Counter()

    def driven(job: Job) -> ClientTimings:
        """What the clients did, and what the data must be after it: a search has them do it again and again."""
        inputs = replace(mix_of(step, context), endless=True) if step.timed else mix
        found = context.drive(replace(job, inputs=inputs), clients, last=step.find is None)
        with context.aside():
            check_reads(found.kept, reads, context)
        made = dict(found.made)
        done.update(inputs.committed(made, clients.count, found.counts))
        counts.update(found.counts)
        for name, added in inputs.added(made, clients.count, found.counts).items():
            numbers[name] = numbers.get(name, 0) + added
        return found

    job = Job("statement", (), 0, mix.calls, seed=mix.known.seed, inputs=mix, time_limit=step.time_limit)
    measured = load_control.measure(step, job, clients, driven, context.note, records=1)
    by_transaction = _by_transaction(step, counts, done)
    facts: StepFacts = {**measured.facts, "retries": _retries(counts)}
    if measured.outcome is not Outcome.NO_RATE:  # which has no rate to share among them
        facts["by_transaction"] = by_transaction
    if measured.metric == "throughput":
        rolled_back = sum(each["rolled_back"] for each in by_transaction.values())
        share = done.total() / (done.total() + rolled_back)
        measured = replace(
            measured,
            samples=[each * share for each in measured.samples],
            usage=shared(measured.usage, share),
        )
    changing = sum(done[each.name] for each in step.transactions if _inserts(each) or _grows(each, step.invariants))
    return replace(measured, facts=facts, leaves=Leaves(numbers=numbers), commits=changing // clients.count)


def _inserts(transaction: Transaction) -> bool:
    """Whether a transaction adds a row whatever it finds. An update may match none, or leave it as it was."""
    statements = [each for each in transaction.statements if isinstance(each, Statement)]
    sure = any(all(map(_adds, (each.sql, *each.dialects.values()))) for each in statements)
    return sure and not any(getattr(each, "missing", "") == "skip" for each in transaction.statements)


def _grows(transaction: Transaction, invariants: Sequence[Invariant]) -> bool:
    """Whether the check of an invariant proves that each of its commits has changed something."""
    for each in invariants:
        by = (each.grows or {}).get(transaction.name, 0)
        drawn_by = transaction.parameters.get(by.removeprefix("-")) if isinstance(by, str) else None
        low, high = (drawn_by.integer if drawn_by else None) or ((0, 0) if isinstance(by, str) else (by, by))
        if low > 0 or high < 0:
            return True
    return False


def _adds(sql: str) -> bool:
    words = re.findall(r"\w+", sql.upper())
    return words[:1] == ["INSERT"] and not {"SELECT", "CONFLICT", "IGNORE", "DUPLICATE", "OR"} & {*words}


def check(step: TransactionStep, context: StepContext) -> None:
    """Each invariant holds. Raises WrongAnswer, and NotVerified where there is none."""
    if not step.invariants:
        raise NotVerified("the step has no `invariants`")
    _hold(step.invariants, context.data.numbers[step.name], context)


def check_again(step: TransactionStep, context: StepContext, later: Sequence[Step]) -> None:
    """Each invariant holds after all steps, of which those that came `later` have written to none of its tables."""
    _hold([each for each in step.invariants if not _may_change(each, later)], context.data.numbers[step.name], context)


def _may_change(invariant: Invariant, later: Sequence[Step]) -> bool:
    """Whether any of some steps may write to a table that an invariant looks at."""
    reads = {word for sql in (invariant.sql, *invariant.dialects.values()) for word in words_of(sql)}
    for step in later:
        named = {table for sql in step.statements.values() for table in tables_of(sql)}
        if step.writes and (not named or named & reads):
            return True
    return False


def _hold(invariants: Sequence[Invariant], numbers: Mapping[str, int], context: StepContext) -> None:
    now = dict(_numbers(invariants, context))
    for each in invariants:
        if each.grows is None:
            if rows := fetch(context.session, context.statement(each)):
                raise WrongAnswer(
                    f"{each.name}: the query found {len(rows):,} rows that must not exist, the first {_shown(rows[0])}"
                )
        elif now[each.name] != numbers[each.name]:
            raise WrongAnswer(
                f"{each.name}: {now[each.name]:,} instead of {numbers[each.name]:,}, according to the clients' commits"
            )


def _shown(row: tuple[Any, ...]) -> str:
    return f"({', '.join(map(str, row))})"


def _numbers(invariants: Sequence[Invariant], context: StepContext) -> Iterator[tuple[str, int]]:
    """What each invariant that grows is now. Raises WrongAnswer if it is no whole number."""
    for each in invariants:
        if each.grows is not None:
            rows = fetch(context.session, context.statement(each))
            try:
                ((found,),) = rows
                number = Decimal(str(found))  # some drivers give it as text
                rounded = int(number)
            except (ValueError, ArithmeticError):
                raise WrongAnswer(f"{each.name}: the query gives no whole number") from None
            if rounded != number:
                raise WrongAnswer(f"{each.name}: the query gives no whole number")
            yield each.name, rounded


def _retries(counts: Mapping[str, int]) -> dict[str, int]:
    """All transactions' by their reasons."""
    retries: Counter[str] = Counter()
    for key in _reasons(counts):
        retries[key.partition(OF)[2]] += counts[key]
    return dict(retries)


def _reasons(counts: Mapping[str, int]) -> list[str]:
    """What the clients counted that is a retry."""
    return [key for key in counts if key.partition(OF)[2] not in (ROLLED_BACK, NOT_ADDED)]


def _by_transaction(
    step: TransactionStep, counts: Mapping[str, int], done: Mapping[str, int]
) -> dict[str, TransactionCounts]:
    """Committed and rolled-back transactions of each kind, and their retries by reason."""
    return {
        each.name: {
            "committed": done[each.name],
            "rolled_back": counts.get(f"{each.name}{OF}{ROLLED_BACK}", 0),
            "retries": {
                key.partition(OF)[2]: counts[key] for key in _reasons(counts) if key.startswith(f"{each.name}{OF}")
            },
        }
        for each in step.transactions
    }


def mix_of(step: TransactionStep, context: StepContext) -> TransactionMix:
    """The calls of a step, as ordered from its clients."""
    manifest = context.files.manifest
    calls = max(1, round((step.calls or 1) * manifest["scale"]))
    plans = [plan_of(each, step.think, context) for each in step.transactions]
    grows = {each.name: each.grows for each in step.invariants if each.grows is not None}
    return TransactionMix(plans, grows, drawn.known(_parameters(step), context), calls)


def plan_of(transaction: Transaction, think: Think | None, context: StepContext) -> Plan:
    """A transaction for the context's engine; `think` is the pause of one that has none of its own."""
    think = transaction.think or think
    groups: list[Group] = []
    for each in transaction.statements:
        if isinstance(each, Repeated):
            groups.append(Group(each.repeat, each.parameters, [_text(one, context) for one in each.statements]))
        elif groups and groups[-1].repeat is None:
            groups[-1] = replace(groups[-1], statements=[*groups[-1].statements, _text(each, context)])
        else:
            groups.append(Group(None, {}, [_text(each, context)]))
    return Plan(
        transaction.name,
        transaction.weight,
        transaction.parameters,
        groups,
        transaction.only_reads,
        think.seconds if think else (0.0, 0.0, 0.0),
    )


def _text(statement: Statement, context: StepContext) -> Text:
    text = drawn.text(statement.sql, statement.dialects, context, statement.row, statement.missing)
    read = by_key(statement.dialects.get(context.engine.info().dialect, statement.sql), context.tables)
    return replace(text, keeps=len(read.columns)) if read else text


def _parameters(step: TransactionStep) -> Iterator[Parameter]:
    for transaction in step.transactions:
        yield from transaction.parameters.values()
        for each in transaction.statements:
            if isinstance(each, Repeated):
                yield from each.parameters.values()
