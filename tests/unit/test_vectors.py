"""Vectors: drawn alike everywhere, their neighbours found exactly, answers judged by distance."""

import hashlib
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from dbbench.datasets import neighbours
from dbbench.datasets import vectors as drawn_vectors
from dbbench.datasets.cache import Files, materialise
from dbbench.datasets.export import export
from dbbench.datasets.neighbours import distances, nearest_distances
from dbbench.datasets.vectors import VectorSet, arrays, matrix
from dbbench.engine import registry
from dbbench.engine.base import Engine, Session, Setup
from dbbench.engine.traits import Knob
from dbbench.errors import Unsupported, UserError, WrongAnswer
from dbbench.loadgen.histogram import Samples
from dbbench.loadgen.kept_calls import EveryCall
from dbbench.suite.dataset import Dataset, Vectors
from dbbench.suite.model import Tier
from dbbench.suite.steps.load import LoadStep
from dbbench.workloads import load
from dbbench.workloads.context import StepContext
from dbbench.workloads.nearest import _passes, refuse_metric
from dbbench.workloads.neighbours import Questions
from dbbench.workloads.searches import least_effort

SPEC = Vectors(count=40_000, dimensions=20, labels=(0.1, 0.01), queries=300, outside=True)
METRICS = ("l2", "cosine", "ip")


def brute(metric: Any, vectors: Any, query: Any, count: int) -> Any:
    """The distances of the nearest of them, one after another, in float64."""
    return np.sort(distances(metric, vectors, np.broadcast_to(query, vectors.shape)))[:count]


def test_the_same_bits_are_drawn_everywhere() -> None:
    drawn = VectorSet(SPEC, seed=7)
    found = hashlib.sha256()
    for number in (1, 0):  # each chunk alone
        for each in arrays(drawn.chunk(number)):
            found.update(np.ascontiguousarray(each).tobytes())
    for kind in ("inside", "outside"):
        found.update(drawn.queries(kind).tobytes())
    assert found.hexdigest() == "05e956f355c69d207416ad7ced4252bbdbf05a81a023403e8b3c67fbb3653261"


def test_clusters_are_of_zipf_sizes_and_labels_have_their_shares() -> None:
    drawn = VectorSet(SPEC, seed=1)
    keys, vectors, labels = (
        np.concatenate(each) for each in zip(*(arrays(drawn.chunk(n)) for n in (0, 1)), strict=True)
    )
    assert keys.tolist() == list(range(1, 40_001))
    assert np.bincount(labels) / 40_000 == pytest.approx([0.89, 0.1, 0.01], abs=0.005)
    assert vectors.dtype == np.float32
    assert 0.7 < vectors.std() < 1.2
    # 24 dimensions hold all but the noise; of 60 dimensions the others have next to nothing.
    wide = VectorSet(SPEC.model_copy(update={"dimensions": 60, "count": 2_000}), seed=1)
    spread = np.linalg.svd(np.cov(arrays(wide.chunk(0))[1].T), compute_uv=False)
    assert spread[23] > 5 * spread[24]
    # A query from outside is farther from what it is near.
    near = [nearest_distances("l2", [vectors], drawn.queries(kind)[:50], 1).mean() for kind in ("inside", "outside")]
    assert near[1] > 2 * near[0]


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(
    ("count", "offset", "rounded"), [(3_000, 0, False), (3_001, 100, False), (997, 0, True), (40, 3, True)]
)
def test_neighbours_are_exact_far_from_the_origin_and_with_ties(
    metric: Any, count: int, offset: int, rounded: bool
) -> None:
    drawn = VectorSet(SPEC.model_copy(update={"dimensions": 4 if rounded else 20}), seed=3)
    vectors = arrays(drawn.chunk(0))[1][:count] + np.float32(offset)
    queries = drawn.queries("inside")[:70] + np.float32(offset)
    if rounded:
        vectors, queries = np.round(2 * vectors) / 2, np.round(2 * queries) / 2
        vectors += np.float32(0.5) * (vectors == 0).all(axis=1, keepdims=True)  # cosine has no zero vector
        queries += np.float32(0.5) * (queries == 0).all(axis=1, keepdims=True)
    found = nearest_distances(metric, [vectors], queries, min(100, count))
    for query, ours in zip(queries, found, strict=True):
        assert ours == pytest.approx(brute(metric, vectors, query, min(100, count)), rel=1e-12, abs=1e-13)


