"""Transactions of several statements in words."""

from collections.abc import Mapping, Sequence

from dbbench.analysis.units import Unit, amount
from dbbench.report import step_view
from dbbench.report.step_view import Facts, Line, StepView, load, percentiles_note
from dbbench.report.steps.keyvalue import by, same_count
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
        """Calls, clients and invariants."""
        count = same_count(facts, "calls")
        calls = "Transactions" if count is None else f"{count:,} transactions"
        names = ", ".join(each.name for each in step.invariants)
        checked = f"Checked afterwards: {names}." if names else "The suite has no invariants: not verified."
        # The note stands here too, as a chart may go its own way: what a benchmark is derived from belongs on it.
        made = f"{calls} by {by(step.clients)}: {_shares(step)}."
        thinking = f"{thinking[0].upper()}{thinking[1:]}." if (thinking := _thinking(step)) else ""
        return " ".join(filter(None, (made, thinking, checked, step.note)))

    def detailed(self, step: TransactionStep, view: StepView) -> StepView:
        """A column for each transaction."""
        return view.with_details(lambda line: _cells(step, line))

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


def _cells(step: TransactionStep, line: Line) -> dict[str, str]:
    found = line.row.transaction_stats([each.name for each in step.transactions])
    if found is None:
        return {}
    several = len(step.transactions) > 1
    cells = {}
    for each in step.transactions:
        tail = line.tails.get(each.name) if several else next(iter(line.tails.values()), None)
        points = [tail.percentiles[0], tail.percentiles[2]] if tail else [None, None]
        times = [amount("s", point) for point in points]
        cells[each.name] = ", ".join([f"{Unit(1, '').figure(found.per_second[each.name])}/s", *times])
    retries = {f"{reason} in {name}": count for (reason, name), count in found.retries.items()}
    return {**cells, "retries": _counted(retries), "rolled back": _counted(found.rolled_back)}


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in sorted(counts.items()) if count) or "0"
