"""What every kind of step under load control has in common: its job, its figure, and the search for a rate.

A workload gives `measure` two things: the job that one call after another would be, and what `drive` is to be
called with. Each time the clients have made their calls it hears what they did, so that it can expect it in the data.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import count
from math import sqrt

import pyarrow as pa

from dbbench.errors import TimedOut
from dbbench.host.metric import shared
from dbbench.loadgen.clients import arranged
from dbbench.loadgen.first_calls import told_apart
from dbbench.loadgen.histogram import Samples, fewest
from dbbench.loadgen.job import ClientTimings, Job
from dbbench.loadgen.search_calls import NearestSearches, TextSearches
from dbbench.results.facts import FindFacts, StepFacts
from dbbench.results.outcome import Outcome
from dbbench.suite.steps.base import Clients
from dbbench.suite.steps.timed import Find, Rate, TimedStep
from dbbench.workloads.context import StepContext, StepMeasurement
from dbbench.workloads.searches import WARMED

#: The most samples that a result keeps one by one; of more it keeps the histogram.
KEPT = 1_000
#: How many times `trial` one try of a search takes at most, and all of them together.
LONGEST_TRY, LONGEST_SEARCH = 4, 30
#: The tries that most searches take.
_USUAL_TRIES = 15
#: The most calls a second that are tried.
MOST_PER_SECOND = 1e7
#: How long the clients call one after another before a search, to find out where to begin.
_FIRST_LOOK = 1.0
#: Seconds of searches where a step doesn't say how long.
SECONDS = 1.0

#: Has the clients do a job, and takes over what they did.
Drive = Callable[[Job], ClientTimings]
#: Takes a line about how far a step is.
Note = Callable[[str], None]


def controlled(job: Job, step: TimedStep) -> Job:
    """A job with the step's warm-up, rate, duration and ramp-up."""
    return replace(
        job,
        warm_up=step.warm_up_calls,
        warm_up_seconds=step.warm_up_seconds,
        rate=step.rate,
        duration=step.duration,
        ramp_up=step.ramp_up or 0.0,
    )


def measure(
    step: TimedStep, job: Job, clients: Clients, drive: Drive, note: Note, *, records: int = 0
) -> StepMeasurement:
    """Have the clients make their calls, or search for the highest rate, with a note of each try.

    The figure is the mean time of a call; at a rate, its latency; with `records` a call, operations per second; of a
    search, calls per second.
    """
    job = controlled(job, step)
    if step.find is not None:
        return _found(step.find, job, clients, drive, note)
    return measured(step, drive(job), clients, records=records)


def by_clients(
    step: TimedStep, context: StepContext, inputs: NearestSearches | TextSearches
) -> tuple[StepMeasurement, pa.Table]:
    """What the clients of a step measure of searches, for a second unless it says how long; and what some returned.

    Each time the clients are driven they ask other things. Raises TimedOut if no search was made.
    """
    clients, tables, drives = arranged(context.engine, step.clients), list[pa.Table](), count()

    def driven(job: Job) -> ClientTimings:
        found = context.drive(replace(job, inputs=replace(inputs, seed=f"{inputs.seed} {next(drives)}")), clients)
        tables.extend(each.table for each in found.kept)
        return found

    if not (step.seconds or step.find):
        step = step.model_copy(update={"duration": SECONDS})
    job = Job(step.kind, (), 0, 0, seed=context.files.manifest["seed"], inputs=inputs, longest_warm_up=WARMED)
    found = measure(step, job, clients, driven, context.note, records=1)
    if not tables:
        raise TimedOut("no search was made in the time that the step gives: give it a longer one, such as duration: 1s")
    return found, pa.concat_tables(tables)


