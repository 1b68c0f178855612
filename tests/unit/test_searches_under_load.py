"""Searches by several clients, at a rate and to find the highest: measured as other calls are, and compared."""

import threading
from pathlib import Path
from typing import Any, ClassVar
from unittest.mock import Mock

import numpy as np
import pytest

from dbbench.datasets.cache import Files, materialise
from dbbench.datasets.inverted import InvertedIndex
from dbbench.datasets.texts import TextSet
from dbbench.datasets.vectors import VectorSet, matrix
from dbbench.engine import offered
from dbbench.engine.base import Engine, Session, Setup
from dbbench.engine.traits import Concurrency
from dbbench.errors import TimedOut, Unsupported, WrongAnswer
from dbbench.loadgen.job import ORDER, ClientOrder, Job
from dbbench.loadgen.search_calls import NearestSearches, TextSearches
from dbbench.suite.dataset import Dataset, Texts, Vectors
from dbbench.suite.model import Tier
from dbbench.suite.steps.nearest import NearestStep
from dbbench.suite.steps.search import Match, SearchStep
from dbbench.workloads import adding, load_control, nearest, search, searches
from dbbench.workloads.context import StepContext
from dbbench.workloads.nearest import _less, _of_each

VECTORS = Vectors(count=400, dimensions=16, queries=700)
TEXTS = Texts(count=300, vocabulary=1_000, words={0: 5, 1: 30})


class Exact(Session):
    """Finds what is right, but where several clients call what `spoils` makes of that."""

    spoils: ClassVar[Any] = staticmethod(lambda keys: keys)
    #: What each call took, as text.
    asked: ClassVar[list[str]] = []

    def __init__(self, engine: "Searched") -> None:
        self.engine = engine

    def _given(self, taken: Any, keys: Any) -> Any:
        self.asked.append(str([*taken]))
        alone = threading.current_thread() is threading.main_thread()
        return keys if alone else self.spoils(keys)

    def prepare_nearest(self, k: int, *, where: int | None, effort: int | None) -> Any:
        vectors = matrix(self.engine.files.table("vectors").column("vector"))
        return lambda query: self._given(query, np.argsort(((vectors - query) ** 2).sum(axis=1))[:k] + 1)

    def prepare_search(self, match: Any, *, top: int | None, payload: str) -> Any:
        index = InvertedIndex.drawn(TextSet(TEXTS, seed=1))
        return lambda words: self._given(words, index.find(match, words).keys.astype(np.int64))


class Searched(Engine):
    name, title, license, session_class = "searched", "Searched", "none", Exact
    durability: ClassVar = {Tier.MEMORY: {}}
    concurrency = Concurrency(threads=None)
    metrics: ClassVar = ("l2",)
    files: Files

    @classmethod
    def versions(cls) -> dict[str, str]:
        return {}

    def connect(self) -> Session:
        return Exact(self)


