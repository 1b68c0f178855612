"""What an engine can do and where its limits are, as data: no step has to try it to find out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from dbbench.suite.model import Tier
from dbbench.suite.steps.base import Clients

#: What dbbench expects of every engine, unless the engine says that it is missing -> what it then means.
MissingFeature = Literal["transactions", "atomic commits", "unique keys", "indexes", "empty values"]

MISSING_FEATURES: Mapping[MissingFeature, str] = {
    "transactions": (
        "What was written before a failure stays, without a commit too. The kit then expects the rows of a load without "
        "commit to be there, and asks neither for a rollback nor for what is left of a list that failed in the middle. "
        "Contention steps refuse the engine, and `dbbench durability` doesn't count half of a transaction as a fault."
    ),
    "atomic commits": (
        "A commit that the end of the process cuts off may stay in part. Nothing is left out: `dbbench durability` still "
        "counts such commits and fails the tier; the reports say why. The kit asks nothing more."
    ),
    "unique keys": "A second row with the same primary key is accepted. The kit then expects two rows, not an error.",
    "indexes": (
        "Secondary indexes are never made. The kit then expects `create_indexes` to return no statement, and a load isn't "
        "checked for its indexes."
    ),
    "empty values": "A value of no bytes may read as if its key were missing. The kit then writes none.",
}


@dataclass(frozen=True)
class Concurrency:
    """How many clients at once: threads of one process with a session each, and processes on one database.

    None is no limit but the machine's. Where more than one process may, each opens an engine of its own on
    the directory, so that `open()` must take a database that is there and in use.
    """

    #: Threads of one process that can have a session each.
    threads: int | None = 1
    #: Processes that can have the database open at once.
    processes: int | None = 1

    def arranged(self, clients: Clients) -> Clients:
        """As many clients, all of them threads of one process where no other could open the database."""
        return Clients(threads=clients.count) if self.processes == 1 else clients


class Traits:
    """The class attributes that say what an engine can do."""

    #: Tier -> the settings that give it. Where one is missing, the next that promises more is used, or it is refused.
    durability: ClassVar[Mapping[Tier, Mapping[str, Any]]] = {}
    #: How many clients at once.
    concurrency: ClassVar[Concurrency] = Concurrency()
    #: Operation -> why the system itself can't.
    unsupported_reasons: ClassVar[Mapping[str, str]] = {}
    #: Operation -> why only one client at a time may do it, though several may do the others.
    one_client: ClassVar[Mapping[str, str]] = {}
    #: A feature that the system itself doesn't have -> what that means here, in the words of the report.
    missing_features: ClassVar[Mapping[MissingFeature, str]] = {}
    #: What an insert of a key that exists does: it raises and changes nothing (`refused`), or writes (`replaced`).
    duplicates: ClassVar[Literal["refused", "replaced"]] = "replaced"
    #: Whether a scan comes in the order of the keys.
    ordered: ClassVar[bool] = True
    #: The longest key that a store accepts, in bytes; None is no limit short of a gigabyte.
    longest_key: ClassVar[int | None] = None
    #: The longest value that a store accepts, in bytes; None is no limit short of a gigabyte.
    longest_value: ClassVar[int | None] = None
    #: Whether it keeps blocks: keys are their numbers, ascending ones of 8 bytes, and values all have one length.
    blocks: ClassVar[bool] = False
