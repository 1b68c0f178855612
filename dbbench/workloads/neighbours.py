"""What searches for the nearest vectors returned, against the exact distances."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from dbbench.datasets.absent import Absent, Keys
from dbbench.datasets.cache import Files
from dbbench.datasets.neighbours import Matrix, all_distances, distances, nearest_distances, slack
from dbbench.datasets.vectors import arrays, distances_name, matrix
from dbbench.errors import Unsupported, WrongAnswer
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
    #: The vectors that aren't there.
    absent: Absent = field(default_factory=Absent)

    def some(self, numbers: slice | NDArray[np.intp]) -> Self:
        """Some of them."""
        return replace(self, queries=self.queries[numbers], limits=self.limits[numbers])

    def of_themselves(self, most: int) -> Self:
        """Other queries: some of the vectors, drawn at random. A search must find each, or one that is the same."""
        return self._of(self.absent.present(self.files.table("vectors").num_rows), most)

    def of_keys(self, keys: Keys) -> Self:
        """The same of the vectors with some keys, which are there by now."""
        return replace(self._of(keys, len(keys)), absent=Absent())

    def of_deleted(self, most: int) -> Self:
        """The same of deleted vectors, each of which a search must not find; as many neighbours as before."""
        return replace(self._of(self.absent.deleted, most), count=self.count)

    def _of(self, keys: Keys, most: int) -> Self:
        drawn = self.files.table("vectors")
        rows = [int(keys[place]) - 1 for place in _CHANCE.sample(range(len(keys)), min(most, len(keys)))]
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
        if (absent := given & self.absent.has(keys)).any():
            return self.absent.fault(int(keys[absent][0]))
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

    def _keys(self, answers: Sequence[Any]) -> Keys:
        """Keys, a row for each answer. Raises WrongAnswer for what isn't there when the clock stops."""
        for answer in answers:
            if fault := misshapen(answer):
                raise WrongAnswer(f"a search returned {fault}, not a list or array of keys")
        keys = np.full((len(answers), max(self.asked, *map(len, answers))), _NONE, np.int64)
        for row, answer in zip(keys, answers, strict=True):
            row[: len(answer)] = answer
        return keys

    def _matching(self, keys: Keys, drawn: pa.Table) -> _Marks:
        known = _known(keys, drawn) & ~self.absent.has(keys)
        if self.where is None:
            return known
        labels: NDArray[np.int32] = drawn.column("label").to_numpy()[np.where(known, keys, 1) - 1]
        matching: _Marks = known & (labels == self.where)
        return matching


def questions(step: NearestStep, context: StepContext) -> tuple[Questions, Questions]:
    """The queries on which an effort is chosen, and those that are timed: others for each recall of a sweep."""
    tuning, (first, last) = parts(step, len(context.files.table(step.queries)))
    return some_questions(step, context, slice(0, tuning)), some_questions(step, context, slice(first, last))


def some_questions(step: NearestStep, context: StepContext, rows: slice) -> Questions:
    """Some of the queries, with the distances of their neighbours among the vectors that are there by now.

    Raises Unsupported if none is.
    """
    assert context.vectors is not None
    files, metric, absent = context.files, context.vectors.spec.metric, context.data.absent
    where = context.vectors.label(step.where.label) if step.where else None
    queries = matrix(files.table(step.queries).column("vector").slice(rows.start, rows.stop - rows.start))
    if absent:
        known = nearest_distances(metric, _left(files, where, absent), queries, step.k)
    else:
        known = matrix(files.table(distances_name(step.queries, where or 0)).column("distances"))[rows]
    count = min(step.k, known.shape[1])
    if not count:
        raise Unsupported("none of the vectors that are left has the label")
    limits = known[:, count - 1] + slack(metric, known[:, count - 1], _longest(files, metric), queries)
    return Questions(queries, limits, files, metric, count, step.k, where, absent)


def _left(files: Files, where: int | None, absent: Absent) -> Iterator[Matrix]:
    """The vectors that are there, with a label."""
    for keys, vectors, labels in map(arrays, files.stream("vectors")):
        yield vectors[~absent.has(keys) & ((labels == where) | (where is None))]


def beside_adding(asked: Questions, added: Keys, sample: pa.Table) -> tuple[NDArray[np.float64], str]:
    """The recall of searches while vectors were added in this order, and what is wrong with them: empty if nothing is.

    What was acknowledged before a call must count among its neighbours; what was begun when it returned may be in the
    answer.
    """
    places, answers = sample.column("place").to_numpy(), sample.column("keys").to_pylist()
    used, numbers = np.unique(places, return_inverse=True)
    queries, drawn = asked.queries[used], asked.files.table("vectors").take(pa.array(added - 1))
    before = nearest_distances(asked.metric, _left(asked.files, asked.where, asked.absent), queries, asked.asked)
    apart = all_distances(asked.metric, matrix(drawn.column("vector")), queries)
    apart[:, (drawn.column("label").to_numpy() != asked.where) & (asked.where is not None)] = np.inf
    limits = np.array([
        np.partition(np.concatenate([before[number], apart[number, :acknowledged]]), asked.asked - 1)[asked.asked - 1]
        for number, acknowledged in zip(numbers, sample.column("acknowledged").to_pylist(), strict=True)
    ])  # fmt: skip
    limits += slack(asked.metric, limits, _longest(asked.files, asked.metric), asked.queries[places])
    lenient = replace(asked.some(places), limits=limits, absent=asked.absent.without(added))
    return lenient.recalls(answers), lenient.fault(answers)


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


def _known(keys: Keys, drawn: pa.Table) -> _Marks:
    known: _Marks = (keys > 0) & (keys <= drawn.num_rows)
    return known


def _repeated(keys: Keys) -> _Marks:
    """Mark the keys that an answer has before."""
    order = np.argsort(keys, axis=1, kind="stable")
    ordered = np.take_along_axis(keys, order, axis=1)
    again = np.zeros(keys.shape, bool)
    np.put_along_axis(again, order[:, 1:], (ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] != _NONE), axis=1)
    return again
