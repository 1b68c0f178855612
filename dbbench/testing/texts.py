"""Conformance of texts: what a search by words finds, returns and puts first, and what is kept."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dbbench.datasets.absent import Absent
from dbbench.datasets.driver_rows import chunk
from dbbench.datasets.inverted import InvertedIndex, texts_at
from dbbench.datasets.texts import STOP_WORDS, TextSet
from dbbench.engine.base import Engine, Session
from dbbench.engine.offered import prepared
from dbbench.errors import Unsupported
from dbbench.results.outcome import Outcome
from dbbench.suite.dataset import TEXT_TABLE, Texts
from dbbench.suite.steps.search import MatchKind, Payload
from dbbench.testing.clause import clause, expect, expect_equal, left_out, needs
from dbbench.testing.contract import EngineContract, Opener, WholeTrial, beside, close

#: The kit's texts.
COUNT, VOCABULARY = 2_000, 3_000
#: How far the order of a ranked search must be from a random one, 0, towards that of BM25, 1.
_BETTER = 0.2
_SECTION = "texts"
_WORDS = {0: 5, 0.8: 60, 1: 120}
_DATA = f"texts: {{count: {COUNT}, vocabulary: {VOCABULARY}, words: {_WORDS}}}"
_STEPS = """
- {kind: load, name: load, title: Load}
- {kind: search, name: all, title: All, match: {all: {}}, duration: 0.2s}
- {kind: search, name: best, title: Best, match: {any: {}}, top: 10, duration: 0.2s}
"""
Stored = tuple[Engine, Session, InvertedIndex]


def store(engine: Engine, pieces: int = 1, first: int = COUNT) -> Stored:
    """The engine with the first of the kit's texts in it, loaded in pieces; a session, and what all of them hold."""
    texts = TextSet(Texts(count=COUNT, vocabulary=VOCABULARY, words=_WORDS), seed=1)
    tables = texts.tables
    engine.create(tables)
    session: Any = engine.connect()
    insert, finish = prepared(engine, session, "load")(TEXT_TABLE, tables[TEXT_TABLE]), session.prepare_finish(tables)
    session.begin_load(tables)
    batch = texts.chunk(0)
    for places in np.array_split(np.arange(first), pieces):
        piece = batch.slice(places[0], len(places))
        insert(chunk(piece, tables[TEXT_TABLE], session.load_format, session.bind))
    for run in finish.values():
        run()
    session.prepare_text_index()()
    return engine, session, InvertedIndex.drawn(texts)


def found(
    stored: Stored, match: MatchKind, words: Sequence[str], top: int | None = None, payload: Payload = "keys"
) -> Any:
    """What a search returns: a list or an array. Leaves the clause out if the engine refuses it."""
    engine, session, _ = stored
    try:
        search = prepared(engine, session, "search")(match, top=top, payload=payload)
    except Unsupported as exc:
        left_out(str(exc))
    answer = search(tuple(words))
    expect(isinstance(answer, list | tuple | np.ndarray), f"expected a list or array, got {type(answer).__name__}")
    return answer


def remove(stored: Stored, keys: Sequence[int]) -> Stored:
    """Remove texts; what must be found then."""
    engine, session, index = stored
    prepared(engine, session, "remove_texts")()([*keys])
    return engine, session, replace(index, absent=Absent(deleted=np.array(keys)))


def append(stored: Stored, first: int, last: int = COUNT) -> None:
    """Append the texts from a place on, by another session where there may be one."""
    engine, session, index = stored
    with beside(engine, session) as other:
        texts = texts_at(index.bodies, range(first, last))
        prepared(engine, other, "append_texts")()([*range(first + 1, last + 1)], texts)


def expect_matches(stored: Stored, match: MatchKind, queries: Sequence[str]) -> None:
    """Compare all that queries find, some words each, with what they must find."""
    for query in queries:
        words = query.split()
        keys = sorted(int(key) for key in found(stored, match, words))
        wanted = stored[2].find(match, words).keys.tolist()
        expect(wanted, f"{query}: no text has it, so nothing is compared")
        expect_equal(f"texts with {match} of {words}, of which {len(keys)} were found", keys, wanted)


def frequent(stored: Stored, *places: int) -> str:
    """Words of the vocabulary by their places, the first of which are English."""
    return " ".join(stored[2].vocabulary[len(STOP_WORDS) + place] for place in places)