def test_vectors_in_blocks_have_the_neighbours_of_all() -> None:
    drawn = VectorSet(SPEC, seed=3)
    vectors, queries = arrays(drawn.chunk(0))[1][:1_000], drawn.queries("inside")[:20]
    whole = nearest_distances("cosine", [vectors], queries, 100)
    blocks = [vectors[:30], vectors[30:30], vectors[30:999], vectors[999:]]
    assert nearest_distances("cosine", blocks, queries, 100) == pytest.approx(whole, rel=1e-12)


def test_blocks_hold_few_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    real = neighbours._nearest
    monkeypatch.setattr(drawn_vectors, "AT_ONCE", 1_000)
    monkeypatch.setattr(neighbours, "_nearest", lambda *given: sizes.append(len(given[1])) or real(*given))
    drawn = VectorSet(SPEC.model_copy(update={"count": 2_500}), seed=3)
    table = pa.Table.from_batches([drawn.chunk(0)])
    parts = {name: next(batches) for name, _, batches in drawn.distances(table)}
    assert max(sizes) == 1_000
    assert parts["inside-0"].column(0).type.list_size == 100


@pytest.fixture(scope="module")
def files() -> Files:
    """A dataset of few vectors."""
    return materialise(Dataset(vectors=Vectors(count=600, dimensions=4, labels=(0.05,), queries=200)))


def test_a_dataset_has_the_distances_of_its_queries_behind_each_label(files: Files) -> None:
    assert files.manifest["tables"] == {"vectors": {"rows": 600, "columns": {}}}
    assert files.manifest["csv_bytes"] == 600 * 4 * 4
    drawn = files.table("vectors")
    vectors, labels = matrix(drawn.column("vector")), drawn.column("label").to_numpy()
    query = matrix(files.table("inside").column("vector"))[11]
    some = vectors[labels == 1]
    assert 15 < len(some) < 50
    for name, among in (("inside-0", vectors), ("inside-1", some)):
        known = matrix(files.table(name).column("distances"))[11]
        assert known == pytest.approx(brute("l2", among, query, 100))


def judged(files: Files, where: int | None = None) -> Questions:
    """Two questions, whose neighbours are known."""
    queries = matrix(files.table("inside").column("vector"))[:2]
    known = matrix(files.table(f"inside-{where or 0}").column("distances"))[:2]
    return Questions(queries, known[:, 2] * (1 + 1e-9), files, "l2", 3, 3, where)


def right(files: Files, asked: Questions) -> list[list[int]]:
    """The keys of the nearest, by brute force."""
    drawn = files.table("vectors")
    vectors, labels = matrix(drawn.column("vector")), drawn.column("label").to_numpy()
    found = []
    for query in asked.queries:
        apart = distances("l2", vectors, np.broadcast_to(query, vectors.shape))
        apart[labels != asked.where] += 1e9 * (asked.where is not None)
        found.append([int(each) + 1 for each in np.argsort(apart)[: asked.count]])
    return found


@pytest.mark.parametrize("where", [None, 1])
def test_answers_are_judged_by_distance_whatever_their_form(files: Files, where: int | None) -> None:
    asked = judged(files, where)
    keys = right(files, asked)
    for answers in (
        keys,
        [tuple(each) for each in keys],
        [np.array(each, np.uint64) for each in keys],
        [each[::-1] for each in keys],
    ):
        assert asked.recalls(answers).tolist() == [1, 1]
        assert asked.fault(answers) == ""
    labels = files.table("vectors").column("label").to_pylist()
    far = next(key for key, label in enumerate(labels, 1) if label == (where or 0) and key not in keys[0])
    assert asked.recalls([[*keys[0][:2], far], keys[1]]).tolist() == [pytest.approx(2 / 3), 1]


