"""What a step's rounds recorded besides their figure, as typed summaries: calls, parts of a time, clients."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from dbbench.analysis.statistics import Estimate, estimate
from dbbench.results.facts import PARTS, SHOWN, StepFacts, TimesFacts

#: Those of calls of several kinds, and of the charts of percentiles.
TAIL = ("p50", "p95", "p99", "p99.9")
#: Times that are not of one operation among several.
_WHOLE = ("latency", "service time", "warm up")
#: A share that is nothing but what is left of rounding.
_TRIFLE = 1e-6


@dataclass(frozen=True)
class Spread:
    """One engine's calls: times in seconds, as medians over the rounds; `late` and `due` are sums over them.

    A percentile is None if some round had too few calls for it. `service` is the mean time from a call's
    start to its end; at a rate the percentiles are those of latency, and `late` and `due` are counted.
    """

    percentiles: tuple[float | None, ...]
    greatest: float
    service: float
    per_second: float
    late: int | None = None
    due: int | None = None


def spread(rounds: Sequence[StepFacts]) -> Spread | None:
    """The spread of a step's calls; None for a step that records none, or that has lost percentiles to saturation."""
    times = [facts.get("times", {}) for facts in rounds]
    kind = "latency" if times and "latency" in times[0] else "service time"
    mine = [each[kind] for each in times if "percentiles" in each.get(kind, ())]
    if not mine or len(mine) < len(rounds):
        return None
    arrivals = [facts["arrivals"] for facts in rounds if "arrivals" in facts]
    return Spread(
        percentiles=tuple(_median([each["percentiles"][name] for each in mine]) for name in SHOWN),
        greatest=_greatest(mine),
        service=median(each["service time"]["sum"] / max(each["service time"]["count"], 1) for each in times) / 1e9,
        per_second=median(facts["per_second"] for facts in rounds),
        late=sum(each["late"] for each in arrivals) if arrivals else None,
        due=sum(each["due"] for each in arrivals) if arrivals else None,
    )


@dataclass(frozen=True)
class Tail:
    """How long the calls of one kind took, in seconds, medians of the rounds' own: percentiles of TAIL, the maximum.

    A percentile is None if some round had too few calls for it.
    """

    percentiles: tuple[float | None, ...]
    greatest: float

    @property
    def points(self) -> tuple[float | None, ...]:
        """The percentiles and the greatest."""
        return (*self.percentiles, self.greatest)


def tails(rounds: Sequence[StepFacts]) -> dict[str, Tail]:
    """Operation -> its tail, where a step has several; else that of all calls. Without those of too few calls."""
    times = [facts.get("times", {}) for facts in rounds]
    if not times:
        return {}
    kinds = [name for name in times[0] if name not in _WHOLE]
    if len(kinds) < 2:
        kinds = ["latency" if "latency" in times[0] else "service time"]
    found = {}
    for kind in kinds:
        mine = [each[kind] for each in times if "percentiles" in each.get(kind, ())]
        if len(mine) == len(rounds):
            percentiles = tuple(_median([each["percentiles"].get(name) for each in mine]) for name in TAIL)
            if percentiles[0] is not None:
                found[kind] = Tail(percentiles, _greatest(mine))
    return found


def _greatest(times: Sequence[TimesFacts]) -> float:
    """Seconds: the median of the longest calls. Each has one if it has percentiles."""
    return median(most for each in times if (most := each["max"]) is not None) / 1e9


def _median(nanoseconds: Sequence[float | None]) -> float | None:
    known = [each for each in nanoseconds if each is not None]
    return median(known) / 1e9 if len(known) == len(nanoseconds) else None


def throughput(rounds: Sequence[StepFacts]) -> Estimate | None:
    """Throughput of the calls in each round; None if nothing is known."""
    rates = [facts["per_second"] for facts in rounds if "per_second" in facts]
    return estimate(rates) if rates else None


@dataclass(frozen=True)
class Parts:
    """Seconds: `parts` add up to the figure, or are empty where they could not be told apart, and `why` says so.

    To connect, and to prepare up to the first object, which happens once: medians of the rounds.
    """

    parts: Mapping[str, float]
    connect: float
    prepare: float
    why: str = ""


def parts(figure: float | None, rounds: Sequence[StepFacts]) -> Parts | None:
    """The parts of a step's figure, by the medians of its rounds' shares; None for a step that loads no objects."""
    mine = [facts for facts in rounds if "connect" in facts and "prepare" in facts]
    if figure is None or not mine:
        return None
    connect, prepare = (median(facts[name] for facts in mine) for name in ("connect", "prepare"))
    whole = [facts["parts"] for facts in mine if facts.get("parts")]
    if len(whole) < len(mine):
        return Parts({}, connect, prepare, next((facts["not_parted"] for facts in mine if facts["not_parted"]), ""))
    found = _portions(figure, [{name: each[name] for name in PARTS} for each in whole])
    return Parts(found, connect, prepare)


@dataclass(frozen=True)
class LoadParts:
    """Seconds: `parts` add up to the figure of a load; making the rows for the driver is not in it."""

    parts: Mapping[str, float]
    making: float


