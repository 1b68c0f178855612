"""Conformance of vectors under keys: what is found, behind a filter too, and what is kept."""

from collections.abc import Callable, Sequence
from typing import Any, get_args

import numpy as np

from dbbench.datasets.neighbours import distances, nearest_distances
from dbbench.datasets.vectors import VectorSet, arrays
from dbbench.engine.base import Engine, Session
from dbbench.engine.offered import prepared
from dbbench.results.outcome import FELL_SHORT, Outcome
from dbbench.suite.dataset import Distance, Vectors
from dbbench.testing.clause import clause, expect, expect_equal, needs
from dbbench.testing.contract import EngineContract, Opener, WholeTrial, beside, close

#: The kit's vectors: few, and some of them with label 1.
COUNT, DIMENSIONS, SHARE = 2_000, 16, 0.1
#: The recall, with all effort, of an engine that searches rightly: an index may be coarse.
_RECALL = 0.8
_SECTION = "vectors"
_DATA = f"vectors: {{count: {COUNT}, dimensions: {DIMENSIONS}, metric: %s, labels: [{SHARE}], queries: 600}}"
_STEPS = f"""
- {{kind: load, name: load, title: Load}}
- {{kind: nearest, name: nearest, title: Nearest, recall: {_RECALL}}}
- {{kind: nearest, name: filtered, title: Filtered, recall: {_RECALL}, where: {{label: {SHARE}}}}}
"""
Stored = tuple[Engine, Session, VectorSet]


def vectors(metric: Distance) -> VectorSet:
    """The kit's vectors with a metric."""
    return VectorSet(Vectors(count=COUNT, dimensions=DIMENSIONS, metric=metric, labels=(SHARE,), queries=200), seed=1)


def store(engine: Engine, metric: Distance, pieces: int = 1, first: int = COUNT) -> Stored:
    """The engine with the first of the vectors in it, added in pieces, and a session."""
    drawn = vectors(metric)
    engine.create_vectors(drawn.shape)
    session: Any = engine.connect()
    add, finish = prepared(engine, session, "add")(), session.prepare_index()
    for each in zip(*(np.array_split(one[:first], pieces) for one in arrays(drawn.chunk(0))), strict=True):
        add(*each)
    for run in finish.values():
        run()
    return engine, session, drawn


def search(stored: Stored, k: int, where: int | None = None, effort: int | None = None) -> Callable[[Any], list[int]]:
    """A prepared search with all effort, or another, that gives whole numbers. It must return a list or an array."""
    engine, session, _ = stored
    knob = engine.knob
    nearest = prepared(engine, session, "nearest")(k, where=where, effort=knob and (effort or knob.most))

    def keys(vector: Any) -> list[int]:
        found = nearest(vector)
        kinds = (list, tuple, np.ndarray)
        expect(isinstance(found, kinds), f"expected a list or array of keys, got {type(found).__name__}")
        return [int(key) for key in found if key != -1]

    return keys


def append(stored: Stored, first: int, last: int = COUNT) -> None:
    """Append the vectors from a place on, by another session where there may be one."""
    with beside(stored[0], stored[1]) as session:
        run = prepared(stored[0], session, "append")()
        run(*(each[first:last] for each in arrays(stored[2].chunk(0))))


def expect_found(
    stored: Stored, answers: Sequence[list[int]], k: int, where: int | None = None, gone: Sequence[int] = ()
) -> None:
    """Compare answers to the first queries with the exact neighbours, without keys that are gone."""
    _, _, drawn = stored
    keys, known, labels = arrays(drawn.chunk(0))
    among = known[~np.isin(keys, gone) & ((labels == where) | (where is None))]
    queries = drawn.queries("inside")[: len(answers)]
    limits = nearest_distances(drawn.spec.metric, [among], queries, k)[:, -1]
    near = 0
    for answer, query, limit in zip(answers, queries, limits, strict=True):
        expect_equal("keys of an answer", len(answer), k)
        expect_equal("keys of an answer that differ", len({*answer}), k)
        expect(all(1 <= key <= COUNT for key in answer), f"expected keys from 1 to {COUNT}, got {answer}")
        expect(not {*answer} & {*gone}, f"expected none of the removed keys, got {sorted({*answer} & {*gone})}")
        rows = np.array(answer) - 1
        if where is not None:
            expect_equal("labels of an answer", {int(label) for label in labels[rows]}, {where})
        found = distances(drawn.spec.metric, known[rows], np.broadcast_to(query, known[rows].shape))
        near += int((found <= limit + 1e-4 * abs(limit) + 1e-6).sum())
    recall = near / (k * len(answers))
    expect(recall >= _RECALL, f"expected a recall of {_RECALL} or more with all effort, got {recall:.2f}")


