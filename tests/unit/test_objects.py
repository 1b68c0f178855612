"""Objects: how they are made and compared, what a step of them measures, and what a wrong one comes to."""

import datetime
import itertools
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any, Self
from unittest.mock import Mock

import pytest
from pydantic import ValidationError

from dbbench.analysis.recorded import parts
from dbbench.datasets.cache import materialise
from dbbench.engine.base import Engine, Session, Setup
from dbbench.engine.driver_timer import DriverTimer
from dbbench.engine.objects import check_objects, object_class, object_getter, object_maker
from dbbench.errors import Unsupported, WrongAnswer
from dbbench.suite.dataset import Dataset
from dbbench.suite.model import Tier
from dbbench.suite.steps.objects import ObjectStep
from dbbench.suite.values import Pattern
from dbbench.testing.suite_text import suite_text
from dbbench.workloads import objects
from dbbench.workloads.context import StepContext
from tests.tables import one_table, table_of
from tests.unit.refused import refused

MOMENTS = {"kind": "moments", "first": "2011-11-02T12:00:00"}
TABLE = table_of(
    {
        "Id": {"type": "bigint", "values": {"kind": "sequence", "start": 0}},
        "Text": {"type": "varchar(40)", "values": {"kind": "pattern", "text": "ab #", "repeat": 10}},
        "Made": {"type": "datetime", "values": {**MOMENTS, "seconds": -3600}},
        "Seen": {"type": "datetime", "values": {**MOMENTS, "seconds": 60, "null_every": 4}},
    },
    rows=40,
)
DATASET = Dataset(seed=1, tables={"Thing": TABLE})
ROW = (3, "text", "2011-11-02 12:00:00", None)


class Ticks:
    """A clock that is as late as it was told to be."""

    def __init__(self) -> None:
        self.now = 0

    def __call__(self) -> int:
        return self.now


class FakeCursor:
    """A driver's: 100 ns to execute, 30 to fetch."""

    def __init__(self, clock: Ticks, rows: dict[Any, Any]) -> None:
        self.clock, self.rows = clock, rows

    def execute(self, keys: Any) -> Self:
        self.clock.now += 100
        self.keys = list(self.rows) if keys is None else keys
        return self

    def fetchall(self) -> list[Any]:
        self.clock.now += 30
        return [self.rows[key] for key in self.keys if key in self.rows]


class FakeSession(Session):
    """An access layer that takes 70 ns of its own for each call."""

    closed = 0

    def __init__(self, clock: Ticks, rows: dict[Any, Any], forgotten: list[str]) -> None:
        self.clock, self.forgotten = clock, forgotten
        self.cursor: Any = FakeCursor(clock, rows)

    def prepare_get(self, name: str, table: Any) -> Callable[[Any], Any]:
        many = self.prepare_get_many(name, table)
        return lambda key: next(iter(many([key])), None)

    def prepare_get_many(self, name: str, table: Any) -> Callable[[Any], list[Any]]:
        made = object_maker(name, table, {})

        def get_many(keys: Any) -> list[Any]:
            self.clock.now += 70
            return list(map(made, self.cursor.execute(keys).fetchall()))

        return get_many

    def watch(self, timer: DriverTimer) -> None:
        self.cursor = timer.over(self.cursor)

    def forget(self) -> None:
        self.forgotten.append("forgotten")

    def close(self) -> None:
        FakeSession.closed += 1


class FakeEngine(Engine):
    name = "fake"
    title = "Fake"
    durability = {tier: {} for tier in Tier}
    session_class = FakeSession

    def __init__(self, setup: Setup, clock: Ticks, rows: dict[Any, Any]) -> None:
        super().__init__(setup)
        self.clock, self.rows = clock, rows
        self.forgotten: list[str] = []
        self.connected = 0

    def connect(self) -> Session:
        self.clock.now += 1_000
        self.connected += 1
        return FakeSession(self.clock, self.rows, self.forgotten)


@pytest.fixture
def clock() -> Ticks:
    return Ticks()


