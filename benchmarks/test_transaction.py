"""Transactions and drawn queries on SQLite against the same loops by hand, in turns; and what a drawn parameter takes."""

import gc
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count, islice
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter_ns, process_time_ns
from typing import Any

import numpy as np
import pytest

from dbbench.datasets.cache import materialise
from dbbench.engine import registry
from dbbench.engine.base import Setup
from dbbench.host.collector import collector_off
from dbbench.host.meters import ProcessMeter
from dbbench.host.metric import Metric
from dbbench.loadgen.drawn_parameters import Known
from dbbench.loadgen.histogram import Samples
from dbbench.loadgen.loops import CHUNK, stream
from dbbench.suite.loader import parse_suite
from dbbench.suite.model import Tier
from dbbench.suite.parameters import Parameter
from dbbench.suite.steps.query import QueryStep
from dbbench.suite.steps.transaction import TransactionStep
from dbbench.workloads import transaction
from dbbench.workloads.context import StepContext
from dbbench.workloads.drawn import drawn_calls

#: The aim is 1.05. Of the CPU time 1.034 to 1.048 was seen in eight runs on a busy machine of two cores.
AT_MOST = 1.05 + 0.02
#: Some 0.4 us of 3: a query's call is made through a function, which reads its rows. 1.18 was seen at a load of 10.
DRAWN_AT_MOST = 1.25
NANOSECONDS = 100
#: The two take turns every few milliseconds, so that whatever else the machine does meets both alike.
TURNS, CALLS, ACCOUNTS = 400, 128, 10_000
SUITE = f"""
dbbench: 1
name: bank
title: Bank
description: Bank.
datasets:
  bank:
    tables:
      Account:
        rows: {ACCOUNTS}
        primary_key: Id
        columns:
          Id: {{type: integer, values: {{kind: sequence}}}}
          Balance: {{type: integer, values: {{kind: quantiles, points: {{0: 0, 1: 0}}}}}}
      Booking:
        rows: 1
        primary_key: Id
        columns:
          Id: {{type: integer, values: {{kind: sequence}}}}
          Account: {{type: integer, values: {{kind: reference, table: Account}}}}
          Amount: {{type: integer, values: {{kind: quantiles, points: {{0: 0, 1: 0}}}}}}
scenarios:
  - name: bank
    title: Bank
    dataset: bank
    durability: process
    steps:
      - kind: transaction
        name: transfer
        title: Transfer
        calls: {TURNS * CALLS}
        transactions:
          - name: transfer
            parameters:
              giver: {{draw: Account.Id}}
              taker: {{draw: Account.Id}}
              amount: {{integer: [1, 100]}}
              booking: {{counter: Booking.Id}}
            statements:
              - {{sql: "SELECT Balance FROM Account WHERE Id = :giver", row: [before]}}
              - sql: UPDATE Account SET Balance = Balance - :amount WHERE Id = :giver
              - sql: UPDATE Account SET Balance = Balance + :amount WHERE Id = :taker
              - sql: INSERT INTO Booking (Id, Account, Amount) VALUES (:booking, :taker, :amount)
              - {{sql: "SELECT Balance FROM Account WHERE Id = :taker"}}
      - kind: query
        name: lookup
        title: Look-up
        duration: 1
        sql: SELECT Id, Balance FROM Account WHERE Id = :id
        parameters:
          id: {{draw: Account.Id}}
"""
_SUITE = parse_suite(SUITE, "bank.yaml")
DATASET, (STEP, DRAWN) = _SUITE.datasets["bank"], _SUITE.scenarios[0].steps
assert isinstance(STEP, TransactionStep)
assert isinstance(DRAWN, QueryStep)
PRAGMAS = ("foreign_keys = ON", "page_size = 4096", "cache_size = -65536", "journal_mode = WAL", "synchronous = OFF")


#: CPU time and time of one turn, in nanoseconds.
Turn = Callable[[], tuple[int, int]]


def opened(folder: Path) -> sqlite3.Connection:
    """The two tables, filled."""
    connection = sqlite3.connect(folder / "hand.sqlite", isolation_level=None)
    for pragma in PRAGMAS:
        connection.execute(f"PRAGMA {pragma}")
    connection.execute("CREATE TABLE Account (Id INTEGER NOT NULL, Balance INTEGER, PRIMARY KEY (Id))")
    connection.execute("CREATE TABLE Booking (Id INTEGER NOT NULL, Account INTEGER, Amount INTEGER, PRIMARY KEY (Id))")
    fill(connection)
    return connection


def by_hand(folder: Path) -> Turn:
    """What anyone would write: the values drawn before, each statement with its own."""
    random = np.random.default_rng(1)
    execute = opened(folder).execute
    bookings = count(2)

    def turn() -> tuple[int, int]:
        givers, takers = (random.integers(1, ACCOUNTS + 1, CALLS).tolist() for _ in range(2))
        amounts = random.integers(1, 101, CALLS).tolist()
        values = list(zip(givers, takers, amounts, islice(bookings, CALLS), strict=True))
        used, start = process_time_ns(), perf_counter_ns()
        for giver, taker, amount, booking in values:
            execute("BEGIN IMMEDIATE")
            (before,) = execute("SELECT Balance FROM Account WHERE Id = ?", (giver,)).fetchone()
            execute("UPDATE Account SET Balance = Balance - ? WHERE Id = ?", (amount, giver))
            execute("UPDATE Account SET Balance = Balance + ? WHERE Id = ?", (amount, taker))
            execute("INSERT INTO Booking (Id, Account, Amount) VALUES (?, ?, ?)", (booking, taker, amount))
            execute("SELECT Balance FROM Account WHERE Id = ?", (taker,)).fetchall()
            execute("COMMIT")
        taken = process_time_ns() - used, perf_counter_ns() - start
        assert before is not None
        return taken

    return turn


