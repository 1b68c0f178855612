"""Operations on records in words."""

from collections.abc import Sequence
from typing import Literal

from dbbench.analysis.recorded import TAIL
from dbbench.analysis.units import amount
from dbbench.report import step_view
from dbbench.report.step_view import Facts, Line, StepView, load, percentiles_note, reference_note, reference_ratio
from dbbench.suite.dataset import Records
from dbbench.suite.steps.base import Clients
from dbbench.suite.steps.keyvalue import KeyValueStep

_DONE = {"insert": "inserted", "read": "read", "update": "updated", "delete": "deleted", "seek": "sought"}


class Wording(step_view.Wording[KeyValueStep]):
    """One operation, and how its calls were spread."""

    def call(self, step: KeyValueStep) -> str:
        """A record, or a transaction of several."""
        return "a transaction" if step.transaction > 1 else "a call"

    def work(self, step: KeyValueStep) -> str:
        """Operation, order, number and clients."""
        what = f"{step.operation}, {step.order}, " + (f"{step.count:,}" if step.count else "all")
        what = f"{step.operation}, {step.order}; {load(step)}" if load(step) else what
        in_one = f"; transactions of {step.transaction:,}" if step.transaction > 1 else ""
        return f"{what}{in_one}; {step.clients}"

    def conditions(self, step: KeyValueStep, facts: Facts, arrow: Sequence[str], records: Records | None) -> str:
        """Records, clients and order."""
        return f"{_records(step, same_count(facts, 'operations'), records)}{sizes(records)}."

    def detailed(self, step: KeyValueStep, view: StepView) -> StepView:
        """Seconds of all operations, percentiles, and multiples of the reference's figure."""
        facts = [line.row.facts for line in view.lines if line.row.facts]
        count = None if load(step) else same_count(facts, "operations")

        def cells(line: Line) -> dict[str, str]:
            elapsed = amount("s", count / line.row.value) if count and line.row.value else ""
            return {**reference_cell(view, line), "elapsed": elapsed, **tail_cells(view, line)}

        return view.with_details(cells)

    def details_note(self, step: KeyValueStep, view: StepView) -> str:
        """What the percentiles are of."""
        transaction = step.transaction
        calls = f" A call is a transaction of {transaction:,} records." if transaction > 1 else ""
        elapsed = "Elapsed: of all operations, at this rate. " * ("elapsed" in view.details)
        return f"{elapsed}{percentiles_note(view)}.{calls}{reference_note(view)}"


def _records(step: KeyValueStep, count: int | None, records: Records | None) -> str:
    known = "Records" if count is None else f"{count:,} records"
    if step.operation == "scan":
        return f"{known} taken by one call of one client"
    if step.order == "same":
        known = "One record" if count is None else f"One record {_DONE[step.operation]} {count:,} times"
        return f"{known} by {by(step.clients, bound=step.affinity)}"
    words = f"{known} {_DONE[step.operation]} by {by(step.clients, bound=step.affinity)}"
    ascending = records is not None and records.key_order == "ascending"
    what = "keys" if ascending else "numbers"
    order = "in random order" if step.order == "random" else f"in the order of their {what}"
    if step.operation not in ("insert", "update", "delete"):
        return f"{words}, {order}"
    return f"{words}, {order}, {'one' if step.transaction == 1 else f'{step.transaction:,}'} in a transaction"


def same_count(facts: Facts, of: Literal["operations", "calls"]) -> int | None:
    """How many each engine made, if all made as many."""
    counts = {each[of] for each in facts if of in each}
    return counts.pop() if len(counts) == 1 else None


def by(clients: Clients, *, bound: bool = False) -> str:
    """Clients in words."""
    if clients.count == 1:
        return "one client bound to a processor" if bound else "one client"
    return f"{clients}{', each bound to a processor' if bound else ''}"


def sizes(records: Records | None) -> str:
    """What the records are, after a semicolon."""
    if records is None:
        return ""
    return f"; {records.key_order} keys of {records.key_bytes:,} bytes, values of {records.value_bytes:,}"


def tail_cells(view: StepView, line: Line) -> dict[str, str]:
    """The percentiles of a line's calls, by operation where the step has several."""
    several = len({name for other in view.lines for name in other.tails}) > 1
    points = (*TAIL, "max")
    picked = (0, 2) if several else range(len(points))
    return {
        f"{name} {points[at]}" if several else points[at]: amount("s", tail.points[at])
        for name, tail in line.tails.items()
        for at in picked
    }


def reference_cell(view: StepView, line: Line) -> dict[str, str]:
    """A line's figure as a multiple of the reference's, if the scenario has one that ran."""
    return {f"of {view.scenario.reference}": reference_ratio(view, line)}
