"""SQLite with one lie each about what a step that writes has left."""

import os
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from dbbench.engine import LoadPart, Session, Size, Table
from dbbench_faulty.family import Faulty
from dbbench_plugins.sqlite import SQLiteSession

Rows = list[tuple[Any, ...]]


class ChangingSession(SQLiteSession):
    """Loads other rows into one table than it was given."""

    table = ""

    def prepare_load(self, name: str, table: Table) -> Callable[[Any], object]:
        insert = super().prepare_load(name, table)
        if name != self.table:
            return insert
        return lambda rows: insert(self.changed(rows, list(table.columns)))

    def changed(self, rows: Rows, columns: list[str]) -> Rows:
        raise NotImplementedError


def rotated(rows: Rows, column: int) -> Rows:
    """Each row with the value of the next one in a column."""
    values = [row[column] for row in rows]
    return [
        (*row[:column], value, *row[column + 1 :]) for row, value in zip(rows, values[1:] + values[:1], strict=True)
    ]


class Constant(Faulty):
    """A text made constant."""

    class session_class(ChangingSession):
        table = "Charges"

        def changed(self, rows: Rows, columns: list[str]) -> Rows:
            """The least and the greatest text stay."""
            at = columns.index("Code")
            kept = {min(row[at] for row in rows), max(row[at] for row in rows)}
            return [row if row[at] in kept else (*row[:at], "FRT", *row[at + 1 :]) for row in rows]


class Swapped(Faulty):
    """Texts swapped between rows."""

    class session_class(ChangingSession):
        table = "Shipment"

        def changed(self, rows: Rows, columns: list[str]) -> Rows:
            return rotated(rows, columns.index("TrackingId"))


class Parents(Faulty):
    """Parents swapped."""

    class session_class(ChangingSession):
        table = "Shipment"

        def changed(self, rows: Rows, columns: list[str]) -> Rows:
            return rotated(rows, columns.index("InvoiceKey"))


class Doubled(Faulty):
    """A row lost, another there twice."""

    class session_class(ChangingSession):
        table = "Charges"

        def changed(self, rows: Rows, columns: list[str]) -> Rows:
            """A row in the place of another that has the same amount: count, extremes and sums are as they were."""
            key, code, amount = columns.index("PKeyCharges"), columns.index("Code"), columns.index("Amount")
            first = rows[10]
            for index, row in enumerate(rows[11:], 11):
                if row[amount] == first[amount] and row[code] != first[code]:
                    return [*rows[:index], (*first[:key], row[key], *first[key + 1 :]), *rows[index + 1 :]]
            raise AssertionError("no two rows have one amount")


class Middle(Faulty):
    """Texts swapped between rows, but in the rounds that are looked at most, which the trial's folder tells."""

    class session_class(Swapped.session_class):
        def changed(self, rows: Rows, columns: list[str]) -> Rows:
            return super().changed(rows, columns) if "-round2-" in sys.argv[1] else rows


class Uncommitted(Faulty):
    """Never committed."""

    class session_class(SQLiteSession):
        def prepare_finish(self, tables: Mapping[str, Table]) -> Mapping[LoadPart, Callable[[], object]]:
            return {"indexes": super().prepare_finish(tables)["indexes"]}


class Late(Faulty):
    """Committed with the next query."""

    class session_class(Uncommitted.session_class):
        """Commits a load with the next query."""

        def execute(self, sql: str) -> Any:
            if sql.startswith("SELECT") and self.connection.in_transaction:
                super().execute("COMMIT")
            return super().execute(sql)

        def prepare_query(self, sql: str) -> Callable[[], Any]:
            return lambda: self.execute(sql)


class Shared(Faulty):
    """Its clients share a connection, so that all of them see what was never committed."""

    class session_class(Uncommitted.session_class):
        def begin(self) -> None:
            if not self.connection.in_transaction:
                super().begin()

        def close(self) -> None:
            """The connection is the others', too."""

    def connect(self) -> Session:
        return self.session_class(self.connection, self.sql)


class NeverCommitted(Faulty, family="inserts"):
    """Never committed."""

    clause = "a statement commits by itself"

    class session_class(SQLiteSession):
        """All statements in one transaction."""

        def prepare_statement(self, sql: str) -> Callable[[], object]:
            run = super().prepare_statement(sql)
            if not self.connection.in_transaction:
                self.begin()
            return run


class OneTransaction(Faulty, family="inserts"):
    """All in one transaction, committed at the end."""

    class session_class(NeverCommitted.session_class):
        def close(self) -> None:
            if self.connection.in_transaction:
                self.execute("COMMIT")
            super().close()


class WrongKeys(Faulty, family="inserts"):
    """Other keys."""

    class session_class(SQLiteSession):
        def prepare_statement(self, sql: str) -> Callable[[], object]:
            return super().prepare_statement(sql.replace("+ 1", "+ 2"))


class WrongRow(Faulty, family="inserts"):
    """One row before the last is wrong."""

    class session_class(SQLiteSession):
        def prepare_statement(self, sql: str) -> Callable[[], object]:
            right, wrong = super().prepare_statement(sql), super().prepare_statement(sql.replace("100.5", "100.25"))
            calls = iter(range(10**9))
            return lambda: wrong() if next(calls) == 3 else right()


class Halved(Faulty, family="sizes"):
    """Half is told."""

    def size(self) -> Size:
        files = (
            replace(file, apparent=file.apparent // 2, allocated=file.allocated // 2) for file in super().size().files
        )
        return Size(tuple(files))


class Elsewhere(Faulty, family="sizes"):
    """The files are elsewhere."""

    folder: ClassVar = ""

    def open(self) -> None:
        Path(self.directory / "data.sqlite").write_bytes(b"x")
        if not Elsewhere.folder:
            Elsewhere.folder = tempfile.mkdtemp(dir=os.environ.get("FAULTY_ELSEWHERE"))
        self.path = Path(Elsewhere.folder) / "hidden.sqlite"
        self.connection = self._connection()

    def _raw(self) -> Any:
        return sqlite3.connect(self.path, isolation_level=None, check_same_thread=False)


class Stub(Faulty, family="sizes"):
    """The database is in memory, and a few bytes are on disk."""

    keeper: ClassVar[Any] = None

    def open(self) -> None:
        (self.directory / "data.sqlite").write_bytes(bytes(128))
        super().open()

    def _raw(self) -> Any:
        def connect() -> Any:
            place = "file:stub?mode=memory&cache=shared"
            return sqlite3.connect(place, isolation_level=None, check_same_thread=False, uri=True)

        Stub.keeper = Stub.keeper or connect()
        return connect()