@pytest.fixture
def bench(tmp_path: Path, clock: Ticks, monkeypatch: pytest.MonkeyPatch) -> Callable[..., StepContext]:
    monkeypatch.setattr(FakeSession, "closed", 0)
    files = materialise(DATASET)
    rows = {row["Id"]: tuple(row.values()) for row in files.table("Thing").to_pylist()}

    def made(**changed: Any) -> StepContext:
        engine = FakeEngine(Setup(tmp_path, Tier.MEMORY), clock, {**rows, **changed.get("rows", {})})
        return StepContext(engine, engine.connect(), DATASET.tables, files, {})

    return made


def step(**said: Any) -> ObjectStep:
    return ObjectStep.model_validate(
        {"kind": "objects", "name": "s", "title": "S", "table": "Thing", "operation": "get", "count": 10, **said}
    )


# Objects


def test_an_object_has_the_columns_as_members() -> None:
    thing = object_maker("Thing", TABLE, {})(ROW)
    assert (thing.Id, thing.Text, thing.Made, thing.Seen) == ROW
    assert type(thing) is object_class("Thing", ("Id", "Text", "Made", "Seen"))
    assert not hasattr(thing, "__dict__")


def test_text_of_a_driver_becomes_a_moment_and_null_stays() -> None:
    thing = object_maker("Thing", TABLE, {"datetime": "text"})(ROW)
    assert thing.Made == datetime.datetime(2011, 11, 2, 12)
    assert thing.Seen is None


def test_a_getter_gives_none_for_no_row() -> None:
    get = object_getter("Thing", TABLE, {"datetime": "text"}, {3: ROW}.get)
    assert get(3).Made == datetime.datetime(2011, 11, 2, 12)
    assert get(4) is None


@pytest.mark.parametrize(
    ("changed", "what"),
    [
        ({"Made": "2011-11-02 12:00:00"}, "Made is '2011"),
        ({"Made": datetime.date(2011, 11, 2)}, "Made"),
        ({"Seen": datetime.datetime(2011, 1, 1)}, "Seen"),
        ({"Text": "other"}, "Text is 'other' instead of 'text'"),
        ({"Text": None}, "Text"),
        ({"Id": 4}, "not asked for"),
    ],
)
def test_a_wrong_object_is_found(changed: dict[str, Any], what: str) -> None:
    row = (3, "text", datetime.datetime(2011, 11, 2, 12), None)
    made = object_maker("Thing", TABLE, {})
    check_objects([made(row)], {3: row}, TABLE)
    thing = made(row)
    for name, value in changed.items():
        setattr(thing, name, value)
    with pytest.raises(WrongAnswer, match=what):
        check_objects([thing], {3: row}, TABLE)


@pytest.mark.parametrize(
    ("kind", "wanted", "right", "wrong"),
    [
        ("real", 0.1, 0.1 * (1 + 5e-7), 0.1 * (1 + 2e-6)),
        ("double", 0.1, 0.1 * (1 + 5e-13), 0.1 * (1 + 2e-12)),
        ("decimal(9, 2)", Decimal("9999999.99"), Decimal("9999999.990"), Decimal("9999999.98")),
        ("decimal(9, 2)", Decimal("9999999.99"), 9999999.991, 9999999.97),
    ],
)
def test_fractions_are_as_near_as_in_an_answer(kind: str, wanted: Any, right: Any, wrong: Any) -> None:
    table = table_of({"Id": "bigint", "Price": kind})
    made = object_maker("Thing", table, {})
    check_objects([made((1, right))], {1: (1, wanted)}, table)
    with pytest.raises(WrongAnswer, match="Price is"):
        check_objects([made((1, wrong))], {1: (1, wanted)}, table)


def test_a_decimal_that_a_layer_makes_of_the_bases_float_is_as_near() -> None:
    table, right = table_of({"Id": "bigint", "Price": "decimal(16, 2)"}), Decimal("82992118469070.32")
    thing = object_maker("Thing", table, {})((1, Decimal("82992118469070.31")))
    context = Mock()
    context.engine.base_engine.session_class.bind = {"decimal": "float"}
    objects._compare([thing], {1: (1, right)}, table, context)
    context.engine.base_engine.session_class.bind = {}
    with pytest.raises(WrongAnswer, match="Price is"):
        objects._compare([thing], {1: (1, right)}, table, context)


