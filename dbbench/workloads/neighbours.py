"""What searches for the nearest vectors returned, against the exact distances."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from dbbench.datasets.cache import Files
from dbbench.datasets.neighbours import Matrix, distances, slack
from dbbench.datasets.vectors import arrays, distances_name, matrix
from dbbench.errors import WrongAnswer
from dbbench.loadgen.search_calls import misshapen
from dbbench.suite.dataset import Distance
from dbbench.suite.steps.nearest import NearestStep, dealt
from dbbench.workloads.context import StepContext

#: Vectors whose distances are computed together.
_AT_ONCE = 20_000
#: Stands where an answer has fewer keys than others.
_NONE = -1

#: Nobody can predict its numbers.
_CHANCE = random.SystemRandom()

_Keys = NDArray[np.int64]
_Marks = NDArray[np.bool_]


@dataclass(frozen=True)
class Questions:
    """Queries of a step, with the distance within which the neighbours of each are. Vectors are read when needed."""

    queries: Matrix
    limits: NDArray[np.float64]
    files: Files
    metric: Distance
    #: The neighbours of each: as many as are asked for, or as there are.
    count: int
    asked: int
    #: The label that they must have.
    where: int | None

    def some(self, numbers: slice | NDArray[np.intp]) -> Self:
        """Some of them."""
        return replace(self, queries=self.queries[numbers], limits=self.limits[numbers])

    def of_themselves(self, most: int) -> Self:
        """Other queries: some of the vectors, drawn at random. A search must find each, or one that is the same."""
        drawn = self.files.table("vectors")
        rows = _CHANCE.sample(range(drawn.num_rows), min(most, drawn.num_rows))
        queries, none = matrix(drawn.column("vector").take(pa.array(rows))), np.zeros(len(rows))
        limits = slack(self.metric, none, 0.0, queries)
        return replace(self, queries=queries, limits=limits, count=1, where=None)

    def recalls(self, answers: Sequence[Any]) -> NDArray[np.float64]:
        """The share of each query's neighbours that its answer has: rows as near as they, each once, that match."""
        keys, drawn = self._keys(answers), self.files.table("vectors")
        near = self._matching(keys, drawn) & ~_repeated(keys)
        every = np.argwhere(near)
        for first in range(0, len(every), _AT_ONCE):
            asking, place = every[first : first + _AT_ONCE].T
            rows = matrix(drawn.column("vector").take(pa.array(keys[asking, place] - 1)))
            near[asking, place] = distances(self.metric, rows, self.queries[asking]) <= self.limits[asking]
        found: NDArray[np.float64] = np.minimum(near.sum(axis=1), self.count) / self.count
        return found

    def fault(self, answers: Sequence[Any]) -> str:
        """What is wrong with answers, whatever they recall, in words; empty if nothing is."""
        keys, drawn = self._keys(answers), self.files.table("vectors")
        given = keys != _NONE
        if (unknown := given & ~_known(keys, drawn)).any():
            return f"the key {keys[unknown][0]}, which no vector has"
        if (again := _repeated(keys)).any():
            return f"the key {keys[again][0]} twice in one answer"
        if (wrong := given & ~self._matching(keys, drawn)).any():
            key = int(keys[wrong][0])
            label = drawn.column("label")[key - 1]
            return f"the key {key}, whose label is {label}, where the label {self.where} was asked for"
        counts = given.sum(axis=1)
        if (other := counts != self.count).any():
            return f"{counts[other][0]} rows instead of {self.count}, in {other.sum():,} of {len(counts):,} answers"
        return ""

    def _keys(self, answers: Sequence[Any]) -> _Keys:
        """Keys, a row for each answer. Raises WrongAnswer for what isn't there when the clock stops."""
        for answer in answers:
            if fault := misshapen(answer):
                raise WrongAnswer(f"a search returned {fault}, not a list or array of keys")
        keys = np.full((len(answers), max(self.asked, *map(len, answers))), _NONE, np.int64)
        for row, answer in zip(keys, answers, strict=True):
            row[: len(answer)] = answer
        return keys

    def _matching(self, keys: _Keys, drawn: pa.Table) -> _Marks:
        known = _known(keys, drawn)
        if self.where is None:
            return known
        labels: NDArray[np.int32] = drawn.column("label").to_numpy()[np.where(known, keys, 1) - 1]
        matching: _Marks = known & (labels == self.where)
        return matching


def questions(step: NearestStep, context: StepContext) -> tuple[Questions, Questions]:
    """The queries on which an effort is chosen, and those that are timed: others for each recall of a sweep."""
    assert context.vectors is not None
    files, metric = context.files, context.vectors.spec.metric
    where = context.vectors.label(step.where.label) if step.where else None
    queries = matrix(files.table(step.queries).column("vector"))
    known = matrix(files.table(distances_name(step.queries, where or 0)).column("distances"))
    count = min(step.k, known.shape[1])
    limits = known[:, count - 1] + slack(metric, known[:, count - 1], _longest(files, metric), queries)
    every = Questions(queries, limits, files, metric, count, step.k, where)
    tuning, (first, last) = parts(step, len(queries))
    return every.some(slice(0, tuning)), every.some(slice(first, last))


def parts(step: NearestStep, queries: int) -> tuple[int, tuple[int, int]]:
    """How many queries an effort is chosen on, and the first and the last of the step's own."""
    recalls = step.recalls or step.recall
    tuning, share = dealt(queries, len(recalls))
    first = tuning + share * recalls.index(step.target)
    return tuning, (first, first + share)


def _longest(files: Files, metric: Distance) -> float:
    """The length of the longest vector, where it matters: all of them are read for it."""
    lengths = (float(np.linalg.norm(vectors, axis=1).max()) for _, vectors, _ in map(arrays, files.stream("vectors")))
    return max(lengths) if metric == "ip" else 0.0


def _known(keys: _Keys, drawn: pa.Table) -> _Marks:
    known: _Marks = (keys > 0) & (keys <= drawn.num_rows)
    return known


def _repeated(keys: _Keys) -> _Marks:
    """Mark the keys that an answer has before."""
    order = np.argsort(keys, axis=1, kind="stable")
    ordered = np.take_along_axis(keys, order, axis=1)
    again = np.zeros(keys.shape, bool)
    np.put_along_axis(again, order[:, 1:], (ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] != _NONE), axis=1)
    return again
