"""Vectors and texts that were left out or deleted: what must be found, what may be, and what must not."""

from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock, Mock

import numpy as np
import pyarrow as pa
import pytest

from dbbench.datasets.absent import Absent
from dbbench.datasets.cache import Files, materialise
from dbbench.datasets.inverted import InvertedIndex
from dbbench.datasets.neighbours import all_distances, distances, nearest_distances
from dbbench.datasets.texts import TextSet
from dbbench.datasets.vectors import matrix
from dbbench.errors import Unsupported
from dbbench.loadgen.kept_calls import Progress, WatchedCalls
from dbbench.suite.dataset import Dataset, Texts
from dbbench.suite.steps.search import SearchStep
from dbbench.testing.suite_text import suite_text
from dbbench.workloads.adding import Writer, early
from dbbench.workloads.nearest import _while_adding
from dbbench.workloads.neighbours import Questions, beside_adding
from dbbench.workloads.search import judged
from tests.unit.refused import refused

COUNT, K = 600, 3
ABSENT = Absent(np.arange(501, 601), np.arange(1, 101))


@pytest.fixture(scope="module")
def files() -> Files:
    vectors = {"count": COUNT, "dimensions": 4, "labels": [0.05], "queries": 200}
    return materialise(Dataset.model_validate({"vectors": vectors}))


def test_keys_that_are_there_are_the_others() -> None:
    assert ABSENT.present(COUNT).tolist() == [*range(101, 501)]
    assert len(ABSENT) == 200
    assert ABSENT.has(np.array([1, 101, 601])).tolist() == [True, False, False]
    left = ABSENT.without(np.arange(90, 512))
    assert (left.never.tolist(), left.deleted.tolist()) == ([*range(512, 601)], [*range(1, 90)])


def nearest(files: Files, query: np.ndarray, among: list[int]) -> list[int]:
    """The nearest of some keys, by brute force."""
    vectors = matrix(files.table("vectors").column("vector"))[np.array(among) - 1]
    apart = distances("l2", vectors, np.broadcast_to(query, vectors.shape))
    return [among[place] for place in np.argsort(apart)[:K]]


def asked(files: Files) -> Questions:
    """Two questions among the keys that are there."""
    queries = matrix(files.table("inside").column("vector"))[:2]
    there = matrix(files.table("vectors").column("vector"))[ABSENT.present(COUNT) - 1]
    limits = nearest_distances("l2", [there], queries, K)[:, -1] * (1 + 1e-9)
    return Questions(queries, limits, files, "l2", K, K, None, ABSENT)


@pytest.mark.parametrize(
    ("key", "said"), [(100, "the key 100, which was deleted"), (501, "the key 501, which was never added")]
)
def test_an_answer_with_an_absent_key_is_wrong(files: Files, key: int, said: str) -> None:
    ours = asked(files)
    there = ABSENT.present(COUNT).tolist()
    right = [nearest(files, query, there) for query in ours.queries]
    assert ours.recalls(right).tolist() == [1, 1]
    assert ours.fault(right) == ""
    assert ours.fault([[*right[0][:2], key], right[1]]) == said
    assert ours.recalls([[*right[0][:2], key], right[1]])[0] == pytest.approx(2 / 3)


def test_deleted_vectors_are_searched_for_and_none_is_right(files: Files) -> None:
    deleted = asked(files).of_deleted(20)
    assert len(deleted.queries) == 20
    there = ABSENT.present(COUNT).tolist()
    answers = [nearest(files, query, there) for query in deleted.queries]
    assert deleted.fault(answers) == ""
    answers[7] = nearest(files, deleted.queries[7], [*range(1, COUNT + 1)])
    assert deleted.fault(answers) == f"the key {answers[7][0]}, which was deleted"


ADDED = ABSENT.keys