def measured(step: TimedStep, found: ClientTimings, clients: Clients, *, records: int = 0) -> StepMeasurement:
    """What the clients' times come to."""
    saturated = found.schedule is not None and found.schedule.saturated
    main = found.service if found.schedule is None else found.latency
    first: StepFacts = {}
    if clients.count == 1 and found.schedule is None and found.service.whole:
        first = told_apart(found.service.exact)
    if found.schedule is None and records:
        made = throughput(found, found.service.count * records, clients, thinks=step.thinks)
        return replace(made, facts={**made.facts, **first})
    outcome, detail = Outcome.OK, ""
    if saturated:
        assert found.schedule
        assert step.rate
        outcome, detail = Outcome.SATURATED, f"saturated: {_kept_up(found, step.rate)}"
    return StepMeasurement(
        "time" if found.schedule is None else "latency",
        "s",
        [] if saturated else _kept(main),
        _kept(found.warm_up),
        {**facts_of(found, clients, percentiles=not saturated), **first},
        mean=main.mean / 1e9 if main.count else None,
        outcome=outcome,
        detail=detail,
        usage=shared(found.usage, found.service.count),
    )


def throughput(found: ClientTimings, count: int, clients: Clients, *, thinks: bool = False) -> StepMeasurement:
    """`count` operations in what was measured. What the harness does between one client's calls is no one's time."""
    alone = clients.count == 1 and not thinks
    seconds = found.service.total / 1e9 if alone else (found.end - found.begin) / 1e9
    facts: StepFacts = {"operations": count, **facts_of(found, clients)}
    return StepMeasurement(
        "throughput",
        "1/s",
        [count / max(seconds, 1e-9)],
        facts=facts,
        direction="higher",
        usage=shared(found.usage, count),
    )


@dataclass(frozen=True)
class Bracket:
    """The highest rate that passed, and the lowest above it that failed; either is None if no trial did so."""

    passed: float | None
    failed: float | None


class NoTime(Exception):
    """There is no time for a further trial."""


def search(passes: Callable[[float], bool], start: float, *, least: float, most: float, resolution: float) -> Bracket:
    """The bracket around the highest rate that passes, at most 1 + `resolution` wide, between `least` and `most`.

    It doubles the rate until the bracket is there, then halves that on a log scale, as RFC 2544 (section 26.1) finds a
    network device's throughput. A rate fails if two trials of it fail, so that one stall of the machine doesn't decide.
    `passes` may raise NoTime: the bracket so far is returned then.
    """

    def good(rate: float) -> bool:
        return passes(rate) or passes(rate)

    passed: float | None = None
    failed: float | None = None
    rate = min(max(start, least), most)
    with suppress(NoTime):
        while passed is None or failed is None:
            if good(rate):
                passed = rate
                if rate >= most:
                    break
                rate = min(rate * 2, most)
            else:
                failed = rate
                if rate <= least:
                    break
                rate = max(rate / 2, least)
        while passed is not None and failed is not None and failed / passed > 1 + resolution:
            rate = sqrt(passed * failed)
            if good(rate):
                passed = rate
            else:
                failed = rate
    return Bracket(passed, failed)


def _kept_up(found: ClientTimings, rate: Rate) -> str:
    schedule = found.schedule
    assert schedule
    text = f"kept {min(found.per_second, rate.per_second):,.0f} of {rate.per_second:,g} calls/s"
    return f"{text}; {schedule.in_time:,} of {schedule.due:,} arrivals in time"


def facts_of(found: ClientTimings, clients: Clients, *, percentiles: bool = True) -> StepFacts:
    """What is recorded of the clients' times."""
    kinds = {"service time": found.service, **found.by}
    if found.schedule is not None:
        kinds["latency"] = found.latency
    facts: StepFacts = {
        "calls": found.service.count,
        "per_second": found.per_second,
        "prepare": found.prepare / 1e9,
        "clients": {"threads": clients.threads, "processes": clients.processes},
        "times": {name: samples.to_json(percentiles=percentiles) for name, samples in kinds.items()},
    }
    if found.schedule is not None:
        schedule = found.schedule
        facts["arrivals"] = {
            "due": schedule.due,
            "late": schedule.late,
            "dropped": schedule.dropped,
            "saturated": schedule.saturated,
            "in_time": schedule.in_time,
        }
    if timeline := found.timeline.summary(found.end - found.begin):
        facts["timeline"] = timeline
    return facts


