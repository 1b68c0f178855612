"""A query in words."""

from collections.abc import Sequence

from dbbench.report import step_view
from dbbench.report.load_details import spread_note, with_spread
from dbbench.report.step_view import Facts, StepView, joined, mean_of
from dbbench.suite.answer import AnswerFile, EngineAnswer, GivenRows, SqlAnswer
from dbbench.suite.dataset import Records
from dbbench.suite.steps.query import QueryStep


class Wording(step_view.Wording[QueryStep]):
    """How many rows it gives, and in which form."""

    def work(self, step: QueryStep) -> str:
        """How its calls are made, and how its answer is checked, if not by the reference."""
        return "; ".join(filter(None, (self.driven(step), self._checked(step))))

    def _checked(self, step: QueryStep) -> str:
        match step.answer:
            case SqlAnswer():
                return ""
            case GivenRows():
                return f"answer: rows in the suite ({len(step.answer.rows):,})"
            case AnswerFile():
                return f"answer: the rows of {step.answer.file}"
            case EngineAnswer():
                return f"answer: what {step.answer.engine} returns"
            case "none":
                return "no answer: not verified, and not ranked"
            case _:
                return "answer: engines are compared with each other; not verified, and not ranked"

    def conditions(self, step: QueryStep, facts: Facts, arrow: Sequence[str], records: Records | None) -> str:
        """Rows, calls, and engines that return Arrow batches."""
        by = next((each["answer_by"] for each in facts if "answer_by" in each), "")
        words = self._conditions(step, facts, arrow) if facts else ""
        return f"{words} Answer by {by}." if by else words

    def _conditions(self, step: QueryStep, facts: Facts, arrow: Sequence[str]) -> str:
        if step.parameters:
            compared = sum(each.get("compared", 0) for each in facts)
            every = (
                "" if step.seconds or step.find else f"A round is {mean_of(step.iterations, 'call')} of each client. "
            )
            return f"{every}Parameters are drawn for each call; all values of {compared:,} calls were compared."
        if step.controlled:
            count = f"{facts[0].get('rows', 0):,} rows, counted in each call"
            return f"{count}; all values compared in a call before the timed ones and in one after."
        warm = f" after {step.warm_up_calls} to warm up" if step.warm_up_calls and step.cache != "cold" else ""
        words = [
            f"{facts[0].get('rows', 0):,} rows; a round is {mean_of(step.iterations, 'call')}{warm}, by one client."
        ]
        if arrow:
            words.append(
                f"Arrow batches, whose values are not turned into Python objects: {joined(sorted(arrow))}; "
                "the others give rows of Python values."
            )
        return " ".join(words)

    def detailed(self, step: QueryStep, view: StepView) -> StepView:
        """How its calls were spread, under load."""
        return with_spread(step, view) if step.controlled else view

    def details_note(self, step: QueryStep, view: StepView) -> str:
        """What the percentiles are of."""
        return spread_note(step, view) if step.controlled else ""
