"""Remarks on an engine's rounds."""

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from statistics import median

from dbbench.host.interference import MOST_OTHERS
from dbbench.results.facts import ALL_THERE, ClusterFacts, HostFacts, RecallFacts, SearchFacts
from dbbench.results.outcome import Outcome
from dbbench.results.trial import StepResult, TrialResult
from dbbench.suite.model import Scenario, Tier

#: A host whose processors are busier than this may be what limits the rate.
BUSY = 0.80
#: Clocks that are known less exactly than this share of the span leave the rate unsure.
UNSURE = 0.01
#: A ranking that is nearer to a random order than this, where that of BM25 is 1, is remarked on.
HARDLY = 0.2
#: Seconds of preparing that are worth a word.
LONG = 0.01


class About(Enum):
    """What a remark is about."""

    #: Whatever a trial recorded: `text`.
    RECORDED = auto()
    #: The answer was checked against the engine `text`, or against a file.
    CHECKED_BY = auto()
    CHECKED_BY_FILE = auto()
    #: Values came as other types than the suite's, `names`: a driver has less or more to do for them.
    OTHER_FORMS = auto()
    #: A step that should have been cold was not: `text`.
    LUKEWARM = auto()
    #: Opening and preparing took `amount` seconds before a cold call, and `count` bytes were read after it.
    OPENED = auto()
    #: `count` a second were added by one client more, of `of` that were due; found `amount` seconds after the last.
    ADDED = auto()
    #: Preparing calls took `amount` seconds, more than the calls.
    PREPARED = auto()
    #: The first calls took `amount` times as long as the later ones in most rounds.
    FIRST_CALLS = auto()
    #: A search found all neighbours at its knob's, `text`, least value; or finds the same at the most.
    EXACT = auto()
    WITHOUT_EFFECT = auto()
    #: A search without a knob doesn't find all.
    APPROXIMATE = auto()
    #: Ranked searches put texts in an order that is hardly better than a random one: their NDCG is `amount`.
    UNRANKED = auto()
    #: `count` bytes of a size are outside of the engine's directory, in the files `names`.
    OUTSIDE = auto()
    #: A server at a URL counts its size itself, beside sizes of files; what it uses isn't seen.
    COUNTED_ELSEWHERE = auto()
    USES_UNSEEN = auto()
    #: Its answers came as Arrow batches, beside others' rows.
    OTHER_RESULTS = auto()
    #: `text` ended a search before it came as close as it was asked to.
    SEARCH_ENDED = auto()
    #: The host `text` of the clients was busy by `amount`; all their clocks are known to within `amount` of the span.
    BUSY_HOST = auto()
    UNSURE_CLOCKS = auto()
    #: The durability tier `names[0]` promises more than the one asked for, `names[1]`.
    STRONGER_TIER = auto()
    #: It promises less than that.
    WEAKER_TIER = auto()
    #: Other processes, which used `amount` of the machine, may be why a rate was not kept.
    OTHER_PROCESSES = auto()
    #: `count` engines agree with each other and not with the reference, from which they differ by `names`.
    DISPUTED = auto()
    #: The same of an engine that agrees with the reference.
    DISPUTES = auto()
    #: The answers of `of` engines, of which `count` agree.
    ROUNDS_DIFFER = auto()
    NO_OTHER_ENGINE = auto()
    NO_MAJORITY = auto()
    ALL_AGREE = auto()
    AGREES = auto()
    DIFFERS = auto()
    #: A crash check of the same versions and options lost or tore a commit.
    CRASH_CHECK_FAILED = auto()
    #: Nobody looked for its acknowledged commits in a copy, or not with success: `text`.
    NOT_IN_COPY = auto()
    #: Nothing shows that its commits were synced, as it promises: `text`.
    NOT_COUNTED = auto()
    #: It had something else than it was given, or may have lost commits: `text`.
    NO_RANK = auto()
    #: It takes no more than `amount` times as long as the null engine.
    IMPOSSIBLE = auto()
    #: `count` of `of` rounds had another plan of the query.
    OTHER_PLANS = auto()
    #: The clause `text` forbids to publish it.
    WITHHELD = auto()
    #: Rounds on two levels, `amount` times apart, `count` of `of` in the lower; the range, the drift, the
    #: autocorrelation.
    LEVELS = auto()
    SPREAD = auto()
    DRIFT = auto()
    ALIKE = auto()
    #: The interval of the ratio to the best says something else than the test, which finds no difference, or one.
    ONLY_INTERVAL = auto()
    ONLY_TEST = auto()


