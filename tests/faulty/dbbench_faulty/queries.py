"""SQLite that lies in some of the calls of a query (join-2 of the invoices), or gives other types. Each with one lie."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, ClassVar

from dbbench.engine import Rows
from dbbench_plugins.sqlite import SQLite, SQLiteSession

#: Warm-up and timed calls of join-2, as anyone can read them in the suite.
WARM_UP, TIMED = 1, 5


class CountingSession(SQLiteSession):
    """Counts the calls of each prepared query from 1, and lies in those that `lies` picks."""

    def prepare_query(self, sql: str) -> Callable[[], Rows]:
        run = super().prepare_query(sql)
        if not any(words in sql for words in ("GROUP BY", "OVER (")):
            return run
        calls = 0

        def counting() -> Rows:
            nonlocal calls
            calls += 1
            return self.lie(run()) if self.lies(calls) else run()

        return counting

    def lies(self, call: int) -> bool:
        return True

    def lie(self, rows: Iterable[Any]) -> Iterator[Any]:
        """Another sum: in the column that is read."""
        return ((key, value + 0.01) for key, value in rows)


class SecondSession(CountingSession):
    def lies(self, call: int) -> bool:
        return call > 1


class Second(SQLite):
    name = "faulty-second"
    title = "Faulty: wrong from the second call on"
    session_class = SecondSession


class TimedSession(CountingSession):
    def lies(self, call: int) -> bool:
        return WARM_UP < call <= WARM_UP + TIMED


class Timed(SQLite):
    name = "faulty-timed"
    title = "Faulty: wrong in what it takes for the timed calls"
    session_class = TimedSession


class LastSession(CountingSession):
    def lies(self, call: int) -> bool:
        return call == WARM_UP + TIMED


class Last(SQLite):
    name = "faulty-last"
    title = "Faulty: wrong in what it takes for the last timed call"
    session_class = LastSession


class FirstSession(CountingSession):
    def lies(self, call: int) -> bool:
        return call == 1


class First(SQLite):
    name = "faulty-first"
    title = "Faulty: wrong in the warm-up"
    session_class = FirstSession


class ShortSession(LastSession):
    def lie(self, rows: Iterable[Any]) -> Iterator[Any]:
        whole = list(rows)
        return iter(whole[:-1])


class Short(SQLite):
    name = "faulty-short"
    title = "Faulty: a row is missing in one call"
    session_class = ShortSession


class KeySession(TimedSession):
    def lie(self, rows: Iterable[Any]) -> Iterator[Any]:
        return ((1, value) for _, value in rows)


class Key(SQLite):
    name = "faulty-key"
    title = "Faulty: wrong in the timed calls, in a column that is not read"
    session_class = KeySession


class KeepingSession(SQLiteSession):
    def prepare_query(self, sql: str) -> Callable[[], Rows]:
        run = super().prepare_query(sql)
        kept: list[Any] = []

        def keeping() -> Rows:
            if not kept:
                kept.extend(run())
            return kept

        return keeping


class Keeps(SQLite):
    name = "faulty-keeps"
    title = "Faulty: keeps what it answered first"
    session_class = KeepingSession


class TextsSession(CountingSession):
    def lie(self, rows: Iterable[Any]) -> Iterator[Any]:
        return ((str(key), f"{value:.4f}") for key, value in rows)


class Texts(SQLite):
    name = "faulty-texts"
    title = "Faulty: numbers as text"
    session_class = TextsSession


class BytesSession(SQLiteSession):
    def prepare_query(self, sql: str) -> Callable[[], Rows]:
        run = super().prepare_query(sql)
        return lambda: (
            tuple(value.encode() if isinstance(value, str) and value[:2] == "1Z" else value for value in row)
            for row in run()
        )


class Bytes(SQLite):
    name = "faulty-bytes"
    title = "Faulty: text as bytes"
    session_class = BytesSession


class FloatsSession(CountingSession):
    def lie(self, rows: Iterable[Any]) -> Iterator[Any]:
        return ((float(key), value) for key, value in rows)


class Floats(SQLite):
    name = "faulty-floats"
    title = "Integers as floats, which is no fault"
    session_class = FloatsSession


class DeclaringSession(TextsSession):
    reads: ClassVar = {**SQLiteSession.bind, "integer": "text", "decimal": "text"}


class Declares(SQLite):
    name = "faulty-declares"
    title = "Numbers as text, as it declares"
    session_class = DeclaringSession


def changed(row: Sequence[Any]) -> tuple[Any, ...]:
    """A row with another number in its last column, or one where a value is missing."""
    return (*row[:-1], (row[-1] or 0) + 1)


class AlwaysSession(CountingSession):
    def lie(self, rows: Iterable[Any]) -> Iterator[Any]:
        return map(changed, rows)


class Always(SQLite):
    name = "faulty-always"
    title = "Faulty: wrong in every call"
    session_class = AlwaysSession


class OneValueSession(CountingSession):
    def lie(self, rows: Iterable[Any]) -> Iterator[Any]:
        """All rows as they are, but for one value of the last one."""
        held: list[Any] = []
        for row in rows:
            yield from held
            held = [row]
        yield from map(changed, held)


class OneValue(SQLite):
    name = "faulty-one-value"
    title = "Faulty: one value wrong, in the last row of every call"
    session_class = OneValueSession
