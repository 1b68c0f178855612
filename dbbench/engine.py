"""The plugin contract: an Engine is one system under test, a Session one client of it.

`prepare_<operation>()` does everything that can be done once and returns a callable; only that callable
runs inside the clock. What an engine offers is read off its session class, so no list can drift from
the code. A plugin is loaded by the entry point `dbbench.engines`, whose name is the engine's `name`.

Life of a trial, in a process of its own:
    available, open, create, connect, then the steps (load, flush and size among them), close; if it keeps files,
    another object opens them once more, connects and is closed
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict

from dbbench.errors import Unsupported
from dbbench.suite import Clients, Tier

if TYPE_CHECKING:
    import pyarrow as pa

    from dbbench.records import RecordSet
    from dbbench.schema import Table
    from dbbench.watch import Watch

#: How a session gives the rows of a query.
Form = Literal["rows", "batches"]
#: How it takes those of a load: also as mappings of names to values.
Taken = Literal["rows", "mappings", "csv", "batches"]
#: What ends a load, in the words of the report.
LoadPart = Literal["indexes", "statistics", "commit"]
#: What every engine is taken to have, unless it says that it lacks it.
Lack = Literal["transactions", "atomic commits", "unique keys", "indexes", "empty values"]
#: What a prepared query gives: rows that can be indexed, or Arrow record batches.
Rows = Iterable[Sequence[Any]] | Iterable["pa.RecordBatch"]


class Publication(StrEnum):
    """Whether an engine's licence lets its benchmark results be published."""

    ALLOWED = "allowed"
    CONDITIONS = "with conditions"
    FORBIDDEN = "forbidden"
    UNKNOWN = "unknown"


class Options(BaseModel):
    """What a user may set with `--set ENGINE.OPTION=VALUE`. Plugins add fields, each with a default."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class _Named:
    """The mark of `Program`."""


#: An option that names a program, a library or a file to be run or read, as it is written in an Options class. A run
#: directory may come from elsewhere, so --resume takes none of these from it: the user names it again.
Program = Annotated[str, _Named()]


def programs(options: type[BaseModel]) -> list[str]:
    """The options that are a Program."""
    fields = options.model_fields.items()
    return [name for name, known in fields if any(isinstance(mark, _Named) for mark in known.metadata)]


@dataclass(frozen=True)
class File:
    """One file of a database: its name inside the engine's directory, its bytes, and those on disk."""

    name: str
    part: Literal["data", "journal", "other"]
    apparent: int
    allocated: int


@dataclass(frozen=True)
class Size:
    """What an engine keeps on disk. `index` is the part of the data files that holds indexes, in bytes."""

    files: tuple[File, ...]
    index: int | None = None

    @property
    def total(self) -> int:
        """Apparent bytes of all files."""
        return sum(file.apparent for file in self.files)


class Session:
    """One client of an engine, used by one thread at a time. An operation is there if its `prepare_` method is.

    SQL
        prepare_load(name, table) -> insert(chunk)   takes a chunk as `takes` says; returns when the system has it
        begin_load(tables)                           starts the load's transaction; the tables are empty
        prepare_finish(tables) -> {part: run()}      what ends the load, in its order: each is called and timed
        prepare_query(sql) -> run() -> Rows          runs the query; what it gives is stepped inside the clock
        prepare_statement(sql) -> run()              a statement that commits by itself

    Key-value: keys and values are bytes; keys are ordered byte by byte, and may hold any byte
        prepare_insert() -> insert(key, value)       a key that is new, committed by itself; for one that isn't, see
                                                     `Engine.duplicates`
        prepare_update() -> update(key, value)       of a key that is there, committed by itself
        prepare_delete() -> delete(key)              of a key that is there, committed by itself
        prepare_read(snapshot=False) -> read(key) -> value, or None if the key isn't there
        prepare_seek(snapshot=False) -> seek(key) -> (key, value) at the key or the next above it, or None
        prepare_range(snapshot=False) -> range(key, count) -> list of up to `count` (key, value) from the key on
        prepare_scan() -> scan() -> all (key, value), ascending unless `Engine.ordered` is False
        prepare_insert_many() -> insert(pairs)       a list of (key, value) in one transaction, committed
        prepare_update_many() -> update(pairs)
        prepare_delete_many() -> delete(keys)

    Objects: rows of a table, each as a Python object whose members are its columns; see dbbench.objects
        prepare_get(name, table) -> get(key) -> the object with that primary key, or None if there is none
        prepare_get_many(name, table) -> get_many(keys) -> list of those, in any order; of all rows if keys is None

    A read sees what was committed before the call; with `snapshot` what was before it was prepared is enough.
    """

    #: How prepare_load's callable takes a chunk: a list of tuples, a list of dicts, a CsvChunk
    #: (see dbbench.datasets.rows), or an Arrow record batch.
    takes: ClassVar[Taken] = "rows"
    #: How prepare_query's callable gives rows.
    gives: ClassVar[Form] = "rows"
    #: For "rows": types that the driver can't take as they are -> "text" or "float".
    bind: ClassVar[Mapping[str, str]] = {}
    #: Types that come back in another form -> "text", "bytes" or "float". None: as they are bound. Text or bytes that
    #: aren't declared are a wrong answer; what is declared stands in a footnote.
    reads: ClassVar[Mapping[str, str] | None] = None

    @property
    def declared(self) -> Mapping[str, str]:
        """Types of the suite -> the form in which they come back, where it isn't their own."""
        return self.bind if self.reads is None else self.reads

    def returned_rows(self, given: Any) -> bool:
        """Whether a statement returned rows, which nobody reads, by what its callable gave: by DB-API a cursor with a
        description. A session whose `prepare_statement` gives something else says here what that tells.
        """
        return bool(getattr(given, "description", None))

    def forget(self) -> None:
        """Forget the objects that were given, if it keeps any: empty its identity map."""

    def watch(self, watch: Watch) -> None:
        """Tell `watch` of the driver's calls by the operations prepared from now on. Raises Unsupported if it can't."""
        raise Unsupported("its driver's calls can't be told apart from its own work")

    def begin(self) -> None:
        """Start a transaction."""
        raise NotImplementedError

    def commit(self) -> None:
        """Commit it, as durably as the tier asks."""
        raise NotImplementedError

    def close(self) -> None:
        """Free everything."""


