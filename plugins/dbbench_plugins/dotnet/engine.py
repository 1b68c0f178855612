"""What all engines over libraries for .NET share."""

from __future__ import annotations

import contextlib
import importlib
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field

from dbbench.engine import (
    Concurrency,
    Engine,
    MissingFeature,
    Options,
    Program,
    Session,
    Setup,
    Size,
    Tier,
    Unavailable,
    Unsupported,
)
from dbbench_plugins.dotnet import host
from dbbench_plugins.dotnet.store import Pair, Store, StoreFailed

if TYPE_CHECKING:
    from dbbench.engine import Records

#: What the probe writes: out of order, since a store may keep keys that come in order in another structure.
_PROBED = (5, 3, 9, 1)
STAND_IN = "in CI a stand-in of the same interface: the library is its user's to bring"


class DotNetOptions(Options):
    runtime: Literal["", "mono", "coreclr", "netfx"] = Field(
        default="",
        description="what .NET runs on: mono, coreclr (.NET itself) or netfx (.NET Framework); the first that is here if not given",
    )


class AssemblyOptions(DotNetOptions):
    assembly: Program = Field(
        default="", description="path of the library, a .dll of yours; DBBENCH_ASSEMBLY_<ENGINE> if not given"
    )


class DotNetSession(Session):
    """A client of a store. Every operation is one call of a function pointer, however many records it writes."""

    def __init__(self, functions: Any) -> None:
        client: Any = importlib.import_module("dbbench_plugins.dotnet.client")
        self.client = client.Client(functions)

    def prepare_insert(self) -> Callable[[bytes, bytes], object]:
        return self.client.write("insert")  # type: ignore[no-any-return]

    def prepare_update(self) -> Callable[[bytes, bytes], object]:
        return self.client.write("update")  # type: ignore[no-any-return]

    def prepare_delete(self) -> Callable[[bytes], object]:
        return self.client.write("delete")  # type: ignore[no-any-return]

    def prepare_read(self, *, snapshot: bool = False) -> Callable[[bytes], bytes | None]:
        return self.client.read()  # type: ignore[no-any-return]

    def prepare_seek(self, *, snapshot: bool = False) -> Callable[[bytes], Pair | None]:
        return self.client.seek()  # type: ignore[no-any-return]

    def prepare_range(self, *, snapshot: bool = False) -> Callable[[bytes, int], list[Pair]]:
        return self.client.range()  # type: ignore[no-any-return]

    def prepare_scan(self) -> Callable[[], Iterable[Pair]]:
        return self.client.scan  # type: ignore[no-any-return]

    def prepare_insert_many(self) -> Callable[[list[Pair]], object]:
        return self._many("insert")

    def prepare_update_many(self) -> Callable[[list[Pair]], object]:
        return self._many("update")

    def prepare_delete_many(self) -> Callable[[list[bytes]], object]:
        write = self.client.write_many("delete")
        return lambda keys: write(keys, [b""] * len(keys))

    def _many(self, operation: str) -> Callable[[list[Pair]], object]:
        write = self.client.write_many(operation)

        def write_pairs(pairs: list[Pair]) -> None:
            write([key for key, _ in pairs], [value for _, value in pairs])

        return write_pairs

    def close(self) -> None:
        self.client.close()


class OnDotNet(Engine):
    """What an engine has that needs Mono or .NET."""

    modules = ("pythonnet", "cffi")
    debian: ClassVar[Sequence[str]] = host.DEBIAN
    options_class: ClassVar[type[Options]] = DotNetOptions

    @classmethod
    def available(cls) -> None:
        host.find()

    @classmethod
    def versions(cls) -> dict[str, str]:
        return {"pythonnet": version("pythonnet")}


