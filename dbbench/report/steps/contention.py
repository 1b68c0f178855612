"""Many clients in one table, in words."""

from collections.abc import Sequence

from dbbench.analysis.recorded import ClientStats
from dbbench.analysis.units import amount
from dbbench.report import step_view
from dbbench.report.step_view import Facts, Line, StepView
from dbbench.suite.dataset import Records
from dbbench.suite.steps.contention import ContentionStep

#: The further figures of a step of many clients.
CLIENTS = ("p50", "p99", "max", "clients", "fastest", "slowest", "fairness", "retries", "counted")


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
        counting = any(line.row.client_stats and line.row.client_stats.counted for line in view.lines)
        columns = CLIENTS if counting else CLIENTS[:-1]  # the last is of systems that count by themselves

        def cells(line: Line) -> Sequence[str]:
            return _cells(line.row.client_stats, line)[: len(columns)] if line.row.client_stats else ()

        return view.with_details(columns, cells)

    def details_note(self, step: ContentionStep, view: StepView) -> str:
        """What the columns are."""
        return (
            "Percentiles of an iteration. Clients: processes × threads. Fastest and slowest: of the clients, who all "
            "had the same to do. Fairness: Jain's index of their rates, 1 if all are alike. Retries: transactions made "
            "again, of all rounds. Counted: inserts/updates/deletes as the system itself counted them."
        )


def _cells(found: ClientStats, line: Line) -> tuple[str, ...]:
    """Words, in the order of CLIENTS."""
    tail = next(iter(line.tails.values()), None)
    points = [tail.percentiles[0], tail.percentiles[2], tail.greatest] if tail else [None, None, None]
    cells = [amount("s", point) for point in points]
    counts = [
        "–" if name not in found.counted else f"{found.counted[name]:,}" for name in ("inserts", "updates", "deletes")
    ]
    retries = ", ".join(f"{count:,} {reason}" for reason, count in sorted(found.retries.items())) or "0"
    return (
        *cells,
        f"{found.processes} × {found.threads}",
        *(amount("s", seconds) for seconds in (found.fastest, found.slowest)),
        f"{found.jain:.3f}",
        retries,
        "/".join(counts) if found.counted else "–",
    )