def load_parts(figure: float | None, rounds: Sequence[StepFacts]) -> LoadParts | None:
    """The parts of a load's figure, by the medians of its rounds' shares; None where no parts were recorded."""
    mine = [facts for facts in rounds if facts.get("load_parts")]
    if figure is None or not mine or len(mine) < len(rounds):
        return None
    making = median(facts["making_rows"] for facts in mine)
    return LoadParts(_portions(figure, [facts["load_parts"] for facts in mine]), making)


def _portions(figure: float, rounds: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """A figure dealt out by the medians of the rounds' shares."""
    shares = {
        name: median(each.get(name, 0.0) / max(sum(each.values()), 1e-12) for each in rounds) for name in rounds[0]
    }
    total = sum(shares.values()) or 1.0
    return {name: share / total * figure if share > _TRIFLE else 0.0 for name, share in shares.items()}


@dataclass(frozen=True)
class ClientStats:
    """One engine's clients. Seconds and Jain's index are medians of the rounds'; retries are of all rounds together."""

    processes: int
    threads: int
    fastest: float
    slowest: float
    jain: float
    retries: dict[str, int]
    #: What the system itself counted in the last round, by name; empty if it counts nothing.
    counted: dict[str, int]


def client_stats(rounds: Sequence[StepFacts]) -> ClientStats | None:
    """None for a step without fairness in its facts."""
    if not rounds or not all("fairness" in facts for facts in rounds):
        return None
    last = rounds[-1]
    times = {name: median(facts["fairness"][name] for facts in rounds) for name in ("fastest", "slowest", "jain")}
    retries: Counter[str] = Counter()
    for facts in rounds:
        retries.update(facts["retries"])
    clients = last["clients"]
    return ClientStats(
        clients["processes"], clients["threads"], **times, retries=dict(retries), counted=last["counted"]
    )


@dataclass(frozen=True)
class TransactionStats:
    """One engine's transactions, each by its name."""

    #: Commits per second: the median of the rounds'.
    per_second: Mapping[str, float]
    #: (why, which) -> how many were made again, of all rounds together.
    retries: Mapping[tuple[str, str], int]
    #: How many were rolled back as the suite wants it, of all rounds together.
    rolled_back: Mapping[str, int]


def transaction_stats(rounds: Sequence[StepFacts], names: Collection[str]) -> TransactionStats | None:
    """Statistics of the rounds that recorded all of these transactions; None if none did."""
    mine = [facts for facts in rounds if {*names} <= {*facts.get("by_transaction", ())}]
    if not mine:
        return None
    retries: Counter[tuple[str, str]] = Counter()
    rolled_back: Counter[str] = Counter()
    for facts in mine:
        for name, counts in facts["by_transaction"].items():
            rolled_back[name] += counts["rolled_back"]
            for reason, count in counts["retries"].items():
                retries[reason, name] += count
    per_second = {name: median(_rate(facts, name) for facts in mine) for name in names}
    return TransactionStats(per_second, retries, rolled_back)


def _rate(facts: StepFacts, name: str) -> float:
    """Commits of a transaction per second: its share of all calls."""
    every = sum(each["committed"] + each["rolled_back"] for each in facts["by_transaction"].values())
    return float(facts["by_transaction"][name]["committed"] * facts["per_second"] / max(every, 1))


@dataclass(frozen=True)
class Recall:
    """The recall of searches, medians of the rounds: its mean and interval, and the fifth percentile of the queries'.

    `effort` is the value of the knob; None for a search without one.
    """

    mean: float
    low: float
    high: float
    p5: float
    knob: str
    effort: float | None


@dataclass(frozen=True)
class Searches:
    """Searches for texts, medians of the rounds: the texts that match, the calls that were checked.

    The NDCG of ranked ones beside BM25, and that of a random order; None for others.
    """

    matches: float
    checked: float
    ndcg: float | None
    by_chance: float | None


def searches(rounds: Sequence[StepFacts]) -> Searches | None:
    """What is known of a step's searches for texts; None for other steps."""
    found = [facts["search"] for facts in rounds if "search" in facts]
    if not found:
        return None
    ranked = [each for each in found if "ndcg" in each]
    return Searches(
        matches=median(each["matches"] for each in found),
        checked=median(each["checked"] for each in found),
        ndcg=median(each["ndcg"] for each in ranked) if ranked else None,
        by_chance=median(each["ndcg_by_chance"] for each in ranked) if ranked else None,
    )


def recall(rounds: Sequence[StepFacts]) -> Recall | None:
    """The recall of a step's searches; None for other steps."""
    found = [facts["recall"] for facts in rounds if "recall" in facts]
    if not found:
        return None
    efforts = [effort for each in found if (effort := each.get("effort")) is not None]
    return Recall(
        mean=median(each["mean"] for each in found),
        low=median(each["low"] for each in found),
        high=median(each["high"] for each in found),
        p5=median(each["p5"] for each in found),
        knob=found[0].get("knob", ""),
        effort=median(efforts) if efforts else None,
    )
