"""Texts: drawn alike everywhere, their words found exactly, answers judged by them."""

from __future__ import annotations

import hashlib
from math import log
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pytest

from dbbench.datasets.cache import Files, materialise
from dbbench.datasets.export import export
from dbbench.datasets.inverted import InvertedIndex, texts_at
from dbbench.datasets.texts import STOP_WORDS, TextSet, word
from dbbench.engine.base import Engine, Session
from dbbench.errors import SuiteError, Unsupported, WrongAnswer
from dbbench.loadgen.search_calls import vocabulary_of
from dbbench.suite.dataset import Dataset, Texts
from dbbench.suite.loader import parse_suite
from dbbench.suite.model import Tier
from dbbench.suite.steps.load import LoadStep
from dbbench.suite.steps.search import SearchStep
from dbbench.testing.suite_text import suite_text
from dbbench.workloads import load
from dbbench.workloads.context import StepContext
from dbbench.workloads.search import check_loaded, judged, searches

SPEC = Texts(count=40_000, vocabulary=2_000, words={0: 3, 0.9: 20, 1: 40})


@pytest.fixture(scope="module")
def index() -> InvertedIndex:
    return InvertedIndex.drawn(TextSet(SPEC.model_copy(update={"count": 3_000}), seed=5))


def step(match: str = "any", words: int = 2, **more: Any) -> SearchStep:
    given = {"kind": "search", "name": "search", "title": "Search", "match": {match: {"words": words}}, **more}
    return SearchStep.model_validate(given)


def test_the_same_bits_are_drawn_everywhere() -> None:
    drawn = TextSet(SPEC, seed=7)
    found = hashlib.sha256()
    for number in (1, 0):  # each chunk alone
        found.update("\n".join(drawn.chunk(number).column("body").to_pylist()).encode())
    assert found.hexdigest() == "b21fe6881c300e9e4c30b5d7add49972c3013980ba37a20d362919d40fa2bf52"


def test_words_are_drawn_by_zipfs_law_and_topics_and_lengths_by_quantiles() -> None:
    texts = TextSet(SPEC, seed=1).chunk(0).column("body").to_pylist()
    lengths = np.array([text.count(" ") + 1 for text in texts])
    assert (lengths.min(), lengths.max()) == (3, 40)
    assert (lengths < 20).mean() == pytest.approx(0.9, abs=0.01)
    words = [each for text in texts for each in text.split(" ")]
    counts = np.array([words.count(word(place)) for place in (0, 1, 3, 7)])
    assert counts[0] / counts == pytest.approx([1, 2, 4, 8], rel=0.05)
    # A word of a topic comes together with others of it.
    one, same, other = word(16), word(66), word(67)
    having = [text.split(" ") for text in texts if one in text.split(" ")]
    assert sum(same in text for text in having) > 1.5 * sum(other in text for text in having)


def test_no_two_words_are_alike_and_all_are_plain() -> None:
    words = [word(number) for number in range(100_000)]
    assert len({*words}) == 100_000
    assert words[:16] == list(STOP_WORDS)
    assert {*"".join(words)} <= {*"abcdefghijklmnopqrstuvwxyz"}
    assert max(map(len, words)) < 10


@pytest.mark.parametrize("match", ["all", "any", "phrase", "prefix"])
def test_matches_and_scores_are_those_of_a_search_one_text_after_another(index: InvertedIndex, match: Any) -> None:
    texts = [text.split(" ") for text in index.bodies.to_pylist()]
    mean = sum(map(len, texts)) / len(texts)
    for query in ("the of", "baba tuba", "tuba kiba", "the the", "babas"):
        words = query.split(" ")[: 1 if match == "prefix" else None]
        if match == "prefix":
            terms = [[sum(each.startswith(words[0]) for each in text) for text in texts]]
        elif match == "phrase":
            terms = [[f" {' '.join(text)} ".count(f" {query} ") for text in texts]]
        else:
            terms = [[text.count(each) for text in texts] for each in words]
        has = np.array(terms) > 0
        matching = has.any(axis=0) if match == "any" else has.all(axis=0)
        found = index.find(match, words)
        assert found.keys.tolist() == [key for key, matches in enumerate(matching, 1) if matches]
        for key, score in list(zip(found.keys.tolist(), found.scores, strict=True))[:20]:
            norm = 1.2 * (0.25 + 0.75 * len(texts[key - 1]) / mean)
            wanted = 0.0
            for counts in terms:
                having = sum(count > 0 for count in counts)
                rarity = log(1 + (len(texts) - having + 0.5) / (having + 0.5))
                wanted += rarity * counts[key - 1] * 2.2 / (counts[key - 1] + norm)
            assert score == pytest.approx(wanted)


