"""Searches for the nearest vectors in words."""

from collections.abc import Sequence

from dbbench.analysis.row import Row
from dbbench.analysis.units import amount
from dbbench.report import step_view
from dbbench.report.step_view import Facts, StepView, percentiles_note
from dbbench.report.steps.query import spread_note, with_spread
from dbbench.suite.dataset import Records
from dbbench.suite.steps.nearest import NearestStep


class Wording(step_view.Wording[NearestStep]):
    """The recall that was reached, with what effort, and how the calls were spread."""

    def work(self, step: NearestStep) -> str:
        """How many neighbours, of what, and the recall."""
        return f"the {step.k} nearest{_among(step)}; recall {step.target:g}"

    def conditions(self, step: NearestStep, facts: Facts, arrow: Sequence[str], records: Records | None) -> str:
        """The same, with the number of queries."""
        counts = sorted({each["recall"]["queries"] for each in facts if "recall" in each})
        queries = (
            "" if not counts else f"{counts[0]:,}{f' to {counts[-1]:,}' * (len(counts) > 1)} queries, asked in passes; "
        )
        return f"{queries}the {step.k} nearest{_among(step)}, at a recall of {step.target:g} or more."

    def detailed(self, step: NearestStep, view: StepView) -> StepView:
        """Recall, effort and percentiles."""
        if step.rate or step.find:
            return with_spread(step, view)
        return view.with_details(lambda line: _cells(line.row))

    def details_note(self, step: NearestStep, view: StepView) -> str:
        """What the columns are."""
        if step.rate or step.find:
            return spread_note(step, view)
        return (
            "Recall: the mean of the timed queries, with its interval and the fifth percentile, medians of the rounds. "
            "Effort: the least that reached the recall on other queries; searches without a knob have none. "
            f"{percentiles_note(view)}."
        )


def _among(step: NearestStep) -> str:
    outside = " to queries from outside of the vectors' distribution" * (step.queries == "outside")
    return f"{outside} of the {step.where.label * 100:g} % with one label" if step.where else outside


def _cells(row: Row) -> dict[str, str]:
    found = row.recall
    if found is None:
        return {}
    tail = next(iter(row.tails.values()), None)
    p50, p99 = (tail.points[0], tail.points[2]) if tail else (None, None)
    return {
        "recall": f"{found.mean:.4f}",
        "95 % interval": f"{found.low:.4f} to {found.high:.4f}",
        "p5": f"{found.p5:.2f}",
        "effort": "–" if found.effort is None else f"{found.knob} {found.effort:g}",
        "call p50": amount("s", p50),
        "p99": amount("s", p99),
    }
