"""What holds for every SQL engine: types, transactions, loads, queries, sizes, and a whole trial."""

from __future__ import annotations

import datetime
import threading
from collections.abc import Iterable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, get_args

import pyarrow as pa
import pytest

from dbbench.clients import drive
from dbbench.datasets import rows
from dbbench.datasets.generate import arrow_schema
from dbbench.engine import Engine, Form, Session, Taken
from dbbench.errors import Unsupported
from dbbench.job import Job
from dbbench.outcome import Outcome
from dbbench.schema import Table
from dbbench.sql import Retry, SQLEngine, fetch
from dbbench.sql_keyvalue import TABLE
from dbbench.suite import Clients
from dbbench.testing.contract import EngineContract, Opener, WholeTrial
from dbbench.verify import check_batches, check_rows

_ANY = {"kind": "sequence"}  # the kit brings its own values

#: Every type, and names that are reserved words in most systems.
KINDS = Table.model_validate(
    {
        "rows": 4,
        "primary_key": "Id",
        "indexes": ["Select"],
        "columns": {
            "Id": {"type": "integer", "values": _ANY},
            "Select": {"type": "bigint", "values": _ANY},
            "Real": {"type": "real", "values": _ANY},
            "Double": {"type": "double", "values": _ANY},
            "Money": {"type": "currency", "values": _ANY},
            "Small": {"type": "decimal(9, 2)", "values": _ANY},
            "Letter": {"type": "char(3)", "values": _ANY},
            "Text": {"type": "varchar(40)", "values": _ANY},
            "Day": {"type": "date", "values": _ANY},
            "Moment": {"type": "datetime", "values": _ANY},
        },
    }
)
TABLES: Mapping[str, Table] = {"Order": KINDS}

_COLUMNS: dict[str, list[Any]] = {
    "Id": [1, 2, 3, 2**31 - 1],
    "Select": [0, -1, 2**62, -(2**62)],
    "Real": [0.5, -1.25, 1024.0, 0.0],
    "Double": [0.1, -1e100, 1e-100, 0.0],
    "Money": [Decimal("0.0001"), Decimal("-123456789.9999"), Decimal("100.5000"), Decimal("0.0000")],
    "Small": [Decimal("0.01"), Decimal("-9999999.99"), Decimal("5.00"), Decimal("1.10")],
    "Letter": ["USD", "a", "'", '"'],
    "Text": ["plain", "it's \"quoted\" and a % _ ;", "Zürich – 東京", "x" * 40],
    "Day": [datetime.date(2004, 2, 29), datetime.date(1970, 1, 1), datetime.date(1999, 12, 31), datetime.date(2038, 1, 20)],
    "Moment": [datetime.datetime(2004, 2, 29), datetime.datetime(1970, 1, 1), datetime.datetime(1999, 12, 31), datetime.datetime(2038, 1, 20)],
}  # fmt: skip
BATCH = pa.record_batch(
    [pa.array(_COLUMNS[field.name], field.type) for field in arrow_schema(KINDS)], schema=arrow_schema(KINDS)
)

