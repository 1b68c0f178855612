"""Builds of an engine that are on no index: a wheel, an sdist, a source folder or a commit that the user names.

What is named becomes a wheel, which pip builds from a copy, and the wheel an environment as a release has one. It is
kept under a hash of what was named, so that the same is built once.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from dbbench.engine import environments
from dbbench.engine.environments import Environment, Manifest
from dbbench.errors import Unavailable, UserError
from dbbench.host import plain_file
from dbbench.host.processes import run_to_end

_GIT = "git+file://"
_ARCHIVES = (".whl", ".tar.gz", ".zip")
#: What building and testing leave anywhere in a source folder, and at its top.
_LEFT = shutil.ignore_patterns("__pycache__", "*.pyc", "*.egg-info", ".*_cache")
_LEFT_AT_TOP = shutil.ignore_patterns("build", "dist", ".venv", "venv", ".tox", ".nox")
#: How long a build may take: some have thousands of files of C++.
_SECONDS = 3600.0
#: Digits of a hash that are shown.
_SHOWN = 12


@dataclass(frozen=True)
class Source:
    """What the user named: a package's wheel or source, or a program, library or folder of programs."""

    #: What it is, in words: on charts and in run.json.
    words: str
    #: The hash of its content, or its commit.
    digest: str
    #: Yields what pip makes a wheel of. None: it is no package.
    copied: Callable[[Path], Path] | None = None


def source(what: str) -> Source:
    """Look at what `--from` names. Raises UserError if there is nothing that can be run."""
    if what.startswith(_GIT):
        return _commit(what)
    if "://" in what:
        raise UserError(
            f"--from takes files, folders and {_GIT}FOLDER@COMMIT, and fetches nothing: not {what.partition('://')[0]}://"
        )
    path = Path(what).resolve()
    if not path.exists():
        raise UserError(f"--from: there is no {path}")
    if path.is_file():
        digest = plain_file.digest(path)
        words = f"{path.name}, sha256 {digest[:_SHOWN]}"
        return Source(words, digest, (lambda _scratch: path) if path.name.endswith(_ARCHIVES) else None)
    digest = _digest(path)
    if not any((path / name).is_file() for name in ("pyproject.toml", "setup.py")):
        return Source(f"folder {'/'.join(path.parts[-2:])}, sha256 {digest[:_SHOWN]}", digest)
    return Source(
        f"folder {path.name}{_head(path)}, sha256 {digest[:_SHOWN]}",
        digest,
        lambda scratch: _copy(path, digest, scratch),
    )


def prepared(package: str, given: Source) -> Environment:
    """An environment with a build of a package, from the cache or built now. Raises UserError with the reason."""
    assert given.copied
    name = environments.plain_name(package)
    made_of = f"{given.digest} {sys.implementation.cache_tag} {sysconfig.get_platform()}"
    key = hashlib.sha256(made_of.encode()).hexdigest()[:16]
    folder = environments.folder_of(f"{name}-built-{key}")
    copied = given.copied
    try:
        environments.make(folder, f"{name} from {given.words}", lambda made: _filled(made, name, given, copied))
        return environments.kept(folder, package)
    except Unavailable as exc:
        raise UserError(f"--from: {exc}") from exc


def folder_again(package: str, name: str) -> Path:
    """The packages of a build of a package, from the cache alone. Raises Unavailable if it isn't there."""
    folder = environments.folder_of(name)
    if not name.startswith(f"{package}-built-") or not environments.is_whole(folder):
        raise Unavailable("its build is in the cache no more; start a new run with --from")
    return folder / environments.PACKAGES


def _filled(made: Path, name: str, given: Source, copied: Callable[[Path], Path]) -> Manifest:
    with tempfile.TemporaryDirectory(dir=made) as scratch:
        wheel = _wheel(copied(Path(scratch)), Path(scratch))
        return environments.filled(made, name, str(wheel), given.words)


