"""Many clients in one table, in words."""

from collections.abc import Sequence

from dbbench.analysis.units import amount
from dbbench.report import step_view
from dbbench.report.step_view import Facts, Line, StepView
from dbbench.suite.dataset import Records
from dbbench.suite.steps.contention import ContentionStep


class Wording(step_view.Wording[ContentionStep]):
    """How many clients fared: their iterations, how alike they were served, retries, and counts."""

    def call(self, step: ContentionStep) -> str:
        """What a client does again and again."""
        return "an iteration"

    def work(self, step: ContentionStep) -> str:
        """Clients and iterations."""
        searches = f"{step.iterations} iterations of {step.sub_iterations} searches in {step.table}"
        return f"{self.driven(step)}; each {searches}"

    def driven(self, step: ContentionStep) -> str:
        """Clients, and the sessions that they share."""
        return f"{step.clients} at once{'' if step.pool is None else f', {step.pool} sessions'}"

    def conditions(self, step: ContentionStep, facts: Facts, arrow: Sequence[str], records: Records | None) -> str:
        """Transactions and their results."""
        one = next((each for each in facts if "transactions" in each), None)
        if one is None:
            return ""
        written = f"{one['inserts']:,} objects inserted, {one['updates']:,} updated, {one['deletes']:,} deleted"
        words = [f"{one['transactions']:,} transactions: {written}; {one['selects']:,} selects."]
        words.append(f"Of the deletes {one['left']:,} come after the last client, in one transaction that counts too.")
        return " ".join(words)

    def detailed(self, step: ContentionStep, view: StepView) -> StepView:
        """How the clients fared."""
        return view.with_details(_cells)

    def details_note(self, step: ContentionStep, view: StepView) -> str:
        """What the columns are."""
        return (
            "Percentiles of an iteration. Clients: processes × threads. Fastest and slowest: of the clients, who all "
            "had the same to do. Fairness: Jain's index of their rates, 1 if all are alike. Retries: transactions made "
            "again, of all rounds. Counted: inserts/updates/deletes as the system itself counted them."
        )


def _cells(line: Line) -> dict[str, str]:
    found = line.row.client_stats
    if found is None:
        return {}
    tail = next(iter(line.tails.values()), None)
    p50, p99, most = (tail.percentiles[0], tail.percentiles[2], tail.greatest) if tail else (None, None, None)
    counts = [
        "–" if name not in found.counted else f"{found.counted[name]:,}" for name in ("inserts", "updates", "deletes")
    ]
    return {
        "p50": amount("s", p50),
        "p99": amount("s", p99),
        "max": amount("s", most),
        "clients": f"{found.processes} × {found.threads}",
        "fastest": amount("s", found.fastest),
        "slowest": amount("s", found.slowest),
        "fairness": f"{found.jain:.3f}",
        "retries": ", ".join(f"{count:,} {reason}" for reason, count in sorted(found.retries.items())) or "0",
        "counted": "/".join(counts) if found.counted else "",
    }
