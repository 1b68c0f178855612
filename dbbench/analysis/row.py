"""One engine's result in one step, as every report shows it."""

from __future__ import annotations

from dataclasses import dataclass

from dbbench.analysis.ranking import Rank
from dbbench.analysis.statistics import Estimate
from dbbench.results.facts import StepFacts
from dbbench.results.outcome import Outcome


@dataclass(frozen=True)
class Row:
    """One engine's result in one step. Values in `unit`; `ratio` is to the best engine's median."""

    scenario: str
    step: str
    engine: str
    title: str
    outcome: Outcome
    #: False for a null engine, which shows the harness's own share.
    ranked: bool = True
    #: Whether its work was checked in every round. If not, it has a figure, but no rank and no ratio.
    verified: bool = True
    metric: str = ""
    unit: str = ""
    direction: str = "lower"
    trial_means: tuple[float, ...] = ()
    #: The rounds that the trial means are of.
    of_rounds: tuple[int, ...] = ()
    value: float | None = None
    low: float | None = None
    high: float | None = None
    rank: Rank | None = None
    #: The engines of the step that are shown to be better.
    better: frozenset[str] = frozenset()
    #: How many times the best engine's, with its interval.
    ratio: Estimate | None = None
    #: What is odd about its rounds, in words: see `steadiness`.
    unsteady: str = ""
    #: Where the ratio's interval and the test differ, in words.
    doubt: str = ""
    harness_share: float | None = None
    #: By the method of the benchmark that is reproduced, where the suite asks for it and has the rounds.
    original: float | None = None
    detail: str = ""
    #: The facts of the last round.
    facts: StepFacts | None = None
    #: The facts of each round, in order.
    rounds: tuple[StepFacts, ...] = ()
    #: The clause by which there are no figures here, where there would be some: see `publication`.
    withheld: str = ""

    @property
    def remarks(self) -> str:
        """All that there is to say of it, in words."""
        return "; ".join(filter(None, (self.detail, self.unsteady, self.doubt)))

    @property
    def measured(self) -> bool:
        """Whether it has a figure, be it one that is withheld."""
        return self.value is not None or (bool(self.withheld) and self.outcome is Outcome.OK)

    @property
    def checked(self) -> bool | None:
        """Whether its figure is of verified work; None where it has no figure, and for a null engine."""
        return self.verified if self.measured and self.ranked else None
