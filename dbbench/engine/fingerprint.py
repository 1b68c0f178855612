"""Hashes of code, which differ where a version does not."""

import hashlib
import sys
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

from dbbench.engine.base import Engine


def fingerprint(kind: type[Engine]) -> str:
    """A hash of what an engine and its session are defined in, their base classes too.

    Of dbbench and its plugins it is of each file and, in a folder of plugins, those beside it. Of others it is of the
    whole package.
    """
    classes = (*kind.__mro__, *getattr(kind, "session_class", object).__mro__)
    hashes = {_of_module(name) for name in {each.__module__ for each in classes}}
    return hashlib.sha256("".join(sorted(hashes)).encode()).hexdigest()[:24]


def of_package(package: str) -> str:
    """A hash of all files of an importable package without compiled Python; also of one that is installed in place."""
    found = find_spec(package)
    folders = [Path(each) for each in found.submodule_search_locations or ()] if found else []
    files = [(file.relative_to(folder), file) for folder in folders for file in folder.rglob("*")]
    if found and not folders and found.origin:
        files = [(Path(Path(found.origin).name), Path(found.origin))]
    return _of_files((name, file) for name, file in files if "__pycache__" not in name.parts)


def _of_module(name: str) -> str:
    top = name.partition(".")[0]
    if top not in ("dbbench", "dbbench_plugins"):
        return of_package(top)
    path = Path(str(sys.modules[name].__file__))
    alone = top in ("dbbench", path.parent.name)
    return _of_files((Path(file.name), file) for file in ([path] if alone else path.parent.glob("*.py")))


def _of_files(files: Iterable[tuple[Path, Path]]) -> str:
    total = hashlib.sha256()
    for name, file in sorted(files):
        if file.is_file():
            total.update(name.as_posix().encode() + b"\0" + hashlib.sha256(file.read_bytes()).digest())
    return total.hexdigest()
