"""Faults of the session over ADO.NET: what a loop, a parameter, a reader or a transaction may do wrong."""

from dataclasses import replace
from itertools import islice

from dbbench_plugins.ado.errors import ProviderFailed
from dbbench_plugins.ado.sqlite import SQLiteADO, SQLiteADOSession


class CommitUndoes(SQLiteADO):
    clause = "what was committed is there after reopening"

    class session_class(SQLiteADOSession):
        def commit(self):
            self.rollback()


class RollbackCommits(SQLiteADO):
    clause = "what is rolled back is gone and the session goes on"

    class session_class(SQLiteADOSession):
        def rollback(self):
            if self.connection.transaction:
                self.commit()


class CommandsOutsideTheTransaction(SQLiteADO):
    clause = "a load without commit is gone"

    class session_class(SQLiteADOSession):
        def begin(self):
            pass

        def commit(self):
            pass


class FirstPieceOnly(SQLiteADO):
    """A reader that is not fetched from again."""

    clause = "a whole trial is right"

    class session_class(SQLiteADOSession):
        def prepare_query(self, sql):
            run = super().prepare_query(sql)
            return lambda: islice(run(), 64)


class AnotherColumn(SQLiteADO):
    """The column that is read in the clock is the first one, whichever was asked for."""

    clause = "a whole trial is right"

    class session_class(SQLiteADOSession):
        def prepare_query(self, sql):
            query = super().prepare_query(sql)

            def run():
                result = query()
                result.column = lambda _number: type(result).column(result, 0)
                return result

            return run


class NothingIsMissing(SQLiteADO):
    clause = "keeps missing values"

    class session_class(SQLiteADOSession):
        def prepare_load(self, name, table):
            insert, statement = super().prepare_load(name, table), self.connection._statements[-1]
            write = statement.run_many
            statement.run_many = lambda columns, count: write([replace(each, nulls=None) for each in columns], count)
            return insert


class NumbersAfterTexts(SQLiteADO):
    """A slot is taken for one in the heap, where a text stands before it."""

    clause = "gives every member"

    class session_class(SQLiteADOSession):
        def prepare_load(self, name, table):
            insert, statement = super().prepare_load(name, table), self.connection._statements[-1]
            write = statement.run_many

            def shifted(columns, count):
                start, made = 0, []
                for each in columns:
                    made.append(each if each.heap else replace(each, slots=each.slots + (start << 32)))
                    start += len(each.heap)
                write(made, count)

            statement.run_many = shifted
            return insert


class BindsOnce(SQLiteADO):
    """Parameters keep the values of the first call."""

    clause = "a prepared statement still works after a rollback"

    class session_class(SQLiteADOSession):
        def prepare_call(self, sql, rows=None):
            call, kept = super().prepare_call(sql, rows), []

            def run(*values):
                kept[:] = kept or [values]
                return call(*kept[0])

            return run


class ErrorsStayInNET(SQLiteADO):
    clause = "a failed statement raises"

    class session_class(SQLiteADOSession):
        def prepare_statement(self, sql):
            run = super().prepare_statement(sql)

            def quiet():
                try:
                    return run()
                except ProviderFailed:
                    return False

            return quiet


class NoColumns(SQLiteADO):
    clause = "a statement that returns rows is known"

    class session_class(SQLiteADOSession):
        def returned_rows(self, given):
            return False


class ProvidersOwnSettings(SQLiteADO):
    """A provider sets its own pragmas as it opens."""

    clause = "has the sync settings that it promises"

    def pragmas(self):
        return {**super().pragmas(), "synchronous": "OFF"}


class ReadersStayOpen(SQLiteADO):
    """The reader of a query that is read in part keeps its lock, and the database its file."""

    clause = "a prepared query can be run again"

    class session_class(SQLiteADOSession):
        def prepare_query(self, sql):
            statement = self.connection.statement(sql)
            statement.stop = lambda: None
            kept = []

            def run():
                kept.append(kept[0] if kept else statement.query())
                return kept[-1]

            return run
