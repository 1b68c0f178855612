"""What a SQL engine does in transactions: loads, rollbacks, conflicts, keys, several clients."""

import threading
from typing import Any, get_args

from dbbench.engine.operations import Retry
from dbbench.engine.sql.session import SQLEngine, fetch
from dbbench.errors import Unsupported
from dbbench.loadgen.clients import drive
from dbbench.loadgen.job import Job
from dbbench.suite.steps.base import Clients
from dbbench.testing.clause import clause, expect, expect_equal, expect_error, left_out, needs
from dbbench.testing.contract import Opener, beside
from dbbench.testing.sql.tables import (
    BATCH,
    KINDS,
    TABLES,
    Loaded,
    TableContract,
    chunk,
    count,
    expect_rows,
    sql_engine,
)

#: Seconds for which a transaction waits for the other to come so far: longer than most engines' own limits for a lock,
#: so that these limits are met. One that waits longer gets the lock then.
_PATIENCE = 6.0
#: Seconds that both may take: a system may need a time limit of its own, more than once, to end a deadlock.
_LONGEST = 300
#: Transactions after which a driver does more than at first: psycopg prepares by itself what it has executed five
#: times.
_USUAL = 8


class TransactionContract(TableContract):
    """Loads, rollbacks, conflicts, keys, several clients."""

    @clause("how-rows-arrive")
    def test_a_load_without_commit_is_gone(self, opened: Opener) -> None:
        """A load is timed to its commit; rows that are there before it were committed off the clock."""
        engine = sql_engine(opened())
        needs(engine, "load")
        engine.create(TABLES)
        session: Any = engine.connect()
        insert = session.prepare_load("Order", KINDS)
        session.begin_load(TABLES)
        insert(chunk(session, BATCH))
        session.close()
        expected = BATCH.num_rows if "transactions" in engine.missing_features else 0
        expect_rows(engine, expected, "after a load whose session was closed without a commit")

    @clause("concurrency")
    def test_transactions_in_each_others_way_are_known_and_made_again(self, loaded: Loaded) -> None:
        """Two change the same rows in opposite orders: dbbench makes the loser again, if `retry_reason` names why."""
        engine, _ = loaded
        _needs_transactions(engine)
        if engine.info().concurrency.threads == 1:
            left_out("concurrency.threads is 1: no two sessions at once")
        opposed = _Opposed(engine)
        opposed.run()
        for exc in opposed.unknown:
            if isinstance(exc, Unsupported):
                raise exc
        expect(
            not opposed.unknown,
            "expected both transactions to be committed in the end, got "
            f"{', '.join(map(repr, opposed.unknown))}. If that is a reason to try again, return it from `retry_reason`",
        )
        unknown = set(opposed.reasons) - set(get_args(Retry))
        expect(not unknown, f"retry_reason(): expected one of {', '.join(get_args(Retry))}, got {unknown}")
        session: Any = engine.connect()
        session.begin_reading()
        one, two = fetch(session, engine.sql.translate("SELECT Text FROM Order WHERE Id < 3 ORDER BY Id", TABLES))
        session.commit()
        session.close()
        expect(
            one == two and one[0] in ("by 0", "by 1"),
            f"expected both rows from one transaction, got {one[0]!r} and {two[0]!r}",
        )

    @clause("what-a-sql-engine-fills-in")
    def test_what_is_rolled_back_is_gone_and_the_session_goes_on(self, loaded: Loaded) -> None:
        """Dbbench rolls back a failed transaction, and goes on in the same session."""
        engine, _ = loaded
        _needs_transactions(engine)
        with beside(*loaded) as session:
            value = engine.sql.placeholder
            delete = session.prepare_call(engine.sql.translate(f"DELETE FROM Order WHERE Id = {value}", TABLES), 0)
            find = session.prepare_rows(engine.sql.translate(f"SELECT Id, Text FROM Order WHERE Id = {value}", TABLES))
            clear = session.prepare_statement(engine.sql.translate("DELETE FROM Order WHERE Id > 1", TABLES))
            for _ in range(2):
                session.begin()
                delete(1)
                clear()
                session.rollback()
            session.begin_reading()
            expect_equal("row 1 after its DELETE was rolled back", [tuple(row) for row in find(1)], [(1, "plain")])
            session.commit()
            session.begin()
            delete(1)
            session.commit()
        expect_rows(engine, BATCH.num_rows - 1, "after a DELETE that was committed")

    @clause("what-a-sql-engine-fills-in")
    def test_a_prepared_statement_still_works_after_a_rollback(self, loaded: Loaded) -> None:
        """Clients prepare once. A driver may forget all that at a rollback, once it has prepared something itself."""
        engine, _ = loaded
        _needs_transactions(engine)
        with beside(*loaded) as session:
            value = engine.sql.placeholder
            change = session.prepare_call(
                engine.sql.translate(f"UPDATE Order SET Text = {value} WHERE Id = {value}", TABLES), 0
            )
            find = session.prepare_rows(engine.sql.translate(f"SELECT Id, Text FROM Order WHERE Id = {value}", TABLES))
            run = session.prepare_statement(engine.sql.translate("DELETE FROM Order WHERE Id = -1", TABLES))
            for number in range(_USUAL):
                session.begin()
                count(engine, session)
                session.commit()
                if number >= _USUAL - 2:  # twice, as a rollback may be the first that the driver takes note of
                    session.begin()
                    change("lost", 1)
                    session.rollback()
            session.begin()
            run()
            change("kept", 1)
            found = [tuple(row) for row in find(1)]
            session.commit()
        expect_equal("row 1, changed and found by what was prepared before the rollbacks", found, [(1, "kept")])

    @clause("the-life-of-a-trial")
    def test_statistics_grow_with_what_is_done(self, loaded: Loaded) -> None:
        """Contention steps compare the system's own counts with what the clients did."""
        engine, _ = loaded
        needs(engine, "statement")
        before = engine.statistics()
        if not before:
            left_out("statistics() tells nothing")
        for name, number in before.items():
            expect(isinstance(number, int) and number >= 0, f"statistics()[{name!r}]: expected a count, got {number!r}")
        with beside(*loaded) as session:
            for key in (1, 2):
                session.prepare_statement(engine.sql.translate(f"DELETE FROM Order WHERE Id = {key}", TABLES))()
        after = engine.statistics()
        expect_equal("names that statistics() gives", sorted(after), sorted(before))
        if "deletes" in after:
            expect_equal("deletes counted for two DELETEs", after["deletes"] - before["deletes"], 2)

    @clause("what-the-engine-cant-do")
    def test_a_key_is_kept_unique(self, loaded: Loaded) -> None:
        """An engine that doesn't check keys does less work; if it checks none, `missing_features` must say so."""
        engine, session = loaded
        insert = session.prepare_load("Order", KINDS)

        def add() -> None:
            session.begin()
            insert(chunk(session, BATCH.slice(0, 1)))
            session.commit()

        if "unique keys" in engine.missing_features:
            add()
            expect_equal("rows in Order after a second row 1", count(engine, session), BATCH.num_rows + 1)
            return
        with expect_error("a second row with primary key 1"):
            add()

    @clause("concurrency")
    def test_serves_threads_as_it_says(self, loaded: Loaded) -> None:
        """`concurrency.threads` decides which steps the engine takes part in."""
        _serves(loaded, "threads")

    @clause("concurrency")
    def test_serves_processes_as_it_says(self, loaded: Loaded) -> None:
        """Each process opens an engine of its own on the directory, while the others have it open."""
        _serves(loaded, "processes")


