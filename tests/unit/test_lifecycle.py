"""Churns and cold starts, with engines that only keep a record."""

from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest
from pydantic import ValidationError

from dbbench.analysis.summary import summarise
from dbbench.answers.given import by_reference, question
from dbbench.datasets.cache import Files, materialise
from dbbench.engine.base import Engine, Session, Setup
from dbbench.engine.size import File
from dbbench.errors import NotVerified, Unsupported
from dbbench.host import page_cache
from dbbench.host.page_cache import Dropped
from dbbench.loadgen.loops import timed
from dbbench.report.remarks import detail
from dbbench.suite.model import Suite, Tier
from dbbench.suite.steps.churn import ChurnStep
from dbbench.suite.steps.query import QueryStep
from dbbench.workloads import churn, cold_start, query
from dbbench.workloads import context as step_context
from dbbench.workloads.context import StepContext
from tests.unit.refused import refused
from tests.unit.test_summary import manifest, rounds, step

COLD: dict[str, Any] = {
    "kind": "query", "name": "join", "title": "Join", "sql": "SELECT 1 FROM Parent", "read": "Parent.Id",
    "cache": "cold",
}  # fmt: skip
CHURN = ChurnStep(kind="churn", name="churn", title="Churn", table="Child", share=0.5, passes=2, transaction=30)


class Recorded(Session):
    load_format = "batches"

    def __init__(self, engine: Any) -> None:
        self.engine = engine

    def note(self, *what: Any) -> None:
        self.engine.log.append(what)

    def read_only(self, *, on: bool) -> None:
        self.note("only reads" if on else "writes")

    def begin(self) -> None:
        self.note("begin")

    def commit(self) -> None:
        self.note("commit")

    def prepare_load(self, name: str, table: Any) -> Callable[[pa.RecordBatch], None]:
        return lambda batch: self.note("insert", batch.column("Id").to_pylist())

    def prepare_finish(self, tables: Any) -> dict[str, Callable[[], None]]:
        return {"indexes": lambda: self.note("indexes", *tables), "commit": self.commit}

    def prepare_statement(self, sql: str) -> Callable[[], None]:
        return lambda: self.note(sql)

    def prepare_query(self, sql: str, expected_rows: int = 0) -> Callable[[], Any]:
        self.note("prepare")
        return lambda: self.note("run") or [(1,)] * 10

    def close(self) -> None:
        self.note("close session")


class Recorder(Engine):
    name = "recorder"
    title = "Recorder"
    durability = {Tier.POWER: {}}
    session_class = Recorded
    file = "data"
    log: list[Any]

    def open(self) -> None:
        self.log.append(("open",))
        if self.file:
            (self.directory / self.file).write_bytes(b"x" * 5000)

    def connect(self) -> Session:
        return Recorded(self)

    def close(self) -> None:
        self.log.append(("close",))


class Unranked(Recorder):
    is_null = True


@pytest.fixture
def files(small: Suite) -> Files:
    return materialise(small.datasets["things"])


@pytest.fixture
def bench(small: Suite, files: Files, tmp_path: Path) -> Callable[..., StepContext]:
    def make(engine_class: type[Engine] = Recorder, **attributes: Any) -> StepContext:
        setup = Setup(tmp_path, Tier.POWER)
        kind: Any = type("Made", (engine_class,), {"log": [], **attributes})
        engine = kind(setup)
        engine.open()
        engine.log.clear()
        dataset = small.datasets["things"]
        (answer,) = by_reference([question(QueryStep.model_validate(COLD))], dataset.tables, files)
        return StepContext(engine, engine.connect(), dataset.tables, files, {"join": answer}, setup=setup)

    return make


# Churn


def test_a_layers_work_is_copied_before_its_base_session_is_closed() -> None:
    said: list[str] = []
    session: Any = SimpleNamespace(close=partial(said.append, "closed"))
    engine: Any = SimpleNamespace(base_engine=SimpleNamespace(connect=lambda: session))
    files: Any = None
    with StepContext(engine, session, {}, files, {}, returned=partial(said.append, "returned")).base_session():
        said.append("loaded")
    assert said == ["loaded", "returned", "closed"]


