"""Searches for texts by their words, in searches per second.

What calls drawn at random returned is compared when the clock has stopped.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import islice, repeat
from time import perf_counter
from typing import Any, get_args

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from dbbench.datasets.absent import Absent, Keys
from dbbench.datasets.cache import Files
from dbbench.datasets.inverted import InvertedIndex, Matching, texts_at
from dbbench.engine.base import Engine, Session
from dbbench.engine.offered import prepared
from dbbench.errors import NotVerified, Unsupported, WrongAnswer
from dbbench.loadgen.kept_calls import EveryCall
from dbbench.loadgen.search_calls import Asked, TextSearches, parted, vocabulary_of, words_in
from dbbench.results.facts import SearchFacts
from dbbench.suite.dataset import TEXT, TEXT_TABLE
from dbbench.suite.steps.search import MatchKind, SearchStep
from dbbench.workloads.adding import early, searched_while_adding
from dbbench.workloads.context import StepContext, StepMeasurement
from dbbench.workloads.load_control import by_clients
from dbbench.workloads.reopened import first_anew
from dbbench.workloads.searches import WARMED, searched

#: Queries of each kind of loaded texts, and the fewest words of all texts of which the most frequent are left out.
_EACH, _MANY = 8, 50
#: Searches after the engine was opened anew, of which the first is timed.
_ANEW = 50
#: Texts that are searched for by their own words, and how many of these.
_OF_TEXTS, _WORDS = 100, 6


def measure(step: SearchStep, context: StepContext) -> StepMeasurement:
    """What the step's clients measure. Raises Unsupported if the engine can't match in this way."""
    inputs = searches(step, context.files, f"{step.name} {context.round}")
    if step.adding:
        return _while_adding(step, context, inputs)
    if step.cold:
        measured, calls = _anew(step, context, inputs)
    else:
        measured, sample = by_clients(step, context, inputs)
        calls = _calls(step, sample)
    if context.does_work:
        with context.aside():
            fault, facts = judged(step, index_of(context), [*calls])
        context.data.returned[step.name] = fault
        measured.facts["search"] = facts
    return measured


def _while_adding(step: SearchStep, context: StepContext, inputs: TextSearches) -> StepMeasurement:
    """What the step's clients measure while one more adds. What that has added is found at once."""
    prepare = partial(prepared(context.engine, context.session, "search"), "all", top=None, payload="keys")
    prepare()  # or it is refused before anything is added
    measured, sample, writer = searched_while_adding(step, context, inputs)
    with context.aside():
        index = replace(index_of(context), absent=Absent())
        words, every = own_words(index, writer.last), EveryCall()
    search = prepare()
    acknowledged = writer.rest()
    searched(search, words[:1], WARMED, every)
    measured.facts["adding"]["found_after"] = perf_counter() - acknowledged
    searched(search, words[1:], WARMED, every)
    if context.does_work:
        with context.aside():
            before = (writer.keys[number:] for number in sample.column("acknowledged").to_pylist())
            calls = [*_calls(step, sample.select(["words", "keys", "texts"]))]
            fault, measured.facts["search"] = judged(step, index, calls, before)
            fault = early(writer.keys, sample) or fault
            for key, (_, answer) in zip(writer.last.tolist(), every.calls, strict=False):
                if index.postings and key not in answer:
                    fault = fault or f"no key {key} right after that was added"
        context.data.returned[step.name] = fault
    return measured


def _anew(
    step: SearchStep, context: StepContext, inputs: TextSearches
) -> tuple[StepMeasurement, Iterable[tuple[Asked, Any]]]:
    """The seconds until the engine, closed and opened anew, has answered one search; what it and others returned."""
    words, every = [*islice(inputs.words(), _ANEW)], EveryCall()
    measured, search, answers = first_anew(context, lambda: inputs.run(context.engine, context.session), words[:1])
    if context.does_work:
        searched(search, words[1:], WARMED, every)
    return measured, [*zip(words, answers, strict=False), *every.calls]


def _loaded(vocabulary: int) -> Iterator[SearchStep]:
    """A search of loaded texts of each kind: for any of their words where these are few."""
    among = {} if vocabulary >= _MANY else {"among": (1, _MANY)}
    for kind in get_args(MatchKind):
        given = {"kind": "search", "name": "loaded", "title": "Loaded", "match": {kind: among}}
        yield SearchStep.model_validate(given)


def searches(step: SearchStep, files: Files, seed: str) -> TextSearches:
    """The calls of a step, as ordered from its clients."""
    return TextSearches(step.match, step.top, step.payload, files.directory, seed)


def _calls(step: SearchStep, sample: pa.Table) -> Iterator[tuple[Asked, Any]]:
    """What some calls took and returned."""
    for words, keys, texts in zip(*(column.to_pylist() for column in sample.columns), strict=True):
        yield tuple(words), list(zip(keys, texts, strict=True)) if step.payload == "text" else keys


def index_of(context: StepContext) -> InvertedIndex:
    """The dataset's inverted index, mapped."""
    files = context.files
    postings = files.mapped("postings", range(files.batches("postings")))
    return InvertedIndex(vocabulary_of(files), postings, files.table(TEXT_TABLE).column(TEXT), context.data.absent)