def sample(answers: list[list[int]], acknowledged: int, begun: int) -> pa.Table:
    """Answers to the two questions, while so many were added."""
    return pa.table({"place": [0, 1], "keys": answers, "acknowledged": [acknowledged] * 2, "begun": [begun] * 2})


def of_state(files: Files, added: int) -> list[list[int]]:
    """The right answers after so many were added."""
    there = [*ABSENT.present(COUNT).tolist(), *ADDED[:added].tolist()]
    return [nearest(files, query, there) for query in asked(files).queries]


@pytest.mark.parametrize("state", [50, 80, 120])
def test_an_answer_while_others_are_added_is_right_in_each_state_that_there_was(files: Files, state: int) -> None:
    recalls, fault = beside_adding(asked(files), ADDED, sample(of_state(files, state), 50, 120))
    assert recalls.tolist() == [1, 1]
    assert fault == ""


def test_what_was_acknowledged_counts_and_what_was_not_begun_is_wrong(files: Files) -> None:
    before, after = of_state(files, 0), of_state(files, 200)
    assert before != after
    assert beside_adding(asked(files), ADDED, sample(before, 200, 200))[0].mean() < 1
    assert early(ADDED, sample(after, 0, 200)) == ""
    key = next(min(added) for answer in after if (added := {*answer} & {*ADDED.tolist()}))
    assert early(ADDED, sample(after, 0, 0)) == f"the key {key}, whose adding had not begun"


def test_too_few_vectors_before_are_refused_before_any_is_added(files: Files) -> None:
    rest: Any = None
    with pytest.raises(Unsupported, match="only 2 of the vectors match"):
        _while_adding(rest, rest, replace(asked(files), count=2), rest, rest)


@pytest.mark.parametrize(("hidden", "said"), [(1, ""), (2, "8 of the last 10 vectors right after they were added")])
def test_one_of_the_last_vectors_may_be_missed(
    files: Files, monkeypatch: pytest.MonkeyPatch, hidden: int, said: str
) -> None:
    there = [*ABSENT.present(COUNT).tolist(), *ADDED[:-hidden].tolist()]
    context = MagicMock(data=SimpleNamespace(returned={}, absent=ABSENT))
    writer = Mock(keys=ADDED, last=Writer(context, 3, 1.0).last, rest=lambda: 0.0)
    found = Mock(facts={"adding": {}}), sample(of_state(files, 200), 200, 200), writer
    monkeypatch.setattr("dbbench.workloads.nearest.searched_while_adding", lambda *_: found)
    search = Mock(return_value=lambda query: nearest(files, query, there))
    monkeypatch.setattr("dbbench.workloads.nearest.prepared", lambda *_: search)
    step: Any = SimpleNamespace(name="s", target=1.0)
    _while_adding(step, context, asked(files), Mock(), np.ones(2))
    assert context.data.returned == {"s": said}


@pytest.mark.parametrize("metric", ["l2", "cosine", "ip"])
def test_all_distances_are_those_of_pairs(files: Files, metric: str) -> None:
    vectors = matrix(files.table("vectors").column("vector"))[:50] + np.float32(100)
    queries = matrix(files.table("inside").column("vector"))[:3]
    found = all_distances(metric, vectors, queries)  # type: ignore[arg-type]  # a parameter of the test
    for row, query in zip(found, queries, strict=True):
        assert row == pytest.approx(distances(metric, vectors, np.broadcast_to(query, vectors.shape)), rel=1e-9)  # type: ignore[arg-type]


def test_calls_beside_a_client_are_kept_one_at_a_time_with_what_it_had_added() -> None:
    progress = Progress()
    kept = WatchedCalls(progress, randrange=lambda _: 0)
    rest: Iterator[int] = iter(range(1_000))
    for number in range(3):
        progress.begun, progress.acknowledged = 10 * number + 10, 10 * number
        chunk, keeps = kept.take(rest, 64)
        assert (chunk, keeps) == ([number], True)
        progress.begun += 5
        kept.add(chunk, [[number]])
    assert kept.spans == [(0, 15), (10, 25), (20, 35)]
    assert len(kept.calls) == 3