@dataclass(frozen=True)
class Remark:
    """One remark; `About` says what its values are. `rounds`: in how many of how many rounds it came."""

    about: About
    text: str = ""
    names: tuple[str, ...] = ()
    amount: float = 0.0
    count: int = 0
    of: int = 0
    rounds: tuple[int, int] = (0, 0)


def remarks(
    scenario: Scenario,
    steps: Sequence[StepResult],
    results: Sequence[TrialResult],
    unchecked: Sequence[StepResult],
    *,
    part: bool,
) -> Iterator[Remark]:
    """Remarks on the rounds of a step that went well; `unchecked` are those that nothing was checked by.

    `part`: whether the engine takes part.
    """
    if part:
        yield from _checked_by(steps)
    if unchecked and part:  # of the null engine there is nothing to check
        yield Remark(About.RECORDED, unchecked[0].detail, rounds=(len(unchecked), len(steps)))
    if forms := {form for step in steps for form in step.facts.get("other_forms", ())}:
        yield Remark(About.OTHER_FORMS, names=tuple(sorted(forms)))
    if warm := [step.facts for step in steps if step.facts.get("cache") == "lukewarm"]:
        yield Remark(About.LUKEWARM, warm[0].get("why", ""), rounds=(len(warm), len(steps)))
    if cold := [step.facts for step in steps if {"opened", "read_bytes"} <= step.facts.keys()]:
        count = round(median(facts["read_bytes"] for facts in cold))
        yield Remark(About.OPENED, amount=median(facts["opened"] for facts in cold), count=count)
    if part:
        yield from _prepared_long(steps)
    yield from _elsewhere(steps)
    if copies := [copy for step in steps if (copy := step.facts.get("copy", ALL_THERE)) != ALL_THERE]:
        yield Remark(About.NOT_IN_COPY, copies[0])
    if part and (why := next(filter(None, (step.facts.get("syncs") for step in steps)), "")):
        yield Remark(About.NOT_COUNTED, why)
    if ended := [text for step in steps if (text := step.facts.get("find", {}).get("ended"))]:
        yield Remark(About.SEARCH_ENDED, ended[0], rounds=(len(ended), len(steps)))
    first = [ratio for step in steps if (ratio := step.facts.get("first_calls"))]
    if part and 2 * len(first) > len(steps):
        yield Remark(About.FIRST_CALLS, amount=median(first), rounds=(len(first), len(steps)))
    if added := [step.facts["adding"] for step in steps if "found_after" in step.facts.get("adding", {})]:
        rate, due = (round(median(each[key] / each["seconds"] for each in added)) for key in ("added", "of"))
        yield Remark(About.ADDED, amount=median(each["found_after"] for each in added), count=rate, of=due)
    yield from _of_recalls([step.facts["recall"] for step in steps if "recall" in step.facts])
    yield from _of_ranked([step.facts["search"] for step in steps if "ndcg" in step.facts.get("search", {})])
    if part:
        yield from limits_of_hosts(steps)
    if part and steps[0].unit != "B":  # a size is what it is
        given = next((str(result.engine["tier"]) for result in results if result.engine.get("tier")), "")
        yield from other_tier(given, scenario.durability)
        yield from no_ranks(results)
    yield from of_trials(results)


def no_ranks(results: Sequence[TrialResult]) -> Iterator[Remark]:
    """Reasons why an engine has no rank in any step but sizes."""
    if any(not check["passed"] for result in results if (check := result.engine.get("crash_check"))):
        yield Remark(About.CRASH_CHECK_FAILED)
    if found := [result.no_rank for result in results if result.no_rank]:
        yield Remark(About.NO_RANK, found[0], rounds=(len(found), len(results)))


def of_trials(results: Sequence[TrialResult]) -> Iterator[Remark]:
    """What the trials as a whole remarked."""
    found = Counter(remark for result in results for remark in result.remarks)
    return (Remark(About.RECORDED, text, rounds=(times, len(results))) for text, times in found.items())


def of_failed(outcome: Outcome, steps: Sequence[StepResult], results: Sequence[TrialResult]) -> Iterator[Remark]:
    """What the first round with this outcome recorded, and what may be why it came."""
    guilty = [step for step in steps if step.outcome is outcome]
    yield Remark(About.RECORDED, guilty[0].detail, rounds=(len(guilty), len(steps)))
    others = max((result.noise.get("others") or 0 for result in results), default=0)
    if outcome in (Outcome.SATURATED, Outcome.NO_RATE) and others > MOST_OTHERS:
        yield Remark(About.OTHER_PROCESSES, amount=others)
    yield from of_trials(results)


