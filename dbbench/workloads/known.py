"""The answers that a query's rows are compared with, as they were computed before the run."""

import pyarrow as pa

from dbbench.answers.stored import BY, read_answers, refused, said
from dbbench.results.facts import StepFacts
from dbbench.suite.answer import AnswerFile, EngineAnswer, SqlAnswer
from dbbench.suite.steps.query import QueryStep
from dbbench.workloads.context import StepContext


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