def test_adding_begins_with_the_first_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dbbench.workloads.adding.prepared", MagicMock())
    monkeypatch.setattr(Writer, "_given", lambda *_: ())
    with Writer(MagicMock(data=SimpleNamespace(absent=ABSENT)), 50, 0.0) as writer:
        writer._thread.join(0.1)
        assert writer.progress.begun == 0
        WatchedCalls(writer.progress).take(iter([1]), 1)
        writer._thread.join()
        assert writer.progress.acknowledged == len(ABSENT.keys) - len(writer._batches[-1]) > 0


@pytest.fixture(scope="module")
def index() -> InvertedIndex:
    return InvertedIndex.drawn(TextSet(Texts(count=300, vocabulary=1_000), seed=1))


def step(top: int | None = None) -> SearchStep:
    given = {"kind": "search", "name": "s", "title": "S", "match": {"any": {"among": [1, 40]}}, "top": top}
    return SearchStep.model_validate(given)


def test_texts_that_are_absent_must_not_be_found(index: InvertedIndex) -> None:
    word = index.vocabulary[30]
    every = index.find("any", [word]).keys.tolist()
    some = replace(index, absent=Absent(deleted=np.array(every[:2])))
    assert judged(step(), some, [((word,), every[2:])])[0] == ""
    assert judged(step(), some, [((word,), every)])[0].startswith(f"the key {every[0]}, which was deleted, for any of ")


def test_texts_that_may_be_found_are_counted_or_not(index: InvertedIndex) -> None:
    word = index.vocabulary[30]
    every = index.find("any", [word]).keys.tolist()
    assert len(every) > 5
    may = [np.array(every[:2])]
    for answer in (every, every[1:], every[2:]):
        assert judged(step(), index, [((word,), answer)], may)[0] == ""
        assert judged(step(len(every)), index, [((word,), answer)], may)[0] == ""
    assert judged(step(), index, [((word,), every[3:])], may)[0].startswith(f"{len(every) - 3} rows instead of ")
    said = judged(step(), index, [((word,), [every[0], *every[3:]])], may)[0]
    assert said.startswith(f"rows without the key {every[2]}, whose text matches, for any of ")


VECTORS = "vectors: {count: 1000, dimensions: 8, queries: 1200}"
TABLES = "tables: {t: {rows: 1, primary_key: id, columns: {id: {type: integer, values: {kind: sequence}}}}}"
LOAD = "- {kind: load, name: load, title: Load}\n"


@pytest.mark.parametrize(
    ("data", "steps", "said"),
    [
        (VECTORS, "- {kind: load, name: load, title: Load, share: 1.5}", "share"),
        (VECTORS, LOAD + "- {kind: delete, name: d, title: D, share: 1}", "share"),
        (VECTORS, LOAD + "- {kind: delete, name: d, title: D, share: -0.1}", "share"),
        (VECTORS, LOAD + "- {kind: nearest, name: n, title: N, adding: {}}", "something to add in n"),
        (VECTORS, LOAD + "- {kind: nearest, name: n, title: N, cache: cold, clients: 2}", "a warm cache where"),
        (
            VECTORS,
            (
                "- {kind: load, name: l, title: L, share: 0.9}\n"
                "- {kind: nearest, name: n, title: N, adding: {}, rate: {per_second: 100}, duration: 1s}"
            ),
            "adding beside clients in threads",
        ),
        (TABLES, "- {kind: load, name: load, title: Load, share: 0.5}", "no share: a load of tables takes all rows"),
        (TABLES, LOAD + "- {kind: delete, name: d, title: D}", "a dataset of vectors or texts"),
    ],
)
def test_bad_input_is_named(data: str, steps: str, said: str) -> None:
    assert said in str(refused(suite_text("bad", data, steps)))
