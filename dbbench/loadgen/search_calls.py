"""What each search for texts or vectors takes, drawn between the calls; answers of some are kept to be compared."""

import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from dbbench.datasets.cache import Files
from dbbench.datasets.inverted import texts_at
from dbbench.datasets.neighbours import Matrix
from dbbench.datasets.vectors import matrix
from dbbench.engine.base import Engine, Session
from dbbench.engine.offered import prepared
from dbbench.errors import Unsupported, WrongAnswer
from dbbench.loadgen.kept_calls import KeptCalls, Progress, WatchedCalls
from dbbench.loadgen.key_streams import CallStream
from dbbench.suite.dataset import TEXT, TEXT_TABLE
from dbbench.suite.steps.search import Match, Payload

#: Words of a query.
Asked = tuple[str, ...]
#: Texts that phrases are drawn from at a time, the bytes that a key takes in an answer, about, and those of a text.
_AT_ONCE, _KEY, _TEXT = 1_024, 40, 400
#: Queries of all clients together that are made before the start.
_PREMADE = 20_000
_WORD = re.compile(r"[^\W_]+")
#: Whole numbers, as Python and numpy have them: nothing that computes its value when it is looked at.
_WHOLE = frozenset({int, *(np.dtype(code).type for code in np.typecodes["AllInteger"])})


@dataclass(frozen=True)
class TextSearches:
    """Searches for words that are drawn from the texts in `files`: the same for every engine, others for each seed."""

    match: Match
    top: int | None
    payload: Payload
    files: Path
    seed: str
    endless: bool = True
    progress: Progress | None = None

    def check(self, engine: Engine, session: Session) -> None:
        """Raise Unsupported if the engine can't search in this way, or the texts have no such words."""
        self.run(engine, session)
        next(self.words())

    def prepare(self, engine: Engine, session: Session, number: int, of: int) -> CallStream:
        """One client's calls."""
        words, each = self.words(number), _KEY + _TEXT * (self.payload == "text")
        sample = _sample(self.progress, each * (self.top or _AT_ONCE))
        run, rows_of = self.run(engine, session), partial(_found, self.payload, sample)
        return CallStream(run, words, premade=_PREMADE, sample=sample, rows_of=rows_of)

    def run(self, engine: Engine, session: Session) -> Callable[[Any], Any]:
        """A search, prepared. Raises Unsupported if the engine can't search in this way."""
        run: Callable[[Any], Any] = prepared(engine, session, "search")(
            self.match.kind, top=self.top, payload=self.payload
        )
        return run

    def words(self, number: int = 0) -> Iterator[Asked]:
        """The words of one of a client's calls after another; a phrase is of a text.

        Raises Unsupported if texts of one's own have no words of these places.
        """
        files = Files(self.files)
        chance = random.Random(f"{files.manifest['seed']} {self.seed}{f' {number}' * (number > 0)}")
        wanted, vocabulary = self.match.drawn, vocabulary_of(files)
        some = vocabulary[wanted.among[0] - 1 : wanted.among[1]]
        if len(some) <= wanted.words:
            raise Unsupported(f"the texts have {len(vocabulary):,} different words: too few for those of `among`")
        if self.match.phrase:
            yield from _phrases(chance, {*some}, wanted.words, files)
        letters = self.match.prefix.letters if self.match.prefix else None
        while True:
            yield tuple(word[:letters] for word in chance.sample(some, wanted.words))


def vocabulary_of(files: Files) -> list[str]:
    """All words of the texts, the most frequent first."""
    words: list[str] = files.table("vocabulary").column("word").to_pylist()
    return words


def words_in(text: str) -> list[str]:
    """The words of a text, in lower case."""
    return _WORD.findall(text.lower())


def _phrases(chance: random.Random, some: set[str], count: int, files: Files) -> Iterator[Asked]:
    """Words that follow one another in a text. Raises Unsupported if no text has them."""
    bodies = files.table(TEXT_TABLE).column(TEXT)
    found = 0
    while True:
        rows = chance.choices(range(len(bodies)), k=_AT_ONCE)
        for text in texts_at(bodies, rows):
            words = words_in(text)
            places = [place for place in range(len(words) - count + 1) if some.issuperset(words[place : place + count])]
            if places:
                place = chance.choice(places)
                found += 1
                yield tuple(words[place : place + count])
        if not found:
            raise Unsupported(f"none of {_AT_ONCE:,} texts has {count} words of these places one after another")


def _sample(progress: Progress | None, each: int) -> KeptCalls:
    return KeptCalls(each) if progress is None else WatchedCalls(progress, each)