def judged(
    step: SearchStep,
    index: InvertedIndex,
    calls: Sequence[tuple[Asked, Any]],
    optional: Iterable[Keys] = repeat(np.empty(0, np.int64)),
) -> tuple[str, SearchFacts]:
    """What is wrong with the answers of some calls, empty if nothing is; and what is known of the others.

    `optional` are the keys that each answer may have or not. Which texts match isn't known where the index is empty.
    """
    gains, matches = list[tuple[float, float]](), list[int]()
    for (words, answer), may in zip(calls, optional, strict=False):
        found = index.find(step.match.kind, words) if index.postings else None
        keys, fault = _keys(step, answer, index)
        if fault := fault or _fault(step, keys, found, may):
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
    """The keys of an answer, and what is wrong with them or its texts. Raises WrongAnswer for what is no answer."""
    answer, texts = parted(step.payload, answer)
    keys = np.array(answer, np.int64)
    if (unknown := keys[(keys < 1) | (keys > len(index.bodies))]).size:
        return keys, f"the key {unknown[0]}, which no text has"
    if (absent := keys[index.absent.has(keys)]).size:
        return keys, index.absent.fault(int(absent[0]))
    if texts:
        right = texts_at(index.bodies, keys - 1)
        wrong = next((key for key, one, other in zip(keys, texts, right, strict=True) if one != other), None)
        return keys, "" if wrong is None else f"another text under the key {wrong}"
    return keys, ""


def _fault(step: SearchStep, keys: Keys, found: Matching | None, optional: Keys) -> str:
    if found and (other := keys[~found.has(keys)]).size:
        return f"the key {other[0]}, whose text doesn't match"
    if len(np.unique(keys)) < len(keys):
        return "a key twice in one answer"
    most = len(found.keys if found else keys)
    least = len(np.setdiff1d(found.keys, optional)) if found else most
    fewest, wanted = (min(step.top or count, count) for count in (least, most))
    if not fewest <= len(keys) <= wanted:
        return f"{len(keys)} rows instead of {fewest}{f' to {wanted}' * (fewest < wanted)}"
    if found and not step.top and (without := np.setdiff1d(found.keys, np.union1d(keys, optional))).size:
        return f"rows without the key {without[0]}, whose text matches"
    return ""


def check(step: SearchStep, context: StepContext) -> None:
    """Answers of some timed calls are right: see `judged`. Raises WrongAnswer; NotVerified if texts are unknown."""
    if fault := context.data.returned.pop(step.name, ""):
        raise WrongAnswer(f"a search returned {fault}")
    refuse_unknown(context.files)
    if step.adding:
        check_loaded(context)


def refuse_unknown(files: Files) -> None:
    """Raise NotVerified if engines may differ in what the words of the texts are."""
    if not files.batches("postings"):
        raise NotVerified(
            "the texts aren't only words of a to z between single blanks, and systems split others differently"
        )


def first_search(context: StepContext, engine: Engine, session: Session) -> Callable[[], object]:
    """Prepare a search of each kind and make it: a load's last part, for an index may be built only then."""
    prepare, vocabulary = prepared(engine, session, "search"), vocabulary_of(context.files)
    some = tuple(vocabulary[100:102] or vocabulary[:1])

    def search() -> None:
        for step in _loaded(len(vocabulary)):
            with suppress(Unsupported):
                prepare(step.match.kind, top=10, payload="keys")(some[: step.match.drawn.words])

    return search


def check_deleted(context: StepContext) -> None:
    """Searches for all words of deleted texts return none of these. Raises WrongAnswer; NotVerified like `check`."""
    refuse_unknown(context.files)
    index, every, deleted = index_of(context), EveryCall(), context.data.absent.deleted
    step = next(each for each in _loaded(_MANY) if each.match.kind == "all")
    words = own_words(index, np.random.default_rng().choice(deleted, min(_OF_TEXTS, len(deleted)), replace=False))
    searched(prepared(context.engine, context.session, "search")("all", top=None, payload="keys"), words, WARMED, every)
    if fault := judged(step, index, every.calls)[0]:
        raise WrongAnswer(f"a search for deleted texts returned {fault}")


def own_words(index: InvertedIndex, keys: Keys) -> list[Asked]:
    """Words of each of some texts, but for those that have none."""
    words = (tuple(dict.fromkeys(words_in(text)))[:_WORDS] for text in texts_at(index.bodies, keys - 1))
    return [*filter(None, words)]


def check_loaded(context: StepContext) -> None:
    """Searches of each kind that the engine has find what they must. Raises WrongAnswer; NotVerified like `check`."""
    refuse_unknown(context.files)
    index = index_of(context)
    # Nobody can predict these.
    number = random.SystemRandom().randrange(2**32)
    asked = False
    for step in _loaded(len(vocabulary_of(context.files))):
        try:
            search = prepared(context.engine, context.session, "search")(step.match.kind, top=None, payload="keys")
            words = [*islice(searches(step, context.files, str(number)).words(), _EACH)]
        except Unsupported:  # or the texts have no such words
            continue
        asked, every = True, EveryCall()
        searched(search, words, WARMED, every)
        if fault := judged(step, index, every.calls)[0]:
            raise WrongAnswer(f"a search of the loaded texts returned {fault}")
    if not asked:
        raise NotVerified("the texts have too few words to search the loaded ones for some")
