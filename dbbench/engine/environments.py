"""Environments: a folder with another release of an engine's package, kept in the cache, put before our own packages.

What the release brings with it stands in the folder. All else, dbbench among it, comes from the environment that
dbbench runs in, so that a worker differs from another in nothing but the release. uv makes a folder where it is on the
PATH, pip otherwise. Neither ever builds a package: that takes compilers, minutes, and code of strangers.
"""

import contextlib
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import Distribution, distribution, distributions
from pathlib import Path
from typing import TypedDict

from dbbench.engine.urls import redacted
from dbbench.errors import Unavailable
from dbbench.host import kept_folder, plain_file
from dbbench.host.processes import run_to_end
from dbbench.message import cleaned

_FOLDER, MANIFEST, PACKAGES = "environments", "environment.json", "packages"
#: Raised whenever an environment changes its form; part of the cache's key.
_FORMAT = 2
#: How long making one may take: some wheels have hundreds of megabytes.
_SECONDS = 900.0
#: Characters of an installer's output that are reported.
_LONGEST = 400


class Contents(TypedDict):
    """What is in an environment: its packages with their versions, and its files with their hashes."""

    packages: dict[str, str]
    files: dict[str, str]


class Manifest(Contents):
    """The same, and what was installed: a release of a package, or of Python."""

    release: str


@dataclass(frozen=True)
class Environment:
    """A folder of packages, and the exact release that is in it."""

    folder: Path
    package: str
    release: str


def prepared(package: str, version: str, release: str = "") -> Environment:
    """An environment with a version of a package, from the cache or made now.

    `version` may be a beginning, like 1.3, of which the newest release is taken, unless one is in the cache. `release`
    is the exact one that must be in it. Raises Unavailable with the reason.
    """
    for wanted in dict.fromkeys((version, release or version)):
        found = _kept(package, wanted)
        if found and release in ("", found.release):
            return found
    wanted = release or version
    folder = _folder(package, wanted)
    make(folder, f"{package} {wanted}", lambda made: filled(made, package, f"{package}{specifier(wanted)}"))
    return kept(folder, package)


def make(folder: Path, what: str, fill: Callable[[Path], Manifest]) -> None:
    """Have an environment in `folder`, made by `fill` unless there is a whole one. Raises Unavailable if not."""
    if is_whole(folder):
        return
    with contextlib.suppress(OSError):
        kept_folder.remove(folder, lambda: folder.exists() and damage(folder))
    try:
        kept_folder.make(folder, MANIFEST, fill)
    except OSError as exc:
        raise Unavailable(f"no environment for {what} could be made: {exc.strerror or exc}") from exc
    if not is_whole(folder):
        raise Unavailable(f"the environment for {what} in {folder} is not as it was written: remove it")


def is_whole(folder: Path) -> bool:
    """Whether there is an environment, as it was written. Raises Unavailable for one that others may have written."""
    if folder.exists() and not kept_folder.is_own(folder):
        raise Unavailable(
            f"{folder} is not used: others than you may write to it or its folder; "
            "remove it, or name a folder of your own in DBBENCH_CACHE"
        )
    return folder.exists() and not damage(folder)


def available(package: str, *, minor: bool = False) -> list[str]:
    """The releases of a package that have a wheel for this Python and machine, newest first; candidates are left out.

    `minor`: of those that begin with the same two numbers only the newest. Raises Unavailable with what pip said.
    """
    with tempfile.TemporaryDirectory(prefix="dbbench-") as scratch:
        command = [*pip(Path(scratch)), "index", "versions", plain_name(package), "--only-binary", ":all:"]
        said = run_installer(
            [*command, "--disable-pip-version-check", "--no-input"], Path(scratch), plain_name(package)
        )
    listed = re.search(r"^Available versions: (.*)$", said, re.MULTILINE)
    if not listed:
        raise Unavailable(f"pip lists no release of {plain_name(package)} with a wheel for this Python and machine")
    found = [each.strip() for each in listed[1].split(",") if re.fullmatch(r"[0-9.]+", each.strip())]
    first: dict[tuple[str, ...], str] = {}
    for each in found:
        first.setdefault(tuple(each.split(".")[: 2 if minor else None]), each)
    return list(first.values())


def specifier(version: str) -> str:
    """What pip is asked for: the version itself, or whatever begins with it."""
    return f"=={version}" if re.search(r"[a-z]", version) else f"=={version}.*"


def plain_name(package: str) -> str:
    """A package's name without its extras."""
    return package.partition("[")[0]


def _folder(package: str, version: str) -> Path:
    """Named by a hash of what it is made of: the same packages for another Python are other ones."""
    made_of = [package, specifier(version), sys.implementation.cache_tag, sysconfig.get_platform(), _FORMAT]
    key = hashlib.sha256(json.dumps(made_of).encode()).hexdigest()[:16]
    return folder_of(f"{plain_name(package)}-{version}-{key}")


def folder_of(name: str) -> Path:
    """Folder of an environment in the cache."""
    return kept_folder.cache_folder() / _FOLDER / name


def _kept(package: str, version: str) -> Environment | None:
    folder = _folder(package, version)
    return kept(folder, package) if is_whole(folder) else None


