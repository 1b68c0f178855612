"""What one client of a contention does: transactions on objects of its own, made again where the system asks for it.

An object is a row of a number and a text. In iteration i client n has the numbers from (n * iterations + i) * 3 on:
one transaction inserts three objects, one changes the first of them, some look for it by its text, which has no
index, and one deletes it. Two of three are left to be cleared away when all clients are done.
"""

import random
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from queue import SimpleQueue
from typing import Any, Protocol, TypeVar

from dbbench.engine.base import Engine, Session
from dbbench.engine.offered import offers
from dbbench.errors import DbbenchError, Unsupported
from dbbench.loadgen.key_streams import CallStream
from dbbench.loadgen.transaction_body import Body, body
from dbbench.loadgen.transaction_draws import Plan, Values
from dbbench.results.facts import StepFacts

TEXTS = ("first object", "second object", "third object")
CHANGED = "another value"

#: A transaction is given up after this many tries, or this many seconds.
MOST_TRIES = 1_000
MOST_SECONDS = 300.0
#: The second try comes at once, those after it within a pause that doubles up to the longest, in seconds.
PAUSE, LONGEST_PAUSE = 0.001, 0.064
_ENDED = "the step has ended for all clients"


class GivenUp(DbbenchError):
    """A transaction that the system refused again and again."""


class Ended(DbbenchError):
    """A client that stops because the step has failed elsewhere, or has taken too long."""


class Together:
    """What the clients of a process have in common: why they are to end, once one of them or the clock says so."""

    @property
    def reasons(self) -> list[BaseException]:
        """Empty as long as all go on; one list for all of them, whoever asks first."""
        return self.__dict__.setdefault("_reasons", [])  # type: ignore[no-any-return]  # at once, unlike cached_property


#: Carries out a transaction, with its retries.
Run = Callable[[Values], None]
#: A session, and the transactions of an iteration prepared for it.
Ready = tuple[Any, Sequence[Body]]


class Queue(Protocol):
    """Gives what was put into it first; a client waits where it is empty."""

    def get(self) -> Any:
        """Wait for an item, and return it."""

    def put(self, item: Any) -> None:
        """Add an item."""


class Pool:
    """Sessions that clients share; the free ones are in a queue."""

    def __init__(self, free: Queue) -> None:
        self.get, self.put = free.get, free.put


@dataclass(frozen=True)
class Transactions(Together):
    """The iterations of all clients, as plain data. Times of a client's calls are those of its iterations."""

    #: One that inserts three objects, one that changes the first, one that looks for it, and one that deletes it.
    plans: Sequence[Plan]
    iterations: int
    sub_iterations: int

    def counts(self, clients: int) -> StepFacts:
        """What a round of `clients` clients consists of. `deletes` are theirs and those that clear away the rest."""
        rounds = clients * self.iterations
        return StepFacts(
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

    def ready(self, engine: Engine, session: Session) -> Ready:
        """A session with the transactions prepared."""
        return session, [body(engine, session, plan) for plan in self.plans]

    def pool(self, engine: Engine, sessions: Sequence[Session], free: Queue | None = None) -> Pool:
        """A pool of sessions, ready to be used. By default for clients in threads."""
        pool = Pool(free or SimpleQueue())
        for session in sessions:
            pool.put(self.ready(engine, session))
        return pool

    def prepare(self, engine: Engine, session: Session | Pool, number: int, of: int) -> CallStream:
        """One client's iterations."""
        counts: dict[str, int] = {}
        chance = random.Random(number)

        def runs(ready: Ready) -> list[Run]:
            attempts = Attempts(ready[0], counts, chance, end=self.reasons)
            each = zip(ready[1], self.plans, strict=True)
            return [attempts.transaction(carry_out, reading=plan.only_reads) for carry_out, plan in each]

        insert, change, look, delete = (
            _pooled(session, runs) if isinstance(session, Pool) else runs(self.ready(engine, session))
        )
        again = range(self.sub_iterations)

        def iteration(given: Sequence[Values]) -> None:
            objects, changed, found, deleted = given
            insert(objects)
            change(changed)
            for _ in again:
                look(found)
            delete(deleted)

        first = number * self.iterations
        return CallStream(iteration, map(_values, range(3 * first, 3 * (first + self.iterations), 3)), counts=counts)


def _values(key: int) -> Sequence[Values]:
    """What the transactions of an iteration are called with."""
    objects = [(key + place, text) for place, text in enumerate(TEXTS)]
    return (objects,), (key, TEXTS[0], CHANGED), (key, CHANGED), (key,)


def refuse_without_transactions(engine: Engine, session: Session) -> None:
    """Raise Unsupported if the engine has no SQL or no transactions."""
    if not offers(type(engine), "call"):
        raise Unsupported(f"{engine.name} has no SQL")
    if "transactions" in engine.missing_features:
        raise Unsupported(f"{engine.name} has no transactions: {engine.missing_features['transactions']}")


G = TypeVar("G")


class Attempts:
    """Makes the transactions of a session, each again as long as the system asks for that, counting reasons."""

    def __init__(
        self,
        session: Any,
        counts: dict[str, int],
        chance: random.Random,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] | None = None,
        of: str = "",
        end: Sequence[BaseException] = (),
    ) -> None:
        self.session, self.counts, self.chance = session, counts, chance
        #: `of` stands before the reasons that are counted.
        self.clock, self.sleep, self.of = clock, sleep or session.sleep, of
        #: Why the clients are to end; no transaction is begun where it holds anything.
        self.end = end

    def transaction(self, body: Callable[[G], object], *, reading: bool = False) -> Callable[[G], None]:
        """Begin, `body`, commit. It raises GivenUp after too many tries, and what no further try would fix."""
        begin, commit = self.session.begin_reading if reading else self.session.begin, self.session.commit
        end, again = self.end, self.again

        def once(key: G) -> None:
            if end:
                raise Ended(_ENDED) from end[0]
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
            # What is of our own making, like an answer that is wrong, no further try would fix.
            reason = None if isinstance(failed, DbbenchError) else session.retry_reason(failed)
            with suppress(Exception):  # each driver has its own; only the error before it is reported
                session.rollback()
            if reason is None:
                raise failed
            self.counts[self.of + reason] = self.counts.get(self.of + reason, 0) + 1
            mine[reason] = mine.get(reason, 0) + 1
            if self.end:
                raise Ended(_ENDED) from self.end[0]
            if self.clock() - since > MOST_SECONDS:
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


def _pooled(pool: Pool, runs: Callable[[Ready], list[Run]]) -> list[Run]:
    """Transactions that take a free session, or wait for one, and give it back."""
    known = dict[int, list[Run]]()

    def run(place: int, values: Values) -> None:
        ready = pool.get()
        try:
            if id(ready[0]) not in known:
                known[id(ready[0])] = runs(ready)
            known[id(ready[0])][place](values)
        finally:
            pool.put(ready)

    return [partial(run, place) for place in range(4)]
