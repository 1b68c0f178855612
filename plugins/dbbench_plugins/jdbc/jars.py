"""The jars of each engine: pinned, found on this machine, and fetched where somebody asks for it.

`dbbench engines install h2` runs `python -m dbbench_plugins.jdbc.jars h2`, which fetches what is missing, with Maven.
Nothing else does: neither a trial nor `dbbench engines` reaches for the network.
"""

import contextlib
import hashlib
import shutil
import subprocess
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from dbbench.engine import Unavailable, UserError, cache_folder, local

_DEBIAN = Path("/usr/share/java")
_SECONDS = 600
#: What is raised for a file that is no zip, or for an entry that is missing, encrypted, damaged or no text.
_DAMAGES = (OSError, KeyError, zipfile.BadZipFile, zlib.error, RuntimeError, EOFError, UnicodeError)


@dataclass(frozen=True)
class Jar:
    """A jar by its Maven coordinates, and the SHA-256 that it must have."""

    group: str
    artifact: str
    version: str
    sha256: str
    #: What it is called; empty for a part of another one.
    product: str = ""

    @property
    def name(self) -> str:
        """The name of its file."""
        return f"{self.artifact}-{self.version}.jar"

    @property
    def path(self) -> str:
        """Path of it in a Maven repository."""
        return f"{self.group.replace('.', '/')}/{self.artifact}/{self.version}/{self.name}"


_HSQLDB = Jar(
    "org.hsqldb", "hsqldb", "2.7.4", "5fab2bb4384ac06b762638c8fa2740c944b8d080e4796c0c6c2af8b90dd4e5ad", "HSQLDB"
)
_H2 = Jar("com.h2database", "h2", "2.4.240", "29b70e427cc1c40cdc376283adbb0cc62853073797bb5fe5761f81fe73d57ce0", "H2")
_DERBY = Jar(
    "org.apache.derby",
    "derby",
    "10.16.1.1",
    "ede804cb04e871d7c52d2414e952ab939f9ef243abb7bd0ce7dbeb6e1e28bd0b",
    "Derby",
)
_DERBY_SHARED = Jar(
    "org.apache.derby", "derbyshared", "10.16.1.1", "27d4be683a45f6c15940167277ce39bb7e26b9f6dc0bc05efbcf813cac5d2b8f"
)
_UCANACCESS = Jar(
    "io.github.spannm",
    "ucanaccess",
    "5.1.5",
    "c20424d056cbff4507dfcd836f5f50d88fd26933790aeee1048ab3bbeda281ba",
    "UCanAccess",
)
#: Of UCanAccess's dependencies it runs with this one and HSQLDB; the others serve embedded OLE documents only.
_JACKCESS = Jar(
    "io.github.spannm",
    "jackcess",
    "5.1.2",
    "526ddd5e656ae89b1e35075f994ac35e134fd3e4f6faad7322b415a6a3ff1d73",
    "Jackcess",
)
#: Engine -> its jars; the first is the one that holds the JDBC driver.
JARS: dict[str, tuple[Jar, ...]] = {
    "h2": (_H2,),
    "hsqldb": (_HSQLDB,),
    "derby": (_DERBY, _DERBY_SHARED),
    "access": (_UCANACCESS, _JACKCESS, _HSQLDB),
}


def find(engine: str, named: str = "") -> list[Path]:
    """The jars of an engine: those that the user names, a jar or a folder; or the pinned ones; or the distribution's.

    Raises Unavailable if one is missing, or is not the one that was pinned.
    """
    first, *_ = jars = JARS[engine]
    if named and (path := Path(local(named))).is_file():
        driver(path)
        if len(jars) > 1:
            needed = ", ".join(jar.artifact for jar in jars)
            raise Unavailable(
                f"{path.name} is one jar, and {engine} needs {needed}: put them into a folder and name that",
                f"--set {engine}.jar=FOLDER",
            )
        return [path]
    if named:
        folder = Path(local(named))
        for pattern in (f"{first.artifact}-[0-9]*.jar", f"{first.artifact}.jar"):
            if mine := sorted(folder.glob(pattern)):
                return [mine[-1], *sorted(set(folder.glob("*.jar")) - set(mine))]
        raise Unavailable(f"{folder} is no jar, and has no {first.artifact}.jar", f"--set {engine}.jar=PATH")
    found = [_pinned(jar, engine) for jar in jars]
    if None not in found:
        return [path for path in found if path]
    if (packaged := _DEBIAN / f"{first.artifact}.jar").is_file():
        return [packaged]
    missing = ", ".join(jar.name for jar, path in zip(jars, found, strict=True) if path is None)
    raise Unavailable(f"there is no {missing} here", _command(engine))


