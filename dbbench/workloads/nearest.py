"""Searches for the nearest vectors, in searches per second at equal recall.

The least effort that reaches the recall is searched on some of the queries. Others are timed with it, in passes, and
what they returned is compared when the clock has stopped.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import nullcontext, suppress
from dataclasses import replace
from functools import partial
from itertools import cycle, islice
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dbbench.datasets.neighbours import Matrix
from dbbench.datasets.vectors import matrix
from dbbench.engine.base import Engine, Session
from dbbench.engine.offered import offers, prepared
from dbbench.engine.traits import Knob
from dbbench.errors import NotVerified, Unsupported, WrongAnswer
from dbbench.host.meters import CallMeter
from dbbench.loadgen.histogram import Samples
from dbbench.loadgen.job import ClientTimings
from dbbench.loadgen.kept_calls import EveryCall
from dbbench.loadgen.loops import Around
from dbbench.loadgen.loops import timed as by_the_clock
from dbbench.loadgen.search_calls import NearestSearches, passes
from dbbench.results.facts import RecallFacts
from dbbench.results.outcome import Outcome
from dbbench.suite.dataset import Distance
from dbbench.suite.steps.base import Clients
from dbbench.suite.steps.nearest import NearestStep
from dbbench.workloads.adding import early, searched_while_adding
from dbbench.workloads.context import StepContext, StepMeasurement
from dbbench.workloads.load_control import by_clients, throughput
from dbbench.workloads.neighbours import Questions, beside_adding, parts, questions, some_questions
from dbbench.workloads.reopened import first_anew
from dbbench.workloads.searches import TIMED, WARMED, Tried, enough, least_effort, searched

#: Searches to warm up where a step gives a time for its clients, and the seconds that one effort is tried for.
WARM_UP, TRIED = 100, 3.0
#: Standard errors by which a recall may miss the target by chance, as it was chosen on other queries.
_ERRORS = 1.0
#: How often a search that misses it by more is timed anew, with a tenth more effort.
_AGAIN = 3
#: Standard errors by which the recall of some calls under load may miss it.
_LOADED_ERRORS = 4.0
#: What is asked of loaded vectors, the share that must be found, as an index may be coarse, and that of vectors by
#: themselves: a graph may not reach one or two in a hundred (ClickHouse's 98.6 % in one build of eight).
_LOADED = NearestStep.model_construct(kind="nearest", name="loaded", title="Loaded")
_FOUND, _OWN = 0.8, 0.95
#: How many vectors a search by themselves may miss right after they were added.
_MISSED_AT_ONCE = 1
#: Vectors that are searched for by themselves.
_SAMPLE = 500


def refuse_metric(engine: Engine, metric: Distance) -> None:
    """Raise Unsupported if an engine doesn't have a metric of vectors: another would answer another question."""
    if metric not in engine.metrics:
        raise Unsupported(f"{engine.name} has no metric {metric} (it has: {', '.join(engine.metrics) or 'none'})")


