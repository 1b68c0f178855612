"""Arguments of an engine's constructor."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dbbench.suite.model import Tier


@dataclass(frozen=True)
class Setup:
    """What an engine gets: a private directory (mode 0700), the tier, the options, and where its server is."""

    #: Private to this engine (mode 0700). Empty, unless an engine of the same kind has left a database there.
    directory: Path
    #: The durability that was asked for. `Engine.info()` says which one the engine gives.
    tier: Tier
    #: What the user has set; `Engine.options` is the same, checked, with the defaults.
    options: Mapping[str, object] = field(default_factory=dict)
    #: Where the server is. It may hold a password, so it is kept in memory only. Empty: the engine starts a private
    #: server, or needs none.
    url: str = field(default="", repr=False)
    #: Bytes that the engine and its harness may use together (--memory-limit); None where the system keeps no limit.
    memory_limit: int | None = None
