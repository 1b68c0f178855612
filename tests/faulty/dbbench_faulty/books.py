"""SQLite whose transactions aren't: an update is lost, a rollback keeps what was done, a commit forgets it or never comes."""

import gc
from typing import Any, ClassVar

from dbbench_faulty.family import Faulty
from dbbench_faulty.shared import FillsLater
from dbbench_plugins.sqlite import SQLiteSession


class HundredthSession(SQLiteSession):
    """Does something else in each hundredth update."""

    updates = 0

    def prepare_call(self, sql: str, rows: int | None = None) -> Any:
        call = super().prepare_call(sql, rows)
        if not sql.startswith("UPDATE"):
            return call

        def sometimes(*values: Any) -> Any:
            self.updates += 1
            return self.instead(call, *values) if self.updates % 100 == 0 else call(*values)

        return sometimes

    def instead(self, call: Any, *values: Any) -> Any:
        raise NotImplementedError


class Lost(Faulty):
    """An update is lost."""

    class session_class(HundredthSession):
        """Each hundredth update does nothing, and says nothing."""

        def instead(self, call: Any, *values: Any) -> Any: ...


class Stale(Faulty):
    """An old balance is written back."""

    class session_class(SQLiteSession):
        """Each fiftieth transaction writes back what a row was before another one: the classic lost update."""

        before: dict[str, Any] | None = None
        begun = 0

        def begin(self) -> None:
            super().begin()
            self.begun += 1
            if self.begun % 50 == 0 and self.before is not None:
                for row in self.before:
                    self.execute(f'UPDATE "Account" SET "Balance" = {self.before[row]} WHERE "Id" = {row}')
            if self.begun % 50 == 49:
                self.before = dict(self.execute('SELECT "Id", "Balance" FROM "Account"').fetchall())


class Moves(Faulty):
    """Money goes to the next account: the sum is right."""

    class session_class(HundredthSession):
        """Each hundredth update is of another row."""

        def instead(self, call: Any, *values: Any) -> Any:
            amount, account = values
            return call(amount, account % 100 + 1)


class Halves(Faulty):
    """No transactions."""

    clause = "what is rolled back is gone and the session goes on"

    class session_class(SQLiteSession):
        """A rollback keeps what was done."""

        def rollback(self) -> None:
            if self.connection.in_transaction:
                self.execute("COMMIT")


class Forgets(Faulty):
    """A commit is forgotten."""

    class session_class(SQLiteSession):
        """Each hundredth commit is none."""

        commits = 0

        def commit(self) -> None:
            self.commits += 1
            self.execute("ROLLBACK" if self.commits % 100 == 0 else "COMMIT")


class Reads(Faulty):
    """While the clock runs, rows that a transaction reads by their key are another's."""

    class session_class(SQLiteSession):
        def prepare_call(self, sql: str, rows: int | None = None) -> Any:
            call = super().prepare_call(sql, rows)
            if "Balance" not in sql or not sql.startswith("SELECT"):
                return call
            return lambda *values: call(*values) if gc.isenabled() else call(1)


class Empties(Faulty):
    """While the clock runs, a transaction reads no rows by their key."""

    class session_class(SQLiteSession):
        def prepare_call(self, sql: str, rows: int | None = None) -> Any:
            call = super().prepare_call(sql, rows)
            if "Balance" not in sql or not sql.startswith("SELECT"):
                return call
            return lambda *values: call(*values) if gc.isenabled() else []


class Later(Faulty):
    """Fills in what a transaction has read when its session is closed."""

    class session_class(FillsLater, SQLiteSession): ...


class Vanishes(Faulty):
    """What the last transaction did was seen by all sessions and reached no file: opened again, it is gone."""

    opened: ClassVar[dict[str, int]] = {}

    def open(self) -> None:
        super().open()
        key = str(self.directory)
        self.opened[key] = self.opened.get(key, 0) + 1
        if self.opened[key] > 1:
            last = 'FROM "Booking" WHERE "Id" = (SELECT MAX("Id") FROM "Booking")'
            ((account, amount),) = self.connection.execute(f'SELECT "Account", "Amount" {last}').fetchall()
            self.connection.execute(f'UPDATE "Account" SET "Balance" = "Balance" - {amount} WHERE "Id" = {account}')
            self.connection.execute(f"DELETE {last}")