class TextContract(EngineContract):
    """An engine that searches for texts by their words."""

    @clause(_SECTION)
    def test_finds_texts_with_all_words(self, opened: Opener) -> None:
        """Every text that has them, and no other, each once."""
        stored = store(opened())
        expect_matches(stored, "all", [frequent(stored, 0, 1), frequent(stored, 2, 7), frequent(stored, 5, 9, 30)])
        close(stored)

    @clause(_SECTION)
    def test_finds_texts_with_any_word(self, opened: Opener) -> None:
        """A text with one of them matches."""
        stored = store(opened())
        expect_matches(stored, "any", [frequent(stored, 40, 81), frequent(stored, 300), frequent(stored, 0, 200, 500)])
        close(stored)

    @clause(_SECTION)
    def test_finds_a_phrase_in_its_order(self, opened: Opener) -> None:
        """Words that a text has elsewhere are no phrase."""
        stored = store(opened())
        expect_matches(stored, "phrase", [frequent(stored, 0, 1), frequent(stored, 1, 0), frequent(stored, 4, 2)])
        close(stored)

    @clause(_SECTION)
    def test_finds_words_that_begin_so(self, opened: Opener) -> None:
        """A whole word begins with itself."""
        stored = store(opened())
        expect_matches(stored, "prefix", [frequent(stored, 60)[:3], frequent(stored, 100)[:4], frequent(stored, 300)])
        close(stored)

    @clause(_SECTION)
    def test_leaves_no_word_out(self, opened: Opener) -> None:
        """Stop words are words."""
        stored = store(opened())
        expect_matches(stored, "all", [STOP_WORDS[0], " ".join(STOP_WORDS[1:4]), STOP_WORDS[-1]])
        close(stored)

    @clause(_SECTION)
    def test_makes_no_word_another(self, opened: Opener) -> None:
        """A stemmer would find other forms of a word too."""
        stored = store(opened())
        expect_matches(stored, "any", [frequent(stored, place) for place in range(80, 88)])
        close(stored)

    @clause(_SECTION)
    def test_ranks_the_best_first(self, opened: Opener) -> None:
        """Texts that match, the number asked for or all there are; those first that have most of the words."""
        stored = store(opened())
        gains = []
        for first in range(0, 100, 5):
            words = frequent(stored, first, first + 50).split()
            keys = np.array(found(stored, "any", words, top=10), np.int64)
            right = stored[2].find("any", words)
            expect_equal(f"texts of the 10 best with any of {words}", len({*keys.tolist()}), min(10, len(right.keys)))
            expect(right.has(keys).all(), f"expected texts with any of {words}, got others: {keys.tolist()}")
            gains.append(right.gain(keys))
        ours, by_chance = np.mean(gains, axis=0)
        better = (ours - by_chance) / (1 - by_chance)
        expect(better >= _BETTER, f"expected a ranking of {_BETTER} (0: random, 1: BM25) or more, got {better:.2f}")
        close(stored)

    @clause(_SECTION)
    def test_returns_texts(self, opened: Opener) -> None:
        """Each key comes with its own text, with the payload `text`."""
        stored = store(opened())
        words = frequent(stored, 40).split()
        pairs = found(stored, "all", words, payload="text")
        wanted = stored[2].find("all", words).keys.tolist()
        expect_equal(f"texts with all of {words}", sorted(int(key) for key, _ in pairs), wanted)
        for key, text in pairs:
            expect_equal(f"the text of {key}", text, stored[2].bodies[int(key) - 1].as_py())
        close(stored)

    @clause(_SECTION)
    def test_loads_texts_in_pieces(self, opened: Opener) -> None:
        """A load comes in chunks."""
        stored = store(opened(), pieces=7)
        expect_matches(stored, "any", [frequent(stored, 40, 81), frequent(stored, 3)])
        close(stored)

    @clause(_SECTION)
    def test_keeps_texts(self, opened: Opener) -> None:
        """A search after reopening is a step of its own."""
        engine = opened("own")
        _, session, index = store(engine)
        session.close()
        again = self.reopened(engine, opened)
        stored = again, again.connect(), index
        expect_matches(stored, "any", [frequent(stored, 40, 81), frequent(stored, 3)])
        close(stored)

    @clause(_SECTION)
    def test_removes_texts(self, engine_class: type[Engine], opened: Opener) -> None:
        """A search that begins afterwards returns none."""
        needs(engine_class, "remove_texts")
        stored = remove(store(opened()), range(1, COUNT + 1, 3))
        expect_matches(stored, "any", [frequent(stored, 40, 81), frequent(stored, 3)])
        close(stored)

    @clause(_SECTION)
    def test_appends_texts(self, engine_class: type[Engine], opened: Opener) -> None:
        """A search that begins afterwards finds them, whenever it was prepared."""
        needs(engine_class, "append_texts")
        engine, session, index = stored = store(opened(), first=COUNT // 2)
        words = frequent(stored, 40, 81).split()
        search = prepared(engine, session, "search")("any", top=None, payload="keys")
        append(stored, COUNT // 2)
        wanted = index.find("any", words).keys.tolist()
        expect_equal(f"texts with any of {words}", sorted(int(key) for key in search(tuple(words))), wanted)
        expect_matches(stored, "any", [" ".join(words), frequent(stored, 3)])
        close(stored)

    @clause(_SECTION)
    def test_appends_texts_that_were_removed(self, engine_class: type[Engine], opened: Opener) -> None:
        """A key may come again."""
        needs(engine_class, "append_texts", "remove_texts")
        stored = store(opened())
        remove(stored, range(1, COUNT // 2 + 1))
        append(stored, 0, COUNT // 2)
        expect_matches(stored, "any", [frequent(stored, 40, 81), frequent(stored, 3)])
        close(stored)

    @clause(_SECTION)
    def test_keeps_removed_and_appended_texts(self, engine_class: type[Engine], opened: Opener) -> None:
        """After reopening it is as before."""
        needs(engine_class, "append_texts", "remove_texts")
        engine = opened("own")
        stored = store(engine, first=COUNT // 2)
        append(stored, COUNT // 2)
        _, session, index = remove(stored, range(1, COUNT + 1, 3))
        session.close()
        again = self.reopened(engine, opened)
        stored = again, again.connect(), index
        expect_matches(stored, "any", [frequent(stored, 40, 81), frequent(stored, 3)])
        close(stored)

    @clause(_SECTION)
    def test_runs_a_whole_trial_of_texts(self, whole_trial: WholeTrial) -> None:
        """Loaded, searched and compared, as in a run."""
        for step in whole_trial(_DATA, _STEPS).steps:
            may = (Outcome.OK,) if step.name == "load" else (Outcome.OK, Outcome.UNSUPPORTED)
            expect(step.outcome in may, f"{step.name}: expected ok, got {step.outcome}: {step.detail}")
            expect(step.verified or step.outcome is not Outcome.OK, f"{step.name}: expected it verified: {step.detail}")