def measure(step: NearestStep, context: StepContext) -> StepMeasurement:
    """Searches in a second, or the outcome `no recall`. Raises Unsupported if the engine has none."""
    prepare = partial(prepared(context.engine, context.session, "nearest"), step.k)
    with context.aside():
        tuning, timed = questions(step, context)
    prepare = partial(prepare, where=timed.where)
    if not context.does_work:
        if step.controlled:
            return _under_load(step, context, timed, None, np.ones(1))
        if step.cold:
            return _anew(step, context, timed, None, {})
        found, _, _ = _timed(step, context, prepare(effort=None), tuning, timed)
        return throughput(found, found.service.count, Clients())
    knob = context.engine.knob
    tried = context.data.efforts.setdefault(step.tuned or step.swept or step.name, {})

    def attempt(effort: int) -> Tried:
        if effort not in tried:
            tried[effort] = _tried(context, prepare(effort=effort), tuning)
            context.note(f"{knob and knob.name} {effort}: recall {tried[effort].recall:.3f}")
        return tried[effort]

    effort = None
    if knob is not None:
        effort = least_effort(lambda each: attempt(each).recall, step.target, knob.least, knob.most)
        least = attempt(knob.least)
        if effort is None:
            return _fell_short(step, context, tuning, knob, tried)
        if effort == knob.least and least.recall < 1:
            attempt(knob.most)  # whether it is better than that
    if step.cold:
        return _anew(step, context, timed, effort, tried)
    for again in range(_AGAIN + 1):
        preparing, run = by_the_clock(partial(prepare, effort=effort))
        found, recalls, fault = _timed(step, context, run, tuning, timed, again)
        found.prepare = preparing
        reached = recalls.mean() + _chance(recalls, tried.get(effort or 0)) >= step.target
        if knob is None or effort is None or reached or fault or again == _AGAIN or effort == knob.most:
            break
        effort = min(effort + max(effort // 10, 1), knob.most)
        attempt(effort)
    context.data.returned[step.name] = fault
    facts = _facts(recalls, knob, effort, tried)
    made = throughput(found, found.service.count, Clients())
    made.facts["recall"] = facts
    if reached and not fault and step.controlled:
        made = _under_load(step, context, timed, effort, recalls)
        made.facts["recall"] = facts
        return made
    if reached:
        return made
    return replace(made, outcome=Outcome.NO_RECALL, detail=_missed(step.target, facts, knob, effort, tried))


def _missed(
    target: float, facts: RecallFacts, knob: Knob | None, effort: int | None, tried: Mapping[int, Tried]
) -> str:
    """A recall that the timed searches have missed, in words."""
    why = f"no recall of {target:g}: {facts['mean']:.3f} in the timed searches"
    if effort is not None:
        why += f", {tried[effort].recall:.3f} in those before with {knob and knob.name} {effort}"
    return why


def _anew(
    step: NearestStep, context: StepContext, timed: Questions, effort: int | None, tried: Mapping[int, Tried]
) -> StepMeasurement:
    """The seconds until the engine, closed and opened anew, has answered one search. Others must recall as much."""
    (queries, order), *_ = islice(passes(timed.queries, f"{step.name} {context.round} anew"), 1)

    def prepare() -> Callable[[Any], Any]:
        return prepared(context.engine, context.session, "nearest")(step.k, where=timed.where, effort=effort)  # type: ignore[no-any-return]  # not typed

    measured, search, answers = first_anew(context, prepare, queries[:1])
    if not context.does_work:
        return measured
    answers += _searched(search, queries[1:], TIMED, nullcontext())[1]
    with context.aside():
        asked = timed.some(order[: len(answers)])
        recalls = asked.recalls(answers)
        context.data.returned[step.name] = asked.fault(answers)
    facts = _facts(recalls, context.engine.knob, effort, tried)
    measured.facts["recall"] = facts
    if recalls.mean() + _chance(recalls, tried.get(effort or 0)) >= step.target:
        return measured
    missed = _missed(step.target, facts, context.engine.knob, effort, tried)
    return replace(measured, outcome=Outcome.NO_RECALL, detail=f"opened anew: {missed}")


def _under_load(
    step: NearestStep, context: StepContext, timed: Questions, effort: int | None, recalls: NDArray[np.float64]
) -> StepMeasurement:
    """The step's clients, with the effort that reached the recall: they must recall as much as one did."""
    first, last = parts(step, len(context.files.table(step.queries)))[1]
    directory, seed = context.files.directory, f"{step.name} {context.round}"
    inputs = NearestSearches(step.k, timed.where, effort, directory, step.queries, first, last, seed)
    if step.adding:
        return _while_adding(step, context, timed, inputs, recalls)
    measured, sample = by_clients(step, context, inputs)
    if context.does_work:
        with context.aside():
            places, answers = sample.column("place").to_numpy(), sample.column("keys").to_pylist()
            asked = timed.some(places)
            context.data.returned[step.name] = asked.fault(answers) or _less(
                step.target, _of_each(places, asked.recalls(answers)), recalls
            )
    return measured


def _while_adding(
    step: NearestStep, context: StepContext, timed: Questions, inputs: NearestSearches, recalls: NDArray[np.float64]
) -> StepMeasurement:
    """The step's clients while one more adds; those must recall as much as one did. What it added is found at once.

    Raises Unsupported if fewer vectors than are asked for match before.
    """
    if timed.count < timed.asked:
        raise Unsupported(f"only {timed.count} of the vectors match before others are added, where k is {timed.asked}")
    measured, sample, writer = searched_while_adding(step, context, inputs)
    knob = context.engine.knob
    search = prepared(context.engine, context.session, "nearest")(1, where=None, effort=knob and knob.most)
    those = timed.of_keys(writer.last)
    acknowledged = writer.rest()
    if not context.does_work:
        return measured
    _, answers = _searched(search, those.queries[:1], TRIED, nullcontext())
    measured.facts["adding"]["found_after"] = perf_counter() - acknowledged
    answers += _searched(search, those.queries[1:], TRIED, nullcontext())[1]
    with context.aside():
        beside, fault = beside_adding(timed, writer.keys, sample)
        fault = (
            early(writer.keys, sample)
            or fault
            or _less(step.target, _of_each(sample.column("place").to_numpy(), beside), recalls)
        )
        found, last = int(those.recalls(answers).sum()), len(answers)
        if timed.metric != "ip" and last - found > _MISSED_AT_ONCE:
            fault = f"{found} of the last {last} vectors right after they were added"
    context.data.returned[step.name] = fault
    return measured


def _less(target: float, found: NDArray[np.float64], before: NDArray[np.float64]) -> str:
    """How much less queries recall than the target and than before, in words; empty if that may be by chance."""
    chance = max(found.std(), before.std()) * np.sqrt(1 / len(found) + 1 / len(before))
    if found.mean() + _LOADED_ERRORS * chance >= min(target, before.mean()):
        return ""
    return f"{found.mean():.1%} of the nearest, where {before.mean():.1%} were found before"


def _of_each(places: NDArray[np.intp], recalls: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mean recall of each query that was asked, however often."""
    counts = np.bincount(places)
    means: NDArray[np.float64] = np.bincount(places, recalls)[counts > 0] / counts[counts > 0]
    return means


def _fell_short(
    step: NearestStep, context: StepContext, tuning: Questions, knob: Knob, tried: Mapping[int, Tried]
) -> StepMeasurement:
    """The outcome of a target that no effort reaches, with the best that one did."""
    best = max(tried, key=lambda effort: tried[effort].recall)
    context.data.returned[step.name] = tried[best].fault
    facts = _facts(tried[best].recalls, knob, best, tried)
    why = f"no recall of {step.target:g}: {facts['mean']:.3f} at best, with {knob.name} {best} of {knob.most} at most"
    return StepMeasurement(
        "throughput", "1/s", [], facts={"recall": facts}, direction="higher", outcome=Outcome.NO_RECALL, detail=why
    )


def _tried(context: StepContext, search: Callable[[Any], Any], tuning: Questions) -> Tried:
    """What an effort comes to, on as many of the queries for tuning as there is time for."""
    _, answers = _searched(search, tuning.queries, TRIED, nullcontext())
    with context.aside():
        asked = tuning.some(slice(0, len(answers)))
        return Tried(asked.recalls(answers), asked.fault(answers))


def _timed(
    step: NearestStep,
    context: StepContext,
    search: Callable[[Any], Any],
    tuning: Questions,
    timed: Questions,
    again: int = 0,
) -> tuple[ClientTimings, NDArray[np.float64], str]:
    """What the clock says of the queries, the recall of each, and what is wrong with the answers."""
    warm = step.warm_up_calls if isinstance(step.warm_up, int) else WARM_UP
    _searched(search, islice(cycle(tuning.queries), warm), WARMED, nullcontext())
    meter, samples, orders = CallMeter(context.engine), Samples(), list[NDArray[np.intp]]()
    asked = _passes(timed.queries, samples, orders, f"{step.name} {context.round} alone {again}")
    _, answers = _searched(search, asked, TIMED, meter, samples)
    found = ClientTimings(
        service=samples, begin=0, end=int(samples.total), usage=meter.usage(samples.total / 1e9)
    )  # fmt: skip
    if not context.does_work:
        return found, np.ones(1), ""
    with context.aside():
        places = np.concatenate(orders)[: len(answers)]
        those = timed.some(places)
        return found, _of_each(places, those.recalls(answers)), those.fault(answers)


def _passes(queries: Matrix, samples: Samples, orders: list[NDArray[np.intp]], seed: str) -> Iterator[Any]:
    """All queries, again and again until the clock has enough of them; `orders` takes the places of each pass."""
    for some, order in passes(queries, seed):
        if enough(samples):
            return
        orders.append(order)
        yield from some


def _searched(
    search: Callable[[Any], Any], queries: Iterable[Any], seconds: float, around: Around, samples: Samples | None = None
) -> tuple[Samples, list[Any]]:
    """Search for one query after another until all are done or the time is over: how long each took, and its answer."""
    every = EveryCall()
    found = searched(search, queries, seconds, every, samples, around)
    return found, [answer for _, answer in every.calls]


def _chance(recalls: NDArray[np.float64], tuned: Tried | None) -> float:
    """Return by how much the mean may miss the target by chance."""
    known = [recalls, tuned.recalls] if tuned else [recalls]
    return _ERRORS * float(np.sqrt(sum(each.var() / len(each) for each in known)))


def _facts(
    recalls: NDArray[np.float64], knob: Knob | None, effort: int | None, tried: Mapping[int, Tried]
) -> RecallFacts:
    mean, error = float(recalls.mean()), 1.96 * float(recalls.std() / np.sqrt(len(recalls)))
    facts: RecallFacts = {
        "mean": mean, "low": max(mean - error, 0.0), "high": min(mean + error, 1.0),
        "p5": float(np.quantile(recalls, 0.05)), "queries": len(recalls),
    }  # fmt: skip
    if knob is None:
        return facts
    least, most = tried[knob.least], tried.get(knob.most)
    exact = least.recall == 1
    return {
        **facts, "knob": knob.name, "effort": effort, "exact": exact,
        "without_effect": most is not None and not exact and least.same(most),
    }  # fmt: skip


def check(step: NearestStep, context: StepContext) -> None:
    """Check that each answer has as many rows as there are, once, known and with the label. Raises WrongAnswer."""
    if fault := context.data.returned.pop(step.name, ""):
        raise WrongAnswer(f"a search returned {fault}")
    if step.adding:
        check_loaded(context)


def first_search(context: StepContext, engine: Engine, session: Session) -> Callable[[], object]:
    """Prepare a search and make it, with all effort, then one for each label: a load's last part, for an index may be
    built only then.
    """
    assert context.vectors is not None
    nearest, knob = prepared(engine, session, "nearest"), engine.knob
    query = matrix(context.files.table("inside").column("vector"))[0]
    labels = range(1, len(context.vectors.spec.labels) + 1)

    def search() -> None:
        nearest(_LOADED.k, where=None, effort=knob and knob.most)(query)
        for label in labels:
            with suppress(Unsupported):
                nearest(_LOADED.k, where=label, effort=knob and knob.most)(query)

    return search


def check_deleted(context: StepContext) -> None:
    """Searches for deleted vectors, by themselves, return none of them. Raises WrongAnswer."""
    if not offers(type(context.engine), "nearest"):
        raise NotVerified(f"there is no way to find the vectors of {context.engine.name}")
    knob = context.engine.knob
    asked = some_questions(_LOADED, context, slice(0, 1)).of_deleted(_SAMPLE)
    search = prepared(context.engine, context.session, "nearest")(asked.asked, where=None, effort=knob and knob.most)
    _, answers = _searched(search, asked.queries, TRIED, nullcontext())
    if fault := asked.some(slice(0, len(answers))).fault(answers):
        raise WrongAnswer(f"a search for deleted vectors returned {fault}")


def check_loaded(context: StepContext) -> None:
    """Most of the nearest are found with all effort, and nearly all of some by themselves. Raises WrongAnswer."""
    if not offers(type(context.engine), "nearest"):
        raise NotVerified(f"there is no way to find the vectors of {context.engine.name}")
    knob = context.engine.knob
    asked = some_questions(_LOADED, context, slice(0, WARM_UP))
    search = prepared(context.engine, context.session, "nearest")(asked.asked, where=None, effort=knob and knob.most)
    _, answers = _searched(search, asked.queries, TRIED, nullcontext())
    asked = asked.some(slice(0, len(answers)))
    if fault := asked.fault(answers):
        raise WrongAnswer(f"a search of the loaded vectors returned {fault}")
    if (recall := float(asked.recalls(answers).mean())) < _FOUND:
        raise WrongAnswer(f"a search of the loaded vectors finds {recall:.0%} of the nearest")
    if asked.metric == "ip":  # the product with another may be larger than that with itself
        return
    asked = asked.of_themselves(_SAMPLE)
    _, answers = _searched(search, asked.queries, TRIED, nullcontext())
    if (own := float(asked.some(slice(0, len(answers))).recalls(answers).mean())) < _OWN:
        raise WrongAnswer(f"a search for loaded vectors by themselves finds {own:.1%} of {len(answers):,}")
