"""The answers that a query's rows are compared with: computed before the run, or those of other engines so far."""

from pathlib import Path

import pyarrow as pa

from dbbench.answers.compare import check_batches
from dbbench.answers.stored import BY, read_answers, refused, said, write_answers
from dbbench.errors import WrongAnswer
from dbbench.host import plain_file
from dbbench.results.facts import StepFacts
from dbbench.suite.answer import AnswerFile, EngineAnswer, SqlAnswer
from dbbench.suite.steps.query import QueryStep
from dbbench.workloads.context import StepContext

#: An engine that never gives the same twice founds many.
_MOST_GROUPS = 100


def known_answers(step: QueryStep, context: StepContext) -> tuple[list[pa.Table], str]:
    """The answers of which each is right; where there is none, why."""
    if step.answer == "none":
        return [], "the suite has no answer for the query"
    if step.answer == "agree":
        return [], "engines are only compared with each other"
    if why := context.data.no_answer.get(step.name):
        return [], why
    answers = read_answers(context.answers[step.name])
    return ([], f"answer not computed: {why}") if (why := refused(answers)) else (answers, "")


def checked_by(step: QueryStep, context: StepContext) -> StepFacts:
    """Source of an answer, and what checked it where that proves less than the reference."""
    match step.answer:
        case SqlAnswer(sql=sql):
            by = said(read_answers(context.answers[step.name]), BY)
            return {"answer_by": f"{by} from {'SQL of its own' if sql else 'the same SQL'}"}
        case EngineAnswer(engine=name):
            return {"checked_by": name}
        case AnswerFile():
            return {"checked_by": "file"}
    return {}


def group(answer: pa.Table, run: Path, scenario: str, step: str) -> int:
    """The number of the group, from 1, whose answer is the same by the rules of `compare`. A run keeps one of each.

    An answer that fits no group founds one. Trials run one after another, so that no two found a group at once. Raises
    WrongAnswer if there are too many groups.
    """
    folder = plain_file.folder(plain_file.folder(run, "answers"), f"{scenario}-{step}")
    for number in range(1, _MOST_GROUPS + 1):
        path = plain_file.inside(folder, f"{number}.arrow")
        if not path.exists():
            write_answers([answer], path)
            return number
        if _same(answer, read_answers(path)[0]):
            return number
    raise WrongAnswer(f"more than {_MOST_GROUPS} different answers so far")


def _same(answer: pa.Table, other: pa.Table) -> bool:
    try:
        check_batches(answer.to_batches(), other)
    except WrongAnswer:
        return False
    return True
