"""SQLite that lies in some of the calls of a query (join-2 of the invoices), or gives other types. Each with one lie."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any, ClassVar

from dbbench.engine import Rows
from dbbench_faulty.family import Faulty
from dbbench_faulty.shared import lying
from dbbench_plugins.sqlite import SQLiteSession

#: Bytes, and seconds of CPU time.
HIRED, WORKED = 200 << 20, 1.0


def another_sum(rows: Iterable[Any]) -> Iterator[Any]:
    """Another number in the column that is read."""
    return ((key, value + 0.01) for key, value in rows)


def answering(lie: Callable[[Any], Rows], first: int = 1) -> Any:
    """A session that lies in each call of a prepared query from the `first` on."""

    class Answering(SQLiteSession):
        def prepare_query(self, sql: str) -> Callable[[], Rows]:
            run = super().prepare_query(sql)
            if not any(words in sql for words in ("GROUP BY", "OVER (")):
                return run
            calls = count(1)
            return lambda: lie(run()) if next(calls) >= first else run()

    return Answering


class Second(Faulty):
    """Wrong from the second call on."""

    session_class = answering(another_sum, first=2)


class Key(Faulty):
    """Wrong in a column that is not read."""

    session_class = answering(lambda rows: ((1, value) for _, value in rows))


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

    session_class = answering(lambda rows: ((str(key), f"{value:.4f}") for key, value in rows))


class Bytes(Faulty):
    """Text as bytes."""

    session_class = lying(
        SQLiteSession,
        query=lambda run: (
            tuple(value.encode() if isinstance(value, str) and value[:2] == "1Z" else value for value in row)
            for row in run()
        ),
    )


class Floats(Faulty):
    """Integers as floats, which is no fault."""

    session_class = answering(lambda rows: ((float(key), value) for key, value in rows))


class Declares(Faulty):
    """Numbers as text, as it declares."""

    class session_class(Texts.session_class):
        reads: ClassVar = {**SQLiteSession.bind, "integer": "text", "decimal": "text"}


def changed(row: Sequence[Any]) -> tuple[Any, ...]:
    """A row with another number in its last column, or one where a value is missing."""
    return (*row[:-1], (row[-1] or 0) + 1)


class Always(Faulty):
    """Wrong in every call."""

    session_class = answering(lambda rows: map(changed, rows))


def but_the_last(rows: Iterable[Any]) -> Iterator[Any]:
    """All rows as they are, but for one value of the last one."""
    held: list[Any] = []
    for row in rows:
        yield from held
        held = [row]
    yield from map(changed, held)


class OneValue(Faulty):
    """One value wrong, in the last row of every call."""

    session_class = answering(but_the_last)


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


class Hastens(Faulty):
    """Has a lower nice value than it was given."""

    def open(self) -> None:
        super().open()
        os.nice(-1)


class Overtakes(Faulty):
    """Runs before all threads of the usual scheduling class."""

    def open(self) -> None:
        super().open()
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))


class Prefetches(Faulty):
    """Has its file in memory once it is open."""

    def open(self) -> None:
        super().open()
        self.path.read_bytes()


class Held(Faulty):
    """Keeps answers in the process when it is closed, and reads a page of a file in each call so as to look cold."""

    answers: ClassVar[dict[object, list[Any]]] = {}

    class session_class(SQLiteSession):
        def prepare_query(self, sql: str) -> Callable[[], Rows]:
            run, ((_, _, path), *_) = super().prepare_query(sql), self.execute("PRAGMA database_list").fetchall()

            def answer() -> Rows:
                with open(f"{path}.page", "rb") as page:
                    page.read(1)
                key = sql, path, os.stat(path).st_mtime_ns
                if key not in Held.answers:
                    Held.answers[key] = list(run())
                return Held.answers[key]

            return answer

    def open(self) -> None:
        super().open()
        page = Path(f"{self.path}.page")
        if not page.exists():
            page.write_bytes(bytes(4096))


class Fetches(Faulty):
    """Reads all records when it prepares to read one."""

    class session_class(SQLiteSession):
        def prepare_read(self, *, snapshot: bool = False) -> Callable[[bytes], bytes | None]:
            return dict(self.prepare_scan()()).get


class Claims(Faulty):
    """Has another cache than its option says."""

    def pragmas(self) -> dict[str, Any]:
        return {**super().pragmas(), "cache_size": -1024 * 512}


class Hires(Faulty):
    """Works, and keeps what it remembers, in a process of its own."""

    forks = ""

    def open(self) -> None:
        super().open()
        remember = f"held = b'x' * {HIRED}; print(len(held), flush=True)"
        work = f"while time.process_time() < {WORKED}: pass"
        command = [sys.executable, "-c", f"import time\n{self.forks}{remember}\n{work}\ninput()"]
        self.hired = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self.hired.stdout
        self.hired.stdout.readline()

    def close(self) -> None:
        self.hired.communicate()
        super().close()


class Disowns(Hires):
    """Keeps it in a process that was forked twice, and so is nobody's child."""

    forks = "import os\nif os.fork(): os._exit(0)\n"