def drawn_by_hand(folder: Path) -> Turn:
    """The same for a query of one row."""
    random = np.random.default_rng(1)
    execute = opened(folder).execute

    def turn() -> tuple[int, int]:
        values = random.integers(1, ACCOUNTS + 1, CALLS).tolist()
        used, start = process_time_ns(), perf_counter_ns()
        for each in values:
            execute("SELECT Id, Balance FROM Account WHERE Id = ?", (each,)).fetchall()
        return process_time_ns() - used, perf_counter_ns() - start

    return turn


def ours(context: StepContext, step: TransactionStep | QueryStep = STEP) -> Turn:
    """The calls of a trial's one client, in a trial's own loop."""
    calls = transaction.mix_of(step, context) if isinstance(step, TransactionStep) else drawn_calls(step, context)
    work: Any = calls.prepare(context.engine, context.session, 0, 1)
    given = iter(work.given)

    def turn() -> tuple[int, int]:
        meter, taken = ProcessMeter(), Samples()
        stream(work.run, islice(given, CALLS), taken.record, through=work.through, around=meter)
        assert taken.count == CALLS
        return round(meter.usage()[Metric.CPU] * 1e9), taken.total

    return turn


@contextmanager
def context(name: str, folder: Path) -> Iterator[StepContext]:
    engine = registry.load(name)(Setup(folder, Tier.PROCESS))
    engine.open()
    engine.create(DATASET.tables)
    session = engine.connect()
    if not engine.is_null:
        fill(session.connection)  # type: ignore[attr-defined]
    yield StepContext(engine, session, DATASET.tables, materialise(DATASET), {})
    session.close()
    engine.close()


def fill(connection: Any) -> None:
    connection.execute("BEGIN")
    connection.executemany("INSERT INTO Account VALUES (?, 0)", ((number + 1,) for number in range(ACCOUNTS)))
    connection.execute("COMMIT")


@pytest.mark.parametrize(
    ("step", "written", "most"),
    [(STEP, by_hand, AT_MOST), (DRAWN, drawn_by_hand, DRAWN_AT_MOST)],
    ids=["transaction", "drawn query"],
)
def test_calls_on_sqlite(
    tmp_path: Path, step: TransactionStep | QueryStep, written: Callable[[Path], Turn], most: float
) -> None:
    ratios = []
    with collector_off(), context("sqlite", tmp_path) as made:
        hand, mine = written(tmp_path), ours(made, step)
        for number in range(TURNS):
            one, other = (hand(), mine()) if number % 2 else reversed((mine(), hand()))
            ratios.append([each / base for each, base in zip(other, one, strict=True)])
            gc.collect(0)
    for what, found in zip(("CPU time", "time"), zip(*ratios, strict=True), strict=True):
        low, middle, high = quantiles(found)
        print(f"\n  {step.name}: {middle:.3f} of by hand in {what} (half of the turns {low:.3f} to {high:.3f})", end="")
    assert median(cpu for cpu, _ in ratios) <= most


def test_a_transaction_that_does_nothing(tmp_path: Path) -> None:
    """What dbbench itself takes."""
    with collector_off(), context("null", tmp_path) as made:
        mine = ours(made)
        found = [mine()[0] / CALLS for _ in range(TURNS)]
    print(f"\n  {median(found):.0f} ns of CPU time for each transaction on the null engine (at least {min(found):.0f})")


@pytest.mark.parametrize(
    "parameter",
    [
        {"integer": [1, 1_000_000]},
        {"integer": [1, 1_000_000], "distribution": "zipfian"},
        {"integer": [1, 1_000_000], "distribution": "latest"},
        {"date": ["2000-01-01", "2026-12-31"]},
        {"text": "order-########"},
        {"one_of": ["red", "green", "blue"]},
        {"counter": "T.Id"},
    ],
    ids=str,
)
def test_a_drawn_parameter(parameter: dict[str, Any]) -> None:
    """As a Python value, in blocks of as many calls as a client draws at a time."""
    known = Known({}, {"T.Id": 1}, {}, {}, "", 1)
    model = Parameter.model_validate(parameter)
    draw = known.counter("T.Id", 0, 1, 0, 1) if model.counter else known.draw(model)
    chance = np.random.default_rng(1)
    draw(chance, CHUNK).tolist()
    blocks = []
    for _ in range(200):
        start = process_time_ns()
        draw(chance, CHUNK).tolist()
        blocks.append((process_time_ns() - start) / CHUNK)
    print(f"{parameter}: {median(blocks):.0f} ns")
    assert median(blocks) <= NANOSECONDS
