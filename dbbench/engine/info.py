"""What an open engine is: what its class says, or what the server is that it found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dbbench.engine.traits import Concurrency, Publication
    from dbbench.suite.model import Tier


@dataclass(frozen=True)
class EngineInfo:
    """What is known of an open engine, each as the class attribute of that name."""

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
