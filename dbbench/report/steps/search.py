"""Searches for texts in words."""

from collections.abc import Sequence

from dbbench.analysis.row import Row
from dbbench.analysis.units import amount
from dbbench.report import step_view
from dbbench.report.step_view import Facts, StepView, percentiles_note
from dbbench.report.steps.query import spread_note, with_spread
from dbbench.suite.dataset import Records
from dbbench.suite.steps.search import Beginning, SearchStep


class Wording(step_view.Wording[SearchStep]):
    """The texts that match, how their order compares with BM25's, and how the calls were spread."""

    def work(self, step: SearchStep) -> str:
        """What matches, and what is returned."""
        drawn = step.match.drawn
        places = f"{drawn.among[0]:,} to {drawn.among[1]:,}"
        if isinstance(drawn, Beginning):
            what = f"the first {drawn.letters} letters of a word"
        else:
            what = f"{step.match.kind} of {drawn.words} words"
        returned = "keys" if step.payload == "keys" else "keys and texts"
        which = f"the best {step.top}" if step.top else "all that match"
        return f"{returned} of {which}: {what}, of those with the places {places} by frequency"

    def conditions(self, step: SearchStep, facts: Facts, arrow: Sequence[str], records: Records | None) -> str:
        """The same, in a sentence."""
        return f"{self.work(step)}; words drawn for each call."

    def detailed(self, step: SearchStep, view: StepView) -> StepView:
        """Matches, ranking and percentiles."""
        if step.rate or step.find:
            return with_spread(step, view)
        return view.with_details(lambda line: _cells(line.row))

    def details_note(self, step: SearchStep, view: StepView) -> str:
        """What the columns are."""
        if step.rate or step.find:
            return spread_note(step, view)
        return (
            "Matches: the texts that match, on average. NDCG: how near the order of a ranked search is to BM25's (k1 1.2, "
            "b 0.75), of 1, beside that of a random order; no rank goes by it. Checked: calls whose answers were compared. "
            f"{percentiles_note(view)}."
        )


def _cells(row: Row) -> dict[str, str]:
    found = row.searches
    if found is None:
        return {}
    tail = next(iter(row.tails.values()), None)
    p50, p99 = (tail.points[0], tail.points[2]) if tail else (None, None)
    return {
        "matches": f"{found.matches:,.1f}",
        "NDCG": "–" if found.ndcg is None else f"{found.ndcg:.3f}",
        "by chance": "–" if found.by_chance is None else f"{found.by_chance:.3f}",
        "checked": f"{found.checked:,.0f}",
        "call p50": amount("s", p50),
        "p99": amount("s", p99),
    }
