"""SQLite that lies in some of the calls of a query (join-2 of the invoices), or gives other types. Each with one lie."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, ClassVar

from dbbench.engine import Rows
from dbbench_faulty.family import Faulty
from dbbench_plugins.sqlite import SQLiteSession

#: Bytes.
HIRED = 200 << 20


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


class Second(Faulty):
    """Wrong from the second call on."""

    class session_class(CountingSession):
        def lies(self, call: int) -> bool:
            return call > 1


class Key(Faulty):
    """Wrong in a column that is not read."""

    class session_class(CountingSession):
        def lie(self, rows: Iterable[Any]) -> Iterator[Any]:
            return ((1, value) for _, value in rows)


class Keeps(Faulty):
    """Keeps what it answered first."""

    class session_class(SQLiteSession):
        def prepare_query(self, sql: str) -> Callable[[], Rows]:
            run = super().prepare_query(sql)
            kept: list[Any] = []

            def keeping() -> Rows:
                if not kept:
                    kept.extend(run())
                return kept

            return keeping


class Texts(Faulty):
    """Numbers as text."""

    class session_class(CountingSession):
        def lie(self, rows: Iterable[Any]) -> Iterator[Any]:
            return ((str(key), f"{value:.4f}") for key, value in rows)


class Bytes(Faulty):
    """Text as bytes."""

    class session_class(SQLiteSession):
        def prepare_query(self, sql: str) -> Callable[[], Rows]:
            run = super().prepare_query(sql)
            return lambda: (
                tuple(value.encode() if isinstance(value, str) and value[:2] == "1Z" else value for value in row)
                for row in run()
            )


class Floats(Faulty):
    """Integers as floats, which is no fault."""

    class session_class(CountingSession):
        def lie(self, rows: Iterable[Any]) -> Iterator[Any]:
            return ((float(key), value) for key, value in rows)


class Declares(Faulty):
    """Numbers as text, as it declares."""

    class session_class(Texts.session_class):
        reads: ClassVar = {**SQLiteSession.bind, "integer": "text", "decimal": "text"}


def changed(row: Sequence[Any]) -> tuple[Any, ...]:
    """A row with another number in its last column, or one where a value is missing."""
    return (*row[:-1], (row[-1] or 0) + 1)


class Always(Faulty):
    """Wrong in every call."""

    class session_class(CountingSession):
        def lie(self, rows: Iterable[Any]) -> Iterator[Any]:
            return map(changed, rows)


class OneValue(Faulty):
    """One value wrong, in the last row of every call."""

    class session_class(CountingSession):
        def lie(self, rows: Iterable[Any]) -> Iterator[Any]:
            """All rows as they are, but for one value of the last one."""
            held: list[Any] = []
            for row in rows:
                yield from held
                held = [row]
            yield from map(changed, held)


class Memoises(Faulty):
    """Keeps each answer until a statement changes something."""

    class session_class(SQLiteSession):
        answers: ClassVar[dict[str, list[Any]]] = {}

        def prepare_query(self, sql: str) -> Callable[[], Rows]:
            run, answers = super().prepare_query(sql), self.answers

            def answer() -> Rows:
                if sql not in answers:
                    answers[sql] = list(run())
                return answers[sql]

            return answer if "Thing" in sql and "COUNT" not in sql else run

        def prepare_statement(self, sql: str) -> Callable[[], object]:
            run = super().prepare_statement(sql)

            def forgetting() -> object:
                self.answers.clear()
                return run()

            return forgetting

    def create(self, tables: Any) -> None:
        super().create(tables)
        self.session_class.answers.clear()


class Escapes(Faulty):
    """Runs on processors that it was not given."""

    def open(self) -> None:
        super().open()
        os.sched_setaffinity(0, range(os.cpu_count() or 1))


class Prefetches(Faulty):
    """Has its file in memory once it is open."""

    def open(self) -> None:
        super().open()
        self.path.read_bytes()


class Claims(Faulty):
    """Has another cache than its option says."""

    def pragmas(self) -> dict[str, Any]:
        return {**super().pragmas(), "cache_size": -1024 * 512}


class Hires(Faulty):
    """Keeps what it remembers in a process of its own."""

    def open(self) -> None:
        super().open()
        remember = f"held = b'x' * {HIRED}; print(len(held), flush=True); input()"
        command = [sys.executable, "-c", remember]
        self.hired = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self.hired.stdout
        self.hired.stdout.readline()

    def close(self) -> None:
        self.hired.communicate()
        super().close()
