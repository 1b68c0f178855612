"""What lies in the cache: datasets, environments, templates of servers, jars; and how to remove it.

Only what dbbench has put there is listed, and only that is removed. A link is never followed: neither to look, nor to
count, nor to remove.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dbbench.host import kept_folder, plain_file

_FEW = 4


@dataclass(frozen=True)
class Kept:
    """One folder in the cache. `bytes` are those that the disk gives to it; `used` is when it was last written or read."""

    kind: str
    name: str
    path: Path
    bytes: int
    used: float
    #: What is in it, in words.
    what: str


@dataclass(frozen=True)
class _Kind:
    """A kind of folder: where it lies below the cache, by what its name and its manifest are known."""

    name: str
    place: str
    manifest: str
    pattern: str = r"[A-Za-z0-9][A-Za-z0-9._+-]{0,199}"


_KINDS = (
    _Kind("dataset", "", "dataset.json", r"[0-9a-f]{24}"),
    _Kind("environment", "environments", "environment.json"),
    _Kind("server", "servers", "template.json", r"[0-9a-f]{24}"),
)
_MANIFESTS = frozenset(kind.manifest for kind in _KINDS)
#: Folders that are kept as a whole.
_WHOLE = {"jars": "jars of the JDBC engines"}


def contents(root: Path) -> list[Kept]:
    """All that dbbench keeps in the cache at `root`, by kind and name. A folder that isn't there holds nothing."""
    found = [entry for kind in _KINDS for entry in _of(root, kind)]
    for name, what in _WHOLE.items():
        if _is_folder(root / name):
            found.append(_kept(name, root / name, what))
    return found


def named(found: list[Kept], name: str) -> list[Kept]:
    """The one that has this name, or those whose names begin so."""
    exact = [entry for entry in found if entry.name == name]
    return exact or [entry for entry in found if entry.name.startswith(name)]


def remove(entry: Kept) -> None:
    """Remove one of the contents, while others are kept from it. Raises OSError."""
    with plain_file.locked(entry.path.parent):
        if _is_folder(entry.path):
            shutil.rmtree(entry.path)  # which removes links, and not what they lead to


def _of(root: Path, kind: _Kind) -> Iterator[Kept]:
    place = root / kind.place if kind.place else root
    if not place.is_dir() or (kind.place and not _is_folder(place)):
        return
    for path in sorted(place.iterdir()):
        if not _is_folder(path):
            continue
        if path.name.startswith(kept_folder.MAKING):
            yield _kept("unfinished", path, "left by a run that was killed, or made right now")
        elif re.fullmatch(kind.pattern, path.name) and stat.S_ISREG(_mode(path / kind.manifest)):
            yield _kept(kind.name, path, _words(kind, path))


def _kept(kind: str, path: Path, what: str) -> Kept:
    size, used = 0, 0.0
    for parent, folders, files in os.walk(path):
        for name in (*folders, *files):
            with contextlib.suppress(FileNotFoundError):
                status = os.lstat(os.path.join(parent, name))
                size += getattr(status, "st_blocks", -(-status.st_size // 512)) * 512
                if stat.S_ISREG(status.st_mode):
                    # Manifests are read by whoever lists what there is: that is no use of it.
                    read = 0.0 if name in _MANIFESTS else status.st_atime
                    used = max(used, status.st_mtime, read)
    return Kept(kind, path.name, path, size, used or os.lstat(path).st_mtime, what)


def _words(kind: _Kind, path: Path) -> str:
    """What its manifest says of it."""
    try:
        manifest = kept_folder.sealed(path / kind.manifest)
        match kind.name:
            case "dataset":
                tables = {name: int(table["rows"]) for name, table in manifest["tables"].items()}
                names = ", ".join([*list(tables)[:_FEW], *(["..."] if len(tables) > _FEW else [])])
                return f"{names or 'records'}: {sum(tables.values()):,} rows" if tables else "records"
            case "environment":
                return f"release {manifest['release']}"
        return f"{len(manifest['files']):,} files of a new private server"
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as exc:
        return f"damaged: {exc}"


def _is_folder(path: Path) -> bool:
    return stat.S_ISDIR(_mode(path))


def _mode(path: Path) -> int:
    """The mode of what stands there itself; 0 if nothing does."""
    try:
        return os.lstat(path).st_mode
    except OSError:
        return 0
