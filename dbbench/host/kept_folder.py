"""Folders in the user's cache: made under another name and renamed, so that two runs at once find all of one or nothing.

A folder has a manifest, sealed by a hash of its own. One that isn't as it was written is removed, and made anew.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import platformdirs

from dbbench.host import atomic_json, plain_file

MAKING = ".making-"
_STALE_SECONDS = 24 * 3600


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
    """Whether only this user may change a kept folder or put another in its place."""
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