def _needs_transactions(engine: SQLEngine) -> None:
    """Leave the clause out for an engine without statements, or without transactions."""
    needs(engine, "statement")
    if "transactions" in engine.missing_features:
        left_out(f"no transactions: {engine.missing_features['transactions']}")


def _serves(loaded: Loaded, what: str) -> None:
    """Two clients at once with a statement that takes no lock of the other's; or they are refused."""
    engine, session = loaded
    needs(engine, "statement")
    sql = engine.sql.translate("INSERT INTO Order (Id, Text) SELECT Id, Text FROM Order WHERE Id = -1", TABLES)
    job = Job("statement", (sql,), warm_up=1, calls=20)
    clients = Clients.model_validate({what: 2})
    if (getattr(engine.info().concurrency, what) or 2) < 2:
        with expect_error(f"two {what}, more than concurrency says", Unsupported, what):
            drive(engine, session, job, clients)
    else:
        expect_equal(f"calls made by two {what}", drive(engine, session, job, clients).service.count, 40)
    expect_equal("rows in Order afterwards", count(engine, session), BATCH.num_rows)


class _Opposed:
    """Two threads with a transaction each; both hold a row when they ask for the other's, if the system lets them."""

    TRIES = 50

    def __init__(self, engine: SQLEngine) -> None:
        value = engine.sql.placeholder
        self.update = engine.sql.translate(f"UPDATE Order SET Text = {value} WHERE Id = {value}", TABLES)
        self.engine = engine
        self.there = [threading.Event(), threading.Event()]
        self.reasons: list[str] = []
        self.unknown: list[Exception] = []

    def run(self) -> None:
        """Both, to their ends."""
        threads = [threading.Thread(target=self._work, args=(number,), daemon=True) for number in (0, 1)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(_LONGEST)
            if thread.is_alive():
                self.unknown.append(TimeoutError(f"not done after {_LONGEST} s"))

    def _work(self, number: int) -> None:
        session: Any = None
        try:
            session = self.engine.connect()
            call = session.prepare_call(self.update, 0)
            for _ in range(self.TRIES):
                try:
                    self._transaction(session, call, number)
                except Exception as exc:
                    reason = session.retry_reason(exc)
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
        finally:
            if session is not None:
                session.close()

    def _transaction(self, session: Any, call: Any, number: int) -> None:
        session.begin()
        call(f"by {number}", 1 + number)
        self.there[number].set()
        self.there[1 - number].wait(_PATIENCE)
        call(f"by {number}", 2 - number)
        session.commit()