class DotNetEngine(OnDotNet):
    """An engine over a store in this process.

    The folder of its files is named after the kind of its keys and the lengths of keys and values, so that it is
    opened again as it was made.
    """

    session_class = DotNetSession
    durability: ClassVar[Mapping[Tier, Mapping[str, Any]]] = {Tier.MEMORY: {}}
    concurrency = Concurrency(threads=1, processes=1)
    missing_features: ClassVar[Mapping[MissingFeature, str]] = {
        "transactions": "what was written before a failure stays"
    }
    #: The kinds of keys that it takes, of dbbench_plugins.dotnet.keys; the last for every other length.
    kinds: ClassVar[tuple[str, ...]] = ("int64", "guid", "text")
    store: Store | None = None

    @classmethod
    def available_with(cls, options: Mapping[str, Any]) -> None:
        host.find(str(options.get("runtime", "")))

    def server_versions(self) -> dict[str, str]:
        return {"runtime": self.runtime}

    def open(self) -> None:
        self.functions: Any = None
        self.runtime = host.start(self.options.runtime)
        for folder in filter(Path.is_dir, list(self.directory.glob("*-*-*"))):
            kind, key, value = folder.name.split("-")
            self._open(kind, (int(key), int(value)))

    def create_store(self, records: Records) -> None:
        """Choose a type for the keys: the number, or the Guid, that a user would take for keys of that length."""
        keys: Any = importlib.import_module("dbbench_plugins.dotnet.keys")
        length = records.key_bytes
        for kind in self.kinds:
            if self.store is None and keys.LENGTHS.get(kind, length) == length:
                self._open(kind, (length, records.value_bytes))
        if self.store is None:
            lengths = " or ".join(str(keys.LENGTHS[kind]) for kind in self.kinds)
            raise Unsupported(f"{self.name} takes keys of {lengths} bytes, as numbers and Guids")

    def connect(self) -> Session:
        if self.store is None:
            self._open(self.kinds[-1])
        return self.session_class(self.functions)

    def make_store(self, kind: str, folder: Path, sizes: tuple[int, int]) -> Store:
        """The store in a folder, for keys of a kind; the sizes are those of a key and a value, or 0."""
        raise NotImplementedError

    def size(self) -> Size:
        """Size with the store's bytes in memory, as the collector counts them: a process of Mono alone has 45 MB."""
        heap = None if self.store is None else max(0, host.heap() - self.heap_before)
        return replace(super().size(), heap=heap)

    def flush(self) -> None:
        if self.store is not None:
            self.store.flush()

    def close(self) -> None:
        if self.store is not None:
            self.store.close()
        self.store = self.functions = None

    def _open(self, kind: str, sizes: tuple[int, int] = (0, 0)) -> None:
        bridge: Any = importlib.import_module("dbbench_plugins.dotnet.bridge")
        self.heap_before = host.heap()
        folder = self.directory / f"{kind}-{sizes[0]}-{sizes[1]}"
        folder.mkdir(exist_ok=True)
        self.store = self.make_store(kind, folder, sizes)
        self.functions = bridge.Functions(self.store)


class AssemblyEngine(DotNetEngine):
    """One over a library that its user brings."""

    options_class = AssemblyOptions
    #: Types of the library that it uses -> their members.
    uses: ClassVar[Mapping[str, Sequence[str]]]

    @classmethod
    def available_with(cls, options: Mapping[str, Any]) -> None:
        super().available_with(options)
        path = host.named(cls.name, options.get("assembly", ""))
        with contextlib.suppress(Unsupported):  # another runtime in this process: the trial has one of its own
            host.start(str(options.get("runtime", "")))
            host.Assembly(path).check(cls.uses)
            cls._try(path, options)

    @classmethod
    def _try(cls, path: Path, options: Mapping[str, Any]) -> None:
        """Write, seek, enumerate, delete and reopen. Raises Unavailable: an unpatched library may fail only in use."""
        try:
            with tempfile.TemporaryDirectory() as folder:
                setup = Setup(Path(folder), Tier.MEMORY, options)
                cls._use(setup, create=True)
                cls._use(setup, create=False)
        except (Unavailable, Unsupported):
            raise
        except Exception as exc:  # whatever a library throws
            how = "docs/engines/dotnet.md says how it is built, and what has to be patched"
            raise Unavailable(f"{path.name} can't keep records: {host.why(exc)}", how) from exc

    @classmethod
    def _use(cls, setup: Setup, *, create: bool) -> None:
        """Insert four records out of order and delete one, or find the others again. Raises what the library throws."""
        from dbbench.engine import Records

        engine = cls(setup)
        engine.open()
        try:
            if create:
                engine.create_store(Records(count=len(_PROBED), key_bytes=16, value_bytes=16))
            session: Any = engine.connect()
            kept = list(_PROBED)
            if create:
                insert = session.prepare_insert()
                for number in kept:
                    insert(_record(number), _record(number))
                _expect(session, kept)
            if session.prepare_delete:
                kept.remove(3)
                if create:
                    session.prepare_delete()(_record(3))
            _expect(session, kept)
            session.close()
        finally:
            engine.close()

    def open(self) -> None:
        self.assembly: host.Assembly | None = None
        path = host.named(self.name, self.options.assembly)
        host.start(self.options.runtime)
        self.assembly = host.Assembly(path)
        super().open()

    def server_versions(self) -> dict[str, str]:
        assert self.assembly is not None
        return {**super().server_versions(), "library": self.assembly.version}


def _record(number: int) -> bytes:
    return bytes([number] * 16)


def _expect(session: Any, kept: Sequence[int]) -> None:
    """Compare what a session finds with the records that are kept. Raises StoreFailed."""
    read, records = session.prepare_read(), [(_record(number), _record(number)) for number in sorted(kept)]
    given = {"reading": [(_record(number), value) for number in sorted(_PROBED) if (value := read(_record(number)))]}
    if session.prepare_scan:
        given["enumerating"] = list(session.prepare_scan()())
    if session.prepare_range:
        given["seeking"] = session.prepare_range()(_record(0), len(_PROBED))
    for how, found in given.items():
        if found != records:
            raise StoreFailed(f"{how} finds {len(found)} records, or others, where {len(records)} are kept")
