"""The plugin contract: an Engine is one system under test, a Session one client of it.

`prepare_<operation>()` does everything that can be done once and returns a callable; only that callable
runs inside the clock. What an engine offers is read off its session class, so no list can drift from
the code. A plugin is loaded by the entry point `dbbench.engines`, whose name is the engine's `name`.

Life of a trial, in a process of its own:
    available, open, create, connect, then the steps (load, flush and size among them), close; if it keeps files,
    another object opens them once more, connects and is closed
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from pydantic import BaseModel

from dbbench.engine.operations import LoadFormat, ResultFormat
from dbbench.engine.options import Options, Shares, programs, with_shares
from dbbench.engine.size import FileRole, Size, files_in
from dbbench.engine.traits import EngineInfo, Traits
from dbbench.errors import Unsupported
from dbbench.suite.model import Tier

if TYPE_CHECKING:
    from dbbench.engine.driver_timer import DriverTimer
    from dbbench.engine.event_loop import EventLoop
    from dbbench.suite.dataset import Records, Table, Vectors


@dataclass(frozen=True)
class Setup:
    """What an engine gets: a private directory (mode 0700), the tier, the options, and where its server is."""

    #: Private to this engine (mode 0700). Empty, unless an engine of the same kind has left a database there.
    directory: Path
    #: The durability that was asked for. `Engine.info()` says which one the engine gives.
    tier: Tier
    #: What the user has set; `Engine.options` is the same, checked, with the defaults and shares.
    options: Mapping[str, object] = field(default_factory=dict)
    #: Where the server is. It may hold a password, so it is kept in memory only. Empty: the engine starts a private
    #: server, or needs none.
    url: str = field(default="", repr=False)
    #: The memory for options with a `MemoryShare` that the user left open.
    shares: Shares = field(default_factory=Shares)


class Session:
    """One client of an engine, used by one thread at a time.

    It has an operation if it has the method `prepare_<operation>`: see dbbench.engine.operations.
    """

    #: How prepare_load's callable receives a chunk: a list of tuples, a list of dicts, a CsvChunk, or an Arrow record
    #: batch.
    load_format: ClassVar[LoadFormat] = "rows"
    #: How prepare_query's callable returns rows: an iterable of rows that can be indexed; of Arrow record batches; or
    #: rows with a method `column(number)`, for a system whose own loop reads to the end, which makes Python objects of
    #: the values outside the clock.
    result_format: ClassVar[ResultFormat] = "rows"
    #: For rows, mappings and batches: types that the driver can't accept as they are -> "text" or "float";
    #: "filled" where the system takes an empty text for a NULL, so that it is refused.
    bind: ClassVar[Mapping[str, str]] = {}
    #: Types that come back in another form -> "text", "bytes" or "float". None: as they are bound. Text or bytes that
    #: aren't declared are a wrong answer; what is declared stands in a footnote.
    reads: ClassVar[Mapping[str, str] | None] = None
    #: Whether an event loop awaits its calls: see `AwaitedSession`. Its null engine does so too.
    awaited: ClassVar[bool] = False

    @property
    def declared(self) -> Mapping[str, str]:
        """Types of the suite -> the form in which they come back, where it isn't their own."""
        return self.bind if self.reads is None else self.reads

    def returned_rows(self, given: Any) -> bool:
        """Whether a statement returned rows; `given` is its callable's return value, by DB-API a cursor."""
        return bool(getattr(given, "description", None))

    def forget(self) -> None:
        """Forget the objects that were returned, if it keeps any: empty its identity map."""

    def read_only(self, *, on: bool) -> None:
        """Make the system refuse this client's writes, or accept them again. Without such a setting it does nothing."""

    def watch(self, timer: DriverTimer) -> None:
        """Have `timer` time the driver's calls by operations prepared from now on. Raises Unsupported if it can't."""
        raise Unsupported("its driver's calls can't be told apart from its own work")

    def sleep(self, seconds: float) -> None:
        """Pause its client."""
        time.sleep(seconds)

    def begin(self) -> None:
        """Start a transaction."""
        raise NotImplementedError

    def commit(self) -> None:
        """Commit it, as durably as the tier asks."""
        raise NotImplementedError

    def close(self) -> None:
        """Free everything."""


