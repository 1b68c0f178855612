"""What an engine keeps on disk, measured by the harness: the files in its directory, and others that it has open.

What can't be seen: a file elsewhere that was closed, or is only read; files of processes that are not the worker's
children; what a server at a URL keeps.
"""

import contextlib
import os
import re
import stat
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import psutil

from dbbench.engine.base import Engine
from dbbench.engine.size import File, FileRole, Size, file_at
from dbbench.host.processes import descendants

#: Of more files than these a result keeps the sums of folders.
_FEW = 100
_Inode = tuple[int, int]
#: A role, and a name without numbers.
Kind = tuple[FileRole, str]
#: What the kernel calls memory that was never a file. Runtimes keep compiled code there, and servers their buffers.
_MEMORY = ("/memfd:", "/dev/zero", "/SYSV", "/[aio]")


def on_disk(engine: Engine) -> Size:
    """Files by the harness's own look, of which the engine says no more than what they are for, and how much is index.

    At a URL it is what the server says. Raises Unsupported if the engine keeps nothing on disk.
    """
    reported = engine.size()
    return reported if engine.url else replace(reported, files=_files(engine))


def sizes(engine: Engine) -> dict[Kind, int]:
    """Bytes of all files by what tells them apart. Nothing at a URL, where no file is seen."""
    return {} if engine.url else by_kind(_files(engine))


def by_kind(files: Iterable[File]) -> dict[Kind, int]:
    """Sum bytes of files by role and name without numbers: a restart numbers some anew."""
    found: dict[Kind, int] = {}
    for file in files:
        kind = file.role, re.sub(r"\d+", "", file.name)
        found[kind] = found.get(kind, 0) + file.apparent
    return found


def _files(engine: Engine) -> tuple[File, ...]:
    seen: set[_Inode] = set()
    files = [replace(file, role=engine.file_role(file.name)) for file in _in_folder(engine.directory, seen)]
    return tuple(files + outside(engine, seen))


def elsewhere(engine: Engine) -> list[File]:
    """Files of an engine that are not in its directory."""
    seen: set[_Inode] = set()
    for _ in _in_folder(engine.directory, seen):
        pass
    return outside(engine, seen)


def outside(engine: Engine, seen: set[_Inode]) -> list[File]:
    """Files that are not in the engine's directory: in the rest of the trial's folder, or open or mapped for writing.

    Also those that are only read, if they are deleted or in the memory that processes share.
    """
    work = engine.directory.parent
    found = []
    for process in processes(engine):
        found += _open_files(process, seen) + _mapped_files(process, seen)
    if engine.directory.name == "data" and (work / "tmp").is_dir():  # a trial's own, not a test's
        found += [replace(file, name=str(work / file.name)) for file in _in_folder(work, seen)]
    files = [file for file in found if file.apparent or file.allocated]
    return [replace(file, role="reserved") if engine.file_role(file.name) == "reserved" else file for file in files]


def summed(files: Iterable[File]) -> list[File]:
    """Files by their names; of more than a few the sums of folders and roles."""
    files = sorted(files, key=lambda file: file.name)
    if len(files) <= _FEW:
        return files
    folders: dict[tuple[str, str], File] = {}
    for file in files:
        folder = os.path.dirname(file.name) or "."
        old = folders.get((folder, file.role), File(folder, file.role, 0, 0))
        both = replace(old, apparent=old.apparent + file.apparent, allocated=old.allocated + file.allocated)
        folders[folder, file.role] = both
    return [folders[key] for key in sorted(folders)]


def _in_folder(folder: Path, seen: set[_Inode]) -> Iterator[File]:
    """Every regular file in a folder that was not seen before; each counts once, however many names it has."""
    for path, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):  # it is gone meanwhile
                each = os.path.join(path, name)
                status = os.lstat(each)
                if _new(each, status, seen):
                    yield file_at(each, status, os.path.relpath(each, folder), "other")


def _open_files(process: psutil.Process, seen: set[_Inode]) -> list[File]:
    """Files that a process has open; not its standard output and error, nor a memfd, which is memory."""
    folder = Path(f"/proc/{process.pid}/fd")
    found = []
    with contextlib.suppress(OSError):  # no /proc; or the process is gone, or another user's
        for link in sorted(folder.iterdir(), key=lambda link: int(link.name)):
            with contextlib.suppress(OSError):
                status = os.stat(link)
                name = os.readlink(link)
                if int(link.name) < 3:
                    seen.add((status.st_dev, status.st_ino))
                elif (_writes(process.pid, link.name) or _hidden(name, status)) and _new(name, status, seen):
                    found.append(file_at(str(link), status, name, "other"))
    return found


def _mapped_files(process: psutil.Process, seen: set[_Inode]) -> list[File]:
    """Files that a process has mapped and shares with others. Libraries and what runtimes read are private to it."""
    found = []
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{process.pid}/maps").read_text("utf-8", errors="replace").splitlines():
            place, rights, _, _, _, *names = line.split(None, 5)
            if rights[3] != "s" or not names:
                continue
            with contextlib.suppress(OSError):  # a deleted file may be looked at by root alone
                low, high = place.split("-")
                link = f"/proc/{process.pid}/map_files/{int(low, 16):x}-{int(high, 16):x}"
                each = link if os.access(link, os.R_OK) else names[0]
                status = os.stat(each)
                if (rights[1] == "w" or _hidden(names[0], status)) and _new(names[0], status, seen):
                    found.append(file_at(each, status, names[0], "other"))
    return found


def _hidden(name: str, status: os.stat_result) -> bool:
    """Return whether a file has no name any more, or lies in the memory that processes share."""
    return not status.st_nlink or name.startswith("/dev/shm/")  # noqa: S108 - none is made


def opened_by(process: psutil.Process) -> Iterator[tuple[str, int]]:
    """What a process has open: each file's name, and the flags that it was opened with."""
    with contextlib.suppress(OSError):  # no /proc; or the process is gone, or another user's
        for link in Path(f"/proc/{process.pid}/fd").iterdir():
            with contextlib.suppress(OSError):
                yield os.readlink(link), _flags(process.pid, link.name)


def _writes(pid: int, number: str) -> bool:
    return _flags(pid, number) & os.O_ACCMODE != os.O_RDONLY


def _flags(pid: int, number: str) -> int:
    text = Path(f"/proc/{pid}/fdinfo/{number}").read_text("ascii")
    return int(text.partition("flags:")[2].split()[0], 8)


def others(engine: Engine) -> list[int]:
    """Return the ids of the processes that work for an engine, without this one's, parents first."""
    return [process.pid for process in processes(engine) if process.pid != os.getpid()]


def processes(engine: Engine) -> Iterable[psutil.Process]:
    """Return this process, all that it has started, and the engine's servers, each once."""
    # Servers first: what they print goes to a file that this process has open, too.
    known = []
    for pid in () if engine.url else engine.processes():
        with contextlib.suppress(psutil.NoSuchProcess):  # one that a server has ended meanwhile
            known.append(psutil.Process(pid))
    return dict.fromkeys([*known, *descendants().values(), psutil.Process()])


def _new(name: str, status: os.stat_result, seen: set[_Inode]) -> bool:
    memory = name.startswith(_MEMORY)
    if memory or not stat.S_ISREG(status.st_mode) or (status.st_dev, status.st_ino) in seen:
        return False
    seen.add((status.st_dev, status.st_ino))
    return True