def _kept(samples: Samples) -> list[float]:
    """Seconds of each, if they are few."""
    few = samples.whole and samples.count <= KEPT
    return [nanoseconds / 1e9 for nanoseconds in samples.exact.tolist()] if few else []


def _found(find: Find, job: Job, clients: Clients, drive: Drive, note: Note) -> StepMeasurement:
    """The highest rate that keeps the limit. The outcome is `no rate` if none does."""
    needed = 1.2 * fewest(find.percentile)  # random arrivals may be fewer than expected
    longest, before = LONGEST_TRY * find.trial, job.warm_up_seconds + job.ramp_up
    bound = LONGEST_SEARCH * (find.trial + before)
    spent = 0.0
    best: dict[float, ClientTimings] = {}
    tries, why, ended = 0, "the first calls took all the time", ""

    def timed(job: Job) -> ClientTimings:
        """Drive the clients. Their time is the search's, and not that of the checks of what they read."""
        nonlocal spent
        found = drive(job)
        spent += max(before, found.warm_up.total / 1e9 / clients.count) + (found.end - found.begin) / 1e9
        return found

    def passes(per_second: float) -> bool:
        nonlocal tries, why, ended
        seconds = min(max(find.trial, needed / per_second), longest)
        if spent + before + seconds > bound:
            ended = f"the search ended at its bound of {bound:g} s"
            raise NoTime
        rate = Rate(per_second=per_second, arrivals=find.arrivals, seconds=seconds)
        found = timed(replace(job, rate=rate))
        assert found.schedule is not None
        latency = None if found.schedule.saturated else found.latency.percentile(find.percentile)
        passed = latency is not None and latency <= find.limit * 1e9
        tries, why = tries + 1, _came_to(find, per_second, latency)
        note(f"try {tries}: {why} ({seconds:.3g} s): {'passed' if passed else 'failed'}")
        if passed:
            best.clear()  # only the last one that passed is asked for
            best[per_second] = found
        return passed

    note(f"search for {find}: about {_USUAL_TRIES} tries of {find.trial:g} s, {bound:g} s at most")
    first = timed(replace(job, rate=None, duration=min(_FIRST_LOOK, find.trial)))
    # No latency is below the shortest call of a client that calls alone: to try lower rates would take minutes.
    shortest = first.service.ends[0] if clients.count == 1 and first.service.count else 0
    least = needed / longest
    if shortest > find.limit * 1e9:
        bracket, why = Bracket(None, None), f"the shortest call takes {shortest / 1e6:.3g} ms"
    else:
        bracket = search(passes, first.per_second / 2, least=least, most=MOST_PER_SECOND, resolution=find.resolution)
        if bracket.failed == least:
            why += ", the lowest that is tried (a longer `trial` allows lower ones)"
    looked: FindFacts = {"failed": bracket.failed, "ended": ended}
    if bracket.passed is None:
        why = "; ".join(filter(None, (f"no rate: {why}", f"the limit is {find.limit * 1e3:g} ms", ended)))
        return StepMeasurement(
            "highest rate", "1/s", [], facts={"find": looked}, direction="higher", outcome=Outcome.NO_RATE, detail=why
        )
    facts: StepFacts = {**facts_of(best[bracket.passed], clients), "find": looked}
    return StepMeasurement("highest rate", "1/s", [bracket.passed], facts=facts, direction="higher")


def _came_to(find: Find, per_second: float, latency: float | None) -> str:
    """What a rate that was tried came to, in words: the limited percentile in nanoseconds, if the engine kept up."""
    rate = f"{per_second:{',.0f' if per_second >= 100 else '.3g'}} calls/s"
    if latency is None:
        return f"it can't keep up with {rate}"
    return f"p{find.percentile} is {latency / 1e6:.3g} ms at {rate}"
