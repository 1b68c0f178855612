"""Searches for texts by their words, in searches per second.

The words of each call are drawn between the calls. What calls drawn at random returned is compared when the clock has
stopped.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dbbench.datasets.cache import Files
from dbbench.datasets.inverted import InvertedIndex, Matching, texts_at
from dbbench.engine.base import Engine, Session
from dbbench.engine.offered import prepared
from dbbench.errors import NotVerified, Unsupported, WrongAnswer
from dbbench.host.meters import CallMeter
from dbbench.loadgen.histogram import Samples
from dbbench.loadgen.job import ClientTimings
from dbbench.loadgen.kept_calls import CopiedCalls, EveryCall
from dbbench.results.facts import SearchFacts
from dbbench.suite.dataset import TEXT, TEXT_TABLE
from dbbench.suite.steps.base import Clients
from dbbench.suite.steps.search import SearchStep
from dbbench.workloads.context import StepContext, StepMeasurement
from dbbench.workloads.keyvalue import throughput
from dbbench.workloads.neighbours import misshapen
from dbbench.workloads.searches import TIMED, enough, searched

#: Searches to warm up, and the seconds that they take at most.
WARM_UP, WARMED = 50, 2.0
#: Bytes of a key that an answer has, about.
_KEY = 40
#: Texts that phrases are drawn from at a time.
_AT_ONCE = 1_024
#: Searches of loaded texts, and the queries of each.
_LOADED = [
    SearchStep.model_validate({"kind": "search", "name": "loaded", "title": "Loaded", "match": {kind: {}}})
    for kind in ("all", "any", "phrase", "prefix")
]
_EACH = 8

_Words = tuple[str, ...]
_WORD = re.compile(r"[^\W_]+")


def measure(step: SearchStep, context: StepContext) -> StepMeasurement:
    """Searches in a second. Raises Unsupported if the engine can't match in this way."""
    search = prepared(context.engine, context.session, "search")(step.match.kind, top=step.top, payload=step.payload)
    words = drawn_words(step, context.files, context.round)
    first = EveryCall()
    searched(search, islice(words, WARM_UP), WARMED, first)
    most = max((_bytes(answer) for _, answer in first.calls), default=1)
    sample, samples, meter = CopiedCalls(most), Samples(), CallMeter(context.engine)
    searched(search, _until_enough(words, samples), TIMED, sample, samples, meter)
    found = ClientTimings(service=samples, begin=0, end=int(samples.total), usage=meter.usage(samples.total / 1e9))
    measured = throughput(found, samples.count, Clients())
    if context.does_work:
        with context.aside():
            fault, facts = judged(step, index_of(context), sample.calls)
        context.data.returned[step.name] = fault
        measured.facts["search"] = facts
    return measured


def _until_enough(queries: Iterator[_Words], samples: Samples) -> Iterator[_Words]:
    while not enough(samples):
        yield next(queries)


def drawn_words(step: SearchStep, files: Files, number: int) -> Iterator[_Words]:
    """The words of one call after another, the same for every engine, others in each round; a phrase is of a text.

    Raises Unsupported if texts of one's own have no words of these places.
    """
    chance = random.Random(f"{files.manifest['seed']} {step.name} {number}")
    wanted, vocabulary = step.match.drawn, vocabulary_of(files)
    some = vocabulary[wanted.among[0] - 1 : wanted.among[1]]
    if len(some) <= wanted.words:
        raise Unsupported(f"the texts have {len(vocabulary):,} different words: too few for those of `among`")
    if step.match.phrase:
        yield from _phrases(chance, {*some}, wanted.words, files)
    letters = step.match.prefix.letters if step.match.prefix else None
    while True:
        yield tuple(word[:letters] for word in chance.sample(some, wanted.words))


def _phrases(chance: random.Random, some: set[str], count: int, files: Files) -> Iterator[_Words]:
    """Words that follow one another in a text. Raises Unsupported if no text has them."""
    bodies = files.table(TEXT_TABLE).column(TEXT)
    found = 0
    while True:
        rows = chance.choices(range(len(bodies)), k=_AT_ONCE)
        for text in texts_at(bodies, rows):
            words = _WORD.findall(text.lower())
            places = [place for place in range(len(words) - count + 1) if some.issuperset(words[place : place + count])]
            if places:
                place = chance.choice(places)
                found += 1
                yield tuple(words[place : place + count])
        if not found:
            raise Unsupported(f"none of {_AT_ONCE:,} texts has {count} words of these places one after another")


def index_of(context: StepContext) -> InvertedIndex:
    """The dataset's inverted index, mapped."""
    files = context.files
    postings = files.mapped("postings", range(files.batches("postings")))
    return InvertedIndex(vocabulary_of(files), postings, files.table(TEXT_TABLE).column(TEXT))


def vocabulary_of(files: Files) -> list[str]:
    """All words of the texts, the most frequent first."""
    words: list[str] = files.table("vocabulary").column("word").to_pylist()
    return words


