"""What must be the same on all hosts, or they would measure something else: dbbench, plugin, driver and Python."""

import hashlib
import platform
from collections.abc import Iterator, Mapping
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path

import dbbench
from dbbench.engine.base import Engine
from dbbench.engine.registry import GROUP

#: Letters of a hash that are shown.
_LETTERS = 12


def identity(kind: type[Engine]) -> dict[str, str]:
    """What this host has: name -> version, or the hash of a package's files."""
    package = kind.__module__.partition(".")[0]
    known = {
        "Python": f"{platform.python_implementation()} {platform.python_version()}",
        "dbbench": dbbench.__version__,
        "the code of dbbench": _files("dbbench"),
    }
    for each in entry_points(group=GROUP):
        if each.dist and each.module.partition(".")[0] == package:
            known[each.dist.name] = each.dist.version
    known[f"the code of {package}"] = _files(package)
    return {**known, **{name: str(each) for name, each in kind.versions().items()}}


def differences(here: Mapping[str, str], other: Mapping[str, str]) -> Iterator[str]:
    """What another host has otherwise, in words."""
    for name in dict.fromkeys([*here, *other]):
        if here.get(name) != other.get(name):
            yield f"{name} is {other.get(name, 'missing')} there and {here.get(name, 'missing')} here"


def _files(package: str) -> str:
    """A hash of all files of an importable package without compiled Python; also of one that is installed in place."""
    found = find_spec(package)
    folders = [Path(each) for each in found.submodule_search_locations or ()] if found else []
    files = [(file.relative_to(folder), file) for folder in folders for file in folder.rglob("*")]
    if found and not folders and found.origin:
        files = [(Path(Path(found.origin).name), Path(found.origin))]
    total = hashlib.sha256()
    for name, file in sorted(files):
        if file.is_file() and "__pycache__" not in name.parts:
            total.update(name.as_posix().encode() + b"\0" + hashlib.sha256(file.read_bytes()).digest())
    return total.hexdigest()[:_LETTERS]
