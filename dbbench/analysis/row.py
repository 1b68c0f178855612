"""One engine's result in one step, as every report shows it."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property

from dbbench.analysis import recorded
from dbbench.analysis.dependence import INDEPENDENT, Dependence, stretched
from dbbench.analysis.footprint import size_parts
from dbbench.analysis.ranking import Rank
from dbbench.analysis.remarks import Remark
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
    #: Whether its server is at a URL, so that a size is what the server says of itself.
    at_url: bool = False
    #: Whether it has a figure of another sort than those that are ranked, and so no rank and no ratio: see `ordering`.
    apart: bool = False
    metric: str = ""
    unit: str = ""
    direction: str = "lower"
    #: The figure of each round of `of_rounds`, in base units.
    trial_means: tuple[float, ...] = ()
    of_rounds: tuple[int, ...] = ()
    value: float | None = None
    low: float | None = None
    high: float | None = None
    rank: Rank | None = None
    #: The engines of the step that are shown to be better.
    better: frozenset[str] = frozenset()
    #: How many times the best engine's, with its interval.
    ratio: Estimate | None = None
    #: Why it has no figure, or what limits it; what is odd about its rounds (see `steadiness.unsteady`).
    remarks: tuple[Remark, ...] = ()
    unsteady: tuple[Remark, ...] = ()
    #: Where the ratio's interval and the test differ.
    doubt: Remark | None = None
    harness_share: float | None = None
    #: How much the run's rounds depend on each other.
    dependence: Dependence = INDEPENDENT
    #: By the method of the benchmark that is reproduced, where the suite asks for it and has the rounds.
    original: float | None = None
    #: The facts of the last round.
    facts: StepFacts | None = None
    #: The facts of each round, in order.
    rounds: tuple[StepFacts, ...] = ()
    #: The clause by which there are no figures here, where there would be some: see `publication`.
    withheld: str = ""

    @property
    def measured(self) -> bool:
        """Whether it has a figure, be it one that is withheld."""
        return self.value is not None or (bool(self.withheld) and self.outcome is Outcome.OK)

    @property
    def checked(self) -> bool | None:
        """Whether its figure is of verified work; None where it has no figure, and for a null engine."""
        return self.verified if self.measured and self.ranked else None

    @property
    def gives(self) -> str:
        """The form in which its query gave its rows, such as "batches"; empty for other steps."""
        return str((self.facts or {}).get("gives", ""))

    @property
    def form(self) -> tuple[str, bool]:
        """What a null engine has in common with the systems whose harness's share it shows: `gives`, and awaiting."""
        return self.gives, bool((self.facts or {}).get("awaited"))

    # What its rounds recorded besides, for those that word or draw it. None or empty where they recorded nothing of it.

    @cached_property
    def spread(self) -> recorded.Spread | None:
        """The spread of its calls."""
        return recorded.spread(self.rounds)

    @cached_property
    def tails(self) -> Mapping[str, recorded.Tail]:
        """Operation -> how long its calls took."""
        return recorded.tails(self.rounds)

    @cached_property
    def parts(self) -> recorded.Parts | None:
        """Parts of the time of loading an object."""
        return recorded.parts(self.value, self.rounds)

    @cached_property
    def load_parts(self) -> recorded.LoadParts | None:
        """Parts of the time of a load."""
        return recorded.load_parts(self.value, self.rounds)

    @cached_property
    def size_parts(self) -> Mapping[str, float]:
        """What the bytes of a size are for."""
        return size_parts(self.facts or {})

    @cached_property
    def recall(self) -> recorded.Recall | None:
        """The recall of its searches."""
        return recorded.recall(self.rounds)

    @cached_property
    def searches(self) -> recorded.Searches | None:
        """What is known of its searches for texts."""
        return recorded.searches(self.rounds)

    @property
    def kept_size_parts(self) -> Mapping[str, float]:
        """Parts that the run kept; empty where they are only known from its files, with logs in its figure."""
        return (self.facts or {}).get("size_parts", {})

    @property
    def compact_seconds(self) -> float | None:
        """What the engine's own compaction before a size took."""
        return (self.facts or {}).get("compact_seconds")

    @cached_property
    def client_stats(self) -> recorded.ClientStats | None:
        """How clients that got into each other's way were served."""
        return recorded.client_stats(self.rounds)

    @cached_property
    def throughput(self) -> Estimate | None:
        """Calls or operations per second, independent of its own figure."""
        if self.value is not None and self.unit == "1/s":
            return Estimate(self.value, self.low, self.high)
        found = None if self.value is None else recorded.throughput(self.rounds)
        return found and stretched(found, self.dependence.figures)

    def transaction_stats(self, names: Collection[str]) -> recorded.TransactionStats | None:
        """Results of the transactions with these names."""
        return recorded.transaction_stats(self.rounds, names)

    @property
    def retries(self) -> int:
        """Transactions that were made again, in all rounds."""
        return sum(sum(facts.get("retries", {}).values()) for facts in self.rounds)

    @property
    def failing_rate(self) -> float:
        """The highest of the rates, in calls per second, that a search found to be too high; 0 if it found none."""
        failed = [facts["find"]["failed"] for facts in self.rounds if "find" in facts]
        return max((rate for rate in failed if rate is not None), default=0.0)