def test_a_churn_deletes_runs_of_keys_and_inserts_the_same_rows_again(
    bench: Callable[..., StepContext], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(churn, "timed", lambda call: (10**9, call()))
    made = bench(Unranked)
    measured = churn.measure(CHURN, made)
    *log, settings = made.engine.log  # type: ignore[attr-defined]
    assert settings == ("indexes",)
    assert len(log) == 2 * 2 * 4  # passes, runs (half of four), calls
    for delete, begin, (word, keys), commit in zip(*[iter(log)] * 4, strict=True):
        assert delete == (f"DELETE FROM Child WHERE Id BETWEEN {keys[0]} AND {keys[-1]}",)
        assert (begin, word, commit) == (("begin",), "insert", ("commit",))
        assert keys == list(range(keys[0], keys[-1] + 1))
        assert keys[0] in (5, 35, 65, 95)  # the keys start at 5
        assert len(keys) == (10 if keys[0] == 95 else 30)
    assert measured.facts["rows"] == sum(len(item[1]) for item in log if item[0] == "insert")
    assert measured.samples == [len(log)]


def test_the_rows_drawn_are_the_same_for_a_seed_and_others_for_another() -> None:
    def drawn(seed: int) -> list[list[int]]:
        return list(churn.picks(1000, CHURN, seed))

    assert drawn(1) == drawn(1) != drawn(2)
    assert all(len(set(run)) == len(run) == 17 for run in drawn(1))  # half of 34 runs
    assert drawn(1)[0] != drawn(1)[1]


def test_at_least_one_run_is_drawn() -> None:
    tiny = CHURN.model_copy(update={"share": 0.001})
    assert list(churn.picks(10, tiny, 1)) == [[0], [0]]


def test_a_churn_of_rows_that_nobody_knows_is_not_verified(bench: Callable[..., StepContext]) -> None:
    made = bench(Unranked)
    assert not churn.measure(CHURN, made).leaves.filled
    with pytest.raises(NotVerified):
        churn.check(CHURN, made)
    made.data.left_by["Child"] = "load"
    assert churn.measure(CHURN, made).leaves.filled == ["Child"]


def test_a_churn_needs_sql(bench: Callable[..., StepContext]) -> None:
    class Loads(Session):
        def prepare_load(self, name: str, table: Any) -> Any: ...

    with pytest.raises(Unsupported, match="statement is not yet written for recorder"):
        churn.measure(CHURN, bench(session_class=Loads))


# Cold


def test_each_cold_call_has_an_engine_of_its_own_and_no_warm_up(
    bench: Callable[..., StepContext], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = bench()
    first = made.engine
    monkeypatch.setattr(page_cache, "drop", lambda *_: first.log.append(("drop",)) or Dropped(0.01, 5000))  # type: ignore[attr-defined]
    monkeypatch.setattr("random.SystemRandom.randrange", lambda *_: 2)  # the checked call is the last
    counts = iter([0, 4_096, 4_096, 12_288, 0, 20_480])
    monkeypatch.setattr(cold_start, "read", lambda _: next(counts))
    measured = query.measure(QueryStep.model_validate(COLD | {"iterations": 2}), made)
    once = ["close session", "close", "drop", "open", "only reads", "prepare", "run"]
    calls = [what for (what,) in first.log]  # type: ignore[attr-defined]
    assert calls == ["only reads", "prepare", *once, *once, *once, "writes"]  # one of them is compared
    assert made.engine is not first
    assert (len(measured.samples), measured.warm_up) == (2, [])
    assert measured.facts["cache"] == "cold"
    assert measured.facts["read_bytes"] == 6_144  # the mean of both calls
    assert measured.facts["opened"] > 0


def test_files_elsewhere_are_dropped_before_a_cold_call(
    bench: Callable[..., StepContext], monkeypatch: pytest.MonkeyPatch
) -> None:
    dropped = list[str]()
    monkeypatch.setattr(cold_start, "elsewhere", lambda _: [File("/elsewhere/data", "other", 1, 1)])
    monkeypatch.setattr(page_cache, "drop", lambda _, others: dropped.extend(others) or Dropped(0.0, 5000))
    query.measure(QueryStep.model_validate(COLD | {"iterations": 1}), bench())
    assert dropped == ["/elsewhere/data"] * 2  # before the timed call, and before the one that is checked


def test_opening_belongs_to_a_cold_figure(bench: Callable[..., StepContext], monkeypatch: pytest.MonkeyPatch) -> None:
    """What an engine reads ahead of a cold call gains it nothing."""
    monkeypatch.setattr(page_cache, "drop", lambda *_: Dropped(0.0, 5000))
    monkeypatch.setattr(step_context, "perf_counter", partial(next, count(step=1_000.0)))
    measured = query.measure(QueryStep.model_validate(COLD | {"iterations": 2}), bench())
    assert all(1_000 < sample < 2_000 for sample in measured.samples)


def test_a_text_is_made_before_the_clock(bench: Callable[..., StepContext], monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []
    monkeypatch.setattr(query, "timed", lambda call: (order.append("clock"), timed(call))[1])
    monkeypatch.setattr(StepContext, "statement", lambda *_: order.append("text") or "SELECT 1")
    monkeypatch.setattr(page_cache, "drop", lambda *_: Dropped(0.0, 5000))
    query.measure(QueryStep.model_validate(COLD | {"iterations": 1}), bench())
    assert order[:4] == ["text", "clock"] * 2


def test_a_call_that_read_nothing_makes_the_step_lukewarm(
    bench: Callable[..., StepContext], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_cache, "drop", lambda *_: Dropped(0.0, 5000))
    monkeypatch.setattr("random.SystemRandom.randrange", lambda *_: 2)  # the checked call is the last
    counts = iter([0, 4_096, 4_096, 4_096, 0, 4_096])
    monkeypatch.setattr(cold_start, "read", lambda _: next(counts))
    facts = query.measure(QueryStep.model_validate(COLD | {"iterations": 2}), bench()).facts
    assert facts["cache"] == "lukewarm"
    assert facts["why"].startswith("the system counted no byte read from storage in a call")


@pytest.mark.parametrize(
    ("read", "cache"), [((40_960, 4_096, 40_960), "cold"), ((45_056, 4_096, 45_056), "lukewarm"), ((4_096, 4_096, 45_056), "lukewarm")]
)  # fmt: skip
def test_a_call_that_read_much_less_than_another_makes_the_step_lukewarm(
    bench: Callable[..., StepContext], monkeypatch: pytest.MonkeyPatch, read: tuple[int, ...], cache: str
) -> None:
    """Also less than the call that is checked, which is the last here, and in no figure."""
    monkeypatch.setattr(page_cache, "drop", lambda *_: Dropped(0.0, 5000))
    monkeypatch.setattr("random.SystemRandom.randrange", lambda *_: 2)
    counts = iter([count for each in read for count in (0, each)])
    monkeypatch.setattr(cold_start, "read", lambda _: next(counts))
    facts = query.measure(QueryStep.model_validate(COLD | {"iterations": 2}), bench()).facts
    assert facts["cache"] == cache
    assert facts["read_bytes"] == sum(read[:2]) // 2
    assert (facts.get("why") == cold_start.LESS_READ) is (cache == "lukewarm")


def test_one_call_that_was_not_cold_makes_the_step_lukewarm(
    bench: Callable[..., StepContext], monkeypatch: pytest.MonkeyPatch
) -> None:
    shares = iter([0.0, 0.5, 0.5, 0.01])  # of three timed calls and one that is compared
    monkeypatch.setattr(page_cache, "drop", lambda *_: Dropped(next(shares), 5000))
    facts = query.measure(QueryStep.model_validate(COLD | {"iterations": 3}), bench()).facts
    assert facts["cache"] == "lukewarm"
    assert facts["why"] == "50% of the files stayed in the system's cache"


def test_an_engine_without_files_is_refused_before_anything_is_lost(bench: Callable[..., StepContext]) -> None:
    made = bench(file="")
    with pytest.raises(Unsupported, match="keeps no file in its directory"):
        query.measure(QueryStep.model_validate(COLD), made)
    assert ("close",) not in made.engine.log  # type: ignore[attr-defined]


def test_an_engine_that_takes_its_files_away_is_refused(bench: Callable[..., StepContext]) -> None:
    def close(engine: Any) -> None:
        (engine.directory / "data").unlink()

    with pytest.raises(Unsupported, match="keeps no file in its directory"):
        query.measure(QueryStep.model_validate(COLD), bench(close=close))


def test_the_null_engine_is_neither(bench: Callable[..., StepContext]) -> None:
    facts = query.measure(QueryStep.model_validate(COLD), bench(Unranked, file="")).facts
    assert facts["cache"] == "cold"


@pytest.mark.parametrize("url", ["", "any://server"])
def test_a_warm_query_restarts_nothing(
    url: str, bench: Callable[..., StepContext], monkeypatch: pytest.MonkeyPatch
) -> None:
    """At a URL its session is not made read-only either."""
    monkeypatch.setattr(query, "SHORT", 0)  # no call is so short that it has more warm-ups
    monkeypatch.setattr("random.SystemRandom.randrange", lambda *_: 0)  # the checked call is the first
    made = bench()
    made.engine.url = url
    measured = query.measure(QueryStep.model_validate(COLD | {"cache": "warm"}), made)
    log = [what for (what,) in made.engine.log]  # type: ignore[attr-defined]
    calls = ["prepare", "run", "run", "run"]
    assert log == (calls if url else ["only reads", *calls, "writes"])
    assert measured.facts["cache"] == "warm"
    assert "opened" not in measured.facts


def test_a_cold_query_is_not_warmed_up() -> None:
    assert QueryStep.model_validate(COLD).warm_up == 0
    assert QueryStep.model_validate(QueryStep.model_validate(COLD).model_dump()).warm_up == 0
    with pytest.raises(ValidationError, match="no warm_up where the cache is cold"):
        QueryStep.model_validate(COLD | {"warm_up": 1})


def test_lukewarm_rounds_are_counted_in_the_row(small: Suite) -> None:
    facts = [{"cache": "cold"}, {"cache": "lukewarm", "why": "half of it stayed"}, {"cache": "lukewarm"}]
    results = rounds("a", *(step(value=1.0, facts=fact) for fact in facts))
    (row,) = [row for row in summarise(small, manifest(rounds=3), results) if row.value]
    assert detail(row) == "lukewarm: half of it stayed (in 2 of 3 rounds)"


@pytest.mark.parametrize(
    ("copy", "said"),
    [
        ("all there", ""),
        ("not copied: x", "acknowledged commits were not confirmed by another process (not copied: x)"),
    ],
)
def test_commits_that_nobody_looked_for_in_a_copy_are_told(small: Suite, copy: str, said: str) -> None:
    results = rounds("a", *(step(value=1.0, facts=facts) for facts in ({"copy": copy}, {}, {})))
    (row,) = [row for row in summarise(small, manifest(rounds=3), results) if row.value]
    assert detail(row) == said


# In a suite


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("Kid", "steps[1].table: 'Kid': expected one of the tables Parent, Child"),
        ("Named", "primary key is a sequence"),
    ],
)
def test_a_churn_of_what_cannot_be_churned_is_told(table: str, message: str, small_text: str) -> None:
    named = (
        "      Named:\n        rows: 1\n        primary_key: Key\n        columns:\n"
        "          Key: {type: char(4), values: {kind: pattern, text: '####'}}\n"
    )
    step = f"      - {{kind: churn, name: churn, title: Churn, table: {table}}}\n"
    text = small_text.replace("scenarios:\n", named + "scenarios:\n")
    text = text.replace("      - kind: query\n", step + "      - kind: query\n", 1)
    assert message in str(refused(text))