def test_any_of_those_at_the_same_distance_is_right(tmp_path: Path) -> None:
    vectors = np.array([[1, 0], [0, 2], [2, 0], [0, 3]], np.float32)
    column = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), 2)
    drawn = pa.table({"key": [1, 2, 3, 4], "label": pa.array([0] * 4, pa.int32()), "vector": column})
    with pa.OSFile(str(tmp_path / "vectors.arrow"), "wb") as sink, pa.ipc.new_file(sink, drawn.schema) as writer:
        writer.write_table(drawn)
    queries = np.zeros((3, 2), np.float32)
    limits = nearest_distances("l2", [vectors], queries, 2)[:, -1]
    asked = Questions(queries, limits, Files(tmp_path), "l2", 2, 2, None)
    assert asked.recalls([[1, 2], [3, 1], [1, 4]]).tolist() == [1, 1, 0.5]


FAULTS = {
    "fewer": (lambda keys: keys[:2], "2 rows instead of 3, in 1 of 2 answers", 2 / 3),
    "padded": (lambda keys: [*keys[:2], -1], "2 rows instead of 3, in 1 of 2 answers", 2 / 3),
    "more": (lambda keys: [*keys, keys[0] % 600 + 1], "4 rows instead of 3", 1),
    "twice": (lambda keys: [keys[0], keys[0], keys[1]], "twice in one answer", 2 / 3),
    "unknown": (lambda keys: [601, *keys[1:]], "the key 601, which no vector has", 2 / 3),
    "zero": (lambda keys: [0, *keys[1:]], "the key 0, which no vector has", 2 / 3),
}


@pytest.mark.parametrize("name", FAULTS)
def test_what_is_wrong_with_an_answer_is_told_and_counts_for_nothing(files: Files, name: str) -> None:
    change, words, recall = FAULTS[name]
    asked = judged(files)
    first, second = right(files, asked)
    assert words in asked.fault([change(first), second])
    assert asked.recalls([change(first), second]).tolist() == [pytest.approx(recall), 1]


def test_a_row_that_a_filter_should_leave_out_is_told(files: Files) -> None:
    asked, every = judged(files, 1), judged(files)
    assert "whose label is 0, where the label 1 was asked for" in asked.fault(right(files, every))
    assert asked.recalls(right(files, every)).max() < 1


def test_an_answer_that_is_made_when_it_is_looked_at_is_none(files: Files) -> None:
    asked = judged(files)
    with pytest.raises(WrongAnswer, match="returned a generator, not a list or array of keys"):
        asked.recalls([(key for key in each) for each in right(files, asked)])


class Keys(list[int]):
    """A list that may be anything when it is looked at."""


MISSHAPEN = {
    "None": None, "bytes": b"abc", "str": "123", "dict": {1: 2}, "Keys": Keys([1, 2, 3]),
    "list with a float": [1.0, 2, 3], "list with a bool": [True, 2, 3], "list with a NoneType": [None],
    "list with a number of more than 64 bits": [2**63, 1, 2], "tuple with a list": ([1, 2, 3],),
    "array of object in 1": np.array([1, 2, 3], object),
    "array with a number of more than 63 bits": np.array([2**63, 1, 2], np.uint64),
    "array of float32 in 1": np.array([1, 2, 3], np.float32), "array of int64 in 2": np.array([[1, 2, 3]]),
    "array of int64 in 0": np.array(3), "recarray": np.array([1, 2, 3]).view(np.recarray),
}  # fmt: skip


@pytest.mark.parametrize("words", MISSHAPEN)
def test_an_answer_in_another_form_is_none(files: Files, words: str) -> None:
    asked = judged(files)
    with pytest.raises(WrongAnswer, match=f"returned an? {words}.*, not a list or array of keys"):
        asked.fault([right(files, asked)[0], MISSHAPEN[words]])


def test_what_is_filled_in_after_its_call_does_not_count() -> None:
    every, answers = EveryCall(), [[0, 0], np.zeros(2, np.int64)]
    every.add([1, 2], answers)
    for answer in answers:
        answer[:] = [7, 8]
    assert [list(answer) for _, answer in every.calls] == [[0, 0], [0, 0]]


class Late(Session):
    """Builds its index in the first search."""

    log: ClassVar[list[str]] = []

    def prepare_add(self) -> Any:
        return lambda *_given: self.log.append("add")

    def prepare_index(self) -> Any:
        return {"indexes": lambda: self.log.append("index")}

    def prepare_nearest(self, k: int, where: int | None, **_given: Any) -> Any:
        return lambda vector: self.log.append(f"search {len(vector)} where {where}")