class VectorContract(EngineContract):
    """An engine that searches for the nearest vectors."""

    @clause(_SECTION)
    def test_names_its_metrics(self, engine_class: type[Engine]) -> None:
        """A metric that an engine doesn't have is refused: another would answer another question."""
        expect(engine_class.metrics, "expected a metric in metrics, got none")
        expect_equal("metrics that aren't known", {*engine_class.metrics} - {*get_args(Distance)}, set())

    @clause(_SECTION)
    def test_finds_the_nearest_by_each_metric(self, engine_class: type[Engine], opened: Opener) -> None:
        """A search by another metric is fast and wrong."""
        for metric in engine_class.metrics:
            stored = store(opened(metric), metric)
            expect_found(stored, [search(stored, 10)(query) for query in stored[2].queries("inside")[:50]], 10)
            close(stored)

    @clause(_SECTION)
    def test_adds_in_pieces(self, engine_class: type[Engine], opened: Opener) -> None:
        """A load comes in chunks."""
        stored = store(opened(), engine_class.metrics[0], pieces=7)
        expect_found(stored, [search(stored, 10)(query) for query in stored[2].queries("inside")[:50]], 10)
        close(stored)

    @clause(_SECTION)
    def test_searches_behind_a_filter(self, engine_class: type[Engine], opened: Opener) -> None:
        """An index that filters what it has found returns fewer rows than there are."""
        stored = store(opened(), engine_class.metrics[0])
        nearest = search(stored, 10, where=1)
        expect_found(stored, [nearest(query) for query in stored[2].queries("inside")[:50]], 10, where=1)
        close(stored)

    @clause(_SECTION)
    def test_prepares_more_than_once(self, engine_class: type[Engine], opened: Opener) -> None:
        """The effort is searched by preparing again and again; each answer has `k` different keys."""
        stored = store(opened(), engine_class.metrics[0])
        query = stored[2].queries("inside")[0]
        knob = stored[0].knob
        efforts = (knob.least, knob.least, knob.most, None) if knob else (None,) * 4
        for k, effort in zip((10, 1, 100, 10), efforts, strict=True):
            found = search(stored, k, effort=effort)(query)
            expect_equal(f"different keys of the {k} nearest with effort {effort}", len({*found}), k)
        close(stored)

    @clause(_SECTION)
    def test_keeps_what_was_added(self, engine_class: type[Engine], opened: Opener) -> None:
        """A search after reopening is a step of its own."""
        engine = opened("own")
        _, session, drawn = store(engine, engine_class.metrics[0])
        session.close()
        again = self.reopened(engine, opened)
        stored = again, again.connect(), drawn
        expect_found(stored, [search(stored, 10)(query) for query in drawn.queries("inside")[:20]], 10)
        close(stored)

    @clause(_SECTION)
    def test_removes_vectors(self, engine_class: type[Engine], opened: Opener) -> None:
        """A search that begins afterwards returns none, and as many rows as before."""
        needs(engine_class, "remove")
        stored = store(opened(), engine_class.metrics[0])
        prepared_before, gone = search(stored, 10), range(1, COUNT + 1, 7)
        prepared(stored[0], stored[1], "remove")()(np.array(gone))
        for nearest in (prepared_before, search(stored, 10)):
            answers = [nearest(query) for query in stored[2].queries("inside")[:50]]
            expect_found(stored, answers, 10, gone=gone)
        close(stored)

    @clause(_SECTION)
    def test_appends_vectors(self, engine_class: type[Engine], opened: Opener) -> None:
        """A search that begins afterwards finds them, whenever it was prepared."""
        needs(engine_class, "append")
        stored = store(opened(), engine_class.metrics[0], first=COUNT // 2)
        prepared_before = search(stored, 10)
        append(stored, COUNT // 2)
        for nearest in (prepared_before, search(stored, 10)):
            expect_found(stored, [nearest(query) for query in stored[2].queries("inside")[:50]], 10)
        close(stored)

    @clause(_SECTION)
    def test_appends_what_was_removed(self, engine_class: type[Engine], opened: Opener) -> None:
        """A key may come again."""
        needs(engine_class, "append", "remove")
        stored = store(opened(), engine_class.metrics[0])
        prepared(stored[0], stored[1], "remove")()(np.arange(1, COUNT // 2 + 1))
        append(stored, 0, COUNT // 2)
        nearest = search(stored, 10)
        expect_found(stored, [nearest(query) for query in stored[2].queries("inside")[:50]], 10)
        close(stored)

    @clause(_SECTION)
    def test_keeps_what_was_removed_and_appended(self, engine_class: type[Engine], opened: Opener) -> None:
        """After reopening it is as before."""
        needs(engine_class, "append", "remove")
        engine, gone = opened("own"), range(1, COUNT + 1, 7)
        stored = store(engine, engine_class.metrics[0], first=COUNT // 2)
        append(stored, COUNT // 2)
        prepared(engine, stored[1], "remove")()(np.array(gone))
        stored[1].close()
        again = self.reopened(engine, opened)
        stored = again, again.connect(), stored[2]
        nearest = search(stored, 10)
        expect_found(stored, [nearest(query) for query in stored[2].queries("inside")[:20]], 10, gone=gone)
        close(stored)

    @clause(_SECTION)
    def test_runs_a_whole_trial(self, engine_class: type[Engine], whole_trial: WholeTrial) -> None:
        """Loaded, searched and compared, as in a run."""
        result = whole_trial(_DATA % engine_class.metrics[0], _STEPS)
        for step in result.steps:
            may = (Outcome.OK, Outcome.UNSUPPORTED) if step.name == "filtered" else (Outcome.OK, *FELL_SHORT)
            expect(step.outcome in may, f"{step.name}: expected ok, got {step.outcome}: {step.detail}")
            expect(step.verified or step.outcome is not Outcome.OK, f"{step.name}: expected it verified: {step.detail}")