def _checked_by(steps: Sequence[StepResult]) -> Iterator[Remark]:
    """Remark on what an answer was checked by, if that isn't the reference."""
    for name in sorted({str(step.facts["checked_by"]) for step in steps if "checked_by" in step.facts}):
        yield Remark(About.CHECKED_BY_FILE if name == "file" else About.CHECKED_BY, name)


def _prepared_long(steps: Sequence[StepResult]) -> Iterator[Remark]:
    """Remark that preparing calls took longer than all of them: what it reads or computes then, no figure has."""
    prepared = [seconds for step in steps if (seconds := step.facts.get("prepare", 0)) > max(LONG, _in_calls(step))]
    if prepared:
        yield Remark(About.PREPARED, amount=median(prepared), rounds=(len(prepared), len(steps)))


def _in_calls(step: StepResult) -> float:
    """Seconds that all timed calls of a step took together."""
    if "times" in step.facts and "objects" not in step.facts:
        return step.facts["times"]["service time"]["sum"] / 1e9
    return sum(step.samples) * step.facts.get("objects", 1)


def _of_recalls(recalls: Sequence[RecallFacts]) -> Iterator[Remark]:
    """Remark on searches whose knob isn't one: an exact search, a knob without effect; or that need one."""
    for about, found in (
        (About.EXACT, [each for each in recalls if each.get("exact")]),
        (About.WITHOUT_EFFECT, [each for each in recalls if each.get("without_effect")]),
        (About.APPROXIMATE, [each for each in recalls if "knob" not in each and each["mean"] < 1]),
    ):
        if found:
            yield Remark(about, found[0].get("knob", ""), rounds=(len(found), len(recalls)))


def _of_ranked(searches: Sequence[SearchFacts]) -> Iterator[Remark]:
    """Remark on searches whose best texts aren't those that have most of what was looked for."""
    found = [each for each in searches if _better(each) < HARDLY]
    if found:
        yield Remark(About.UNRANKED, amount=median(each["ndcg"] for each in found), rounds=(len(found), len(searches)))


def _better(search: SearchFacts) -> float:
    """How far an order is from a random one, 0, towards that of BM25, 1."""
    by_chance = search["ndcg_by_chance"]
    return (search["ndcg"] - by_chance) / max(1 - by_chance, 1e-9)


def _elsewhere(steps: Sequence[StepResult]) -> Iterator[Remark]:
    """Remark that an engine keeps files outside its directory, which a size counts."""
    if found := [step.facts["outside"] for step in steps if "outside" in step.facts]:
        names = sorted({os.path.basename(name) for outside in found for name in outside["files"]})
        most = max(int(outside["bytes"]) for outside in found)
        yield Remark(About.OUTSIDE, names=tuple(names), count=most, rounds=(len(found), len(steps)))


def other_tier(given: str, asked: Tier) -> Iterator[Remark]:
    """Remark that a tier promises more or less than the requested one: its engine may be slower or faster."""
    tiers = [str(tier) for tier in Tier]
    if given in tiers and given != asked:
        stronger = tiers.index(given) > tiers.index(asked)
        yield Remark(About.STRONGER_TIER if stronger else About.WEAKER_TIER, names=(given, asked))


def limits_of_hosts(steps: Sequence[StepResult]) -> Iterator[Remark]:
    """Remark that the clients' hosts may be at their limit: each of the round where it is worst."""
    spread = [step.facts["cluster"] for step in steps if "cluster" in step.facts]
    busy = [worst for each in spread if (worst := max(each["hosts"], key=_busy)) and _busy(worst) > BUSY]
    if busy:
        worst = max(busy, key=_busy)
        yield Remark(About.BUSY_HOST, worst["name"], amount=_busy(worst), rounds=(len(busy), len(steps)))
    if unsure := [share for each in spread if (share := _clock_share(each)) > UNSURE]:
        yield Remark(About.UNSURE_CLOCKS, amount=max(unsure), rounds=(len(unsure), len(steps)))


def _busy(host: HostFacts) -> float:
    return float(host["busy"] or 0.0)


def _clock_share(cluster: ClusterFacts) -> float:
    """The largest bound of the clocks, as a share of the span from the first start to the last end."""
    bound = max(host["bound"] for host in cluster["hosts"])
    return float(bound / cluster["span"]) if cluster["span"] else 0.0