_SUITE = """
dbbench: 1
name: kit
title: Conformance
description: A whole trial on very little data.
datasets:
  kit:
    tables:
      Parent:
        rows: 50
        primary_key: Id
        columns:
          Id: {{type: integer, values: {{kind: sequence}}}}
          Name: {{type: varchar(12), values: {{kind: pattern, text: "name-#####"}}}}
      Child:
        rows: 40000
        primary_key: Id
        indexes: [ParentId]
        columns:
          Id: {{type: integer, values: {{kind: sequence}}}}
          ParentId: {{type: integer, values: {{kind: reference, table: Parent}}}}
          Price: {{type: currency, values: {{kind: quantiles, points: {{0: 1, 1: 100}}, step: 0.01}}}}
          Day: {{type: datetime, values: {{kind: days, first: 2020-01-01, last: 2020-12-31}}}}
      Weights:
        rows: 40000
        primary_key: Id
        columns:
          Id: {{type: integer, values: {{kind: sequence}}}}
          # Added up in 4 bytes, so many of them come out wrong.
          Weight: {{type: real, values: {{kind: quantiles, points: {{0: 0.1, 1: 30}}, step: 0.1}}}}
scenarios:
  - name: kit
    title: Kit
    dataset: kit
    durability: {tier}
    steps:
      - {{kind: load, name: load, title: Load}}
      - {{kind: size, name: size, title: Size}}
      - kind: query
        name: sums
        title: Sums
        sql: SELECT A.Name, SUM(B.Price) FROM Parent A INNER JOIN Child B ON A.Id = B.ParentId GROUP BY A.Name ORDER BY A.Name
        read: Total
        answer:
          table: Parent
          join: [{{table: Child, column: Child.ParentId, equals: Parent.Id}}]
          group_by: [Parent.Name]
          sum: {{Total: Child.Price}}
          select: [Parent.Name, Total]
          order_by: [Parent.Name]
      - kind: query
        name: wide
        title: Wide
        sql: SELECT * FROM Child
        read: Child.Price
        answer: {{table: Child, select: [Child.Id, Child.ParentId, Child.Price, Child.Day]}}
      - kind: statement
        name: insert
        title: Insert
        sql: INSERT INTO Parent (Id, Name) SELECT MAX(Id) + 1, 'new' FROM Parent
        iterations: 3
        adds: {{table: Parent}}
        check: {{sql: SELECT Name FROM Parent WHERE Id = 54, columns: [Parent.Name], rows: [[new]]}}
      - {{kind: churn, name: churn, title: Churn, table: Child, share: 0.1, passes: 2}}
      - kind: query
        name: cold
        title: Cold
        sql: SELECT Price FROM Child
        cache: cold
        iterations: 2
        read: Child.Price
        answer: {{table: Child, select: [Child.Price]}}
"""


#: Seconds for which a transaction waits for the other to come so far: longer than most engines' own limits for a lock,
#: so that these limits are met. One that waits longer gets the lock then.
_PATIENCE = 15.0


