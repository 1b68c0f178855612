"""The .NET runtime of this process: Mono, or .NET. There is one for a process, and it can't be left again."""

from __future__ import annotations

import atexit
import contextlib
import importlib
import os
import platform
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dbbench.engine import Unavailable, Unsupported, local

#: Its packages of Mono.
DEBIAN = ("mono-devel", "libmonosgen-2.0-1")
_RIGHT = "name the assembly of the right library; docs/engines/dotnet.md says how each is built"
#: Debian's folder of assemblies, and the facade that pythonnet is built against: without it Mono aborts the process.
_DEBIAN = Path("/usr/lib/mono/4.5")
_FACADE = "Facades/netstandard.dll"


def find(asked: str = "") -> str:
    """The runtime to start, by the name that pythonnet has for it: the one asked for, or the first that is here.

    Raises Unavailable.
    """
    if asked in ("", "netfx") and platform.system() == "Windows":
        return "netfx"
    if asked in ("", "mono") and _has_mono():
        return "mono"
    if asked in ("", "coreclr") and _has_dotnet():
        return "coreclr"
    names = {"": "neither Mono nor .NET", "mono": "no Mono", "coreclr": "no .NET", "netfx": "no .NET Framework"}
    raise Unavailable(
        f"there is {names[asked]} here", "install .NET, or name its folder in DOTNET_ROOT" if asked == "coreclr" else ""
    )


def start(asked: str = "") -> str:
    """Start the runtime, unless it runs; its name and version. Raises Unavailable, or Unsupported if another runs."""
    pythonnet: Any = importlib.import_module("pythonnet")
    wanted, running = find(asked), pythonnet.get_runtime_info()
    if running is None:
        # Otherwise Mono leaves a file in /dev/shm behind when the process is killed, or leaves by _exit.
        os.environ.setdefault("MONO_DISABLE_SHARED_AREA", "1")
        # Mono's collector may else wait for a thread that waits for Python's lock, which the collecting thread has:
        # seen once, in a test with clients in threads.
        os.environ.setdefault("MONO_THREADS_SUSPEND", "preemptive")
        # Text needs no library of the system's this way; keys are compared by their bytes.
        os.environ.setdefault("DOTNET_SYSTEM_GLOBALIZATION_INVARIANT", "1")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Debian 12's Mono is 6.8, and the loader would have 6.12
            pythonnet.load(wanted, **({"set_signal_chaining": True} if wanted == "mono" else {}))
        if wanted == "mono":
            # Its clean-up may wait for ever for threads that called into it and live on. All goes with the process.
            atexit.unregister(importlib.import_module("clr_loader.mono")._release)  # noqa: SLF001 - nothing public does it
        running = pythonnet.get_runtime_info()
    elif asked and running.kind.lower() != {"netfx": ".net framework"}.get(asked, asked):
        raise Unsupported(f"this process runs {running.kind}, and there is one runtime for a process")
    interop: Any = importlib.import_module("System.Runtime.InteropServices")
    return str(interop.RuntimeInformation.FrameworkDescription).partition(" (")[0]


def heap() -> int:
    """The bytes that the collector counts as used, after a full collection."""
    gc: Any = importlib.import_module("System").GC
    return int(gc.GetTotalMemory(True))


def _has_mono() -> bool:
    try:
        found: Any = importlib.import_module("clr_loader.util.find").find_libmono()
    except RuntimeError:  # where there is none
        return False
    if found is None:
        return False
    if (_DEBIAN / "mscorlib.dll").exists() and not (_DEBIAN / _FACADE).exists():
        raise Unavailable(f"Mono is here without {_FACADE}, which pythonnet needs")
    return True


def _has_dotnet() -> bool:
    try:
        return bool(list(importlib.import_module("clr_loader").find_runtimes()))
    except (OSError, RuntimeError):
        return False


def named(engine: str, given: object) -> Path:
    """Path of an engine's library. Raises Unavailable if it isn't named, or doesn't exist."""
    variable = f"DBBENCH_ASSEMBLY_{engine.upper().replace('+', '_')}"
    path = local(str(given or os.environ.get(variable, "")))
    how = f"--set {engine}.assembly=PATH, or {variable}=PATH in the environment"
    if not path:
        raise Unavailable("its library is yours to bring: an assembly for .NET", how)
    if not Path(path).is_file():
        raise Unavailable(f"there is no assembly {path}", how)
    return Path(path)


class Assembly:
    """An assembly of the user's, and the types in it and in those beside it that it needs."""

    def __init__(self, path: Path) -> None:
        reflection: Any = importlib.import_module("System.Reflection")
        try:
            self.loaded = reflection.Assembly.LoadFrom(str(path.resolve()))
        except Exception as exc:
            raise Unavailable(f"{path} can't be loaded: {why(exc)}", "name a .NET assembly") from exc

    @property
    def version(self) -> str:
        """The runtime's own name."""
        name = self.loaded.GetName()
        return f"{name.Name} {name.Version}"

    def type(self, name: str) -> Any:
        """The type of that full name. Raises Unavailable if neither it nor an assembly that it refers to has one."""
        if (found := self.loaded.GetType(name)) is not None:
            return found
        for other in self.loaded.GetReferencedAssemblies():
            with contextlib.suppress(Exception):  # one that isn't here may yet be one that isn't needed
                if (found := type(self.loaded).Load(other).GetType(name)) is not None:
                    return found
        raise Unavailable(f"{self.version} has no type {name}", _RIGHT)

    def check(self, uses: Mapping[str, Sequence[str]]) -> None:
        """Look for types and their members. Raises Unavailable for the first that isn't there."""
        for name, members in uses.items():
            found = self.type(name)
            for member in members:
                if not len(found.GetMember(member)):
                    raise Unavailable(f"{self.version} has no {name}.{member}", _RIGHT)


def why(exc: BaseException) -> str:
    """What was thrown first, on one line: .NET wraps what a called method or a type's initialiser throws."""
    inner: Any = exc
    while getattr(inner, "InnerException", None) is not None:
        inner = inner.InnerException
    lines = str(getattr(inner, "Message", inner)).strip().splitlines()
    return lines[0] if lines else type(inner).__name__
