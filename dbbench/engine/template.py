"""The data folder of a new private server, set up once, kept in the cache, and copied for each trial.

A copy lies on the disk as the set-up would leave it: same modes, same holes, space reserved where it was, all of it
synced. Blocks are not shared with the template (reflink): a first write to a shared one costs more, inside the clock.
Nothing in it is a secret: passwords are set in a server that runs, and a template is kept before one does.
"""

import hashlib
import json
import logging
import os
import shutil
import stat
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypedDict

from dbbench.host import kept_folder, plain_file

_MANIFEST = "template.json"
_FILES = "files"
#: Raised whenever a template changes its form; part of the cache's key.
_FORMAT = 1
#: Files that are brought to the disk at once.
_SYNCS = 16
_log = logging.getLogger(__name__)

#: The numbers of a user and a group.
Owner = tuple[int, int]


class _File(TypedDict):
    mode: int
    bytes: int
    parts: Sequence[Sequence[int]]
    reserved: bool
    sha256: str


class _Kept(TypedDict):
    folders: dict[str, int]
    files: dict[str, _File]


class _Damaged(Exception):
    """A template is not as it was written."""


class Template:
    """What a set-up makes that depends on nothing but `identity`, which JSON can hold."""

    def __init__(self, *identity: object) -> None:
        name = hashlib.sha256(json.dumps([_FORMAT, *identity]).encode()).hexdigest()[:24]
        self.folder = kept_folder.cache_folder() / "servers" / name

    def copy_to(self, target: Path, owner: Owner | None = None) -> bool:
        """Make the folder `target` a copy, if there is a template. Raises OSError if the copy can't be written.

        A damaged template is removed, and what was copied of it, with a line in the log.
        """
        if not self.folder.exists():
            return False
        if not kept_folder.is_own(self.folder):
            _log.warning("dbbench: %s is not used: others than you may write to it or its folder", self.folder)
            return False
        try:
            self._copy(target, owner)
        except _Damaged as exc:
            shutil.rmtree(target, ignore_errors=True)
            _log.warning("dbbench: the server template %s is damaged (%s); it is made anew", self.folder, exc)
            kept_folder.remove(self.folder, self._damage)
            return False
        return True

    def keep(self, source: Path) -> None:
        """Take a folder for the template, if there is none yet. Where that fails, each trial sets up its own."""
        try:
            kept_folder.make(self.folder, _MANIFEST, lambda folder: _taken(source, folder / _FILES))
        except OSError as exc:
            _log.warning("dbbench: the server template %s can't be kept: %s", self.folder, exc.strerror or exc)

    def _copy(self, target: Path, owner: Owner | None) -> None:
        manifest = self._manifest()
        for name in manifest["folders"]:
            (target / name).mkdir(mode=0o700, exist_ok=True)
        for name, file in manifest["files"].items():
            _write(target / name, file, self._parts(name, file), owner)
        for name, mode in reversed(manifest["folders"].items()):  # the owner may write to none before all are whole
            _hand_over(target / name, mode, owner)
        _sync(target, manifest)
        plain_file.sync_folder(target.parent)

    def _manifest(self) -> _Kept:
        try:
            manifest: _Kept = kept_folder.sealed(self.folder / _MANIFEST)
        except (OSError, ValueError) as exc:
            raise _Damaged(exc) from exc
        return manifest

    def _parts(self, name: str, file: _File) -> Iterator[tuple[int, bytes]]:
        """The parts of a file that hold data. Raises _Damaged after the last if they aren't what was kept."""
        try:
            descriptor = os.open(f"{self.folder}/{_FILES}/{name}", os.O_RDONLY | os.O_NOFOLLOW)
            try:
                found = hashlib.sha256()
                for part in _read(descriptor, file["parts"]):
                    found.update(part[1])
                    yield part
            finally:
                os.close(descriptor)
        except OSError as exc:
            raise _Damaged(exc) from exc
        if found.hexdigest() != file["sha256"]:
            raise _Damaged(f"{name} is not as it was written")

    def _damage(self) -> str:
        """What is wrong with it; empty if nothing is."""
        try:
            for name, file in self._manifest()["files"].items():
                for _ in self._parts(name, file):
                    pass
        except _Damaged as exc:
            return str(exc)
        return ""


def _taken(source: Path, target: Path) -> _Kept:
    """Copy what was set up; its manifest. Only folders and regular files are known."""
    folders: dict[str, int] = {}
    files: dict[str, _File] = {}
    for parent, names, contents in os.walk(source):
        names.sort()
        relative = os.path.relpath(parent, source)
        folders[relative] = stat.S_IMODE(os.lstat(parent).st_mode)
        (target / relative).mkdir(mode=0o700)
        for name in sorted(contents):
            path = os.path.normpath(os.path.join(relative, name))
            descriptor = os.open(source / path, os.O_RDONLY | os.O_NOFOLLOW)
            try:
                files[path] = _taken_file(descriptor, target / path)
            finally:
                os.close(descriptor)
    manifest: _Kept = {"folders": folders, "files": files}
    _sync(target, manifest)  # now, not while the first trial is timed
    return manifest


def _taken_file(descriptor: int, target: Path) -> _File:
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        raise OSError(f"{target.name} is not a regular file")
    parts = list(_data(descriptor, status.st_size))
    file: _File = {
        "mode": stat.S_IMODE(status.st_mode),
        "bytes": status.st_size,
        "parts": parts,
        # Reserved but never written: a hole to a reader.
        "reserved": status.st_blocks * 512 >= status.st_size > sum(end - start for start, end in parts),
        "sha256": "",
    }
    found = hashlib.sha256()

    def read() -> Iterator[tuple[int, bytes]]:
        for part in _read(descriptor, parts):
            found.update(part[1])
            yield part

    _write(target, {**file, "mode": 0o600, "reserved": False}, read())
    return {**file, "sha256": found.hexdigest()}


def _data(descriptor: int, size: int) -> Iterator[tuple[int, int]]:
    """Extents of a file's data: (start, end) of each part."""
    end = 0
    while end < size:
        try:
            start = os.lseek(descriptor, end, os.SEEK_DATA)
        except OSError:  # ENXIO: none from here on
            return
        end = os.lseek(descriptor, start, os.SEEK_HOLE)
        yield start, end


def _read(descriptor: int, parts: Sequence[Sequence[int]]) -> Iterator[tuple[int, bytes]]:
    for start, end in parts:
        yield start, os.pread(descriptor, end - start, start)


def _write(path: Path, file: _File, parts: Iterator[tuple[int, bytes]], owner: Owner | None = None) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with open(descriptor, "wb") as target:
        if file["reserved"]:
            os.posix_fallocate(descriptor, 0, file["bytes"])
        else:
            os.ftruncate(descriptor, file["bytes"])
        for start, data in parts:
            target.seek(start)
            target.write(data)
    _hand_over(path, file["mode"], owner)


def _hand_over(path: Path, mode: int, owner: Owner | None) -> None:
    if owner:
        os.chown(path, *owner, follow_symlinks=False)
    path.chmod(mode)


def _sync(folder: Path, manifest: _Kept) -> None:
    """Bring a copy to the disk; side by side, so that files share the commits of the file system's journal."""
    names = list(manifest["files"])

    def sync(some: list[str]) -> None:
        for name in some:
            plain_file.sync_file(folder / name)

    with ThreadPoolExecutor(_SYNCS) as pool:
        list(pool.map(sync, (names[start::_SYNCS] for start in range(_SYNCS))))
    for name in manifest["folders"]:
        plain_file.sync_folder(folder / name)