class SQLContract(EngineContract):
    """The whole kit for an engine that speaks SQL."""

    def tidy(self, engine: Engine) -> None:
        """Drop the kits' tables."""
        engine.open()
        sql_engine(engine).drop([*TABLES, TABLE])
        engine.close()

    @pytest.fixture
    def loaded(self, opened: Opener) -> tuple[SQLEngine, Session]:
        """An engine with the kit's table in it, and a session."""
        return filled(opened())

    def test_speaks_sql(self, engine_class: type[Engine]) -> None:
        assert issubclass(engine_class, SQLEngine)
        assert engine_class.dialect
        assert engine_class.session_class.takes in get_args(Taken)
        assert engine_class.session_class.gives in get_args(Form)

    def test_keeps_every_type(self, loaded: tuple[SQLEngine, Session]) -> None:
        engine, session = loaded
        check(engine, session, "SELECT * FROM Order ORDER BY Id", pa.Table.from_batches([BATCH]))

    def test_a_prepared_query_can_be_run_again(self, loaded: tuple[SQLEngine, Session]) -> None:
        engine, session = loaded
        run = session.prepare_query(engine.sql.translate("SELECT Id FROM Order ORDER BY Id", TABLES))  # type: ignore[attr-defined]
        expected = pa.table({"Id": BATCH.column("Id")})
        for _ in range(3):
            compare(session, run(), expected)

    def test_a_query_read_in_part_hinders_no_other(self, loaded: tuple[SQLEngine, Session]) -> None:
        engine, session = loaded
        run = session.prepare_query(engine.sql.translate("SELECT Id FROM Order ORDER BY Id", TABLES))  # type: ignore[attr-defined]
        next(iter(run()))
        check(engine, session, "SELECT Text FROM Order ORDER BY Id", pa.table({"Text": BATCH.column("Text")}))

    def test_a_query_without_rows_ends(self, loaded: tuple[SQLEngine, Session]) -> None:
        engine, session = loaded
        assert fetch(session, engine.sql.translate("SELECT Id FROM Order WHERE Id = 0", TABLES)) == []

    def test_a_statement_commits_by_itself(self, loaded: tuple[SQLEngine, Session]) -> None:
        engine, session = loaded
        statement = "INSERT INTO Order (Id, Text) SELECT MAX(Id) - 1, 'added' FROM Order"
        run = session.prepare_statement(engine.sql.translate(statement, TABLES))  # type: ignore[attr-defined]
        run()
        session.close()
        other = engine.connect()
        assert count(engine, other) == 5
        other.close()

    def test_a_prepared_statement_can_be_run_again(self, loaded: tuple[SQLEngine, Session]) -> None:
        engine, session = loaded
        statement = "INSERT INTO Order (Id, Text) SELECT MAX(Id) - COUNT(*), 'added' FROM Order WHERE Id > 3"
        run = session.prepare_statement(engine.sql.translate(statement, TABLES))  # type: ignore[attr-defined]
        for _ in range(3):
            run()
        assert count(engine, session) == 7

    def test_a_statement_that_returns_rows_is_known(self, loaded: tuple[SQLEngine, Session]) -> None:
        """They would be read by nobody, so that some systems don't even look for them (`Session.returned_rows`)."""
        engine, session = loaded
        delete, select = "DELETE FROM Order WHERE Id = 1", "SELECT Text FROM Order"
        for sql, told in ((delete, False), (select, True)):
            given = session.prepare_statement(engine.sql.translate(sql, TABLES))()  # type: ignore[attr-defined]
            assert session.returned_rows(given) == told, sql
        session.close()

    def test_a_failed_statement_raises(self, loaded: tuple[SQLEngine, Session]) -> None:
        engine, session = loaded
        with pytest.raises(Exception, match=r"."):  # each driver has its own
            session.prepare_statement("INSERT INTO nowhere VALUES (1)")()  # type: ignore[attr-defined]
        session.close()
        assert count(engine, engine.connect()) == 4

    def test_a_load_without_commit_is_gone(self, opened: Opener) -> None:
        """Or it is there, if the engine lacks transactions."""
        engine = sql_engine(opened())
        engine.create(TABLES)
        session = engine.connect()
        insert = session.prepare_load("Order", KINDS)  # type: ignore[attr-defined]
        session.begin()
        insert(chunk(session, BATCH))
        session.close()
        other = engine.connect()
        assert count(engine, other) == (BATCH.num_rows if "transactions" in engine.lacks else 0)
        other.close()

    def test_transactions_in_each_others_way_are_known_and_made_again(self, loaded: tuple[SQLEngine, Session]) -> None:
        """Two that change the same two rows in opposite orders: what ends one of them is known as a reason to try again.

        Both come to pass in the end, each as a whole. So they do where the system has one wait until the other is done.
        """
        engine, _ = loaded
        if "transactions" in engine.lacks or engine.concurrency.threads == 1:
            return
        opposed = _Opposed(engine)
        opposed.run()
        assert opposed.unknown == [], "if these are reasons to try again, let the session's `retried` say which"
        assert set(opposed.reasons) <= set(get_args(Retry))
        session = engine.connect()
        session.begin_reading()  # type: ignore[attr-defined]
        one, two = fetch(session, engine.sql.translate("SELECT Text FROM Order WHERE Id < 3 ORDER BY Id", TABLES))
        session.commit()
        session.close()
        assert one == two
        assert one[0] in ("by 0", "by 1")

    def test_what_is_rolled_back_is_gone_and_the_session_goes_on(self, loaded: tuple[SQLEngine, Session]) -> None:
        engine, _ = loaded
        if "transactions" in engine.lacks:
            return
        session: Any = engine.connect()
        value = engine.sql.placeholder
        delete = session.prepare_call(engine.sql.translate(f"DELETE FROM Order WHERE Id = {value}", TABLES), 0)
        find = session.prepare_rows(engine.sql.translate(f"SELECT Id, Text FROM Order WHERE Id = {value}", TABLES))
        for _ in range(2):
            session.begin()
            delete(1)
            session.rollback()
        session.begin_reading()
        assert [tuple(row) for row in find(1)] == [(1, "plain")]
        session.commit()
        session.begin()
        delete(1)
        session.commit()
        session.close()
        assert count(engine, engine.connect()) == 3

    def test_statistics_grow_with_what_is_done(self, loaded: tuple[SQLEngine, Session]) -> None:
        engine, _ = loaded
        before = engine.statistics()
        assert all(isinstance(number, int) and number >= 0 for number in before.values())
        session: Any = engine.connect()
        for key in (1, 2):
            session.prepare_statement(engine.sql.translate(f"DELETE FROM Order WHERE Id = {key}", TABLES))()
        session.close()
        after = engine.statistics()
        assert after.keys() == before.keys()
        if "deletes" in after:
            assert after["deletes"] - before["deletes"] == 2

    def test_a_key_is_kept_unique(self, loaded: tuple[SQLEngine, Session]) -> None:
        """Or a second row with it is taken, if the engine lacks unique keys."""
        engine, session = loaded
        if "unique keys" in engine.lacks:
            load(session, [BATCH.slice(0, 1)])
            assert count(engine, session) == BATCH.num_rows + 1
            return
        with pytest.raises(Exception, match=r"."):  # each driver has its own
            load(session, [BATCH.slice(0, 1)])

    def test_makes_an_index_for_each_that_a_table_asks_for(self, opened: Opener) -> None:
        """Or none, if the engine lacks indexes."""
        engine = sql_engine(opened())
        assert len(engine.sql.create_indexes("Order", KINDS)) == (0 if "indexes" in engine.lacks else 1)

    def test_tells_of_its_indexes_as_they_are(self, opened: Opener) -> None:
        """By the system's catalogue, where the engine knows how to ask it: none before they are made."""
        engine = sql_engine(opened())
        engine.create(TABLES)
        session: Any = engine.connect()
        before = session.indexed("Order")
        if before is not None and "indexes" not in engine.lacks:
            assert "Select" not in before
            for statement in session.create_indexes(TABLES):
                session.execute(statement)
            assert "Select" in session.indexed("Order")
        session.close()

    def test_has_the_sync_settings_that_it_promises(self, opened: Opener) -> None:
        """Asked of a session, where the engine knows how to ask."""
        engine = sql_engine(opened())
        promised = engine.durability[engine.tier]
        assert engine.sync_queries.keys() <= promised.keys()
        session = engine.connect()
        for name, query in engine.sync_queries.items():
            ((found,),) = fetch(session, query)
            assert found is None or str(found) == str(promised[name])
        session.close()

    def test_what_was_committed_is_there_after_reopening(self, opened: Opener) -> None:
        engine, session = filled(opened("own"))
        session.close()
        engine.flush()
        engine.close()
        again = sql_engine(opened("own"))
        other = again.connect()
        check(again, other, "SELECT * FROM Order ORDER BY Id", pa.Table.from_batches([BATCH]))
        other.close()

    @pytest.mark.parametrize("what", ["threads", "processes"])
    def test_serves_as_many_clients_as_it_says(self, loaded: tuple[SQLEngine, Session], what: str) -> None:
        """Two at once, with a statement over which they can't get into each other's way; or it refuses them."""
        engine, session = loaded
        job = Job("statement", (engine.sql.translate("DELETE FROM Order WHERE Id = -1", TABLES),), warm_up=1, calls=20)
        clients = Clients.model_validate({what: 2})
        if (getattr(engine.concurrency, what) or 2) < 2:
            with pytest.raises(Unsupported, match=what):
                drive(engine, session, job, clients)
        else:
            assert drive(engine, session, job, clients).service.count == 40
        assert count(engine, session) == BATCH.num_rows

    def test_has_a_size(self, loaded: tuple[SQLEngine, Session]) -> None:
        engine, _ = loaded
        engine.flush()
        size = engine.size()
        assert size.total > 0
        assert all(not Path(file.name).is_absolute() and file.apparent >= 0 for file in size.files)
        assert size.index is None or 0 < size.index < size.total

    def test_a_whole_trial_is_right(self, whole_trial: WholeTrial) -> None:
        """With every answer checked."""
        result = whole_trial(_SUITE)
        *steps, cold = result.steps
        assert [(step.name, step.outcome, step.detail) for step in steps] == [
            (name, Outcome.OK, "") for name in ("load", "size", "sums", "wide", "insert", "churn")
        ]
        # An engine without files is refused; one with files lets go of them when it is closed.
        assert cold.outcome in (Outcome.OK, Outcome.UNSUPPORTED), cold.detail
        assert "keeps files open" not in cold.facts.get("why", "")


