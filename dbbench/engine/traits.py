"""What an engine is, what it can do and where its limits are, as data: no step has to try it to find out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar, Literal

from dbbench.suite.dataset import Distance
from dbbench.suite.model import Tier


class Publication(StrEnum):
    """Whether an engine's licence lets its benchmark results be published."""

    ALLOWED = "allowed"
    CONDITIONS = "with conditions"
    FORBIDDEN = "forbidden"
    UNKNOWN = "unknown"


#: What dbbench expects of every engine, unless it is in `missing_features`: docs/contract_page.py has what that means.
MissingFeature = Literal["transactions", "atomic commits", "unique keys", "indexes", "empty values"]


@dataclass(frozen=True)
class Concurrency:
    """How many clients at once: `threads` of a process with a session each, `processes` with the database open.

    None is no limit but the machine's. Each process opens an engine of its own on the directory: where there may be
    more than one, `open()` must take a database that exists and is in use.
    """

    #: Threads of one process that can have a session each.
    threads: int | None = 1
    #: Processes that can have the database open at once.
    processes: int | None = 1


@dataclass(frozen=True)
class Knob:
    """What a search trades accuracy for speed by: whole numbers from `least` to `most`, more being more accurate."""

    #: As the engine's documentation names it, like `ef_search`.
    name: str
    #: Its least value, 1 or more.
    least: int
    #: The most that is tried.
    most: int

    def __post_init__(self) -> None:
        if not 1 <= self.least < self.most:
            raise ValueError(f"the knob {self.name} goes from {self.least} to {self.most}: expected 1 <= least < most")


class Traits:
    """The class attributes that say what an engine is and can do. `dbbench engines` shows them and opens nothing."""

    #: As in the entry point: `engine` or `engine+driver`.
    name: ClassVar[str]
    #: On a chart: database and access layer.
    title: ClassVar[str]
    #: The licence of the database, and of the driver where that is another.
    license: ClassVar[str]
    #: Whether the licence lets results be published.
    publication: ClassVar[Publication] = Publication.UNKNOWN
    #: Where the licence says so, for anything but "allowed".
    publication_note: ClassVar[str] = ""
    #: Key of `dialects` in a suite.
    dialect: ClassVar[str] = ""
    #: Python modules that it needs. The plugin's own module can be imported without them.
    modules: ClassVar[Sequence[str]] = ()
    #: The extras that bring its driver, where that isn't the one named after the engine.
    extras: ClassVar[Sequence[str]] = ()
    #: Debian packages that it needs to run: libraries, programs, a server.
    debian: ClassVar[Sequence[str]] = ()
    #: Debian packages that its driver is built on, besides a compiler, where no wheel brings it.
    built_on: ClassVar[Sequence[str]] = ()
    #: A module that fetches what neither pip nor apt brings, run as `python -m MODULE ENGINE...`.
    fetched_by: ClassVar[str] = ""
    #: An example of a URL that it accepts; empty if it accepts none.
    url_example: ClassVar[str] = ""
    #: Whether it runs only against a server at a URL, and starts none itself.
    url_required: ClassVar[bool] = False
    #: What of it nobody has run yet, and why, like "not run against a live server". Empty: CI runs it.
    unverified: ClassVar[str] = ""
    #: Why it runs only where its user names it. Empty: it runs wherever it is installed.
    by_name_only: ClassVar[str] = ""
    #: Whether it does no work, to show the harness's own share: never verified, never ranked.
    is_null: ClassVar[bool] = False
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
    #: The longest key and the longest value that a store accepts, in bytes; None is no limit short of a gigabyte.
    longest_key: ClassVar[int | None] = None
    #: See `longest_key`.
    longest_value: ClassVar[int | None] = None
    #: Whether it keeps blocks: keys are their numbers, ascending ones of 8 bytes, and values all have one length.
    blocks: ClassVar[bool] = False
    #: The metrics of vectors that it has. Another is refused, and never replaced.
    metrics: ClassVar[Sequence[Distance]] = ()
    #: What a search for vectors trades accuracy by; None if it is exact or nothing can be set. A property where options
    #: decide.
    knob: ClassVar[Knob | None] = None


@dataclass(frozen=True)
class EngineInfo:
    """What is known of an open engine, by its class or its server: each as the class attribute of that name."""

    #: On a chart: database and access layer.
    title: str
    #: Whether the licence lets results be published.
    publication: Publication
    #: Where the licence says so, for anything but "allowed".
    publication_note: str
    #: Key of `dialects` in a suite.
    dialect: str
    #: How many clients at once.
    concurrency: Concurrency
    #: The durability that it gives: the one asked for, or one that promises more.
    tier: Tier
