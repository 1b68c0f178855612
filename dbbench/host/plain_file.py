"""Plain files in a folder that anyone may have filled, such as a run directory from elsewhere.

Reading follows no link, waits for no pipe and stops at a size. Writing goes to a new file with a random name, which
then takes the place of the old one, so that a file is whole or not there and a link in its place is replaced, not
written through.
"""

import contextlib
import errno
import hashlib
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import IO

#: A file that is larger was not written by dbbench.
MOST_BYTES = 64 * 2**20
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)  # Windows has none of these
_NONBLOCK = getattr(os, "O_NONBLOCK", 0)
_DIRECTORY = getattr(os, "O_DIRECTORY", 0)
_BINARY = getattr(os, "O_BINARY", 0)


def inside(root: Path, *names: str) -> Path:
    """The path of something below `root`, which may be a link itself. Raises OSError if a part below it is one."""
    path = os.fspath(root)  # a history reads tens of thousands of files: a Path for each part takes as long
    for name in names:
        path = os.path.join(path, name)
        if os.path.islink(path):
            raise OSError(errno.ELOOP, f"{path} is a link, and links are not followed", path)
    return Path(path)


def folder(root: Path, *names: str) -> Path:
    """A folder below `root`, made if it isn't there. Raises OSError as `inside` does."""
    path = inside(root, *names)
    path.mkdir(exist_ok=True)
    return path


def open_folder(path: Path) -> int:
    """A descriptor of a folder that is no link. Raises OSError."""
    return os.open(path, os.O_RDONLY | _DIRECTORY | _NOFOLLOW)


def read(path: Path, most: int = MOST_BYTES) -> bytes:
    """The bytes of a regular file. Raises OSError, also for a link and for more bytes than `most`."""
    descriptor = os.open(inside(path.parent, path.name), os.O_RDONLY | _NOFOLLOW | _NONBLOCK | _BINARY)
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, f"{path} is not a regular file", str(path))
        if found.st_size > most:
            raise OSError(errno.EFBIG, f"{path} is larger than {most / 2**20:g} MiB", str(path))
        with open(descriptor, "rb", closefd=False) as file:
            return file.read(found.st_size)  # no more is allocated
    finally:
        os.close(descriptor)


def write(path: Path, data: bytes, *, durable: bool = False) -> None:
    """Write a file in one step, as `replacing` does."""
    with replacing(path, durable=durable) as file:
        file.write(data)


@contextlib.contextmanager
def replacing(path: Path, *, durable: bool = False) -> Iterator[IO[bytes]]:
    """A new file that takes the place of `path` when it is whole. A durable one is then on the disk with its name."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW | _BINARY, 0o666)
    try:
        with open(descriptor, "wb") as file:
            yield file
            if durable:
                file.flush()
                os.fsync(descriptor)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    if durable:
        sync_folder(path.parent)


def digest(path: Path) -> str:
    """The SHA-256 of a file's bytes, in hexadecimal."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Keep others who ask the same from a folder; waits for them. On Windows nobody is kept."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    descriptor = os.open(path, os.O_RDONLY | _DIRECTORY)  # which may be a link: the user named it
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def sync_file(path: Path) -> None:
    """Bring a file's bytes to the disk."""
    descriptor = os.open(path, os.O_RDWR | _BINARY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_folder(path: Path) -> None:
    """Bring a folder's names to the disk, where the system can."""
    if not _DIRECTORY:
        return
    descriptor = os.open(path, os.O_RDONLY | _DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
