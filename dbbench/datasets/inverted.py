"""The texts that match some words, exactly, with their scores: what a search is compared with."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from dbbench.datasets.absent import Absent
from dbbench.datasets.texts import TextSet
from dbbench.suite.dataset import TEXT
from dbbench.suite.steps.search import MatchKind

#: BM25 as Robertson and Zaragoza have it (2009, "The Probabilistic Relevance Framework"), with the usual constants.
K1, B = 1.2, 0.75

#: Keys of texts, ascending, and how often what was looked for is in each.
_Term = tuple[NDArray[np.int32], NDArray[np.int64]]


@dataclass(frozen=True)
class Matching:
    """The keys of the texts that match, ascending, and the score of each."""

    keys: NDArray[np.int32]
    scores: NDArray[np.float64]

    def has(self, keys: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Mark the keys of texts that match."""
        found: NDArray[np.bool_] = np.isin(keys, self.keys)
        return found

    def gain(self, keys: NDArray[np.int64]) -> tuple[float, float]:
        """The gain of keys that match, discounted by place, as a share of the best order's (NDCG); a random one's."""
        discounts = 1 / np.log2(np.arange(len(keys)) + 2)
        best = float(np.sort(self.scores)[::-1][: len(keys)] @ discounts)
        scores = self.scores[np.searchsorted(self.keys, keys)]
        return float(scores @ discounts) / best, float(self.scores.mean() * discounts.sum()) / best


def texts_at(bodies: pa.ChunkedArray, places: Sequence[int] | NDArray[Any]) -> list[str]:
    """Return the texts at some places. pyarrow's `take` would copy all texts into one array first."""
    starts = np.cumsum([0, *map(len, bodies.chunks)])
    chunks = np.searchsorted(starts, places, side="right") - 1
    rows = np.asarray(places) - starts[chunks]
    return [bodies.chunk(chunk)[row].as_py() for chunk, row in zip(chunks, rows, strict=True)]


@dataclass(frozen=True)
class InvertedIndex:
    """The index of all texts, and the texts themselves; which of them aren't there. Scores are as if all were."""

    vocabulary: Sequence[str]
    postings: Sequence[pa.RecordBatch]
    bodies: pa.ChunkedArray
    absent: Absent = field(default_factory=Absent)

    @classmethod
    def drawn(cls, texts: TextSet) -> Self:
        """The index of texts that are in memory."""
        return cls(
            texts.vocabulary, [*texts.postings()], pa.chunked_array([batch.column(TEXT) for batch in texts.rows()])
        )

    def find(self, kind: MatchKind, words: Sequence[str]) -> Matching:
        """The texts that match. What a phrase or a prefix finds in a text counts as one word."""
        if kind == "prefix":
            terms = [self._term([each for word, each in self._numbers.items() if word.startswith(words[0])])]
        else:
            terms = [self._term([self._numbers[word]]) for word in words]
        keys = reduce(np.union1d if kind == "any" else np.intersect1d, [docs for docs, _ in terms])
        keys = keys[~self.absent.has(keys)]
        if kind == "phrase":
            phrase = f" {' '.join(words)} "
            texts = texts_at(self.bodies, keys - 1)
            counts = np.array([f" {text} ".count(phrase) for text in texts], np.int64)
            keys, terms = keys[counts > 0], [(keys[counts > 0], counts[counts > 0])]
        return Matching(keys, self._scores(keys, terms))

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.vocabulary)}

    @cached_property
    def _lengths(self) -> NDArray[np.int64]:
        lengths: NDArray[np.int64] = pc.count_substring(self.bodies, " ").to_numpy().astype(np.int64) + 1
        return lengths

    @cached_property
    def _mean(self) -> float:
        return float(self._lengths.mean())

    def _term(self, words: Sequence[int]) -> _Term:
        """Find the texts with any of these words, and how often each has them."""
        docs, counts = [], []
        for batch in self.postings:
            for number in words:
                docs.append(batch.column("docs")[number].values.to_numpy())
                counts.append(batch.column("counts")[number].values.to_numpy())
        if not words:
            return np.empty(0, np.int32), np.empty(0, np.int64)
        keys, places = np.unique(np.concatenate(docs), return_inverse=True)
        return keys, np.bincount(places, np.concatenate(counts), len(keys)).astype(np.int64)

    def _scores(self, keys: NDArray[np.int32], terms: Sequence[_Term]) -> NDArray[np.float64]:
        scores = np.zeros(len(keys))
        norm = K1 * (1 - B + B * self._lengths[keys - 1] / self._mean)
        for docs, counts in terms:
            rarity = np.log1p((len(self._lengths) - len(docs) + 0.5) / (len(docs) + 0.5))
            _, here, places = np.intersect1d(keys, docs, assume_unique=True, return_indices=True)
            often = counts[places]
            scores[here] += rarity * often * (K1 + 1) / (often + norm[here])
        return scores