def test_a_missing_and_a_doubled_object_are_found() -> None:
    row = (3, "text", datetime.datetime(2011, 11, 2, 12), None)
    thing = object_maker("Thing", TABLE, {})(row)
    with pytest.raises(WrongAnswer, match="1 objects are missing"):
        check_objects([], {3: row}, TABLE)
    with pytest.raises(WrongAnswer, match="twice"):
        check_objects([thing, thing], {3: row}, TABLE)


# The data


def test_moments_follow_one_another_and_some_are_missing() -> None:
    files = materialise(DATASET)
    table = files.table("Thing")
    first = datetime.datetime(2011, 11, 2, 12)
    assert table["Made"].to_pylist()[:3] == [first - datetime.timedelta(hours=number) for number in range(3)]
    seen = table["Seen"].to_pylist()
    assert [number for number, moment in enumerate(seen) if moment is None] == list(range(3, 40, 4))
    assert seen[4] == first + datetime.timedelta(minutes=4)
    assert {len(text) for text in table["Text"].to_pylist()} == {40}
    assert files.manifest["tables"]["Thing"]["columns"]["Seen"]["min"] == "2011-11-02 12:00:00"


def test_a_pattern_repeated_beyond_its_column_is_refused() -> None:
    assert Pattern(kind="pattern", text="ab", repeat=2).repeat == 2
    data = one_table("T", 1, 'Text: {type: varchar(9), values: {kind: pattern, text: "ab", repeat: 5}}')
    text = suite_text("s", data, "- {kind: objects, name: o, title: O, table: U, operation: get}")
    said = str(refused(text))
    assert "at most 9 characters" in said
    assert "one of the tables T" in said


def test_a_query_for_many_has_no_warm_map() -> None:
    with pytest.raises(ValidationError, match="always asks the database"):
        step(operation="get_many", identity_map="warm")


# The step


def test_a_figure_is_that_of_an_object_and_its_parts_are_the_drivers(bench: Any, clock: Ticks) -> None:
    made = bench()
    found = objects.measure(step(), made, clock)
    assert found.value == pytest.approx(200e-9)
    assert found.facts["parts"] == pytest.approx({"execute": 100e-9, "fetch": 30e-9, "materialise": 70e-9})
    assert found.facts["connect"] == pytest.approx(1e-6)
    assert found.facts["prepare"] == pytest.approx(200e-9)
    assert found.facts["times"]["service time"]["count"] == 50
    assert (len(found.samples), len(found.warm_up)) == (5, 1)
    objects.check(step(), made)
    assert FakeSession.closed == made.engine.connected - 1  # all but the trial's own


@pytest.mark.parametrize(
    "said", [{"count": 10, "iterations": 4}, {"operation": "get_many", "count": None, "iterations": 40}]
)
def test_first_calls_that_differ_are_told(said: Any, bench: Any, clock: Ticks) -> None:
    made = bench()
    prepare, calls = type(made.session).prepare_get_many, itertools.count(1)

    def slow_first(name: str, table: Any) -> Any:
        many = prepare(made.session, name, table)

        def run(keys: Any) -> Any:
            clock.now += 200 if next(calls) <= 4 else 0
            return many(keys)

        return run

    made.session.prepare_get_many = slow_first
    found = objects.measure(step(warm_up=0, **said), made, clock)
    assert found.facts["first_calls"] == pytest.approx(2, abs=0.01)


def test_a_query_for_many_is_shared_among_its_objects(bench: Any, clock: Ticks) -> None:
    made = bench()
    for said, count in (({"count": 10}, 10), ({"count": None}, 40)):
        found = objects.measure(step(operation="get_many", **said), made, clock)
        assert found.value == pytest.approx(200e-9 / count)
        assert found.facts["objects"] == count
        objects.check(step(operation="get_many", **said), made)