def judged(step: SearchStep, index: InvertedIndex, calls: Sequence[tuple[_Words, Any]]) -> tuple[str, SearchFacts]:
    """What is wrong with the answers of some calls, empty if nothing is; and what is known of the others.

    Which texts match isn't known where the index is empty.
    """
    gains, matches = list[tuple[float, float]](), list[int]()
    for words, answer in calls:
        found = index.find(step.match.kind, words) if index.postings else None
        keys, fault = _keys(step, answer, index)
        if fault := fault or _fault(step, keys, found):
            return f"{fault}, for {step.match.kind} of {' '.join(words)}", {"checked": len(matches), "matches": 0}
        matches.append(len(found.keys if found else keys))
        if found and step.top and len(found.keys) > 1:
            gains.append(found.gain(keys))
    facts: SearchFacts = {
        "checked": len(calls) if index.postings else 0,
        "matches": float(np.mean(matches)) if matches else 0,
    }
    if gains:
        ndcg, by_chance = np.mean(gains, axis=0)
        facts |= {"ndcg": float(ndcg), "ndcg_by_chance": float(by_chance)}
    return "", facts


def _keys(step: SearchStep, answer: Any, index: InvertedIndex) -> tuple[NDArray[np.int64], str]:
    """The keys of an answer, and faults of its shape or its texts. Raises WrongAnswer for what is no answer."""
    texts: Sequence[Any] = ()
    if step.payload == "text":
        if type(answer) is not list or any(type(each) is not tuple or len(each) != 2 for each in answer):
            raise WrongAnswer(f"a search returned a {type(answer).__name__}, not a list of tuples of key and text")
        texts, answer = [text for _, text in answer], [key for key, _ in answer]
    if fault := misshapen(answer):
        raise WrongAnswer(f"a search returned {fault}, not a list or array of keys")
    keys = np.array(answer, np.int64)
    if (unknown := keys[(keys < 1) | (keys > len(index.bodies))]).size:
        return keys, f"the key {unknown[0]}, which no text has"
    if texts:
        right = texts_at(index.bodies, keys - 1)
        wrong = next((key for key, one, other in zip(keys, texts, right, strict=True) if one != other), None)
        return keys, "" if wrong is None else f"another text under the key {wrong}"
    return keys, ""


def _fault(step: SearchStep, keys: NDArray[np.int64], found: Matching | None) -> str:
    if found and (other := keys[~found.has(keys)]).size:
        return f"the key {other[0]}, whose text doesn't match"
    if len(np.unique(keys)) < len(keys):
        return "a key twice in one answer"
    most = len(found.keys if found else keys)
    wanted = min(step.top or most, most)
    return f"{len(keys)} rows instead of {wanted}" if len(keys) != wanted else ""


def _bytes(answer: Any) -> int:
    """What an answer takes, about."""
    given = answer if isinstance(answer, list | tuple) else ()
    return _KEY * (1 + len(given)) + sum(len(each[1]) for each in given if isinstance(each, tuple))


def check(step: SearchStep, context: StepContext) -> None:
    """Answers of some timed calls are right: see `judged`. Raises WrongAnswer; NotVerified if texts are unknown."""
    if fault := context.data.returned.pop(step.name, ""):
        raise WrongAnswer(f"a search returned {fault}")
    refuse_unknown(context.files)


def refuse_unknown(files: Files) -> None:
    """Raise NotVerified if engines may differ in what the words of the texts are."""
    if not files.batches("postings"):
        raise NotVerified(
            "the texts have more than words of a to z between single blanks, which systems take apart in ways of their own"
        )


def first_search(context: StepContext, engine: Engine, session: Session) -> Callable[[], object]:
    """Prepare a search of each kind and make it: a load's last part, for an index may be built only then."""
    prepare, vocabulary = prepared(engine, session, "search"), vocabulary_of(context.files)
    some = tuple(vocabulary[100:102] or vocabulary[:1])

    def search() -> None:
        for step in _LOADED:
            with suppress(Unsupported):
                prepare(step.match.kind, top=10, payload="keys")(some[: step.match.drawn.words])

    return search


def check_loaded(context: StepContext) -> None:
    """Searches of each kind that the engine has find what they must. Raises WrongAnswer; NotVerified like `check`."""
    refuse_unknown(context.files)
    index = index_of(context)
    # Nobody can predict these.
    number = random.SystemRandom().randrange(2**32)
    for step in _LOADED:
        try:
            search = prepared(context.engine, context.session, "search")(step.match.kind, top=None, payload="keys")
            words = [*islice(drawn_words(step, context.files, number), _EACH)]
        except Unsupported:  # or the texts have no such words
            continue
        every = EveryCall()
        searched(search, words, WARMED, every)
        if fault := judged(step, index, every.calls)[0]:
            raise WrongAnswer(f"a search of the loaded texts returned {fault}")
