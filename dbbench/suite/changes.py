"""What the steps before a query have made of the tables that it reads."""

from collections.abc import Sequence
from dataclasses import dataclass

from dbbench.suite.answer import EngineAnswer, SqlAnswer
from dbbench.suite.sql_text import tables_of, words_of
from dbbench.suite.steps.base import Step
from dbbench.suite.steps.contention import ContentionStep
from dbbench.suite.steps.query import QueryStep
from dbbench.suite.steps.sql import SqlStep
from dbbench.suite.steps.statement import StatementStep
from dbbench.suite.steps.transaction import TransactionStep


@dataclass(frozen=True)
class Changes:
    """The steps that change them; the statements in order, each with the number of its calls, or why it isn't known."""

    steps: tuple[str, ...] = ()
    statements: tuple[tuple[str, int], ...] = ()
    unknown: str = ""


def before(query: QueryStep, steps: Sequence[Step]) -> Changes:
    """The changes of the steps of a scenario before a query."""
    more = query.answer.sql or "" if isinstance(query.answer, SqlAnswer) else ""
    read = {word for sql in (*query.statements.values(), more) for word in words_of(sql)}
    found: list[tuple[str, tuple[str, int] | None]] = []
    for step in steps[: [each.name for each in steps].index(query.name)]:
        match step:
            case StatementStep() if read & _tables(step):
                found.append((step.name, _statement(step)))
            case TransactionStep() if any(
                not each.only_reads and read & {name for one in each.every for name in tables_of(one.sql)}
                for each in step.transactions
            ):
                found.append((step.name, None))
            case ContentionStep() if step.table in read:
                found.append((step.name, None))
    alone = isinstance(query.answer, EngineAnswer)  # which is asked before any step
    unknown = next((f"the effect of {name} on the data is unknown" for name, made in found if alone or not made), "")
    return Changes(tuple(name for name, _ in found), tuple(made for _, made in found if made is not None), unknown)


def _statement(step: StatementStep) -> tuple[str, int] | None:
    """A statement and how often it is carried out; None where that depends on time or chance."""
    if step.parameters or step.controlled:
        return None
    return step.sql, step.warm_up_calls + step.iterations


def _tables(step: SqlStep) -> set[str]:
    return {name for sql in step.statements.values() for name in tables_of(sql)}
