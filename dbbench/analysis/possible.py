"""Figures that nobody has who does any work: those of about a null engine, which does none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dbbench.analysis.ordering import harness_share
from dbbench.analysis.remarks import About, Remark
from dbbench.analysis.row import Row
from dbbench.suite.steps import AnyStep
from dbbench.suite.steps.transaction import TransactionStep

#: The null engine's time is at most this share of an engine's: what gives rows must also find them.
MOST = 2 / 3
#: Fewer rounds don't show that the null engine was not disturbed.
_ROUNDS = 3
#: The kinds in which it holds. A dict in C finds a record sooner than the null engine's own function, in Python, returns.
_KINDS = ("query", "statement", "load", "churn", "objects", "transaction")


def possible(step: AnyStep, rows: Sequence[Row]) -> list[Row]:
    """The rows of a step, those that can't be without a rank."""
    nulls = [row for row in rows if not row.ranked]
    if not _one_after_another(step):
        return list(rows)
    return [
        replace(row, verified=False, remarks=(Remark(About.IMPOSSIBLE, amount=1 / share), *row.remarks))
        if row.ranked and len(row.trial_means) >= _ROUNDS and (share := harness_share(row, nulls) or 0.0) > MOST
        else row
        for row in rows
    ]


def _one_after_another(step: AnyStep) -> bool:
    """Whether its figure is of calls alone: not of waiting for a moment, for another client, or to think."""
    waits = getattr(step, "rate", None) or getattr(step, "find", None)
    waits = waits or (isinstance(step, TransactionStep) and step.thinks)
    return step.kind in _KINDS and step.concurrent_clients.count == 1 and not waits