def kept(folder: Path, package: str) -> Environment:
    """The environment in a folder that is whole."""
    return Environment(folder / PACKAGES, package, str(kept_folder.sealed(folder / MANIFEST)["release"]))


def damage(folder: Path) -> str:
    """What is wrong with an environment; empty if nothing is."""
    return kept_folder.damage(
        folder / MANIFEST,
        lambda manifest: {f"{PACKAGES}/{name}": digest for name, digest in manifest["files"].items()},
    )


def filled(made: Path, package: str, wanted: str, what: str = "") -> Manifest:
    """Install what is `wanted`, which is to be or bring a package, into `made`; check what came, and say what it is."""
    packages = installed(made, [wanted], what)
    found = {_canonical(each.name): each for each in distributions(path=[str(packages)])}
    name = _canonical(plain_name(package))
    if name not in found:
        other = f"{what} is not the package {name} (it has {', '.join(found) or 'none'})"
        raise Unavailable(other if what else f"the installer put no {package} into {packages}")
    check_needs(found.values())
    return {"release": found[name].version, **contents(packages, found.values())}


def contents(packages: Path, found: Iterable[Distribution]) -> Contents:
    """Look at what is in an environment."""
    return {
        "packages": dict(sorted((_canonical(each.name), each.version) for each in found)),
        "files": {
            str(path.relative_to(packages)): plain_file.digest(path)
            for path in sorted(packages.rglob("*"))
            if path.is_file() and path.suffix != ".pyc"  # Python writes those anew
        },
    }


def check_needs(found: Iterable[Distribution]) -> None:
    """Raise Unavailable if a package that a release brings is one that dbbench can't work with."""
    from packaging.requirements import Requirement

    known = {_canonical(need.name): need for need in map(Requirement, needs())}
    for each in found:
        need = known.get(_canonical(each.name))
        if need and not need.specifier.contains(each.version, prereleases=True):
            raise Unavailable(f"it brings {each.name} {each.version}, and dbbench needs {need}")


def needs() -> list[str]:
    """What dbbench itself requires, without its extras."""
    from packaging.requirements import Requirement

    found = map(Requirement, distribution("dbbench").requires or ())
    return [str(need) for need in found if need.marker is None]


def _canonical(name: str) -> str:
    from packaging.utils import canonicalize_name

    return canonicalize_name(name)


def installed(made: Path, wanted: Sequence[str], what: str = "", program: str = "") -> Path:
    """Have packages installed into a new folder in `made`, for this Python or another `program`; the folder.

    Raises Unavailable with the last that uv or pip said.
    """
    packages = made / PACKAGES
    packages.mkdir()
    with tempfile.TemporaryDirectory(dir=made) as scratch:  # not /tmp, where a setting of another user may stand
        limits = Path(scratch, "needs.txt")
        limits.write_text("\n".join(needs()))
        _install([*wanted, "--constraint", str(limits)], packages, Path(scratch), what or wanted[0], program)
    return packages


def _install(wanted: Sequence[str], packages: Path, scratch: Path, what: str, program: str) -> None:
    if uv := shutil.which("uv"):
        command = [uv, "--quiet", "pip", "install", "--python", program or sys.executable, "--compile-bytecode"]
    else:
        other = ["--python", program] if program else []
        command = [
            *pip(scratch),
            *other,
            "install",
            "--disable-pip-version-check",
            "--no-input",
            "--progress-bar",
            "off",
        ]
    run_installer([*command, "--target", str(packages), "--only-binary", ":all:", *wanted], scratch, what)


def run_installer(command: Sequence[str], scratch: Path, what: str, seconds: float = 0) -> str:
    """The standard output of an installer. Raises Unavailable if it fails, or takes over `seconds` (15 minutes)."""
    name = command[3] if command[2] == "-m" else Path(command[0]).stem
    seconds = seconds or _SECONDS
    try:
        done = run_to_end(command, scratch, seconds)
    except subprocess.TimeoutExpired as exc:
        raise Unavailable(f"{name} did not finish with {what} in {seconds:g} s") from exc
    if done.returncode:
        raise Unavailable(f"{name} failed with {what}: {reason(done.stderr or done.stdout)}")
    return done.stdout


def reason(said: str) -> str:
    """What an installer gives as its reason, in one line, without any password of an index's URL."""
    lines = [re.sub(r"^\s*(error:|ERROR:|cause:|×|╰─▶|│)\s*", "", line).strip() for line in said.splitlines()]
    errors = [line for line, whole in zip(lines, said.splitlines(), strict=True) if re.match(r"\s*ERROR:", whole)]
    complaint = " ".join(filter(None, errors or lines[-3:])) or "it gave no reason"
    complaint = re.sub(r" \(from versions: [^)]*\)", "", complaint)
    complaint = re.sub(r"\S+://\S+", lambda url: redacted(url[0]), complaint)
    return cleaned(complaint, _LONGEST)


def pip(scratch: Path) -> list[str]:
    """The command that runs pip for this Python: its own, or one that is made with `venv`."""
    from importlib.util import find_spec

    if find_spec("pip"):
        return [sys.executable, "-P", "-m", "pip"]
    folder = scratch / "with-pip"
    run_installer([sys.executable, "-P", "-m", "venv", str(folder)], scratch, "pip")
    return [str(folder / ("Scripts" if os.name == "nt" else "bin") / "python"), "-P", "-m", "pip"]
