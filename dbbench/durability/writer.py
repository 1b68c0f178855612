"""`python -m dbbench.durability.writer TASK`: says what a database holds, then commits numbered transactions to it.

TASK is JSON. Leaves found.json in its directory before the first commit, and failed.json if the engine
raised. Each number goes to the descriptor `acknowledge`, eight bytes, as soon as its commit has returned. Every
transaction writes one row into each of two tables, or two records, so that half of one can be told from all of it.
"""

import itertools
import os
import sys
import traceback
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from dbbench.durability.check import FOUND, NUMBER_BYTES, WRITER_TASK, Found, WriterTask
from dbbench.engine import registry
from dbbench.engine.base import Engine, Session, Setup
from dbbench.engine.fingerprint import fingerprint
from dbbench.engine.offered import offers, prepared
from dbbench.engine.sql.session import SQLEngine, fetch
from dbbench.errors import Unsupported
from dbbench.host import atomic_json
from dbbench.host.processes import end_with_parent
from dbbench.results.outcome import described
from dbbench.suite.dataset import Records, Table

#: Wide enough that the rows of a few commits fill a page.
WIDTH = 200
#: Bytes of a block, which every disk can write by itself.
_BLOCK = 4_096
#: Bytes of a key, which every engine takes, and what the two keys of a transaction begin with.
_KEY_BYTES = 16
_LETTERS = (b"L", b"R")

_TABLE = Table.model_validate(
    {
        "rows": 1,
        "primary_key": "Id",
        "columns": {
            "Id": {"type": "bigint", "values": {"kind": "sequence"}},
            "Note": {"type": f"varchar({WIDTH})", "values": {"kind": "sequence"}},  # the writer brings its own
        },
    }
)
TABLES: Mapping[str, Table] = {"CheckLeft": _TABLE, "CheckRight": _TABLE}


def write(task: WriterTask) -> None:
    """Open the database, say what is in it, and commit `commits` transactions, or without end."""
    engine_class = registry.load(task.engine)
    engine = engine_class(Setup(task.data, task.tier, task.options))
    content = content_of(engine, task.first)
    engine.open()
    if task.create:
        content.create()
    session = engine.connect()
    found = replace(
        Found([], []) if task.create else look(engine, content.held(session)),
        versions={**engine.versions(), **engine.server_versions()},
        settings=engine.settings(),
        code=fingerprint(engine_class),
    )
    atomic_json.write(task.directory / "found.json", FOUND.dump_python(found, mode="json"))
    first, commits = task.first, task.commits
    for number in itertools.count(first) if commits is None else range(first, first + commits):
        content.commit(session, number)
        os.write(task.acknowledge, number.to_bytes(NUMBER_BYTES, "big"))
    session.close()
    engine.close()


class Content(Protocol):
    """How transactions of two halves are written to a kind of engine, and found again."""

    def create(self) -> None:
        """Make room for them."""
        ...

    def commit(self, session: Session, number: int) -> None:
        """Both halves of one, committed."""
        ...

    def held(self, session: Session) -> Iterable[Iterable[tuple[int, str]]]:
        """Number and note of each half that is there: of all left ones, then of all right ones."""
        ...


@dataclass(frozen=True)
class TwoTables:
    """A row in each of two tables."""

    engine: SQLEngine

    def create(self) -> None:
        """Make both tables."""
        self.engine.create(TABLES)

    def commit(self, session: Session, number: int) -> None:
        """A row into each table, committed."""
        session.begin()
        for table in TABLES:
            sql = f"INSERT INTO {table} (Id, Note) VALUES ({number}, '{note(number)}')"
            prepared(self.engine, session, "statement")(self.engine.sql.translate(sql, TABLES))()
        session.commit()

    def held(self, session: Session) -> Iterator[Iterable[tuple[int, str]]]:
        """What is in each table."""
        for table in TABLES:
            rows = fetch(session, self.engine.sql.translate(f"SELECT Id, Note FROM {table}", TABLES))
            yield ((int(number), text) for number, text in rows)