@dataclass(frozen=True)
class Concurrency:
    """How many clients at once: threads of one process with a session each, and processes on one database.

    None is no limit but the machine's. Where more than one process may, each opens an engine of its own on
    the directory, so that `open()` must take a database that is there and in use.
    """

    threads: int | None = 1
    processes: int | None = 1

    def arranged(self, clients: Clients) -> Clients:
        """As many clients, all of them threads of one process where no other could open the database."""
        return Clients(threads=clients.count) if self.processes == 1 else clients


@dataclass(frozen=True)
class Setup:
    """What an engine gets: a private directory (mode 0700), the tier, the options, and where its server is.

    `url` may hold a password: it is kept in memory only. Empty: the engine starts a private server, or needs none.
    """

    directory: Path
    tier: Tier
    options: Mapping[str, Any] = field(default_factory=dict)
    url: str = field(default="", repr=False)


class Engine:
    """One system under test. Subclasses fill in the class attributes and the methods they need."""

    #: As in the entry point: `engine` or `engine+driver`.
    name: ClassVar[str]
    #: As on a chart: database and access layer. `open()` may set one on the engine that names the server it found.
    title: str
    license: ClassVar[str]
    publication: Publication = Publication.UNKNOWN
    #: Where the licence says so, for anything but "allowed".
    publication_note: str = ""
    options_class: ClassVar[type[BaseModel]] = Options
    session_class: ClassVar[type[Session]] = Session
    #: Tier -> the settings that give it. Where one isn't here the next that promises more stands in, or it is refused.
    durability: ClassVar[Mapping[Tier, Mapping[str, Any]]] = {}
    concurrency: Concurrency = Concurrency()
    #: Operation -> why the system itself can't.
    impossible: ClassVar[Mapping[str, str]] = {}
    #: Operation -> why only one client at a time may do it, though several may do the others.
    one_client: ClassVar[Mapping[str, str]] = {}
    #: What the system itself doesn't have, though its neighbours on a chart do -> what that means here.
    lacks: ClassVar[Mapping[Lack, str]] = {}
    #: Key of `dialects` in a suite. Like the title, it may be set by `open()`, as may what says how many clients
    #: there can be, and whether results can be published.
    dialect: str = ""
    #: Python modules that it needs. The plugin's own module can be imported without them.
    modules: ClassVar[Sequence[str]] = ()
    #: A URL that it takes, as an example; empty if it takes none.
    url_example: ClassVar[str] = ""
    #: Whether it runs against a server at a URL only, and has none of its own.
    url_required: ClassVar[bool] = False
    #: What of it nobody has run yet, and why, like "not run against a live server". Empty: CI runs it.
    unverified: ClassVar[str] = ""
    #: Why it runs only where its user names it. Empty: it runs wherever it is installed.
    by_name_only: ClassVar[str] = ""
    #: What an insert of a key that is there does.
    duplicates: ClassVar[Literal["refused", "replaced"]] = "replaced"
    #: Whether a scan comes in the order of the keys.
    ordered: ClassVar[bool] = True
    #: The longest key and value that a store takes, in bytes; None is no limit short of a gigabyte.
    longest_key: ClassVar[int | None] = None
    longest_value: ClassVar[int | None] = None
    #: Whether it keeps blocks: keys are their numbers, ascending ones of 8 bytes, and values all have one length.
    blocks: ClassVar[bool] = False
    #: The extras that bring its driver, where that isn't the one named after the engine.
    extras: ClassVar[Sequence[str]] = ()
    #: Debian packages that it needs to run: libraries, programs, a server.
    debian: ClassVar[Sequence[str]] = ()
    #: Debian packages that its driver is built on, besides a compiler, where no wheel brings it.
    built_on: ClassVar[Sequence[str]] = ()
    #: A module that fetches what neither pip nor apt brings, run as `python -m MODULE ENGINE...`.
    fetched_by: ClassVar[str] = ""
    #: For a layer that gives objects alone: the engine beneath it, whose tables they are.
    beneath: Engine | None = None
    #: False only for an engine that shows the harness's own share: never verified, never ranked.
    ranked: ClassVar[bool] = True

    def __init__(self, setup: Setup) -> None:
        """Check what was asked for. Raises Unsupported for a tier or a URL that the engine refuses."""
        self.directory = setup.directory
        self.url = setup.url
        if setup.url and not self.url_example:
            raise Unsupported(f"{self.name} has no server to name a URL of")
        if self.url_required and not setup.url:
            raise Unsupported(f"{self.name} needs a server: --url {self.name}={self.url_example}")
        self.options: Any = self.options_class.model_validate(dict(setup.options))
        #: What it gives: the tier asked for, or the next that promises more.
        self.tier = self.given(setup.tier)

    @classmethod
    def given(cls, tier: Tier) -> Tier:
        """The least tier of the engine's that promises what `tier` does. Raises Unsupported if none does."""
        tiers = list(Tier)
        for enough in tiers[tiers.index(tier) :]:
            if enough in cls.durability:
                return enough
        offered = ", ".join(cls.durability) or "none"
        raise Unsupported(f"{cls.name} can't give durability {tier} (it offers: {offered})")

    @classmethod
    def available(cls) -> None:
        """Raise Unavailable if a library or program is missing that importing the module didn't ask for.

        Where it names no command, the one that installs the engine's Debian packages is told.
        """

    @classmethod
    def available_with(cls, options: Mapping[str, Any]) -> None:
        """Raise Unavailable if what the user has to bring, or the program of a private server, isn't there.

        Not asked where a server is named by its URL.
        """

    @classmethod
    def versions(cls) -> dict[str, str]:
        """Versions of the driver, and of the database if it can be known without starting it, by name."""
        return {}

    def served_by(self) -> dict[str, str]:
        """Versions that only an open engine can tell: those of the server that answered, by name."""
        return {}

    def open(self) -> None:
        """Make or open the database in `self.directory`."""

    def create(self, tables: Mapping[str, Table]) -> None:
        """Make the tables, without their indexes."""

    def create_store(self, records: RecordSet) -> None:
        """Make room for records under keys; `records` tells how many and how large, should that matter."""

    def connect(self) -> Session:
        """A new client."""
        raise NotImplementedError

    def flush(self) -> None:
        """Bring everything to its place on disk: a checkpoint."""

    def settings(self) -> dict[str, Any]:
        """What was set and differs between systems: tier, cache, page size, threads."""
        return {**self.options.model_dump(), **self.durability[self.tier]}

    def size(self) -> Size:
        """Every file in the engine's directory."""
        return Size(tuple(sorted(self._files(), key=lambda file: file.name)))

    def part(self, name: str) -> Literal["data", "journal", "other"]:
        """What a file is for, by its name."""
        return "journal" if name.endswith(("-wal", "-journal", ".wal", ".log")) else "data"

    def statistics(self) -> dict[str, int]:
        """What the system itself has counted so far: of `inserts`, `updates`, `selects`, `deletes` (rows, or statements
        of one row each), `commits` and `deadlocks` those that it tells. Empty if it tells nothing.
        """
        return {}

    def processes(self) -> Sequence[int]:
        """Ids of the processes that work for this engine: its private server's. Their memory and CPU time count too."""
        return ()

    def died(self) -> str:
        """What became of the server, if it ended by itself; empty while all is well."""
        return ""

    def remove(self, tables: Mapping[str, Table]) -> None:
        """Remove what `create` made outside of the directory: the tables at a URL, as far as they are there."""

    def close(self) -> None:
        """Close the database; nothing of it may be left running."""

    def _files(self) -> Iterable[File]:
        for folder, _, names in os.walk(self.directory):
            for name in names:
                status = os.lstat(os.path.join(folder, name))
                inner = os.path.relpath(os.path.join(folder, name), self.directory)
                allocated = getattr(status, "st_blocks", 0) * 512
                yield File(inner, self.part(inner), status.st_size, allocated)


#: Every operation that a session may have.
OPERATIONS = (
    *("load", "query", "statement"),
    *("insert", "update", "delete", "read", "seek", "range", "scan", "insert_many", "update_many", "delete_many"),
    *("get", "get_many"),
)


def offers(engine: type[Engine], operation: str) -> bool:
    """Whether an engine's sessions have an operation."""
    return callable(getattr(engine.session_class, f"prepare_{operation}", None))


def prepared(engine: Engine, session: Session, operation: str) -> Callable[..., Any]:
    """The session's `prepare_<operation>`. Raises Unsupported, with the reason, where there is none."""
    if not offers(type(engine), operation):
        reason = engine.impossible.get(operation)
        raise Unsupported(
            f"{engine.name} can't {operation}: {reason}"
            if reason
            else f"{operation} is not yet written for {engine.name}"
        )
    found: Callable[..., Any] = getattr(session, f"prepare_{operation}")
    return found
