"""What a SQL engine reads and writes outside of transactions: types, queries, statements, indexes."""

from pathlib import Path
from typing import Any, get_args

import pyarrow as pa

from dbbench.engine.base import Engine
from dbbench.engine.offered import prepared
from dbbench.engine.operations import LoadFormat, ResultFormat
from dbbench.engine.options import chosen
from dbbench.engine.sql.session import SQLEngine, SQLSession, fetch
from dbbench.testing.clause import clause, expect, expect_equal, expect_error, left_out, needs
from dbbench.testing.contract import Opener
from dbbench.testing.sql.tables import (
    BATCH,
    DOCUMENT_KINDS,
    DOCUMENTS,
    KINDS,
    MISSING,
    MISSING_KINDS,
    TABLES,
    Loaded,
    TableContract,
    check,
    compare,
    count,
    expect_rows,
    filled,
    load,
    sql_engine,
)


class QueryContract(TableContract):
    """Types, queries, statements, indexes."""

    @clause("what-a-sql-engine-fills-in")
    def test_speaks_sql(self, engine_class: type[Engine]) -> None:
        """Suites choose a statement by `dialect`, and rows go in and out by `load_format` and `result_format`."""
        expect(issubclass(engine_class, SQLEngine), f"expected a subclass of SQLEngine, got {engine_class.__name__}")
        expect(engine_class.dialect, "expected a dialect, which is the key of a suite's `dialects`, got an empty text")
        session = engine_class.session_class
        expect(
            session.load_format in get_args(LoadFormat),
            f"load_format: expected one of {get_args(LoadFormat)}, got {session.load_format!r}",
        )
        expect(
            session.result_format in get_args(ResultFormat),
            f"result_format: expected one of {get_args(ResultFormat)}, got {session.result_format!r}",
        )

    @clause("how-rows-arrive")
    def test_keeps_every_type(self, loaded: Loaded) -> None:
        """A value that changes on its way makes every answer with it wrong; declare a driver's own form in `reads`."""
        engine, session = loaded
        others = check(engine, session, "SELECT * FROM Order ORDER BY Id", pa.Table.from_batches([BATCH]))
        expect(
            "decimal as float" not in others or "decimal" in session.declared,
            "decimals: expected exact values, got floats, which can't hold all digits: read them exactly, or declare "
            "{'decimal': 'float'} in `reads`",
        )

    @clause("how-rows-arrive")
    def test_keeps_missing_values(self, opened: Opener) -> None:
        """A column of `Table.columns` whose `nullable` is true may have rows without a value, in a load as well."""
        engine = sql_engine(opened())
        needs(engine, "load")
        engine.create({"Order": MISSING_KINDS})
        session = engine.connect()
        load(session, [MISSING.slice(0, 3), MISSING.slice(3)], MISSING_KINDS)
        check(engine, session, "SELECT * FROM Order ORDER BY Id", pa.Table.from_batches([MISSING]))
        session.close()

    @clause("what-a-sql-engine-fills-in")
    def test_keeps_documents(self, opened: Opener) -> None:
        """A document comes back as text through `Dialect.document`, whatever its spaces and the order of its fields."""
        engine = sql_engine(opened())
        needs(engine, "load")
        if "json" not in engine.sql.types:
            left_out("no type for documents")
        engine.create({"Order": DOCUMENT_KINDS})
        session = engine.connect()
        load(session, [DOCUMENTS], DOCUMENT_KINDS)
        body = engine.sql.document.format(engine.sql.quoted("Body"))
        check(engine, session, f"SELECT Id, {body} FROM Order ORDER BY Id", pa.Table.from_batches([DOCUMENTS]))
        session.close()

    @clause("the-life-of-a-trial")
    def test_a_prepared_query_can_be_run_again(self, loaded: Loaded) -> None:
        """A query is prepared once and run many times."""
        engine, session = loaded
        run = session.prepare_query(engine.sql.translate("SELECT Id FROM Order ORDER BY Id", TABLES))
        expected = pa.table({"Id": BATCH.column("Id")})
        for _ in range(3):
            compare(session, run(), expected)

    @clause("the-life-of-a-trial")
    def test_a_query_read_in_part_hinders_no_other(self, loaded: Loaded) -> None:
        """A step that fails may leave a result half read."""
        engine, session = loaded
        run = session.prepare_query(engine.sql.translate("SELECT Id FROM Order ORDER BY Id", TABLES))
        next(iter(run()))
        check(engine, session, "SELECT Text FROM Order ORDER BY Id", pa.table({"Text": BATCH.column("Text")}))

    @clause("what-a-sql-engine-fills-in")
    def test_tells_the_plan_of_a_query(self, loaded: Loaded) -> None:
        """The report shows the plan beside the figure; where there is none, explain() raises Unsupported."""
        engine, session = loaded
        if not isinstance(session, SQLSession):
            left_out("its sessions aren't SQLSessions, and tell no plans")
        plan = session.explain(engine.sql.translate("SELECT Id FROM Order WHERE Id > 1 ORDER BY Id", TABLES))
        expect(isinstance(plan, str) and plan.strip(), f"explain(): expected the plan as a text, got {plan!r}")
        expect_equal("rows in Order after explain()", count(engine, session), BATCH.num_rows)

    @clause("how-rows-arrive")
    def test_a_query_without_rows_ends(self, loaded: Loaded) -> None:
        """Some drivers raise, or give one empty row, where a result is empty."""
        engine, session = loaded
        rows = fetch(session, engine.sql.translate("SELECT Id FROM Order WHERE Id = 0", TABLES))
        expect_equal("rows of a query that finds nothing", rows, [])

    @clause("what-a-sql-engine-fills-in")
    def test_a_statement_commits_by_itself(self, loaded: Loaded) -> None:
        """The time of a statement includes its commit; a driver that waits for COMMIT would look faster."""
        engine, session = loaded
        needs(engine, "statement")
        statement = "INSERT INTO Order (Id, Text) SELECT MAX(Id) - 1, 'added' FROM Order"
        run = session.prepare_statement(engine.sql.translate(statement, TABLES))
        run()
        session.close()
        expect_rows(engine, BATCH.num_rows + 1, "after one INSERT, seen by another session")

    @clause("what-a-sql-engine-fills-in")
    def test_a_read_only_session_refuses_a_write(self, loaded: Loaded) -> None:
        """The text of a query may hide a write. Steps after it write in the same session."""
        engine, session = loaded
        needs(engine, "statement")
        if not engine.sql.read_only:
            left_out("its dialect has no statements for that")
        statement = "INSERT INTO Order (Id, Text) SELECT MAX(Id) - 1, 'added' FROM Order"
        run = session.prepare_statement(engine.sql.translate(statement, TABLES))
        session.read_only(on=True)
        with expect_error("an INSERT in a read-only session"):
            run()
        expect_equal("rows in Order after it", count(engine, session), BATCH.num_rows)
        session.read_only(on=False)
        run()
        expect_equal("rows in Order after one that the session takes again", count(engine, session), BATCH.num_rows + 1)

    @clause("the-life-of-a-trial")
    def test_a_prepared_statement_can_be_run_again(self, loaded: Loaded) -> None:
        """A statement is prepared once and run many times, each time anew."""
        engine, session = loaded
        needs(engine, "statement")
        statement = "INSERT INTO Order (Id, Text) SELECT MAX(Id) - COUNT(*), 'added' FROM Order WHERE Id > 3"
        run = session.prepare_statement(engine.sql.translate(statement, TABLES))
        for _ in range(3):
            run()
        expect_equal("rows in Order after three INSERTs", count(engine, session), BATCH.num_rows + 3)

    @clause("how-rows-arrive")
    def test_a_statement_that_returns_rows_is_known(self, loaded: Loaded) -> None:
        """Nobody reads these rows, so that some systems don't even look for them (`Session.returned_rows`)."""
        engine, session = loaded
        needs(engine, "statement")
        insert, select = "INSERT INTO Order (Id, Text) VALUES (5, 'added')", "SELECT Text FROM Order"
        for sql, returns in ((insert, False), (select, True)):
            given = session.prepare_statement(engine.sql.translate(sql, TABLES))()
            expect_equal(f"returned_rows() of {sql}", session.returned_rows(given), returns)
        session.close()

    @clause("what-the-engine-cant-do")
    def test_a_failed_statement_raises(self, loaded: Loaded) -> None:
        """An error that a driver swallows becomes a fast and wrong result."""
        engine, session = loaded
        needs(engine, "statement")
        with expect_error("an INSERT into a table that doesn't exist"):
            session.prepare_statement("INSERT INTO nowhere VALUES (1)")()
        session.close()
        expect_rows(engine, BATCH.num_rows, "after a failed statement")

    @clause("what-a-sql-engine-fills-in")
    def test_makes_an_index_for_each_that_a_table_asks_for(self, opened: Opener) -> None:
        """An engine that skips an index loads faster than others; if it has none, `missing_features` must say so."""
        engine = sql_engine(opened())
        expected = 0 if "indexes" in engine.missing_features else 1
        expect_equal("CREATE INDEX statements for Order", len(engine.sql.create_indexes("Order", KINDS)), expected)

    @clause("how-rows-arrive")
    def test_tells_of_its_indexes_as_they_are(self, opened: Opener) -> None:
        """After a load dbbench looks in the system's catalogue for each index, if the engine knows how to ask it."""
        engine = sql_engine(opened())
        engine.create(TABLES)
        session: Any = engine.connect()
        before = session.indexed("Order")
        if before is None or "indexes" in engine.missing_features:
            left_out(engine.missing_features.get("indexes", "indexed() can't tell"))
        expect(
            "Select" not in before, f"expected indexed('Order') without Select before its index is made, got {before}"
        )
        for statement in session.create_indexes(TABLES):
            session.execute(statement)
        after = session.indexed("Order")
        expect("Select" in after, f"expected indexed('Order') to name Select once its index is made, got {after}")
        session.close()

    @clause("durability-tiers")
    def test_has_the_sync_settings_that_it_promises(self, engine_class: type[Engine], tmp_path: Path) -> None:
        """A session that syncs less than its tier promises is faster and loses commits."""
        for tier in engine_class.durability:
            (folder := tmp_path / tier).mkdir()
            with self.opening(engine_class, folder) as open_engine:
                self._expect_settings(sql_engine(open_engine(tier=tier)))

    def _expect_settings(self, engine: SQLEngine) -> None:
        tier = engine.info().tier
        promised = engine.promised()
        for name in engine.sync_queries:
            expect(name in promised, f"sync_queries asks for {name}: expected it in durability[{tier}]")
        session = engine.connect()
        for name, query in engine.sync_queries.items():
            ((found,),) = fetch(session, query)
            if found is not None:
                expect_equal(f"setting {name} of a session at tier {tier}", str(found), str(promised[name]))
        for name, query in engine.option_queries.items():
            if not engine.url and (given := chosen(getattr(engine.options, name, None))) is not None:
                expect_equal(f"option {name}, as a session has it", str(fetch(session, query)[0][0]), str(given))
        session.close()

    @clause("durability-tiers")
    def test_what_was_committed_is_there_after_reopening(self, opened: Opener) -> None:
        """Cold steps and the check after the last step open the database again and need its rows."""
        engine, session = filled(opened("own"))
        session.close()
        engine.flush()
        self._expect_table(self.reopened(engine, opened), "after reopening")

    @clause("compaction")
    def test_a_compaction_changes_no_row(self, opened: Opener) -> None:
        """The size after it is ranked. One that does nothing gains nothing; one that loses rows would win."""
        engine, session = filled(opened("own"))
        prepared(engine, session, "compact")(list(TABLES))()
        session.close()
        self._expect_table(self.reopened(engine, opened), "after a compaction")

    def _expect_table(self, engine: Engine, when: str) -> None:
        again = sql_engine(engine)
        expect_rows(again, BATCH.num_rows, when)
        other = again.connect()
        check(again, other, "SELECT * FROM Order ORDER BY Id", pa.Table.from_batches([BATCH]))
        other.close()
