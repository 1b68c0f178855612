"""Python's own dict: what it costs to hold records in memory and nothing else. No database, but a limit to them all."""

import platform
from collections.abc import Callable, Iterable
from typing import ClassVar

from dbbench.engine import Concurrency, Engine, Publication, Session, Size, Tier, Unsupported

Pair = tuple[bytes, bytes]


class DictSession(Session):
    def __init__(self, held: dict[bytes, bytes]) -> None:
        self.held = held

    def prepare_insert(self) -> Callable[[bytes, bytes], object]:
        return self.held.__setitem__

    prepare_update = prepare_insert

    def prepare_delete(self) -> Callable[[bytes], object]:
        return self.held.__delitem__

    def prepare_read(self, *, snapshot: bool = False) -> Callable[[bytes], bytes | None]:
        return self.held.get

    def prepare_scan(self) -> Callable[[], Iterable[Pair]]:
        return self.held.items

    def prepare_insert_many(self) -> Callable[[list[Pair]], object]:
        return self.held.update

    prepare_update_many = prepare_insert_many

    def prepare_delete_many(self) -> Callable[[list[bytes]], object]:
        delete = self.held.__delitem__

        def run(keys: list[bytes]) -> None:
            for key in keys:
                delete(key)

        return run


class Dict(Engine):
    name = "dict"
    title = "dict (Python, in memory)"
    license = "PSF-2.0"
    publication = Publication.ALLOWED
    session_class = DictSession
    durability: ClassVar = {Tier.MEMORY: {}}
    concurrency = Concurrency(threads=None, processes=1)
    ordered = False
    missing_features: ClassVar = {"transactions": "what was written before a failure stays"}
    unsupported_reasons: ClassVar = {"seek": "a dict has no order of keys", "range": "a dict has no order of keys"}

    @classmethod
    def versions(cls) -> dict[str, str]:
        return {"Python": platform.python_version()}

    def open(self) -> None:
        self.held: dict[bytes, bytes] = {}

    def connect(self) -> Session:
        return DictSession(self.held)

    def size(self) -> Size:
        raise Unsupported("a dict keeps nothing on disk")
