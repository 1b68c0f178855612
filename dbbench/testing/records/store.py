"""The records that the clauses use, and how they write and read them."""

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import pytest

from dbbench.datasets.records import RecordSet
from dbbench.engine.base import Engine, Session
from dbbench.engine.offered import offers, prepared
from dbbench.suite.dataset import Records
from dbbench.testing.clause import expect, expect_equal, needs
from dbbench.testing.contract import EngineContract, Opener

#: Bytes of a key in most of the tests; all keys of a store have one length, as in a suite.
WIDTH = 16
Store = tuple[Engine, Session]
OpenStore = Callable[..., Store]


def numbered(number: int) -> bytes:
    """A key; ascending numbers make ascending keys."""
    return number.to_bytes(WIDTH, "big")


#: Keys with all that text has not, ascending byte by byte. As signed or as text the order would be another one.
KEYS = [
    bytes(WIDTH),
    bytes(WIDTH - 1) + b"\x01",
    bytes(WIDTH - 2) + b"\x01\x00",
    b"A" * WIDTH,
    b"a" + bytes(WIDTH - 1),
    b"a" * (WIDTH - 1) + b" ",
    b"a" * WIDTH,
    b"\x7f" * WIDTH,
    b"\x80" * WIDTH,
    b"\xc3\xa4" * (WIDTH // 2),
    b"\xff" * (WIDTH - 1) + b"\x00",
    b"\xff" * WIDTH,
]
PAIRS = [(key, b"value of " + key) for key in KEYS]


class StoreContract(EngineContract):
    """An engine with a store in it."""

    #: The kit's records, in the order of their keys.
    pairs: ClassVar[Sequence[tuple[bytes, bytes]]] = PAIRS
    #: What the store is made for.
    spec: ClassVar = Records(count=3_000, key_bytes=WIDTH, key_order="scattered", value_bytes=64)

    @pytest.fixture
    def store(self, opened: Opener) -> OpenStore:
        """Opens the engine with an empty store in it, and a session; `lengths` are other ones of keys or values."""

        def make(folder: str = "", **lengths: int) -> Store:
            engine = opened(folder)
            engine.create_store(self.records(**lengths).shape)
            return engine, engine.connect()

        return make

    @pytest.fixture
    def filled(self, store: OpenStore) -> Store:
        """A store with the kit's records in it, inserted from the last to the first."""
        engine, session = store()
        fill(engine, session, self.pairs[::-1])
        return engine, session

    def records(self, **other: int) -> RecordSet:
        """The store's records, or other ones, also of lengths that a suite can't ask for."""
        return RecordSet(self.spec.model_copy(update=other), 1)

    def value(self, text: bytes) -> bytes:
        """A value of the store that begins with a text."""
        return text


def call(engine: Engine, session: Session, operation: str, **how: bool) -> Callable[..., Any]:
    """The prepared operation. Leaves the clause out, with the engine's own reason, where there can be none."""
    needs(engine, operation)
    found: Callable[..., Any] = prepared(engine, session, operation)(**how)
    return found


def fill(engine: Engine, session: Session, some: Sequence[tuple[bytes, bytes]]) -> None:
    """Insert some records, at once where the engine can."""
    if offers(type(engine), "insert_many"):
        call(engine, session, "insert_many")(list(some))
        return
    insert = call(engine, session, "insert")
    for key, value in some:
        insert(key, value)


def whole(found: Any) -> Any:
    """A record that a seek or a range returned, if a run takes it: nothing that is read when it is looked at."""
    kind = type(found).__name__
    expect(found is None or type(found) in (tuple, list), f"expected a tuple or list of key and value, got {kind}")
    return found


def pair(found: Any) -> tuple[bytes, bytes]:
    """A record in plain bytes, whatever a driver makes of them."""
    expect(found is not None, "expected a record as (key, value), got None")
    key, value = found
    return bytes(key), bytes(value)


def pairs(found: Any) -> list[tuple[bytes, bytes]]:
    """Records in plain bytes."""
    return [pair(each) for each in found]


def value_of(read: Callable[[bytes], Any], key: bytes) -> bytes | None:
    """The value that is read under a key, in plain bytes; text is none."""
    found = read(key)
    return found if found is None else bytes(found)


def stored(engine: Engine, session: Session, among: Sequence[bytes] = KEYS) -> dict[bytes, bytes]:
    """All that the store holds, each key once. An engine without a scan is asked for each key of `among`."""
    if not offers(type(engine), "scan"):
        read = call(engine, session, "read")
        return {key: value for key in among if (value := value_of(read, key)) is not None}
    found = pairs(call(engine, session, "scan")())
    expect_equal("records of a scan whose keys differ", len(dict(found)), len(found))
    return dict(found)


def expect_stored(engine: Engine, session: Session, expected: dict[bytes, bytes], when: str) -> None:
    """Compare all that the store holds."""
    lengths = {*map(len, expected)}  # a store of blocks takes no other keys
    among = [key for key in {*KEYS, *expected} if len(key) in lengths]
    expect_equal(f"records {when}", stored(engine, session, among), expected)
