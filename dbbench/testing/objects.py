"""What holds for every engine that gives objects: each member as it was stored, and none where there is none."""

import datetime
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from dbbench.datasets.driver_rows import chunk
from dbbench.datasets.generate import arrow_schema
from dbbench.engine.base import Engine, Session
from dbbench.engine.driver_timer import DriverTimer
from dbbench.engine.objects import check_objects
from dbbench.engine.offered import offers
from dbbench.errors import Unsupported
from dbbench.suite.dataset import Table
from dbbench.testing.clause import clause, expect, expect_equal, left_out
from dbbench.testing.contract import EngineContract, Opener

_ANY = {"kind": "sequence"}  # the kit brings its own values
_MAYBE = {"kind": "moments", "first": "2011-11-02T12:00:00", "seconds": 1, "null_every": 2}

#: Members of the kinds that objects have, with a reserved word among their names.
THINGS = Table.model_validate(
    {
        "rows": 4,
        "primary_key": "Id",
        "columns": {
            "Id": {"type": "bigint", "values": _ANY},
            "Text": {"type": "varchar(2000)", "values": _ANY},
            "Select": {"type": "integer", "values": _ANY},
            "Created": {"type": "datetime", "values": _ANY},
            "Changed": {"type": "datetime", "values": _MAYBE},
            "Price": {"type": "decimal(9, 2)", "values": _ANY},
        },
    }
)
NAME = "Thing"
ROWS: list[tuple[Any, ...]] = [
    (1, "plain", 0, datetime.datetime(2011, 11, 2, 12, 30, 59), None, Decimal("0.25")),
    (2, "Zürich – 東京", -1, datetime.datetime(1970, 1, 1), datetime.datetime(2038, 1, 20), Decimal("-1.50")),
    (7, "it's \"quoted\" and a % _ ; : ? \\", 2**31 - 1, datetime.datetime(1999, 12, 31, 23, 59, 59), None, Decimal("2.00")),
    (2**40, "x" * 2000, -(2**31), datetime.datetime(2004, 2, 29), datetime.datetime(2011, 11, 2, 11), Decimal("-9999999.99")),
]  # fmt: skip
BATCH = pa.record_batch(
    [pa.array(values, field.type) for values, field in zip(zip(*ROWS, strict=True), arrow_schema(THINGS), strict=True)],
    schema=arrow_schema(THINGS),
)
WANTED = {row[0]: row for row in ROWS}
#: A key that no row has, and an order that isn't theirs.
ABSENT, KEYS = 3, [7, 1, 2**40, 2]


@contextmanager
def filled(engine: Engine, name: str = NAME) -> Iterator[Engine]:
    """Engine with the kit's table in it, loaded by the base engine, where one exists; at a URL it is removed then."""
    engine.create({name: THINGS})
    try:
        loading: Any = (engine.base_engine or engine).connect()
        insert = loading.prepare_load(name, THINGS)
        loading.begin()
        insert(chunk(BATCH, THINGS, loading.load_format, loading.bind))
        for run in loading.prepare_finish({name: THINGS}).values():
            run()
        loading.close()
        yield engine
    finally:
        engine.remove({name: THINGS})