class LateEngine(Engine):
    name, title, url, session_class = "late", "Late", "", Late
    durability: ClassVar = {Tier.MEMORY: {}}


def test_the_first_searches_are_a_part_of_the_load(files: Files) -> None:
    Late.log.clear()
    engine = LateEngine.__new__(LateEngine)
    context = StepContext(engine, Late(), {}, files, {}, vectors=VectorSet(SPEC, seed=1))
    found = load.measure(LoadStep(kind="load", name="load", title="Load"), context)
    searches = ["search 4 where None", "search 4 where 1", "search 4 where 2"]
    assert list(dict.fromkeys(Late.log)) == ["add", "index", *searches]
    assert list(found.facts["load_parts"]) == ["insert", "indexes", "first search"]
    assert found.value == pytest.approx(sum(found.facts["load_parts"].values()))


def test_passes_ask_all_queries_in_other_orders_and_never_the_same(files: Files) -> None:
    queries, samples, orders = matrix(files.table("inside").column("vector")), Samples(), list[Any]()
    asked = []
    for query in _passes(queries, samples, orders, "s 1"):
        asked.append(query)
        samples.record(np.array([1_000_000]))  # the clock has enough of them after a second
    assert len(asked) == 1_000
    places = np.concatenate(orders)
    assert np.bincount(places).tolist() == [5] * 200
    assert len({query.tobytes() for query in asked}) == 1_000
    assert np.array(asked) == pytest.approx(queries[places], rel=5e-7)
    assert len({tuple(order) for order in orders}) == 5


@pytest.mark.parametrize("needed", [1, 2, 3, 17, 100, 999, 1_000])
def test_the_least_effort_is_found_in_a_few_tries(needed: int) -> None:
    tried: list[int] = []

    def recall(effort: int) -> float:
        tried.append(effort)
        return 0.9 if effort >= needed else 0.5

    found = least_effort(recall, 0.9, 1, 1_000)
    assert found is not None
    assert needed <= found <= needed * 1.021
    assert len(tried) < 20
    assert least_effort(lambda effort: 0.89, 0.9, 1, 1_000) is None


def test_bad_input_is_told() -> None:
    with pytest.raises(Unsupported, match=r"flat has no metric cosine \(it has: l2, ip\)"):
        refuse_metric(type("Flat", (), {"name": "flat", "metrics": ("l2", "ip")}), "cosine")  # type: ignore[arg-type]
    for least, most in ((0, 9), (5, 5), (9, 2)):
        with pytest.raises(ValueError, match="expected 1 <= least < most"):
            Knob("ef", least, most)


def test_a_scale_at_which_no_vector_has_a_label_is_refused() -> None:
    dataset = Dataset(vectors=Vectors(count=5_000, dimensions=2, labels=(0.001,), queries=200))
    words = r"none of 20 vectors has the label whose share is 0\.001; choose a larger --scale"
    with pytest.raises(UserError, match=words):
        materialise(dataset, scale=0.004)


def test_vectors_are_exported_as_parquet(tmp_path: Path) -> None:
    dataset = Dataset(vectors=Vectors(count=50, dimensions=3, queries=200))
    with pytest.raises(UserError, match="--format parquet"):
        list(export(dataset, tmp_path, "csv", scale=1, seed=None))
    assert [rows for _, rows in export(dataset, tmp_path, "parquet", scale=1, seed=None)] == [50, 200]
    assert parquet.read_table(tmp_path / "vectors.parquet").column("vector").type.value_type == pa.float32()


def test_a_graph_that_is_read_again_grows_as_it_was_built(tmp_path: Path) -> None:
    pytest.importorskip("usearch")
    options = {"connectivity": 8, "expansion_add": 40}
    first, again = (registry.load("usearch")(Setup(tmp_path, Tier.MEMORY, options)) for _ in range(2))
    first.open()
    first.create_vectors(SPEC)
    first.flush()
    again.open()
    assert {name: getattr(again.index, name) for name in options} == options
