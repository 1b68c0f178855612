"""Faults of the session over ADO.NET: what a loop, a parameter, a reader or a transaction may do wrong."""

from dataclasses import replace
from itertools import islice

from dbbench_faulty.family import Named
from dbbench_faulty.shared import lying, mutant
from dbbench_plugins.ado.errors import ProviderFailed
from dbbench_plugins.ado.sqlite import SQLiteADO, SQLiteADOSession


class Right(Named, SQLiteADO):
    pass


@mutant(Right, "what was committed is there after reopening")
class CommitUndoes(SQLiteADOSession):
    def commit(self):
        self.rollback()


@mutant(Right, "what is rolled back is gone and the session goes on")
class RollbackCommits(SQLiteADOSession):
    def rollback(self):
        if self.connection.transaction:
            self.commit()


@mutant(Right, "a load without commit is gone")
class CommandsOutsideTheTransaction(SQLiteADOSession):
    def begin(self):
        pass

    def commit(self):
        pass


class FirstPieceOnly(Right):
    """A reader that is not fetched from again."""

    clause = "a whole trial is right"
    session_class = lying(SQLiteADOSession, query=lambda run: islice(run(), 64))


@mutant(Right, "a whole trial is right")
class AnotherColumn(SQLiteADOSession):
    """The column that is read in the clock is the first one, whichever was asked for."""

    def prepare_query(self, sql):
        query = super().prepare_query(sql)

        def run():
            result = query()
            result.column = lambda _number: type(result).column(result, 0)
            return result

        return run


@mutant(Right, "keeps missing values")
class NothingIsMissing(SQLiteADOSession):
    def prepare_load(self, name, table):
        insert, statement = super().prepare_load(name, table), self.connection._statements[-1]
        write = statement.run_many
        statement.run_many = lambda columns, count: write([replace(each, nulls=None) for each in columns], count)
        return insert


@mutant(Right, "gives every member")
class NumbersAfterTexts(SQLiteADOSession):
    """A slot is taken for one in the heap, where a text stands before it."""

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


@mutant(Right, "a prepared statement still works after a rollback")
class BindsOnce(SQLiteADOSession):
    """Parameters keep the values of the first call."""

    def prepare_call(self, sql, rows=None):
        call, kept = super().prepare_call(sql, rows), []

        def run(*values):
            kept[:] = kept or [values]
            return call(*kept[0])

        return run


@mutant(Right, "a failed statement raises")
class ErrorsStayInNET(SQLiteADOSession):
    def prepare_statement(self, sql):
        run = super().prepare_statement(sql)

        def quiet():
            try:
                return run()
            except ProviderFailed:
                return False

        return quiet


@mutant(Right, "a statement that returns rows is known")
class NoColumns(SQLiteADOSession):
    def returned_rows(self, given):
        return False


class ProvidersOwnSettings(Right):
    """A provider sets its own pragmas as it opens."""

    clause = "has the sync settings that it promises"

    def pragmas(self):
        return {**super().pragmas(), "synchronous": "OFF"}


@mutant(Right, "a prepared query can be run again")
class ReadersStayOpen(SQLiteADOSession):
    """The reader of a query that is read in part keeps its lock, and the database its file."""

    def prepare_query(self, sql):
        statement = self.connection.statement(sql)
        statement.stop = lambda: None
        kept = []

        def run():
            kept.append(kept[0] if kept else statement.query())
            return kept[-1]

        return run