class Engine(Traits):
    """One system under test. Subclasses fill in the class attributes and the methods they need."""

    #: What a user may set: a subclass of `Options`.
    options_class: ClassVar[type[BaseModel]] = Options
    #: The class of its sessions: what they offer is read off it.
    session_class: ClassVar[type[Session]] = Session
    #: For an access layer: the engine that it runs on, whose tables hold the rows.
    base_engine: Engine | None = None

    def __init__(self, setup: Setup) -> None:
        """Check what was asked for. Raises Unsupported for a tier or a URL that the engine refuses."""
        self.directory, self.url = setup.directory, setup.url
        if setup.url and not self.url_example:
            raise Unsupported(f"{self.name} has no server to name a URL of")
        if self.url_required and not setup.url:
            raise Unsupported(f"{self.name} needs a server: --url {self.name}={self.url_example}")
        self.options: Any = with_shares(self.options_class.model_validate(dict(setup.options)), setup.shares)
        #: The tier to give: the one asked for, or the next that promises more. `info()` says if a server gives more
        #: still.
        self.tier = self.effective_tier(setup.tier)

    @classmethod
    def effective_tier(cls, tier: Tier) -> Tier:
        """The least tier of the engine's that promises what `tier` does. Raises Unsupported if none does."""
        tiers = list(Tier)
        for enough in tiers[tiers.index(tier) :]:
            if enough in cls.durability:
                return enough
        offered = ", ".join(cls.durability) or "none"
        raise Unsupported(f"{cls.name} can't give durability {tier} (it offers: {offered})")

    @classmethod
    def available(cls) -> None:
        """Raise Unavailable if a library or program is missing. Without a command in it dbbench shows `debian`."""

    @classmethod
    def available_with(cls, options: Mapping[str, Any]) -> None:
        """Raise Unavailable if a private server's program or what the user has to bring is missing. Not with a URL."""

    @classmethod
    def versions(cls) -> dict[str, str]:
        """Versions of the driver, and of the database if it can be known without starting it, by name."""
        return {}

    def info(self) -> EngineInfo:
        """Description of an open engine. Override it where a server may be another product than the class says."""
        return EngineInfo(
            self.title, self.publication, self.publication_note, self.dialect, self.concurrency, self.tier
        )

    def server_versions(self) -> dict[str, str]:
        """Versions that only an open engine knows, such as the server's, by name."""
        return {}

    def open(self) -> None:
        """Make or open the database in `self.directory`."""

    def create(self, tables: Mapping[str, Table]) -> None:
        """Make the tables, without their indexes. By default nothing."""

    def create_store(self, records: Records) -> None:
        """Make room for records under keys; `records` has their number and lengths. By default nothing."""

    def create_vectors(self, vectors: Vectors) -> None:
        """Make room for vectors under keys, without an index; `vectors` describes them. By default nothing."""

    def connect(self) -> Session:
        """A new client."""
        raise NotImplementedError

    def group(self) -> SessionGroup | EventLoop | None:
        """What serves the sessions of several clients of a process in one thread. None: a thread for each."""
        return None

    def flush(self) -> None:
        """Bring everything to its place on disk: a checkpoint. By default nothing."""

    def settings(self) -> dict[str, Any]:
        """What was set and differs between systems: tier, cache, page size, threads; no paths of programs."""
        return {**self.options.model_dump(exclude={*programs(type(self.options))}), **self.durability[self.tier]}

    def size(self) -> Size:
        """Every file in the engine's directory."""
        return Size(tuple(sorted(files_in(self.directory, self.file_role), key=lambda file: file.name)))

    def file_role(self, name: str) -> FileRole:
        """What a file is for, by its name. By default `journal` where the name ends as logs do, else `data`."""
        return "journal" if name.endswith(("-wal", "-journal", ".wal", ".log")) else "data"

    def statistics(self) -> dict[str, int]:
        """Counts by the system itself: `inserts`, `updates`, `selects`, `deletes` (rows), `commits`, `deadlocks`."""
        return {}

    def processes(self) -> Sequence[int]:
        """Ids of the processes that work for this engine: its private server's. Their memory and CPU time count too."""
        return ()

    def exit_reason(self) -> str:
        """The reason why the server ended unexpectedly; empty while it runs."""
        return ""

    def remove(self, tables: Mapping[str, Table]) -> None:
        """Remove what `create` made outside the directory: the tables at a URL, as far as they exist."""

    def close(self) -> None:
        """Close the database; nothing of it may be left running."""


class SessionGroup(Protocol):
    """Sessions of one process that one thread serves: while some wait for answers, others send what they ask."""

    def connect(self, wait: Callable[[], object]) -> Session:
        """A new session. Those of a group are numbered from 0.

        A prepared call sends what it asks and then calls `wait()`, which lets other sessions go on. It returns when
        `ready` has named the session, but may do so earlier: the call waits again until its answer is whole.
        Transactions, and what is done once, may wait in their own way.
        """
        ...

    def ready(self, timeout: float | None) -> Iterable[int]:
        """The numbers of sessions for which something has come since they called `wait`. It waits until one has, or
        for at most `timeout` seconds.
        """
        ...

    def close(self) -> None:
        """Free what isn't the sessions' own. They are closed before."""
        ...