class _Opposed:
    """Two threads with a transaction each; both hold a row when they ask for the other's, if the system lets them."""

    TRIES = 50

    def __init__(self, engine: SQLEngine) -> None:
        value = engine.sql.placeholder
        self.update = engine.sql.translate(f"UPDATE Order SET Text = {value} WHERE Id = {value}", TABLES)
        self.sessions: list[Any] = [engine.connect(), engine.connect()]
        self.there = [threading.Event(), threading.Event()]
        self.reasons: list[str] = []
        self.unknown: list[Exception] = []

    def run(self) -> None:
        """Both, to their ends."""
        threads = [threading.Thread(target=self._work, args=(number,)) for number in (0, 1)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for session in self.sessions:
            session.close()

    def _work(self, number: int) -> None:
        session = self.sessions[number]
        try:
            call = session.prepare_call(self.update, 0)
            for _ in range(self.TRIES):
                try:
                    self._transaction(session, call, number)
                except Exception as exc:
                    reason = session.retried(exc)
                    session.rollback()
                    if reason is None:
                        raise
                    self.reasons.append(reason)
                else:
                    return
                finally:
                    self.there[number].set()
            self.unknown.append(TimeoutError(f"not done after {self.TRIES} tries"))
        except Exception as exc:
            self.unknown.append(exc)

    def _transaction(self, session: Any, call: Any, number: int) -> None:
        session.begin()
        call(f"by {number}", 1 + number)
        self.there[number].set()
        self.there[1 - number].wait(_PATIENCE)
        call(f"by {number}", 2 - number)
        session.commit()


def sql_engine(engine: Engine) -> SQLEngine:
    """The engine, known to speak SQL."""
    assert isinstance(engine, SQLEngine)
    return engine


def filled(engine: Engine) -> tuple[SQLEngine, Session]:
    """The engine with the kit's table in it, and a session."""
    made = sql_engine(engine)
    made.create(TABLES)
    session = made.connect()
    load(session, [BATCH.slice(0, 3), BATCH.slice(3)])
    return made, session


def chunk(session: Session, batch: pa.RecordBatch) -> Any:
    """A batch in the form that the session takes."""
    return rows.chunk(batch, KINDS, session.takes, session.bind)


def load(session: Any, batches: Iterable[pa.RecordBatch]) -> None:
    """Load some batches in one transaction."""
    insert = session.prepare_load("Order", KINDS)
    session.begin_load(TABLES)
    for batch in batches:
        insert(chunk(session, batch))
    for run in session.prepare_finish(TABLES).values():
        run()


def count(engine: SQLEngine, session: Session) -> int:
    """Rows in the kit's table."""
    ((found,),) = fetch(session, engine.sql.translate("SELECT COUNT(*) FROM Order", TABLES))
    return int(found)


def check(engine: SQLEngine, session: Any, sql: str, expected: pa.Table) -> None:
    """Run a query and compare every row, in order."""
    compare(session, session.prepare_query(engine.sql.translate(sql, TABLES))(), expected)


def compare(session: Session, given: Any, expected: pa.Table) -> None:
    """Compare what a query gave; text and bytes in place of other types must be declared (`Session.reads`)."""
    compare_with = check_rows if session.gives == "rows" else check_batches
    compare_with(given, expected, ordered=True, declared=session.declared)
