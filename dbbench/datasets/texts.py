"""Texts from a seed, bit for bit the same on every machine, and the inverted index of their words.

A word is a number: the more often it is drawn, the lower. The 50 topics have the words of the vocabulary in turn. A
word that is no stop word is two or three syllables with the ending of nothing, `s`, `ed` or `ing`; no two are alike.
All of it is whole-number arithmetic.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from dbbench.datasets.generate import CHUNK_ROWS, below, quantiles, random_source
from dbbench.datasets.scaled import Scaled
from dbbench.host.ahead import in_order
from dbbench.suite.dataset import TEXT, TEXT_KEY, TEXT_TABLE, Column, FromFile, Table, Texts
from dbbench.suite.values import Quantiles

#: What English texts have most of, and what search engines leave out by default.
STOP_WORDS = ("the", "of", "and", "to", "in", "is", "it", "for", "with", "that", "on", "as", "was", "are", "at", "by")
#: What stemmers take off. No stem ends in a consonant, so each word is another.
_ENDINGS = ("", "s", "ed", "ing")
_SYLLABLES = [consonant + vowel for consonant in "bcdfghjklmnprstvwxyz" for vowel in "aeiou"]
#: The longest word, with the blank after it.
_LONGEST = 3 * 2 + 3 + 1
#: Subjects of texts; the bits by which a word, and a word of the topic, is drawn.
TOPICS, _BITS, _TOPIC_BITS = 50, 22, 16
#: The inverted index of a chunk: a row for each word of the vocabulary.
POSTINGS = pa.schema([pa.field("docs", pa.list_(pa.int32())), pa.field("counts", pa.list_(pa.int16()))])


def word(number: int) -> str:
    """A word by its number, from 0."""
    if number < len(STOP_WORDS):
        return STOP_WORDS[number]
    stem, ending = divmod(number - len(STOP_WORDS), len(_ENDINGS))
    letters = _SYLLABLES[stem * 37 % 100] + _SYLLABLES[stem // 100 % 100]
    if stem >= 10_000:
        letters += _SYLLABLES[stem // 10_000 - 1]
    return letters + _ENDINGS[ending]


@dataclass(frozen=True)
class TextSet(Scaled[Texts]):
    """The texts of one dataset at one scale."""

    @property
    def tables(self) -> dict[str, Table]:
        """The table that an engine keeps them in."""
        spec = self.spec
        most = spec.characters if spec.file else int(max(spec.words.values())) * _LONGEST
        columns = {TEXT_KEY: Column(type="integer"), TEXT: Column(type=f"varchar({most})")}
        return {TEXT_TABLE: Table(rows=FromFile(file=TEXT_TABLE), primary_key=TEXT_KEY, columns=columns)}

    @property
    def bytes(self) -> int:
        """Bytes of all texts and of their inverted index, about."""
        middle = sum(self.spec.words.values()) / len(self.spec.words)
        return int(self.count * middle * 2 * _LONGEST)

    @cached_property
    def vocabulary(self) -> list[str]:
        """All words, by their numbers."""
        return [word(number) for number in range(self.spec.vocabulary)]

    def rows(self) -> Iterator[pa.RecordBatch]:
        """Keys and texts."""
        return in_order(self.chunk, self._chunks)

    def index(self, stored: pa.Table) -> Iterator[tuple[str, pa.Schema, Iterator[pa.RecordBatch]]]:
        """The words of the texts that were stored, and the inverted index: see `postings`."""
        yield vocabulary_batch(self._words)
        yield "postings", POSTINGS, self.postings()

    def postings(self) -> Iterator[pa.RecordBatch]:
        """The inverted index."""
        return in_order(self._postings, self._chunks)

    @property
    def _chunks(self) -> range:
        return range(-(-self.count // CHUNK_ROWS))

    def chunk(self, number: int) -> pa.RecordBatch:
        """Chunk `number` (from 0) of the texts."""
        keys, lengths, words = self._draw(number)
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
        lists = pa.ListArray.from_arrays(pa.array(offsets), self._words.take(pa.array(words)))
        return pa.record_batch([keys, pc.binary_join(lists, " ")], names=[TEXT_KEY, TEXT])

    def _postings(self, number: int) -> pa.RecordBatch:
        return postings(*self._draw(number), self.spec.vocabulary)

    def _draw(self, number: int) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int32]]:
        """The keys of a chunk, how many words each has, and these words."""
        first = number * CHUNK_ROWS
        count = min(CHUNK_ROWS, self.count - first)
        keys = np.arange(first + 1, first + count + 1, dtype=np.int32)
        points = Quantiles(kind="quantiles", points=self.spec.words)
        lengths = quantiles(random_source(self.seed, TEXT_TABLE, "words", number), count, points)
        topics = np.repeat(below(random_source(self.seed, TEXT_TABLE, "topic", number), count, TOPICS), lengths)
        drawn = random_source(self.seed, TEXT_TABLE, TEXT, number).random_raw(int(lengths.sum()))
        every, of_topic = self._ranks
        words = every[drawn & np.uint64(2**_BITS - 1)]
        rest = drawn >> np.uint64(_BITS)
        places = np.flatnonzero((rest & np.uint64(3)) == 0)
        ranks = of_topic[(rest[places] >> np.uint64(2)) & np.uint64(2**_TOPIC_BITS - 1)]
        words[places] = len(STOP_WORDS) + ranks * TOPICS + topics[places]
        return keys, lengths, words

    @cached_property
    def _ranks(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """A word for each number of these bits, by Zipf's law; and one of a topic's words."""
        size = self.spec.vocabulary
        return _zipf(size, _BITS), _zipf((size - len(STOP_WORDS)) // TOPICS, _TOPIC_BITS)

    @cached_property
    def _words(self) -> pa.Array:
        return pa.array(self.vocabulary)


def vocabulary_batch(words: pa.Array) -> tuple[str, pa.Schema, Iterator[pa.RecordBatch]]:
    """The table of all words, by their numbers."""
    batch = pa.record_batch([words], ["word"])
    return "vocabulary", batch.schema, iter([batch])


def postings(
    keys: NDArray[np.int32], lengths: NDArray[np.int64], words: NDArray[np.int32], size: int
) -> pa.RecordBatch:
    """The inverted index of a chunk: for each of `size` words the keys of texts that have it, ascending, and counts.

    `lengths` says how many of the words each text has.
    """
    pairs = words.astype(np.int64) << 32 | np.repeat(keys, lengths)
    found, counts = np.unique(pairs, return_counts=True)
    ends = np.searchsorted(found >> 32, np.arange(size + 1)).astype(np.int32)
    docs = (found & 0xFFFFFFFF).astype(np.int32)
    lists = [pa.ListArray.from_arrays(pa.array(ends), pa.array(each)) for each in (docs, counts.astype(np.int16))]
    return pa.record_batch(lists, schema=POSTINGS)


def _zipf(size: int, bits: int) -> NDArray[np.int32]:
    """Numbers below `size`, the n-th of them a share of 1/n of the first's."""
    ends = np.cumsum(2**40 // np.arange(1, size + 1, dtype=np.int64))
    ends = (ends >> 20) * 2**bits // (ends[-1] >> 20)
    return np.repeat(np.arange(size, dtype=np.int32), np.diff(ends, prepend=0))
