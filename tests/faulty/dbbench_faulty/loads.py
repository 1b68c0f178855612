"""SQLite with one lie each about what a step that writes has left."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from dbbench.engine import LoadPart, Session, Size, Table
from dbbench_plugins.sqlite import SQLite, SQLiteSession

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


class ConstantSession(ChangingSession):
    table = "Charges"

    def changed(self, rows: Rows, columns: list[str]) -> Rows:
        """The least and the greatest text stay."""
        at = columns.index("Code")
        kept = {min(row[at] for row in rows), max(row[at] for row in rows)}
        return [row if row[at] in kept else (*row[:at], "FRT", *row[at + 1 :]) for row in rows]


class Constant(SQLite):
    name = "loads-constant"
    title = "Loads: a text made constant"
    session_class = ConstantSession


class SwappedSession(ChangingSession):
    table = "Shipment"

    def changed(self, rows: Rows, columns: list[str]) -> Rows:
        return rotated(rows, columns.index("TrackingId"))


class Swapped(SQLite):
    name = "loads-swapped"
    title = "Loads: texts swapped between rows"
    session_class = SwappedSession


class ParentsSession(ChangingSession):
    table = "Shipment"

    def changed(self, rows: Rows, columns: list[str]) -> Rows:
        return rotated(rows, columns.index("InvoiceKey"))


class Parents(SQLite):
    name = "loads-parents"
    title = "Loads: parents swapped"
    session_class = ParentsSession


class DoubledSession(ChangingSession):
    table = "Charges"

    def changed(self, rows: Rows, columns: list[str]) -> Rows:
        """A row in the place of another that has the same amount: count, extremes and sums are as they were."""
        key, code, amount = columns.index("PKeyCharges"), columns.index("Code"), columns.index("Amount")
        first = rows[10]
        for index, row in enumerate(rows[11:], 11):
            if row[amount] == first[amount] and row[code] != first[code]:
                return [*rows[:index], (*first[:key], row[key], *first[key + 1 :]), *rows[index + 1 :]]
        raise AssertionError("no two rows have one amount")


class Doubled(SQLite):
    name = "loads-doubled"
    title = "Loads: a row lost, another there twice"
    session_class = DoubledSession


class UncommittedSession(SQLiteSession):
    def prepare_finish(self, tables: Mapping[str, Table]) -> Mapping[LoadPart, Callable[[], object]]:
        return {"indexes": super().prepare_finish(tables)["indexes"]}


class Uncommitted(SQLite):
    name = "loads-uncommitted"
    title = "Loads: never committed"
    session_class = UncommittedSession


class LateSession(UncommittedSession):
    """Commits a load with the next query."""

    def execute(self, sql: str) -> Any:
        if sql.startswith("SELECT") and self.connection.in_transaction:
            super().execute("COMMIT")
        return super().execute(sql)

    def prepare_query(self, sql: str) -> Callable[[], Any]:
        return lambda: self.execute(sql)


class Late(SQLite):
    name = "loads-late"
    title = "Loads: committed with the next query"
    session_class = LateSession


class SharedSession(UncommittedSession):
    def begin(self) -> None:
        if not self.connection.in_transaction:
            super().begin()

    def close(self) -> None:
        """The connection is the others', too."""


class Shared(SQLite):
    """Its clients share a connection, so that all of them see what was never committed."""

    name = "loads-shared"
    title = "Loads: never committed, and seen by all clients"
    session_class = SharedSession

    def connect(self) -> Session:
        return self.session_class(self.connection, self.sql)


class LazySession(SQLiteSession):
    """All statements in one transaction."""

    def prepare_statement(self, sql: str) -> Callable[[], object]:
        run = super().prepare_statement(sql)
        if not self.connection.in_transaction:
            self.begin()
        return run


class OneTransactionSession(LazySession):
    def close(self) -> None:
        if self.connection.in_transaction:
            self.execute("COMMIT")
        super().close()


class OneTransaction(SQLite):
    name = "inserts-one-transaction"
    title = "Inserts: all in one transaction, committed at the end"
    session_class = OneTransactionSession


class NeverCommitted(SQLite):
    name = "inserts-uncommitted"
    title = "Inserts: never committed"
    session_class = LazySession


class KeysSession(SQLiteSession):
    def prepare_statement(self, sql: str) -> Callable[[], object]:
        return super().prepare_statement(sql.replace("+ 1", "+ 2"))


class Keys(SQLite):
    name = "inserts-wrong-keys"
    title = "Inserts: other keys"
    session_class = KeysSession


class ThirdSession(SQLiteSession):
    def prepare_statement(self, sql: str) -> Callable[[], object]:
        right, wrong = super().prepare_statement(sql), super().prepare_statement(sql.replace("100.5", "100.25"))
        calls = iter(range(10**9))
        return lambda: wrong() if next(calls) == 3 else right()


class Third(SQLite):
    name = "inserts-wrong-row"
    title = "Inserts: one row before the last is wrong"
    session_class = ThirdSession


class Halved(SQLite):
    name = "sizes-halved"
    title = "Sizes: half is told"

    def size(self) -> Size:
        files = (
            replace(file, apparent=file.apparent // 2, allocated=file.allocated // 2) for file in super().size().files
        )
        return Size(tuple(files))


class Elsewhere(SQLite):
    name = "sizes-elsewhere"
    title = "Sizes: the files are elsewhere"
    folder: ClassVar = ""

    def open(self) -> None:
        Path(self.directory / "data.sqlite").write_bytes(b"x")
        if not Elsewhere.folder:
            Elsewhere.folder = tempfile.mkdtemp(dir=os.environ.get("FAULTY_ELSEWHERE"))
        self.path = Path(Elsewhere.folder) / "hidden.sqlite"
        self.connection = self._connection()

    def _raw(self) -> Any:
        return sqlite3.connect(self.path, isolation_level=None, check_same_thread=False)
