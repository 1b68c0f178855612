"""What is asked of an engine whose sessions one thread serves, whether they hold records or blocks."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from dbbench.engine.base import Engine
from dbbench.engine.operations import prepared
from dbbench.testing.clause import left_out
from dbbench.testing.expect import expect_equal

#: Sessions, and how often each reads every pair.
SESSIONS, LAPS = 4, 5


def expect_own_answers(engine: Engine, pairs: Sequence[tuple[bytes, bytes]]) -> None:
    """Have the sessions of a group read these pairs, which the engine holds, each another one at any time.

    Leaves the clause out where the engine has no groups.
    """
    group = engine.group()
    if group is None:
        left_out("its clients have a thread each")
    from dbbench.loadgen.turns import Turns  # needs greenlet, which few engines do

    turns = Turns(group)

    def client(number: int) -> None:
        session = group.connect(turns.wait)
        read = prepared(engine, session, "read")()
        turns.meet(lambda: None)
        for place in range(number, number + LAPS * len(pairs)):
            key, value = pairs[place % len(pairs)]
            found = read(key)
            expect_equal(f"value under {key!r} in session {number} of {SESSIONS}", found and bytes(found), value)
        session.close()

    try:
        turns.run([partial(client, number) for number in range(SESSIONS)])
    finally:
        group.close()
