"""A query in words."""

from collections.abc import Sequence

from dbbench.analysis.units import Unit, amount
from dbbench.report import step_view
from dbbench.report.step_view import Facts, Line, StepView, joined, mean_of, percentiles_note, reference_note
from dbbench.results.facts import SHOWN
from dbbench.suite.answer import AnswerFile, EngineAnswer, GivenRows, SqlAnswer
from dbbench.suite.dataset import Records
from dbbench.suite.steps.query import QueryStep
from dbbench.suite.steps.timed import TimedStep


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
            checked = f"; all values of {compared:,} calls were compared" if compared else ""
            return f"{every}Parameters are drawn for each call{checked}."
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


def with_spread(step: TimedStep, view: StepView) -> StepView:
    """The view with percentiles and rates of its calls, where they say more than the mean."""
    found = [line.row.spread for line in view.lines if line.row.spread]
    if not step.controlled and not any(any(each.percentiles[1:]) for each in found):
        return view
    return view.with_details(lambda line: _cells(step, line, None if view.rates else view.unit))


def spread_note(step: TimedStep, view: StepView) -> str:
    """What the percentiles are of."""
    note = percentiles_note(view)
    if step.find:
        note += ", at the highest rate. Fails at: the lowest rate above it that was tried and failed, in calls/s"
    open_loop = " Service: mean from a call's start to its end. Late: more than 1 ms after its moment."
    return f"{note}.{open_loop if step.rate or step.find else reference_note(view)}"


def _cells(step: TimedStep, line: Line, unit: Unit | None) -> dict[str, str]:
    """Percentiles where there are calls enough, then the rest."""
    found = line.row.spread
    if found is None:
        return {}

    def time(seconds: float | None) -> str:
        if seconds is None:
            return "–"
        return amount("s", seconds) if unit is None else unit.figure(seconds)

    column, rate = ("fails at", line.row.failing_rate) if step.find else ("calls/s", found.per_second)
    return {
        **dict(zip(SHOWN, map(time, found.percentiles), strict=True)),
        "max": time(found.greatest),
        column: Unit(1, "").figure(rate) if rate else "–",
        "service": "" if found.due is None else time(found.service),
        "late": "" if found.due is None else f"{found.late:,} of {found.due:,}",
    }
