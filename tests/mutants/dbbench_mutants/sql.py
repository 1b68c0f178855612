"""Faults in SQL: types, queries, statements, loads, transactions."""

from dbbench_mutants.right import Client, Table
from dbbench_mutants.shared import LocksProcesses, refuse_threads

from dbbench.engine import Dialect, Size


class NoDialect(Table):
    clause = "speaks sql"
    dialect = ""


class TextForNumbers(Table):
    clause = "keeps every type"

    class session_class(Client):
        def prepare_query(self, sql):
            run = super().prepare_query(sql)
            return lambda: [tuple(str(value) if isinstance(value, int) else value for value in row) for row in run()]


class MissingIsNothing(Table):
    """As a driver's bulk path that knows no nulls: 0 and empty texts in their place."""

    clause = "keeps missing values"

    class session_class(Client):
        def prepare_load(self, name, table):
            insert = super().prepare_load(name, table)
            kinds = [column.type for column in table.columns.values()]

            def known(row):
                return tuple(
                    value if value is not None else "" if "char" in kind else 0
                    for value, kind in zip(row, kinds, strict=True)
                )

            return lambda rows: insert([known(row) for row in rows])


class RunsOnce(Table):
    clause = "a prepared query can be run again"

    class session_class(Client):
        def prepare_query(self, sql):
            cursor = self.connection.execute(sql)
            return lambda: cursor


class OneResult(Table):
    clause = "a query read in part hinders no other"

    class session_class(Client):
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


class NoPlan(Table):
    clause = "tells the plan of a query"

    class session_class(Client):
        def explain(self, sql):
            return ""


class EmptyRow(Table):
    clause = "a query without rows ends"

    class session_class(Client):
        def prepare_query(self, sql):
            run = super().prepare_query(sql)
            return lambda: run().fetchall() or [(None,)]


class NeverCommits(Table):
    clause = "a statement commits by itself"

    class session_class(Client):
        def prepare_statement(self, sql):
            run = super().prepare_statement(sql)

            def begun():
                if not self.connection.in_transaction:
                    self.begin()
                return run()

            return begun


class StatementOnce(Table):
    clause = "a prepared statement can be run again"

    class session_class(Client):
        def prepare_statement(self, sql):
            run, done = super().prepare_statement(sql), []
            return lambda: done[0] if done else done.append(run()) or done[0]


class HidesRows(Table):
    clause = "a statement that returns rows is known"

    class session_class(Client):
        def returned_rows(self, given):
            return False


class Swallows(Table):
    clause = "a failed statement raises"

    class session_class(Client):
        def prepare_statement(self, sql):
            run = super().prepare_statement(sql)

            def swallowing():
                try:
                    return run()
                except Exception:
                    return None

            return swallowing


class NoIndexes(Dialect):
    def create_indexes(self, name, table):
        return []


class SkipsIndexes(Table):
    clause = "makes an index for each that a table asks for"
    sql = NoIndexes()


class SaysIndexed(Table):
    clause = "tells of its indexes as they are"
    sql = Dialect(indexed="SELECT 'Select' -- {0}")


class LessSync(Table):
    clause = "has the sync settings that it promises"

    def connection(self):
        made = super().connection()
        made.execute("PRAGMA synchronous = 0")
        return made


class StartsAnew(Table):
    clause = "what was committed is there after reopening"

    def open(self):
        (self.directory / "data.db").unlink(missing_ok=True)
        super().open()


class KeepsWithoutCommit(Table):
    clause = "a load without commit is gone"

    class session_class(Client):
        def close(self):
            if self.connection.in_transaction:
                self.commit()
            super().close()


class KnowsNoConflict(Table):
    clause = "transactions in each others way are known and made again"

    class session_class(Client):
        def retry_reason(self, exc):
            return None


class IgnoresRollback(Table):
    clause = "what is rolled back is gone and the session goes on"

    class session_class(Client):
        def rollback(self):
            self.commit()


class ForgetsPrepared(Table):
    """As psycopg: after a rollback it deallocates all, once it has prepared by itself what it has executed five times."""

    clause = "a prepared statement still works after a rollback"

    class session_class(Client):
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


class OneThread(Table):
    clause = "serves threads as it says"

    class session_class(Client):
        def prepare_statement(self, sql):
            refuse_threads()
            return super().prepare_statement(sql)


class OneProcess(LocksProcesses, Table):
    clause = "serves processes as it says"


class NoSize(Table):
    clause = "has a size"

    def size(self):
        return Size(())


class CompactsRowsAway(Table):
    clause = "a compaction changes no row"

    class session_class(Client):
        def prepare_compact(self, tables):
            return lambda: self.connection.execute('DELETE FROM "Order" WHERE Id = (SELECT MAX(Id) FROM "Order")')


class LosesLastRow(Table):
    """The last of a full chunk, which the kit's small table never fills."""

    clause = "a whole trial is right"

    class session_class(Client):
        def prepare_load(self, name, table):
            insert = super().prepare_load(name, table)
            return lambda rows: insert(rows[:-1] if len(rows) > 1000 else rows)