def test_a_ranking_gains_one_if_it_is_bm25s_and_less_by_chance(index: InvertedIndex) -> None:
    found = index.find("any", ["baba", "babas", "kiba"])
    best = found.keys[np.argsort(-found.scores)].astype(np.int64)
    assert found.gain(best[:10])[0] == pytest.approx(1)
    worst, by_chance = found.gain(best[::-1][:10])
    assert worst < by_chance < 0.8
    mean = np.mean([found.gain(np.random.default_rng(n).permutation(best)[:10])[0] for n in range(300)])
    assert mean == pytest.approx(by_chance, abs=0.02)


FAULTS: dict[str, tuple[dict[str, Any], Any, str]] = {
    "fewer": ({}, lambda keys: keys[1:], "rows instead of "),
    "one twice": ({}, lambda keys: [*keys, keys[0]], "a key twice in one answer"),
    "one that doesn't match": ({}, lambda keys: [*keys, next(k for k in range(1, 3_000) if k not in keys)], "match"),
    "unknown": ({}, lambda keys: [*keys, 3_001], "the key 3001, which no text has"),
    "more than the best": ({"top": 3}, lambda keys: keys[:4], "4 rows instead of 3"),
    "another text": ({"payload": "text"}, lambda keys: [(key, "the") for key in keys], "another text under the key"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_what_is_wrong_with_an_answer_is_told(index: InvertedIndex, name: str) -> None:
    more, change, words = FAULTS[name]
    query = ("baba", "kiba")
    keys = index.find("any", query).keys.tolist()
    right: Any = keys[:3] if "top" in more else keys
    if "payload" in more:
        right = [(key, index.bodies[key - 1].as_py()) for key in keys]
    assert judged(step(**more), index, [(query, right)])[0] == ""
    assert words in judged(step(**more), index, [(query, right), (query, change(keys))])[0]


@pytest.mark.parametrize("answer", [None, iter([1]), {1: 2}, [1.0], "12"])
def test_an_answer_in_another_form_is_none(index: InvertedIndex, answer: Any) -> None:
    with pytest.raises(WrongAnswer, match="not a list or array of keys"):
        judged(step(), index, [(("baba",), answer)])
    with pytest.raises(WrongAnswer, match="not a list of tuples of key and text"):
        judged(step(payload="text"), index, [(("baba",), answer)])


FEW = TextSet(SPEC, seed=3, scale=0.05)


@pytest.fixture(scope="module")
def files() -> Files:
    """The files of FEW."""
    return materialise(Dataset(texts=SPEC), scale=0.05, seed=3)


def test_each_call_has_other_words_the_same_for_every_engine(files: Files) -> None:
    for match in ("all", "phrase"):
        words = searches(step(match), files, "1").words()
        found = [next(words) for _ in range(500)]
        again, other = searches(step(match), files, "1").words(), searches(step(match), files, "2").words()
        assert [next(again) for _ in range(500)] == found
        assert [next(other) for _ in range(500)] != found
        assert len({*found}) > 300
        assert {each for query in found for each in query} <= {*FEW.vocabulary[20:]}
    bodies = files.table("texts").column("body").to_pylist()
    assert all(any(f" {' '.join(query)} " in f" {text} " for text in bodies) for query in found)


def test_the_index_in_the_cache_is_that_of_its_texts(files: Files) -> None:
    postings = files.mapped("postings", range(files.batches("postings")))
    stored = InvertedIndex(vocabulary_of(files), postings, files.table("texts").column("body"))
    for query in (["the"], ["baba", "of"]):
        assert stored.find("any", query).keys.tolist() == InvertedIndex.drawn(FEW).find("any", query).keys.tolist()


def test_texts_are_exported(tmp_path: Path) -> None:
    found = list(export(Dataset(texts=SPEC), tmp_path, "csv", scale=0.001, seed=None))
    assert found == [(tmp_path / "texts.csv", 40)]


class Late(Session):
    """Builds its index in the first search."""

    log: ClassVar[list[str]] = []

    def begin_load(self, tables: Any) -> None:
        self.log.append("begin")

    def prepare_load(self, name: str, table: Any) -> Any:
        return lambda rows: self.log.append(f"insert {len(rows)}")

    def prepare_finish(self, tables: Any) -> Any:
        return {"commit": lambda: self.log.append("commit")}

    def prepare_text_index(self) -> Any:
        return lambda: self.log.append("index")

    def prepare_search(self, match: str, *, top: int | None, payload: str) -> Any:
        if match == "phrase":
            raise Unsupported("no phrases")
        return lambda words: self.log.append(f"{match} {len(words)}")


class LateEngine(Engine):
    name, title, url, session_class = "late", "Late", "", Late
    durability: ClassVar = {Tier.MEMORY: {}}


def test_index_and_first_searches_of_each_kind_are_parts_of_the_load(files: Files) -> None:
    Late.log.clear()
    context = StepContext(LateEngine.__new__(LateEngine), Late(), FEW.tables, files, {}, texts=FEW)
    found = load.measure(LoadStep(kind="load", name="load", title="Load"), context)
    assert Late.log == ["begin", "insert 2000", "commit", "index", "all 2", "any 2", "prefix 1"]
    assert list(found.facts["load_parts"]) == ["insert", "commit", "text index", "first search"]
    assert found.leaves.filled == ()


def test_texts_are_read_at_their_places_in_several_arrays() -> None:
    bodies = pa.chunked_array([["a", "b"], [], ["c"], ["d", "e"]])
    assert texts_at(bodies, [4, 0, 2, 1, 4]) == ["e", "a", "c", "b", "e"]


def test_texts_too_short_for_a_phrase_are_searched_in_the_other_ways() -> None:
    spec = SPEC.model_copy(update={"count": 300, "words": {0: 1, 1: 1}})
    texts = TextSet(spec, seed=5)
    own = InvertedIndex.drawn(texts)
    asked = []

    class Exact(Session):
        def prepare_search(self, match: Any, *, top: int | None, payload: str) -> Any:
            asked.append(match)
            return lambda words: own.find(match, words).keys.astype("int64")

    files = materialise(Dataset(texts=spec, seed=5))
    check_loaded(StepContext(LateEngine.__new__(LateEngine), Exact(), texts.tables, files, {}, texts=texts))
    assert asked == ["all", "any", "phrase", "prefix"]


@pytest.mark.parametrize(
    ("match", "words"),
    [
        ("{all: {among: [1, 1001]}}", "places up to 1,000, the words of its dataset's vocabulary"),
        ("{prefix: {}}", "places up to 1,000"),
        ("{all: {among: [1, 20]}, any: {among: [1, 20]}}", "one of all, any, phrase and prefix"),
        ("{all: {words: 3, among: [7, 9]}}", "with more words between them than are drawn"),
        ("{some: {}}", "one of the keys all, any, phrase, prefix"),
    ],
)
def test_bad_input_is_told(match: str, words: str) -> None:
    steps = (
        f"- {{kind: load, name: load, title: Load}}\n- {{kind: search, name: search, title: Search, match: {match}}}"
    )
    with pytest.raises(SuiteError, match=words):
        parse_suite(suite_text("words", "texts: {count: 100, vocabulary: 1000}", steps), "suite.yaml")