def versions(engine: str, named: str = "") -> dict[str, str]:
    """The versions of what is in an engine's jars, by name: as pinned, or as the first jar itself says."""
    path = find(engine, named)[0]
    if not named and path.name == JARS[engine][0].name:
        return {jar.product: jar.version for jar in JARS[engine] if jar.product}
    told = {}
    with contextlib.suppress(*_DAMAGES), zipfile.ZipFile(path) as jar:
        lines = jar.read("META-INF/MANIFEST.MF").decode().splitlines()
        told = dict(line.split(": ", 1) for line in lines if ": " in line)
    version = told.get("Implementation-Version") or told.get("Bundle-Version")
    return {JARS[engine][0].product: version or f"of {path.name}"}


def driver(path: Path) -> str:
    """The name of the JDBC driver in a jar. Raises Unavailable if there is none."""
    try:
        with zipfile.ZipFile(path) as jar:
            lines = jar.read("META-INF/services/java.sql.Driver").decode().splitlines()
        return next(name for line in lines if (name := line.partition("#")[0].strip()))
    except (*_DAMAGES, StopIteration) as exc:
        raise Unavailable(f"{path.name} is no jar with a JDBC driver") from exc


def fetch(engines: Iterable[str]) -> list[Path]:
    """Fetch what is missing into dbbench's cache folder; where everything is. Raises UserError if it can't be had."""
    wanted = list(dict.fromkeys(jar for engine in engines for jar in JARS[engine]))
    missing = [jar for jar in wanted if not any(_sound(path, jar) for path in _places(jar))]
    if missing:
        _folder().mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".fetching-", dir=_folder()) as work:
            _ask_maven(missing, Path(work))
            for jar in missing:
                got = Path(work) / jar.name
                if not _sound(got, jar):
                    raise UserError(f"{_strange(jar.name, got, jar)}; it was not kept")
                got.replace(_folder() / jar.name)
    return [next(path for path in _places(jar) if _sound(path, jar)) for jar in wanted]


def _ask_maven(jars: Sequence[Jar], folder: Path) -> None:
    maven = shutil.which("mvn")
    if maven is None:
        names = ", ".join(f"{jar.group}:{jar.artifact}:{jar.version}" for jar in jars)
        raise UserError(
            f"Maven is missing, which fetches {names}: apt install maven; "
            "or put the jars into a folder and name that: --set ENGINE.jar=FOLDER"
        )
    dependencies = "".join(
        f"<dependency><groupId>{jar.group}</groupId><artifactId>{jar.artifact}</artifactId>"
        f"<version>{jar.version}</version></dependency>"
        for jar in jars
    )
    project = folder / "pom.xml"
    project.write_text(
        "<project><modelVersion>4.0.0</modelVersion><groupId>dbbench</groupId><artifactId>jars</artifactId>"
        f"<version>1</version><dependencies>{dependencies}</dependencies></project>",
        "utf-8",
    )
    command = [maven, "-q", "-B", "-f", str(project), "dependency:copy-dependencies"]
    command += ["-DexcludeTransitive=true", f"-DoutputDirectory={folder}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as exc:
        raise UserError(f"Maven can't be used: {exc}") from exc
    if done.returncode:
        errors = [line for line in done.stdout.splitlines() if "ERROR" in line] or ["no word why"]
        raise UserError(f"Maven could not fetch {', '.join(jar.name for jar in jars)}: {errors[0]}")


def _folder() -> Path:
    return cache_folder() / "jars"


def _places(jar: Jar) -> tuple[Path, ...]:
    """Folders of pinned jars: dbbench's cache, and Maven's own."""
    return _folder() / jar.name, Path.home() / ".m2" / "repository" / jar.path


def _pinned(jar: Jar, engine: str) -> Path | None:
    """The first copy of a jar. Raises Unavailable if it is not the one that was pinned."""
    for path in _places(jar):
        if path.is_file():
            if not _sound(path, jar):
                raise Unavailable(_strange(str(path), path, jar), f"remove it, then {_command(engine)}")
            return path
    return None


def _sound(path: Path, jar: Jar) -> bool:
    return path.is_file() and _digest(path) == jar.sha256


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "nothing"


def _strange(name: str, path: Path, jar: Jar) -> str:
    return f"{name} is not the jar that it should be: its SHA-256 is {_digest(path)}, not {jar.sha256}"


def _command(engine: str) -> str:
    return f"dbbench engines install {engine}"


def main(arguments: Sequence[str]) -> int:
    """Fetch the jars of the engines named, or of all. The exit status: 0, or 2 if they can't be had."""
    unknown = [name for name in arguments if name not in JARS]
    if unknown:
        print(f"there is no {unknown[0]} here; there are: {', '.join(JARS)}", file=sys.stderr)
        return 2
    try:
        for path in fetch(arguments or JARS):
            print(path)
    except UserError as exc:
        print(exc, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
