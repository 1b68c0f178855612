"""What one client of a contention does: transactions on objects of its own, made again where the system asks for it.

An object is a row of a number and a text. In iteration i client n has the numbers from (n * iterations + i) * 3 on:
one transaction inserts three objects, one changes the first of them, some look for it by its text, which has no
index, and one deletes it. Two of three are left to be cleared away when all clients are done.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from queue import SimpleQueue
from typing import Any, TypeVar

from dbbench.engine.base import Engine, Session
from dbbench.engine.operations import offers
from dbbench.engine.sql.session import Dialect, SQLEngine, SQLSession
from dbbench.errors import DbbenchError, Unsupported, WrongAnswer
from dbbench.loadgen.key_streams import CallStream

TEXTS = ("first object", "second object", "third object")
CHANGED = "another value"

#: A transaction is given up after this many tries, or this many seconds.
MOST_TRIES = 100
MOST_SECONDS = 60.0
#: The second try comes at once, those after it within a pause that doubles up to the longest, in seconds.
PAUSE, LONGEST_PAUSE = 0.001, 0.064


class GivenUp(DbbenchError):
    """A transaction that the system refused again and again."""


class Ended(DbbenchError):
    """A client that makes no more transactions because the step has failed elsewhere, or has taken too long."""


class Together:
    """What the clients of a process have in common: why they are to end, as soon as one of them or the clock says so."""

    @property
    def reasons(self) -> list[BaseException]:
        """Empty as long as all go on; one list for all of them, whoever asks first."""
        return self.__dict__.setdefault("_reasons", [])  # type: ignore[no-any-return]  # at once, unlike cached_property


@dataclass(frozen=True)
class Counts:
    """What a round consists of. `deletes` are those of the clients and those that clear away what they left."""

    inserts: int
    updates: int
    selects: int
    deletes: int
    left: int
    transactions: int


@dataclass(frozen=True, eq=False)
class Calls:
    """A session with its statements prepared."""

    session: SQLSession
    insert: Callable[..., Any]
    load: Callable[..., Any]
    update: Callable[..., Any]
    find: Callable[..., Any]
    delete: Callable[..., Any]


@dataclass(frozen=True)
class Pool:
    """Sessions that clients share."""

    free: SimpleQueue[Calls] = field(default_factory=SimpleQueue)


@dataclass(frozen=True)
class Transactions(Together):
    """The transactions of all clients, as plain data. Times of a client's calls are those of its iterations."""

    table: str
    key: str
    text: str
    iterations: int
    sub_iterations: int
    #: Whether each client compares what it reads with what it wrote.
    compares: bool = True

    def counts(self, clients: int) -> Counts:
        """What `clients` clients do in a round."""
        rounds = clients * self.iterations
        return Counts(
            inserts=3 * rounds,
            updates=rounds,
            selects=(1 + self.sub_iterations) * rounds,
            deletes=3 * rounds,
            left=2 * rounds,
            transactions=(3 + self.sub_iterations) * rounds,
        )

    def left(self, clients: int) -> dict[int, str]:
        """The objects that `clients` clients leave behind."""
        rounds = range(clients * self.iterations)
        return {3 * number + place: TEXTS[place] for number in rounds for place in (1, 2)}

    def check(self, engine: Engine, session: Session) -> None:
        """Raise Unsupported if the engine has no SQL or no transactions."""
        refuse_without_transactions(engine, session)

    def pool(self, engine: Engine, sessions: Sequence[Session]) -> Pool:
        """A pool of sessions, ready to be used."""
        pool = Pool()
        for session in sessions:
            pool.free.put(self.calls(engine, session))
        return pool

    def calls(self, engine: Engine, session: Any) -> Calls:
        """A session's statements."""
        sql = engine.sql if isinstance(engine, SQLEngine) else Dialect()
        table, key, text = map(sql.quoted, (self.table, self.key, self.text))
        value = sql.placeholder
        select = f"SELECT {key}, {text} FROM {table} WHERE"
        return Calls(
            session,
            insert=session.prepare_call(f"INSERT INTO {table} ({key}, {text}) VALUES ({value}, {value})", 0),
            load=session.prepare_call(f"{select} {key} = {value}", 1),
            update=session.prepare_call(f"UPDATE {table} SET {text} = {value} WHERE {key} = {value}", 0),
            find=session.prepare_rows(f"{select} {text} = {value}"),
            delete=session.prepare_call(f"DELETE FROM {table} WHERE {key} = {value}", 0),
        )

    def prepare(self, engine: Engine, session: Session | Pool, number: int, of: int) -> CallStream:
        """One client's iterations."""
        counts: dict[str, int] = {}
        chance, end = random.Random(number), self.reasons

        def of_session(calls: Calls, body: Callable[[Calls, int], object], **how: bool) -> Callable[[int], None]:
            return Attempts(calls.session, counts, chance, end=end).transaction(partial(body, calls), **how)

        transaction = (
            partial(_pooled, session, of_session)
            if isinstance(session, Pool)
            else partial(of_session, self.calls(engine, session))
        )
        insert, delete = transaction(_insert), transaction(_delete)
        change = transaction(_change if self.compares else _change_only)
        look = transaction(_look if self.compares else _look_only, reading=True)
        again = range(self.sub_iterations)

        def iteration(key: int) -> None:
            insert(key)
            change(key)
            for _ in again:
                look(key)
            delete(key)

        first = number * self.iterations
        keys = [3 * place for place in range(first, first + self.iterations)]
        return CallStream(iteration, keys, counts=counts)