@pytest.fixture(params=["nearest", "search"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def context(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StepContext:
    monkeypatch.setenv("DBBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(searches, "_ENOUGH", 10**7)
    Exact.asked.clear()
    dataset = Dataset(vectors=VECTORS) if kind == "nearest" else Dataset(texts=TEXTS)
    engine = Searched(Setup(tmp_path, Tier.MEMORY, Searched.options_class()))
    engine.files = materialise(dataset)
    more: Any = {"vectors": VectorSet(VECTORS, 1)} if kind == "nearest" else {"texts": TextSet(TEXTS, 1)}
    return StepContext(engine, engine.connect(), {}, engine.files, {}, **more)


def measured(kind: str, context: StepContext, **more: Any) -> Any:
    """What a step measures; raises WrongAnswer as its check does."""
    given = {"kind": kind, "name": "s", "title": "S", "duration": 0.2, **more}
    if kind == "nearest":
        step: Any = NearestStep.model_validate(given)
        found: Any = nearest.measure(step, context)
        nearest.check(step, context)
    else:
        step = SearchStep.model_validate({**given, "match": {"any": {"among": [21, 900]}}})
        found = search.measure(step, context)
        search.check(step, context)
    return found


def test_several_clients_search_at_once(kind: str, context: StepContext) -> None:
    found = measured(kind, context, clients=2)
    assert (found.metric, found.unit) == ("throughput", "1/s")
    assert found.facts["clients"] == {"threads": 2, "processes": 1}
    assert found.facts["recall" if kind == "nearest" else "search"]


def test_a_warm_up_ends_after_a_time(kind: str, context: StepContext, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (load_control, nearest):
        monkeypatch.setattr(module, "WARMED", 0.0)
    assert measured(kind, context, duration=None, rate={"per_second": 200, "seconds": 0.05}).warm_up == []


@pytest.mark.parametrize("kind", ["nearest"])
def test_one_client_has_the_warm_up_of_its_step(kind: str, context: StepContext) -> None:
    measured(kind, context, duration=None, warm_up=103)
    queries = matrix(context.files.table("inside").column("vector"))
    own = [str([*query]) for query in queries[:100]]  # those to choose an effort on
    assert Exact.asked[:103] == [*own, *own[:3]]
    assert Exact.asked[103] not in own


def test_a_time_in_which_no_search_is_made_is_told(kind: str, context: StepContext) -> None:
    with pytest.raises(TimedOut, match="no search was made in the time that the step gives: give it a longer one"):
        measured(kind, context, duration=1e-9, warm_up=0)


def test_searches_arrive_at_a_rate(kind: str, context: StepContext) -> None:
    found = measured(kind, context, duration=None, rate={"per_second": 200, "seconds": 0.2})
    assert (found.metric, found.unit) == ("latency", "s")
    assert found.facts["arrivals"]["due"] == 40
    assert len(found.warm_up) == (100 if kind == "nearest" else 50)


def test_the_highest_rate_is_searched_for(kind: str, context: StepContext) -> None:
    find = {"p50": "1min", "trial": 0.05, "resolution": 1}
    notes = list[str]()
    context.note = notes.append
    found = measured(kind, context, duration=None, clients=2, find=find)
    assert found.metric == "highest rate"
    assert sum(note.startswith("try ") for note in notes) > 1
    # By the clients, in the tries and before them.
    assert len({*Exact.asked}) > 0.95 * len(Exact.asked)


def test_a_recall_under_load_may_be_less_by_chance() -> None:
    before = np.repeat([1.0, 0.88], 250)
    assert before.mean() == pytest.approx(0.94)
    assert _less(0.95, before[100:400], before) == ""
    assert _less(0.95, before[245:255], before) == ""
    assert _less(0.95, before[250:], before) == "88.0% of the nearest, where 94.0% were found before"
    assert _less(0.9, np.full(300, 0.93), np.full(500, 0.99)) == ""
    # The same few queries again and again say no more than once.
    assert _of_each(np.array([3, 1, 3]), np.array([1.0, 0.4, 0.0])).tolist() == [0.4, 0.5]


SPOILED: dict[str, tuple[Any, str, str]] = {
    "others": (
        lambda keys: keys - 1 + 2 * (keys % 2),
        "of the nearest, where 100.0% were found before",
        "whose text doesn't match",
    ),
    "fewer": (lambda keys: keys[:-1], "9 rows instead of 10", " rows instead of "),
    "lazy": (iter, "not a list or array of keys", "not a list or array of keys"),
}


@pytest.mark.parametrize("spoil", SPOILED)
def test_what_is_wrong_with_several_clients_alone_is_told(
    kind: str, context: StepContext, spoil: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    change, *words = SPOILED[spoil]
    monkeypatch.setattr(Exact, "spoils", staticmethod(change))
    with pytest.raises(WrongAnswer, match=words[kind == "search"]):
        measured(kind, context, clients=2)


def test_clients_that_cant_see_what_is_added_are_refused(kind: str, context: StepContext) -> None:
    context.driver = Mock()
    with pytest.raises(Unsupported, match="clients on the hosts of a cluster can't see how far the one that adds is"):
        measured(kind, context, duration=None, adding={})


def test_what_is_refused_has_added_nothing(kind: str, context: StepContext, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offered, "offers", lambda *_: True)
    monkeypatch.setattr(adding, "Writer", Mock(side_effect=AssertionError))
    monkeypatch.setattr(Searched, "one_client", {kind: "so"})
    with pytest.raises(Unsupported, match="with several clients at once: so"):
        measured(kind, context, clients=2, adding={})


def test_the_order_of_searches_goes_to_other_processes_and_back(tmp_path: Path) -> None:
    match = Match.model_validate({"any": {"words": 3}})
    for inputs in (
        TextSearches(match, 10, "text", tmp_path, "s 1"),
        NearestSearches(10, None, 7, tmp_path, "inside", 100, 700, "s 1"),
    ):
        job = Job("search", (), 0, 0, inputs=inputs)
        order = ClientOrder("m:E", str(tmp_path), Tier.MEMORY, {}, job, 1, 2, served=False)
        assert ORDER.validate_json(ORDER.dump_json(order)) == order


def test_a_step_for_each_recall_and_number_of_clients() -> None:
    given = {"kind": "nearest", "name": "n", "title": "N", "recall": [0.9, 0.95], "clients": [1, 2]}
    steps = NearestStep.model_validate(given).expanded()
    assert [(step.name, step.target, step.clients.count, step.swept, step.tuned) for step in steps] == [
        ("n-90-1", 0.9, 1, "n-90", "n"), ("n-90-2", 0.9, 2, "n-90", "n"),
        ("n-95-1", 0.95, 1, "n-95", "n"), ("n-95-2", 0.95, 2, "n-95", "n"),
    ]  # fmt: skip
    assert NearestStep.names(given) == [step.name for step in steps]