def test_each_pass_forgets_what_it_was_given(bench: Any, clock: Ticks) -> None:
    made = bench()
    objects.measure(step(warm_up=0, iterations=1), made, clock)
    assert len(made.engine.forgotten) == 2  # the pass, and the one that is watched


def test_with_a_warm_map_the_objects_have_been_loaded_before(bench: Any, clock: Ticks) -> None:
    made = bench()
    asked: list[Any] = []
    prepare = made.session.prepare_get

    def counted(name: str, table: Any) -> Any:
        get = prepare(name, table)
        return lambda key: (asked.append(key), get(key))[1]

    made.session.prepare_get = counted
    objects.measure(step(identity_map="warm", warm_up=0, iterations=1), made, clock)
    assert len(asked) == 20
    assert asked[:10] == asked[10:]


def test_a_driver_that_nobody_sees_leaves_a_figure_without_parts(
    bench: Any, clock: Ticks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FakeSession, "watch", Mock(side_effect=Unsupported("nobody sees its driver")))
    made = bench()
    found = objects.measure(step(), made, clock)
    assert found.value == pytest.approx(200e-9)
    assert found.facts["parts"] == {}
    assert found.facts["not_parted"] == "nobody sees its driver"
    assert FakeSession.closed == made.engine.connected - 1


def test_a_wrong_object_of_an_engine_is_a_wrong_answer(bench: Any) -> None:
    moment = datetime.datetime(2000, 1, 1)
    with pytest.raises(WrongAnswer, match="object 7: Text is 'x'"):
        objects.check(step(count=None), bench(rows={7: (7, "x", moment, None)}))
    with pytest.raises(WrongAnswer, match="which no row has"):
        objects.check(step(count=3), bench(rows={40: (40, "x", moment, None)}))


@pytest.mark.parametrize("call", [objects.measure, objects.check])
def test_objects_that_are_swapped_are_wrong_if_each_is_got_by_its_key(bench: Any, call: Callable[..., Any]) -> None:
    made = bench()
    rows = made.engine.rows
    rows[7], rows[8] = rows[8], rows[7]
    call(step(operation="get_many", count=None), made)
    with pytest.raises(WrongAnswer, match=r"the key (7 gave the object 8|8 gave the object 7)"):
        call(step(count=None), made)


def test_what_the_watch_takes_itself_is_not_the_drivers() -> None:
    class Slow(Ticks):
        def __call__(self) -> int:
            self.now += 10  # each reading takes as long
            return self.now

    clock = Slow()
    timer = DriverTimer(clock)
    shown, taken = timer.own
    assert shown == 10
    assert taken >= 10


# The report


def test_parts_are_the_median_shares_of_the_rounds() -> None:
    shares = {"execute": 2.0, "fetch": 1.0, "materialise": 1.0}
    rounds = [
        {"connect": connect, "prepare": 2e-3, "parts": {name: times * share for name, share in shares.items()}, "not_parted": ""}
        for connect, times in ((1e-3, 1), (3e-3, 2))
    ]  # fmt: skip
    found = parts(8.0, rounds)
    assert found is not None
    assert found.parts == pytest.approx({"execute": 4.0, "fetch": 2.0, "materialise": 2.0})
    assert found.connect == pytest.approx(2e-3)
    assert parts(None, rounds) is None
    assert parts(8.0, [{"rows": 1}]) is None


def test_no_parts_where_they_could_not_be_told_apart() -> None:
    found = parts(8.0, [{"connect": 1.0, "prepare": 1.0, "parts": {}, "not_parted": "why"}])
    assert found is not None
    assert (found.parts, found.why) == ({}, "why")


def test_a_decimal_may_be_a_float() -> None:
    table = table_of({"Id": "bigint", "Price": "decimal(9, 2)"})
    check_objects([object_maker("Thing", table, {"decimal": "float"})((1, "0.25"))], {1: (1, Decimal("0.25"))}, table)
    with pytest.raises(WrongAnswer, match="Price"):
        check_objects([object_maker("Thing", table, {})((1, "0.25"))], {1: (1, Decimal("0.25"))}, table)