def refuse_without_transactions(engine: Engine, session: Session) -> None:
    """Raise Unsupported if the engine has no SQL or no transactions."""
    if not offers(type(engine), "call"):
        raise Unsupported(f"{engine.name} has no SQL")
    if "transactions" in engine.missing_features:
        raise Unsupported(f"{engine.name} has no transactions: {engine.missing_features['transactions']}")


G = TypeVar("G")


class Attempts:
    """Makes the transactions of a session, and each again as long as the system asks for that, counting by its reasons."""

    def __init__(
        self,
        session: Any,
        counts: dict[str, int],
        chance: random.Random,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] = time.sleep,
        of: str = "",
        end: Sequence[BaseException] = (),
    ) -> None:
        self.session, self.counts, self.chance = session, counts, chance
        #: `of` stands before the reasons that are counted.
        self.clock, self.sleep, self.of = clock, sleep, of
        #: Why the clients are to end; no transaction is begun where it holds anything.
        self.end = end

    def transaction(self, body: Callable[[G], object], *, reading: bool = False) -> Callable[[G], None]:
        """Begin, `body`, commit. It raises GivenUp after too many tries, and what no further try would fix."""
        begin, commit = self.session.begin_reading if reading else self.session.begin, self.session.commit
        end, again = self.end, self.again

        def once(key: G) -> None:
            if end:
                raise Ended("the step has ended for all clients") from end[0]
            try:
                begin()
                body(key)
                commit()
            except Exception as exc:
                again(begin, body, key, exc)

        return once

    def again(self, begin: Callable[[], object], body: Callable[[G], object], key: G, exc: Exception) -> None:
        """A transaction that `exc` has ended, made again. Raises as a call does."""
        session, failed = self.session, exc
        since, mine = self.clock(), dict[str, int]()
        for tried in range(1, MOST_TRIES):
            # What is of our own making, like an answer that is wrong, no further try would mend.
            reason = None if isinstance(failed, DbbenchError) else session.retry_reason(failed)
            with suppress(Exception):  # each driver has its own; what was wrong before it is what is told
                session.rollback()
            if reason is None:
                raise failed
            self.counts[self.of + reason] = self.counts.get(self.of + reason, 0) + 1
            mine[reason] = mine.get(reason, 0) + 1
            if self.clock() - since > MOST_SECONDS or self.end:
                break
            if tried > 1:
                self.sleep(self.chance.random() * min(PAUSE * 2 ** (tried - 2), LONGEST_PAUSE))
            try:
                begin()
                body(key)
                session.commit()
            except Exception as again:
                failed = again
            else:
                return
        else:
            with suppress(Exception):  # the last try as well: what it holds would stand in the others' way
                session.rollback()
        reasons = ", ".join(f"{count} times a {reason}" for reason, count in mine.items())
        which = f"the transaction {self.of.removesuffix(': ')}" if self.of else "a transaction"
        raise GivenUp(f"{which} was given up after {sum(mine.values())} tries: {reasons}") from failed


def _pooled(
    pool: Pool, of_session: Callable[..., Callable[[int], None]], body: Callable[[Calls, int], object], **how: bool
) -> Callable[[int], None]:
    """A transaction on one of the sessions: it takes a free one, or waits for one, and gives it back."""
    free, known = pool.free, dict[Calls, Callable[[int], None]]()

    def run(key: int) -> None:
        calls = free.get()
        try:
            if calls not in known:
                known[calls] = of_session(calls, body, **how)
            known[calls](key)
        finally:
            free.put(calls)

    return run


def _insert(calls: Calls, key: int) -> None:
    for place, text in enumerate(TEXTS):
        calls.insert(key + place, text)


def _change(calls: Calls, key: int) -> None:
    row = calls.load(key)
    if row is None or row[0] != key or row[1] != TEXTS[0]:
        raise WrongAnswer(f"object {key} is {None if row is None else tuple(row)}, not {(key, TEXTS[0])}")
    calls.update(CHANGED, key)


def _look(calls: Calls, key: int) -> None:
    rows = calls.find(CHANGED)
    for row in rows:
        if row[0] == key:
            if row[1] != CHANGED:
                raise WrongAnswer(f"object {key}, which was found by its text {CHANGED!r}, has the text {row[1]!r}")
            break
    else:
        raise WrongAnswer(f"object {key} is not among those with the text {CHANGED!r}, which was committed")
    if close := getattr(rows, "close", None):
        close()  # what is not read hinders the commit of some


def _delete(calls: Calls, key: int) -> None:
    calls.delete(key)


def _change_only(calls: Calls, key: int) -> None:
    calls.load(key)
    calls.update(CHANGED, key)


def _look_only(calls: Calls, key: int) -> None:
    calls.find(CHANGED)
