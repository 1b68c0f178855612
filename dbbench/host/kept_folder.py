"""Folders in the user's cache: made under another name and renamed, so that two runs find all of one or nothing.

A folder has a manifest, sealed by a hash of its own. One that isn't as it was written is removed, and made anew.

`contents` lists datasets, environments, templates of servers and jars: only what dbbench has put there, and only that
is discarded. A link is never followed: neither to look, nor to count, nor to remove.
"""

import contextlib
import hashlib
import json
import os
import re
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import platformdirs

from dbbench.host import atomic_json, plain_file

MAKING = ".making-"
_STALE_SECONDS = 24 * 3600
#: Names that a listing shows of a dataset's tables.
_FEW = 4


def cache_folder() -> Path:
    """The folder of all that is kept: DBBENCH_CACHE, or the user's cache folder."""
    override = os.environ.get("DBBENCH_CACHE")
    return Path(override) if override else platformdirs.user_cache_path("dbbench")


def make(final: Path, manifest: str, fill: Callable[[Path], Mapping[str, object]]) -> None:
    """Have a folder, mode 0700, with what `fill` puts into it and the manifest that it returns. Raises OSError.

    Where another process was first, its folder stays: what is kept under one name is the same whoever made it.
    """
    final.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    _sweep(final.parent)
    made = Path(tempfile.mkdtemp(prefix=MAKING, dir=final.parent))
    try:
        document = fill(made)
        atomic_json.write(made / manifest, {**document, "hash": _hash(document)}, durable=True)
        try:
            made.rename(final)
            plain_file.sync_folder(final.parent)
        except OSError:
            if not (final / manifest).is_file():
                raise
    finally:
        shutil.rmtree(made, ignore_errors=True)


def is_own(folder: Path) -> bool:
    """Whether only this user may change or replace a kept folder."""
    if not hasattr(os, "geteuid"):  # Windows
        return True
    found = [os.lstat(each) for each in (folder, folder.parent)]
    return all(
        stat.S_ISDIR(each.st_mode) and each.st_uid == os.geteuid() and not each.st_mode & 0o022 for each in found
    )


def sealed(path: Path) -> Any:
    """A manifest. Raises OSError, or ValueError if it isn't as it was written."""
    document = atomic_json.read(path)
    if not isinstance(document, dict) or "hash" not in document:
        raise ValueError(f"{path.name} is not a manifest")
    if _hash({key: value for key, value in document.items() if key != "hash"}) != document["hash"]:
        raise ValueError(f"{path.name} is not as it was written")
    return document


def damage(manifest: Path, digests: Callable[[Any], Mapping[str, str]]) -> str:
    """What is wrong with a kept folder: a file that is gone, or isn't as it was written; empty if nothing is.

    `digests` takes from the manifest what is checked: paths of files below the folder, and their hashes.
    """
    try:
        for name, digest in digests(sealed(manifest)).items():
            if plain_file.digest(plain_file.inside(manifest.parent, *Path(name).parts)) != digest:
                return f"{name} is not as it was written"
    except OSError as exc:
        return exc.strerror or str(exc)
    except (ValueError, KeyError, TypeError, AttributeError) as exc:
        return f"{manifest.name}: {exc}"
    return ""


def remove(folder: Path, damage: Callable[[], object]) -> bool:
    """Remove a folder in which `damage` still finds something once others are kept from it. Whether it did."""
    with plain_file.locked(folder.parent):
        found = bool(damage())
        if found and folder.exists():
            shutil.rmtree(folder)
    return found


def _hash(manifest: Mapping[str, object]) -> str:
    return hashlib.sha256(json.dumps(manifest, sort_keys=True).encode()).hexdigest()


def _sweep(folder: Path) -> None:
    """Remove what runs that were killed in the middle of writing left behind."""
    for path in folder.glob(f"{MAKING}*"):
        with contextlib.suppress(FileNotFoundError):
            if time.time() - path.stat().st_mtime > _STALE_SECONDS:
                shutil.rmtree(path, ignore_errors=True)


@dataclass(frozen=True)
class Kept:
    """One folder in the cache. `bytes` are those on the disk."""

    kind: str
    name: str
    path: Path
    bytes: int
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


def discard(entry: Kept) -> None:
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
        if path.name.startswith(MAKING):
            yield _kept("unfinished", path, "left by a run that was killed, or made right now")
        elif re.fullmatch(kind.pattern, path.name) and stat.S_ISREG(_mode(path / kind.manifest)):
            yield _kept(kind.name, path, _words(kind, path))


def _kept(kind: str, path: Path, what: str) -> Kept:
    size = 0
    for parent, folders, files in os.walk(path):
        for name in (*folders, *files):
            with contextlib.suppress(FileNotFoundError):
                status = os.lstat(os.path.join(parent, name))
                size += getattr(status, "st_blocks", -(-status.st_size // 512)) * 512
    return Kept(kind, path.name, path, size, what)


def _words(kind: _Kind, path: Path) -> str:
    """Its manifest's description."""
    try:
        manifest = sealed(path / kind.manifest)
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
    """The mode of the path itself; 0 if it doesn't exist."""
    try:
        return os.lstat(path).st_mode
    except OSError:
        return 0
