"""Objects by key as a trial loads them, against loops written by hand that make the same objects; in turns, the best."""

import datetime
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

import pytest

from dbbench.datasets.cache import materialise
from dbbench.engine import registry
from dbbench.engine.base import Setup
from dbbench.engine.objects import object_class
from dbbench.errors import Unavailable
from dbbench.suite.loader import load_suite
from dbbench.suite.model import Tier
from dbbench.suite.steps.objects import ObjectStep
from dbbench.workloads import load, objects
from dbbench.workloads.context import StepContext

AT_MOST = 1.05
COUNT, PAIRS = 2_000, 15
SUITE = Path(__file__).resolve().parents[1] / "scenarios" / "dbbench_scenarios" / "object-load.yaml"
NAME = "Object13"


@pytest.fixture(autouse=True)
def _one_processor() -> Iterator[None]:
    """A server and its client on one processor: on two, a call takes twice as long in one minute as in the next."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    yield
    os.sched_setaffinity(0, allowed)


@pytest.fixture
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[StepContext]:
    suite = load_suite(SUITE)
    dataset = next(iter(suite.datasets.values()))
    (tmp_path / "data").mkdir(mode=0o700)
    try:
        engine = registry.load(request.param)(Setup(tmp_path / "data", Tier.MEMORY))
    except Unavailable as exc:
        pytest.skip(f"{request.param}: {exc.reason}")
    engine.open()
    try:
        engine.create(dataset.tables)
        made = StepContext(engine, engine.connect(), dataset.tables, materialise(dataset), {})
        made.data.accept(suite.scenarios[0].steps[0], load.measure(suite.scenarios[0].steps[0], made))  # type: ignore[arg-type]
        yield made
        made.session.close()
    finally:
        engine.close()


def step() -> ObjectStep:
    return ObjectStep(
        kind="objects", name="s", title="S", table=NAME, operation="get", count=COUNT, warm_up=0, iterations=1
    )


def sqlite(bench: StepContext, keys: list[int]) -> None:
    table = bench.tables[NAME]
    made, parse = object_class(NAME, tuple(table.columns)), datetime.datetime.fromisoformat
    columns = ", ".join(f'"{name}"' for name in table.columns)
    sql = f'SELECT {columns} FROM "{NAME}" WHERE "Id" = ?'
    execute = bench.session.connection.execute
    for key in keys:
        row = execute(sql, (key,)).fetchone()
        if row is not None:
            made(
                row[0],
                row[1],
                None if row[2] is None else parse(row[2]),
                None if row[3] is None else parse(row[3]),
                *row[4:],
            )


def postgresql(bench: StepContext, keys: list[int]) -> None:
    table = bench.tables[NAME]
    made = object_class(NAME, tuple(table.columns))
    columns = ", ".join(f'"{name}"' for name in table.columns)
    sql = f'SELECT {columns} FROM "{NAME}" WHERE "Id" = %s'
    cursor = bench.session.connection.cursor(binary=True)
    for key in keys:
        cursor.execute(sql, (key,), prepare=True)
        row = cursor.fetchone()
        if row is not None:
            made(*row)


BY_HAND: dict[str, Callable[[Any, Any], None]] = {"sqlite": sqlite, "postgresql": postgresql}


def ours(bench: StepContext) -> float:
    return float(objects.measure(step(), bench).value or 0)


def theirs(bench: StepContext) -> float:
    known = bench.files.table(NAME).column("Id")
    keys = known.take(objects._places(len(known), COUNT, 0)).to_pylist()  # noqa: SLF001 - the same keys in the same order
    by_hand = BY_HAND[bench.engine.name]
    start = perf_counter()
    by_hand(bench, keys)
    return (perf_counter() - start) / COUNT


@pytest.mark.parametrize("bench", BY_HAND, indirect=True)
def test_an_object_costs_what_it_does_by_hand(bench: StepContext) -> None:
    own, other = [], []
    for number in range(PAIRS):
        for turn in (number % 2, 1 - number % 2):
            (other if turn else own).append((theirs if turn else ours)(bench))
    # Whatever else the machine does only adds: so the best of each, taken in turns, says more than their medians.
    ratio = min(own) / min(other)
    print(f"\n  {bench.engine.name}: ratio {ratio:.3f} of {min(other) * 1e6:.2f} us")
    assert ratio <= AT_MOST
