"""Transactions of several statements in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from statistics import median

from dbbench.analysis.units import Unit, fitting
from dbbench.report import step_view
from dbbench.report.step_view import Facts, Line, StepView, load, percentiles_note
from dbbench.report.steps.keyvalue import by
from dbbench.results.facts import StepFacts
from dbbench.results.trial import TrialResult
from dbbench.suite.dataset import Records
from dbbench.suite.steps.transaction import TransactionStep


class Wording(step_view.Wording[TransactionStep]):
    """Transactions by their weights, how the calls of each were spread, and what was retried or rolled back."""

    def call(self, step: TransactionStep) -> str:
        """What its percentiles are of."""
        return "a transaction"

    def work(self, step: TransactionStep) -> str:
        """Number, weights and clients."""
        how = load(step) or f"{step.calls or 0:,} transactions"
        return "; ".join(filter(None, (f"{how}: {_shares(step)}", str(step.clients), _thinking(step))))

    def conditions(self, step: TransactionStep, facts: Facts, arrow: Sequence[str], records: Records | None) -> str:
        """How many calls, by whom, and what must hold afterwards."""
        count = next((each["calls"] for each in facts if "calls" in each), None)
        calls = "Transactions" if count is None else f"{count:,} transactions"
        names = ", ".join(each.name for each in step.invariants)
        checked = f"Checked afterwards: {names}." if names else "The suite has no invariants: not verified."
        # The note stands here too, as a chart may go its own way: what a benchmark is derived from belongs on it.
        made = f"{calls} by {by(step.clients)}: {_shares(step)}."
        thinking = f"{thinking[0].upper()}{thinking[1:]}." if (thinking := _thinking(step)) else ""
        return " ".join(filter(None, (made, thinking, checked, step.note)))

    def detailed(self, step: TransactionStep, view: StepView, results: Sequence[TrialResult]) -> StepView:
        """A column for each transaction."""
        lines = tuple(replace(line, details=_cells(step, line)) for line in view.lines)
        if not any(line.details for line in lines):
            return view
        return replace(
            view, lines=lines, details=(*(each.name for each in step.transactions), "retries", "rolled back")
        )

    def details_note(self, step: TransactionStep, view: StepView) -> str:
        """What the columns are."""
        return (
            f"Of each transaction: commits per second, p50 and p99. {percentiles_note(view)}. Retries: transactions made "
            "again because the system ended them, with their pauses part of the call; rolled back: as the suite wants it. "
            "Both are of all rounds."
        )


def _shares(step: TransactionStep) -> str:
    whole = sum(each.weight for each in step.transactions)
    if len(step.transactions) == 1:
        return step.transactions[0].name
    return ", ".join(f"{each.name} {100 * each.weight / whole:.3g} %" for each in step.transactions)


def _thinking(step: TransactionStep) -> str:
    """How long clients pause after which transactions; empty if they don't."""
    own = [(each.name, each.think or step.think) for each in step.transactions]
    if len({think for _, think in own}) == 1:
        return f"clients think {own[0][1]} after each" if own[0][1] else ""
    return f"clients think {', '.join(f'{think} after {name}' for name, think in own if think)}"


def _cells(step: TransactionStep, line: Line) -> tuple[str, ...]:
    names = {each.name for each in step.transactions}
    rounds = [facts for facts in line.row.rounds if names <= {*facts.get("by_transaction", ())}]
    if not rounds:
        return ()
    several = len(step.transactions) > 1
    cells = []
    for each in step.transactions:
        rates = [_rate(facts, each.name) for facts in rounds]
        tail = line.tails.get(each.name) if several else next(iter(line.tails.values()), None)
        points = [tail.percentiles[0], tail.percentiles[2]] if tail else [None, None]
        times = ["–" if point is None else fitting("s", [point]).text(point) for point in points]
        cells.append(", ".join([f"{Unit(1, '').figure(median(rates))}/s", *times]))
    retries: Counter[str] = Counter()
    rolled_back: Counter[str] = Counter()
    for facts in rounds:
        for name, counts in facts["by_transaction"].items():
            rolled_back[name] += counts["rolled_back"]
            for reason, count in counts["retries"].items():
                retries[f"{reason} in {name}"] += count
    return (*cells, _counted(retries), _counted(rolled_back))


def _rate(facts: StepFacts, name: str) -> float:
    """Commits of a transaction in a second: its share of all calls."""
    every = sum(each["committed"] + each["rolled_back"] for each in facts["by_transaction"].values())
    return float(facts["by_transaction"][name]["committed"] * facts["per_second"] / max(every, 1))


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in sorted(counts.items()) if count) or "0"
