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
from collections.abc import Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from dbbench.host import kept_folder, plain_file

_MANIFEST = "template.json"
_FILES = "files"
#: Raised whenever a template changes its form; part of the cache's key.
_FORMAT = 2
#: Files that are brought to the disk at once.
_SYNCS = 16
_log = logging.getLogger(__name__)

#: The numbers of a user and a group.
Owner = tuple[int, int]


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
        damage = self._damage()
        try:
            if not damage:
                self._copy(target, owner)
                return True
        except OSError:
            damage = self._damage()  # it may have been removed meanwhile
            if not damage:
                raise
        shutil.rmtree(target, ignore_errors=True)
        _log.warning("dbbench: the server template %s is damaged (%s); it is made anew", self.folder, damage)
        kept_folder.remove(self.folder, self._damage)
        return False

    def keep(self, source: Path) -> None:
        """Take a folder for the template, if there is none yet. Where that fails, each trial sets up its own."""
        try:
            kept_folder.make(self.folder, _MANIFEST, lambda folder: _taken(source, folder / _FILES))
        except OSError as exc:
            _log.warning("dbbench: the server template %s can't be kept: %s", self.folder, exc.strerror or exc)

    def _copy(self, target: Path, owner: Owner | None) -> None:
        manifest = kept_folder.sealed(self.folder / _MANIFEST)
        _copy(self.folder / _FILES, target, manifest["folders"], manifest["files"], manifest["reserved"], owner)
        plain_file.sync_folder(target.parent)

    def _damage(self) -> str:
        """What is wrong with it; empty if nothing is."""
        return kept_folder.damage(
            self.folder / _MANIFEST,
            lambda manifest: {f"{_FILES}/{name}": digest for name, digest in manifest["files"].items()},
        )


def _taken(source: Path, target: Path) -> Mapping[str, object]:
    """Copy what was set up; its manifest. Space that is reserved isn't in the copy, where it is a hole as any other."""
    folders: dict[str, int] = {}
    files: list[str] = []
    for path in [source, *sorted(source.rglob("*"))]:
        name, mode = str(path.relative_to(source)), path.lstat().st_mode
        if stat.S_ISDIR(mode):
            folders[name] = stat.S_IMODE(mode)
        elif stat.S_ISREG(mode):
            files.append(name)
        else:
            raise OSError(f"{name} is neither a folder nor a regular file")
    reserved = [name for name in files if _is_reserved(source / name)]
    _copy(source, target, dict.fromkeys(folders, 0o700), files)  # and sync it now, not while the first trial is timed
    return {
        "folders": folders,
        "files": {name: plain_file.digest(target / name) for name in files},
        "reserved": reserved,
    }


def _copy(
    source: Path,
    target: Path,
    folders: dict[str, int],
    files: Iterable[str],
    reserved: Collection[str] = (),
    owner: Owner | None = None,
) -> None:
    """Copy files into folders that get these modes, and bring it all to the disk."""
    for name in folders:
        (target / name).mkdir(mode=0o700, exist_ok=True)
    for name in files:
        _copy_file(source / name, target / name, owner, reserved=name in reserved)
    for name, mode in reversed(folders.items()):  # the owner may write to none before all are whole
        _hand_over(target / name, mode, owner)
    with ThreadPoolExecutor(_SYNCS) as pool:  # side by side: they share the commits of the file system's journal
        list(pool.map(plain_file.sync_file, [target / name for name in files]))
    for name in folders:
        plain_file.sync_folder(target / name)


def _copy_file(source: Path, target: Path, owner: Owner | None, *, reserved: bool) -> None:
    """Copy a file with its mode and its holes, or have all its space reserved."""
    with (
        open(os.open(source, os.O_RDONLY | os.O_NOFOLLOW), "rb") as read,
        open(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as written,
    ):
        status = os.fstat(read.fileno())
        if reserved:
            os.posix_fallocate(written.fileno(), 0, status.st_size)
        else:
            os.ftruncate(written.fileno(), status.st_size)
        for start, end in _data(read.fileno()):
            written.seek(start)
            written.write(os.pread(read.fileno(), end - start, start))
    _hand_over(target, stat.S_IMODE(status.st_mode), owner)


def _is_reserved(path: Path) -> bool:
    """Whether a file has all its space, but not all of it was ever written: a hole to a reader."""
    with path.open("rb") as file:
        status = os.fstat(file.fileno())
        return status.st_blocks * 512 >= status.st_size > sum(end - start for start, end in _data(file.fileno()))


def _data(descriptor: int) -> Iterator[tuple[int, int]]:
    """Extents of a file's data: (start, end) of each part."""
    end, size = 0, os.fstat(descriptor).st_size
    while end < size:
        try:
            start = os.lseek(descriptor, end, os.SEEK_DATA)
        except OSError:  # ENXIO: none from here on
            return
        end = os.lseek(descriptor, start, os.SEEK_HOLE)
        yield start, end


def _hand_over(path: Path, mode: int, owner: Owner | None) -> None:
    if owner:
        os.chown(path, *owner, follow_symlinks=False)
    path.chmod(mode)