class ObjectContract(EngineContract):
    """Inherit it, and say which engine."""

    @pytest.fixture(scope="class")
    @classmethod
    def things(cls, tmp_path_factory: pytest.TempPathFactory, shared: Path | None) -> Iterator[Engine]:
        """An engine with the kit's table in it; one for all tests, since they only read."""
        kit = cls()
        with (
            kit.opening(kit.usable(), tmp_path_factory.mktemp("things"), shared) as open_engine,
            filled(open_engine()) as engine,
        ):
            yield engine

    @pytest.fixture
    def session(self, things: Engine) -> Session:
        """A session of it."""
        return things.connect()

    @clause("objects-and-access-layers")
    def test_gives_objects(self, engine_class: type[Engine]) -> None:
        """Suites of objects ask for one and for many."""
        for operation in ("get", "get_many"):
            expect(
                offers(engine_class, operation), f"expected prepare_{operation} beside the other of the two, got none"
            )

    @clause("objects-and-access-layers")
    def test_gives_every_member(self, session: Any) -> None:
        """A member that changes on its way, or stays away, is a wrong object."""
        get = session.prepare_get(NAME, THINGS)
        for _ in range(2):
            check_objects([get(key) for key in KEYS], WANTED, THINGS)
            session.forget()
        session.close()

    @clause("objects-and-access-layers")
    def test_gives_many_at_once(self, session: Any) -> None:
        """Some of the rows, or all where no keys are named."""
        get_many = session.prepare_get_many(NAME, THINGS)
        for keys in (KEYS, None, KEYS[:2]):
            wanted = {key: WANTED[key] for key in keys or KEYS}
            check_objects(get_many(keys), wanted, THINGS)
            session.forget()
        session.close()

    @clause("objects-and-access-layers")
    def test_a_key_that_is_not_there_has_no_object(self, session: Any) -> None:
        """Expect no object and no error: a benchmark of missing keys needs both."""
        expect_equal(f"object under key {ABSENT}, which no row has", session.prepare_get(NAME, THINGS)(ABSENT), None)
        several = list(session.prepare_get_many(NAME, THINGS)([ABSENT]))
        expect_equal(f"objects under the keys [{ABSENT}]", several, [])
        check_objects(session.prepare_get_many(NAME, THINGS)([ABSENT, 1]), {1: WANTED[1]}, THINGS)
        session.close()

    @clause("objects-and-access-layers")
    def test_an_object_is_whole_when_it_is_given(self, opened: Opener) -> None:
        """A layer that reads a member when it is asked for would do the work off the clock."""
        name = f"Own{NAME}"  # at a URL the other one is there too
        with filled(opened("own"), name) as engine:
            session: Any = engine.connect()
            objects = [*session.prepare_get_many(name, THINGS)(None), session.prepare_get(name, THINGS)(7)]
            session.close()
        engine.close()  # so that no member can be read but what the object holds
        check_objects(objects[:-1], WANTED, THINGS)
        check_objects(objects[-1:], {7: WANTED[7]}, THINGS)

    @clause("objects-and-access-layers")
    def test_an_object_still_held_is_given_again(self, session: Any) -> None:
        """Object from the identity map or read anew, with every member."""
        get = session.prepare_get(NAME, THINGS)
        objects = get(7)
        check_objects([get(7)], {7: WANTED[7]}, THINGS)
        del objects
        session.close()

    @clause("objects-and-access-layers")
    def test_sessions_are_apart(self, things: Engine) -> None:
        """One session's end must not end the other."""
        first, second = (things.connect() for _ in range(2))
        gets: list[Any] = [session.prepare_get(NAME, THINGS) for session in (first, second)]  # type: ignore[attr-defined]
        check_objects([gets[0](1), gets[0](2)], {1: WANTED[1], 2: WANTED[2]}, THINGS)
        first.close()
        check_objects([gets[1](1)], {1: WANTED[1]}, THINGS)
        second.close()

    @clause("objects-and-access-layers")
    def test_its_driver_is_seen(self, things: Engine) -> None:
        """The layer's own share is its time less the driver's."""
        timer = DriverTimer()
        session: Any = things.connect()
        try:
            session.watch(timer)
        except Unsupported as exc:
            session.close()
            left_out(str(exc))
        check_objects(map(session.prepare_get(NAME, THINGS), KEYS), WANTED, THINGS)
        expect(timer.executes >= len(KEYS), f"expected {len(KEYS)} executes for as many gets, got {timer.executes}")
        expect(timer.execute > 0, f"expected time in the driver's execute, got {timer.execute} ns")
        timer.clear()
        session.forget()
        check_objects(session.prepare_get_many(NAME, THINGS)(None), WANTED, THINGS)
        expect(timer.executes, "expected an execute for get_many, got none")
        session.close()