@dataclass(frozen=True)
class TwoRecords:
    """Two records, whose keys begin with a letter each; no transaction has a number of `below` or more yet."""

    engine: Engine
    below: int

    def create(self) -> None:
        """Make the store."""
        self.engine.create_store(Records(count=100_000, key_bytes=_KEY_BYTES, value_bytes=WIDTH))

    def commit(self, session: Session, number: int) -> None:
        """Both records in one transaction."""
        value = note(number).encode()
        prepared(self.engine, session, "insert_many")()([(_key(letter, number), value) for letter in _LETTERS])

    def held(self, session: Session) -> Iterator[Iterable[tuple[int, str]]]:
        """What is in the store, by the letter that keys begin with."""
        pairs = [(bytes(key), bytes(value)) for key, value in self._pairs(session)]
        for letter in _LETTERS:
            yield (
                (int.from_bytes(key[1:], "big"), value.decode(errors="replace"))
                for key, value in pairs
                if key[:1] == letter
            )

    def _pairs(self, session: Session) -> Iterable[tuple[bytes, bytes]]:
        """All of them, by a scan or, where the engine has none, by reads of all that may be there."""
        if offers(type(self.engine), "scan"):
            return prepared(self.engine, session, "scan")()()  # type: ignore[no-any-return]
        read = prepared(self.engine, session, "read")()
        keys = (_key(letter, number) for letter in _LETTERS for number in range(1, self.below))
        return ((key, value) for key in keys if (value := read(key)) is not None)


@dataclass(frozen=True)
class TwoBlocks:
    """Two blocks side by side, whose numbers are all that there is for keys."""

    engine: Engine

    def create(self) -> None:
        """Make the store."""
        self.engine.create_store(Records(count=20_000, value_bytes=_BLOCK))

    def commit(self, session: Session, number: int) -> None:
        """Both blocks in one transaction."""
        value = note(number).encode().ljust(_BLOCK)
        pairs = [((2 * number + half).to_bytes(NUMBER_BYTES, "big"), value) for half in (0, 1)]
        prepared(self.engine, session, "insert_many")()(pairs)

    def held(self, session: Session) -> Iterator[Iterable[tuple[int, str]]]:
        """What is in the store, even blocks and odd ones."""
        found = [
            (int.from_bytes(key, "big"), bytes(value)) for key, value in prepared(self.engine, session, "scan")()()
        ]
        for half in (0, 1):
            yield (
                (number // 2, value.decode(errors="replace").rstrip()) for number, value in found if number % 2 == half
            )


def content_of(engine: Engine, below: int) -> Content:
    """What fits the engine, whose transactions so far have numbers below that. Raises Unsupported if nothing does."""
    if isinstance(engine, SQLEngine):
        return TwoTables(engine)
    if engine.blocks:
        return TwoBlocks(engine)
    if offers(type(engine), "insert_many") and offers(type(engine), "read"):
        return TwoRecords(engine, below)
    raise Unsupported(f"{engine.name} has neither tables nor records")


def _key(letter: bytes, number: int) -> bytes:
    return letter + number.to_bytes(_KEY_BYTES - 1, "big")


def note(number: int) -> str:
    """The text of a transaction's rows, which reveals a damaged one."""
    return f"{number:>{WIDTH}}"


def look(engine: Engine, stored: Iterable[Iterable[tuple[int, str]]]) -> Found:
    """The numbers of transactions that are there whole, as spans, and of those that are there in part."""
    good: list[set[int]] = []
    seen: set[int] = set()
    for halves in stored:
        found = list(halves)
        times = Counter(number for number, _ in found)
        good.append({number for number, text in found if text == note(number) and times[number] == 1})
        seen |= times.keys()
    whole = set.intersection(*good)
    # Without transactions each row is a commit of its own, and a kill may well come between two.
    half = [] if "transactions" in engine.missing_features else sorted(seen - whole)
    return Found(list(spans(sorted(whole))), half)


def spans(numbers: Iterable[int]) -> Iterator[tuple[int, int]]:
    """First and last of each stretch of ascending numbers without a gap."""
    for _, stretch in itertools.groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0]):
        values = [number for _, number in stretch]
        yield values[0], values[-1]


def main() -> None:
    """Do the task that the first argument states."""
    end_with_parent()  # the checker, should it be killed
    task = WRITER_TASK.validate_json(sys.argv[1])
    os.set_inheritable(task.acknowledge, False)  # what the engine may start needs it not
    try:
        write(task)
    except Exception as exc:
        os.close(task.acknowledge)  # the checker hears of it now, before its next kill
        traceback.print_exc()
        outcome, detail = described(exc)
        atomic_json.write(task.directory / "failed.json", {"outcome": outcome, "detail": detail})
        sys.exit(1)


if __name__ == "__main__":
    main()
