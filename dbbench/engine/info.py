"""What an engine is, apart from what it does: its name and licence, and what has to be installed for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from dbbench.engine.traits import Concurrency
    from dbbench.suite.model import Tier


class Publication(StrEnum):
    """Whether an engine's licence lets its benchmark results be published."""

    ALLOWED = "allowed"
    CONDITIONS = "with conditions"
    FORBIDDEN = "forbidden"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class EngineInfo:
    """What is known of an open engine: what its class says, or what the server is that it found."""

    #: As on a chart: database and access layer.
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


class Description:
    """The class attributes by which an engine introduces itself. `dbbench engines` shows them without opening anything."""

    #: As in the entry point: `engine` or `engine+driver`.
    name: ClassVar[str]
    #: As on a chart: database and access layer.
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