def _with_spans(table: pa.Table, sample: KeptCalls) -> pa.Table:
    """Add what a client beside these calls had acknowledged before each, and begun by its end."""
    if isinstance(sample, WatchedCalls):
        for name, numbers in zip(("acknowledged", "begun"), zip(*sample.spans, strict=True), strict=True):
            table = table.append_column(name, pa.array(numbers, pa.int64()))
    return table


def _found(payload: Payload, sample: KeptCalls, calls: Sequence[tuple[Asked, Any]]) -> pa.Table:
    """Words, keys, and texts if they were asked for. Raises WrongAnswer for what is no answer."""
    keys, texts = zip(*(parted(payload, answer) for _, answer in calls), strict=True)
    table = pa.table({
        "words": pa.array([words for words, _ in calls], pa.list_(pa.string())),
        "keys": pa.array(keys, pa.list_(pa.int64())), "texts": pa.array(texts, pa.list_(pa.string())),
    })  # fmt: skip
    return _with_spans(table, sample)


def parted(payload: Payload, answer: Any) -> tuple[Any, list[str]]:
    """The keys of an answer, and its texts. Raises WrongAnswer for what is no answer."""
    texts: list[str] = []
    if payload == "text":
        if type(answer) is not list or any(
            type(each) is not tuple or len(each) != 2 or type(each[1]) is not str for each in answer
        ):
            raise WrongAnswer(f"a search returned a {type(answer).__name__}, not a list of tuples of key and text")
        texts, answer = [text for _, text in answer], [key for key, _ in answer]
    if fault := misshapen(answer):
        raise WrongAnswer(f"a search returned {fault}, not a list or array of keys")
    return answer, texts


@dataclass(frozen=True)
class NearestSearches:
    """Searches for the vectors nearest to the queries from `first` to `last` of a table in `files`, in passes.

    The passes are the same for every engine, others for each seed.
    """

    k: int
    where: int | None
    effort: int | None
    files: Path
    queries: str
    first: int
    last: int
    seed: str
    endless: bool = True
    progress: Progress | None = None

    def check(self, engine: Engine, session: Session) -> None:
        """Raise Unsupported if the engine can't search in this way."""
        self._run(engine, session)

    def prepare(self, engine: Engine, session: Session, number: int, of: int) -> CallStream:
        """One client's calls, in passes of its own."""
        queries = matrix(Files(self.files).table(self.queries).column("vector"))[self.first : self.last]
        #: A kept query stays in memory, so no other query gets its id.
        places = dict[int, int]()

        def asked() -> Iterator[Any]:
            for some, order in passes(queries, f"{self.seed} {number}"):
                for place, query in zip(order.tolist(), some, strict=True):
                    places[id(query)] = place
                    yield query

        def found(calls: Sequence[tuple[Any, Any]]) -> pa.Table:
            keys = pa.array([parted("keys", answer)[0] for _, answer in calls], pa.list_(pa.int64()))
            return _with_spans(pa.table({"place": [places[id(query)] for query, _ in calls], "keys": keys}), sample)

        run, sample = self._run(engine, session), _sample(self.progress, _KEY * self.k)
        return CallStream(run, asked(), premade=_PREMADE, sample=sample, rows_of=found)

    def _run(self, engine: Engine, session: Session) -> Callable[[Any], Any]:
        run: Callable[[Any], Any] = prepared(engine, session, "nearest")(self.k, where=self.where, effort=self.effort)
        return run


def passes(queries: Matrix, seed: str) -> Iterator[tuple[Matrix, Any]]:
    """All queries in one order after another, and their places: other ones for each seed.

    In each pass numbers drawn at random are more or less by their last bit but one: of 16 dimensions or more hardly any
    query comes again, so that no answer is known from before. All answers stay right.
    """
    chance = np.random.default_rng([*seed.encode()])
    while True:
        order = chance.permutation(len(queries))
        yield queries[order] * (1 + chance.integers(-1, 2, queries.shape[1]) * 2.0**-22).astype(np.float32), order


def misshapen(answer: Any) -> str:
    """What an answer is, if it isn't a list, a tuple or an array of one dimension, of whole numbers of 64 bits."""
    if type(answer) is np.ndarray:
        if answer.ndim != 1 or answer.dtype.kind not in "iu":
            return f"an array of {answer.dtype} in {answer.ndim} dimensions"
        return "an array with a number of more than 63 bits" if answer.size and answer.max() >= 2**63 else ""
    if type(answer) not in (list, tuple):
        return f"a {type(answer).__name__}"
    if other := next((kind for kind in map(type, answer) if kind not in _WHOLE), None):
        return f"a {type(answer).__name__} with a {other.__name__}"
    large = any(not -(2**63) <= int(each) < 2**63 for each in answer)
    return f"a {type(answer).__name__} with a number of more than 64 bits" if large else ""
