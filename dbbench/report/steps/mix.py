"""A mix in words."""

from collections.abc import Sequence

from dbbench.report import step_view
from dbbench.report.step_view import Facts, StepView, percentiles_note, reference_note
from dbbench.report.steps.keyvalue import by, reference_cell, same_count, sizes, tail_cells
from dbbench.suite.dataset import Records
from dbbench.suite.steps.mix import MixStep

_KEYS = {
    "uniform": "all records alike popular",
    "zipfian": "some records far more popular than others (zipfian)",
    "latest": "the newest records the most popular",
}


class Wording(step_view.Wording[MixStep]):
    """Operations by their weights, and how the calls of each were spread."""

    def work(self, step: MixStep) -> str:
        """Number, weights, keys and clients."""
        shares = ", ".join(f"{name} {weight:g}" for name, weight in step.weights.items())
        amount = f"{step.operations:,} operations" if step.operations else "operations"
        return f"{amount}: {shares}; {step.keys} keys; {self.driven(step) or step.clients}"

    def conditions(self, step: MixStep, facts: Facts, arrow: Sequence[str], records: Records | None) -> str:
        """Calls, clients and the distribution of keys."""
        whole = sum(step.weights.values())
        shares = ", ".join(f"{name} {100 * weight / whole:.3g} %" for name, weight in step.weights.items())
        count = same_count(facts, "operations")
        calls = "Calls" if count is None else f"{count:,} calls"
        scans = f"; a scan takes up to {step.scan_length:,} records" if "scan" in step.weights else ""
        mixed = f"{calls} by {by(step.clients)}: {shares}; {_KEYS[step.keys]}{scans}"
        return f"{mixed}{sizes(records)}."

    def detailed(self, step: MixStep, view: StepView) -> StepView:
        """Percentiles, and multiples of the reference's figure."""
        return view.with_details(lambda line: {**reference_cell(view, line), **tail_cells(view, line)})

    def details_note(self, step: MixStep, view: StepView) -> str:
        """What the percentiles are of."""
        return f"{percentiles_note(view)}.{reference_note(view)}"
