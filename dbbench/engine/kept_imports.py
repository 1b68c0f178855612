"""Engines whose drivers were imported without a fault: known in the cache for as long as nothing of it has changed.

Importing all drivers takes seconds. What an import came from is watched: each file that was opened and each library
that was mapped, with its size and time of change; the modules that could be found; the folders of programs; the
environment; the Python. A change of any of it, and the drivers are imported again. Only success is kept.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import platform
import sys
import threading
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from dbbench.host import atomic_json
from dbbench.host.kept_folder import cache_folder
from dbbench.host.processes import FOLDER

#: A file's size and time of change in ns; None for one that isn't there.
Stamp = list[int] | None
Seen = dict[str, dict[str, Any]]
_FOLDER = "imports"
_MOST_FILES = 32
#: Variables that differ from one terminal to the next, and that no driver's import asks for.
_TERMINAL = {FOLDER, "PWD", "OLDPWD", "SHLVL", "_", "COLUMNS", "LINES", "PYTEST_CURRENT_TEST"}
_MODULES = (".py", ".so", ".pyd", ".pth", "-info", ".egg-link")
#: What says where the system's libraries and programs are.
_SYSTEM = ("/etc/ld.so.cache", "/etc/alternatives")
_NO_FILES = ("/proc/", "/dev/", "/sys/")
_MAPPED = 73  # where a file's path begins in a line of /proc/self/maps
_KEEPING = threading.Lock()
_PARTS = ("engines", "files", "modules")


class Watch:
    """From now on, the files that this process reads. Start it before the first driver is imported."""

    def __init__(self) -> None:
        self.files: dict[str, Stamp] = {}
        sys.addaudithook(self._heard)

    def _heard(self, event: str, told: tuple[Any, ...]) -> None:
        if event == "open" and isinstance(told[0], str) and not told[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            self._note(told[0])

    def _note(self, path: str) -> None:
        if path.startswith("/") and path not in self.files and not path.startswith(_NO_FILES):
            self.files[path] = _stamp(path)  # before it is read: a change in the meantime is one

    def seen(self) -> Seen:
        """What the imports until now came from: files, mapped libraries, and where others would have been found."""
        with contextlib.suppress(OSError), open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
            for line in maps:
                self._note(line.rstrip("\n")[_MAPPED:])
        for folder in sys.path:
            for name in _modules(folder):
                if name.endswith(".pth"):  # read before anything of ours ran
                    self._note(os.path.join(folder, name))
        for folder in (*os.environ.get("PATH", "").split(os.pathsep), *_SYSTEM):
            self._note(folder)
        return {"files": self.files, "modules": {folder: _digest(_modules(folder)) for folder in sys.path}}


def known(names: Iterable[str]) -> dict[str, dict[str, str]]:
    """The versions that engines told, by name: those whose drivers would be imported just as they were before."""
    wanted = set(names)
    return {
        name: versions
        for group in _groups()
        if wanted & group["engines"].keys() and _holds(group)
        for name, versions in group["engines"].items()
        if name in wanted
    }


def keep(engines: Mapping[str, Mapping[str, str]], seen: Mapping[str, Any]) -> None:
    """Keep the versions of engines whose drivers one process has imported. Where nothing can be written, nothing is kept."""
    path = _path()
    with _KEEPING, contextlib.suppress(OSError):
        groups = [group for group in _groups() if _holds(group)]
        for group in groups:
            group["engines"] = {name: told for name, told in group["engines"].items() if name not in engines}
        groups = [group for group in groups if group["engines"]]
        groups.append({"engines": dict(engines), **seen})
        path.parent.mkdir(parents=True, exist_ok=True)
        atomic_json.write(path, groups)
        for old in sorted(path.parent.glob("*.json"), key=lambda each: each.stat().st_mtime)[:-_MOST_FILES]:
            old.unlink()


def _holds(group: Mapping[str, Any]) -> bool:
    return all(_stamp(path) == stamp for path, stamp in group["files"].items()) and all(
        _digest(_modules(folder)) == digest for folder, digest in group["modules"].items()
    )


def _groups() -> list[dict[str, Any]]:
    """What was kept for this Python and environment; nothing if it can't be read."""
    try:
        return [{part: dict(group[part]) for part in _PARTS} for group in atomic_json.read(_path())]
    except (OSError, ValueError, TypeError, KeyError):
        return []


def _path() -> Path:
    """The file of this Python, machine and environment."""
    environment = sorted((name, value) for name, value in os.environ.items() if name not in _TERMINAL)
    about = [sys.executable, sys.version, list(platform.uname()), environment]
    return cache_folder() / _FOLDER / f"{_digest([json.dumps(about)])[:32]}.json"


def _modules(folder: str) -> list[str]:
    """The names in a folder that an import could find, and those of the packages installed there."""
    try:
        with os.scandir(folder) as entries:
            return sorted(
                entry.name
                for entry in entries
                if entry.name.endswith(_MODULES) or os.path.exists(os.path.join(entry.path, "__init__.py"))
            )
    except OSError:
        return []


def _digest(names: list[str]) -> str:
    return hashlib.sha256("\n".join(names).encode(errors="replace")).hexdigest()


def _stamp(path: str) -> Stamp:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return [found.st_size, found.st_mtime_ns]
