"""Faults in SQL: types, queries, statements, loads, transactions."""

from dataclasses import replace

from dbbench.engine import STANDARD_TYPES, Dialect, Size
from dbbench_faulty.right import Client, Table
from dbbench_faulty.shared import LocksProcesses, lying, mutant, refuse_threads


class NoDialect(Table):
    clause = "speaks sql"
    dialect = ""


class TextForNumbers(Table):
    clause = "keeps every type"
    session_class = lying(
        Client, query=lambda run: [tuple(str(each) if isinstance(each, int) else each for each in row) for row in run()]
    )


@mutant(Table, "keeps missing values")
class MissingIsNothing(Client):
    """As a driver's bulk path that knows no nulls: 0 and empty texts in their place."""

    def prepare_load(self, name, table):
        insert = super().prepare_load(name, table)
        kinds = [column.type for column in table.columns.values()]

        def known(row):
            return tuple(
                value if value is not None else "" if "char" in kind else 0
                for value, kind in zip(row, kinds, strict=True)
            )

        return lambda rows: insert([known(row) for row in rows])


class SortsArrays(Table):
    clause = "keeps documents"
    sql = Dialect({**STANDARD_TYPES, "json": "TEXT"}, document="replace({0}, '[2,1,', '[1,2,')")


@mutant(Table, "a prepared query can be run again")
class RunsOnce(Client):
    def prepare_query(self, sql):
        cursor = self.connection.execute(sql)
        return lambda: cursor


@mutant(Table, "a query read in part hinders no other")
class OneResult(Client):
    reading = False

    def prepare_query(self, sql):
        run = super().prepare_query(sql)

        def rows():
            if self.reading:
                raise RuntimeError("another result is open")
            self.reading = True
            yield from run()
            self.reading = False

        return rows


@mutant(Table, "tells the plan of a query")
class NoPlan(Client):
    def explain(self, sql):
        return ""


class EmptyRow(Table):
    clause = "a query without rows ends"
    session_class = lying(Client, query=lambda run: run().fetchall() or [(None,)])


class OnlyAsks(Table):
    clause = "a read only session refuses a write"
    sql = replace(Table.sql, read_only=("SELECT query_only FROM pragma_query_only",) * 2)


@mutant(Table, "a prepared statement can be run again")
class StatementOnce(Client):
    def prepare_statement(self, sql):
        run, done = super().prepare_statement(sql), []
        return lambda: done[0] if done else done.append(run()) or done[0]


@mutant(Table, "a statement that returns rows is known")
class HidesRows(Client):
    def returned_rows(self, given):
        return False


@mutant(Table, "a failed statement raises")
class Swallows(Client):
    def prepare_statement(self, sql):
        run = super().prepare_statement(sql)

        def swallowing():
            try:
                return run()
            except Exception:
                return None

        return swallowing


class SaysIndexed(Table):
    clause = "tells of its indexes as they are"
    sql = Dialect(indexed="SELECT 'Select' -- {0}")


class StartsAnew(Table):
    clause = "what was committed is there after reopening"

    def open(self):
        (self.directory / "data.db").unlink(missing_ok=True)
        super().open()


@mutant(Table, "a load without commit is gone")
class KeepsWithoutCommit(Client):
    def close(self):
        if self.connection.in_transaction:
            self.commit()
        super().close()


@mutant(Table, "a load without commit is gone")
class BeginsNoLoad(Client):
    def begin_load(self, tables):
        pass


@mutant(Table, "transactions in each others way are known and made again")
class KnowsNoConflict(Client):
    def begin(self):
        self.connection.execute("PRAGMA busy_timeout = 500")  # it gives up long before the other one stops waiting
        super().begin()

    def retry_reason(self, exc):
        return None


@mutant(Table, "what is rolled back is gone and the session goes on")
class CommitsStatements(Client):
    def prepare_statement(self, sql):
        run = super().prepare_statement(sql)

        def committed():
            cursor = run()
            self.connection.commit()
            return cursor

        return committed


@mutant(Table, "a prepared statement still works after a rollback")
class ForgetsPrepared(Client):
    """As psycopg: after a rollback it deallocates all, once it has prepared by itself what it has executed five times."""

    begun = rollbacks = 0

    def begin(self):
        self.begun += 1
        super().begin()

    def rollback(self):
        super().rollback()
        self.rollbacks += self.begun > 5

    def prepare_call(self, sql, rows=None):
        call, made = super().prepare_call(sql, rows), self.rollbacks

        def checked(*values):
            if self.rollbacks > made:
                raise RuntimeError("the prepared statement does not exist")
            return call(*values)

        return checked


class StandingStatistics(Table):
    clause = "statistics grow with what is done"

    def statistics(self):
        return {"deletes": 0}


class NoKey(Dialect):
    def create_table(self, name, table):
        head, _, _ = super().create_table(name, table).partition(", PRIMARY KEY")
        return f"{head})"


class TakesTwice(Table):
    clause = "a key is kept unique"
    sql = NoKey()


@mutant(Table, "serves threads as it says")
class OneThread(Client):
    def prepare_statement(self, sql):
        refuse_threads()
        return super().prepare_statement(sql)


class OneProcess(LocksProcesses, Table):
    clause = "serves processes as it says"


class NoSize(Table):
    clause = "has a size"

    def size(self):
        return Size(())


@mutant(Table, "a compaction changes no row")
class CompactsRowsAway(Client):
    def prepare_compact(self, tables):
        return lambda: self.connection.execute('DELETE FROM "Order" WHERE Id = (SELECT MAX(Id) FROM "Order")')


class LosesLastRow(Table):
    """The last of a full chunk, which the kit's small table never fills."""

    clause = "a whole trial is right"
    session_class = lying(Client, load=lambda insert, rows: insert(rows[:-1] if len(rows) > 1000 else rows))