def _wheel(source: Path, scratch: Path) -> Path:
    """Build a wheel, unless it is one."""
    if source.suffix == ".whl":
        return source
    out = scratch / "wheel"
    flags = ["--no-deps", "--disable-pip-version-check", "--no-input", "--progress-bar", "off", "--wheel-dir", str(out)]
    command = [*environments.pip(scratch), "wheel", *flags, str(source)]
    try:
        environments.run_installer(command, scratch, source.name, _SECONDS)
    except Unavailable as exc:
        raise Unavailable(
            f"{exc.reason}; in {source.name}, pip wheel --no-deps shows all that the build prints"
        ) from exc
    (built,) = out.glob("*.whl")
    return built


def _left_out(folder: Path) -> Callable[[str, list[str]], set[str]]:
    """What is no source of a folder, as `shutil.copytree` asks for it."""
    return lambda parent, names: (
        _LEFT(parent, names) | (_LEFT_AT_TOP(parent, names) if Path(parent) == folder else set())
    )


def _digest(folder: Path) -> str:
    """The hash of all files and links of a folder, without what git keeps and what a build leaves."""
    left_out, found = _left_out(folder), hashlib.sha256()
    for parent, folders, files in os.walk(folder):
        names = sorted({*folders, *files} - left_out(parent, [*folders, *files]) - {".git"})
        folders[:] = [name for name in names if name in folders]
        for path in (Path(parent, name) for name in names):
            if path.is_symlink():
                found.update(f"{path.relative_to(folder)}\0{path.readlink()}\n".encode())
            elif path.is_file():
                mode = path.stat().st_mode & 0o111
                found.update(f"{path.relative_to(folder)}\0{mode}\0{plain_file.digest(path)}\n".encode())
    return found.hexdigest()


def _copy(folder: Path, digest: str, scratch: Path) -> Path:
    """Copy a source folder, so that a build leaves nothing in it. Raises Unavailable if it differs from `digest`."""
    copy = scratch / folder.name
    shutil.copytree(folder, copy, symlinks=True, ignore=_left_out(folder))
    if _digest(copy) != digest:
        raise Unavailable(f"{folder} changed while it was read; start again when it is at rest")
    for link in [path for path in copy.rglob("*") if path.is_symlink() and not path.exists()]:
        original = folder / link.relative_to(copy)
        if original.is_file():  # it leads out of the folder, as to a licence above it
            link.unlink()
            shutil.copyfile(original, link)
    return copy


def _commit(what: str) -> Source:
    """A commit of a repository on this machine: git+file://FOLDER[@COMMIT][#subdirectory=PATH], by default its HEAD."""
    place, _, below = what.removeprefix(_GIT).partition("#subdirectory=")
    ends = [match.start() for match in re.finditer("@|$", place)]  # a folder's name may have an @, as a revision may
    folder = next((place[:end] for end in reversed(ends) if Path(place[:end]).is_dir()), place.partition("@")[0])
    revision = place[len(folder) + 1 :]
    commit = _git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision or 'HEAD'}^{{commit}}")
    if not commit:
        raise UserError(f"--from: {folder or what} has no commit {revision or 'HEAD'}, or is no git repository")
    if below and not _git(folder, "rev-parse", "--verify", "--quiet", f"{commit}:{below}"):
        raise UserError(f"--from: commit {commit[:_SHOWN]} of {Path(folder).name} has no folder {below}")

    def cloned(scratch: Path) -> Path:
        clone = scratch / Path(folder).name
        for words in (
            ("clone", "--quiet", "--no-checkout", folder, str(clone)),
            ("-C", str(clone), "checkout", "--quiet", commit),
        ):
            environments.run_installer(["git", "--no-pager", *words], scratch, what)
        return clone / below

    words = f"commit {commit[:_SHOWN]} of {Path(folder).name}{below and f', {below}'}"
    return Source(words, f"{commit} {below}", cloned)


def _head(folder: Path) -> str:
    """The commit that a source folder is at, if it has one."""
    commit = _git(str(folder), "rev-parse", "--verify", "--quiet", "HEAD")
    changed = ", changed" if commit and _git(str(folder), "status", "--porcelain") else ""
    return f" at {commit[:_SHOWN]}{changed}" if commit else ""


def _git(folder: str, *words: str) -> str:
    """What git prints of a folder; empty if it is no repository, or there is no git."""
    try:
        done = run_to_end(["git", "-C", folder, *words], Path("/"), _SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return "" if done.returncode else done.stdout.strip()
