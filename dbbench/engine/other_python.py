"""Other Pythons of this machine, and an environment for one: all that dbbench and an engine need.

dbbench's own code comes along by links, so that a worker there runs the very same code. Packages that are installed
here have the same versions there, so that the worker differs in its Python alone. Only a variant that names a version
gets another release of the engine's package.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution, distributions
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from dbbench.engine import environments, registry
from dbbench.engine.declared import declared
from dbbench.engine.environments import PACKAGES
from dbbench.errors import Unavailable
from dbbench.host.processes import run_to_end

#: How long one may take to say what it is.
_SECONDS = 20.0
_QUESTION = (
    "import json, platform, sys, sysconfig; print(json.dumps([sys.executable, platform.python_version(), "
    "sys.implementation.cache_tag, sysconfig.get_platform()]))"
)
#: A label of a variant that asks for a Python: py312, py3.12, py3.12.4.
_LABEL = re.compile(r"py3\.?(\d{1,2})(\.\d{1,3})?")


@dataclass(frozen=True)
class Interpreter:
    """A Python: its program, its exact version, and what its compiled packages are made for."""

    program: str
    release: str
    tag: str
    platform: str


def asked_for(label: str) -> str:
    """The version of Python that a variant's label asks for, like 3.12; empty if it asks for none."""
    found = _LABEL.fullmatch(label)
    return f"3.{found[1]}{found[2] or ''}" if found else ""


def interpreter(version: str) -> Interpreter:
    """A Python of a version like 3.12 or 3.12.4: the one that dbbench runs in, or on the PATH, or made by pyenv or uv.

    Raises Unavailable where there is none, or where dbbench can't run in it.
    """
    from packaging.specifiers import SpecifierSet

    needed = SpecifierSet(distribution("dbbench").metadata["Requires-Python"] or "")
    for program in _programs(version):
        found = _told(program)
        if found is None or f"{found.release}.".find(f"{version}.") != 0:
            continue
        if not needed.contains(found.release, prereleases=True):
            raise Unavailable(f"dbbench runs in Python {needed}, and not in {found.release}")
        return found
    raise Unavailable(
        f"there is no Python {version} on the PATH, nor one of pyenv or uv", f"uv python install {version}"
    )


def _programs(version: str) -> Iterator[str]:
    """What may be a Python of that version, each looked for only when those before it were not."""
    yield sys.executable
    minor = ".".join(version.split(".")[:2])
    for folder in os.get_exec_path():
        if program := shutil.which(f"python{minor}", path=folder):
            yield program
    of_pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv", "versions")
    yield from sorted(map(str, of_pyenv.glob(f"{minor}.*/bin/python{minor}")), reverse=True)
    if uv := shutil.which("uv"):
        only = ["--managed-python", "--no-python-downloads", "--no-project"]
        if found := _said([uv, "--quiet", "python", "find", *only, version]):
            yield found


def _told(program: str) -> Interpreter | None:
    """A program's description of itself; None if it isn't a working Python."""
    try:
        found = json.loads(_said([program, "-I", "-c", _QUESTION]))
        return Interpreter(*map(str, found))
    except (ValueError, TypeError):
        return None


def _said(command: list[str]) -> str:
    """The output of a program in an empty folder; empty if it fails."""
    try:
        done = run_to_end(command, Path("/"), _SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return "" if done.returncode else done.stdout.strip()


def prepared(engine: str, python: Interpreter, version: str = "") -> Path:
    """The folder of the packages with which an engine runs in another Python, from the cache or made now.

    `version` is that of the engine's package, if it isn't the one that is installed here. Raises Unavailable with the
    reason, and UserError for a version of an engine that has no package of its own.
    """
    if (owner := declared()[engine].package) != "dbbench":
        raise Unavailable(f"it comes with {owner}: only dbbench's own engines run in another Python")
    wanted = _wanted(engine, version)
    links = _own()
    made_of = [wanted, python.tag, python.platform, {name: str(path) for name, path in links.items()}, 2]
    key = hashlib.sha256(json.dumps(made_of).encode()).hexdigest()[:16]
    folder = environments.folder_of(f"{engine}-{python.tag}-{key}")
    environments.make(folder, f"Python {python.release}", lambda made: _filled(made, wanted, python, links))
    return folder / PACKAGES


def release(folder: Path, package: str) -> str:
    """The exact release of a package in an environment."""
    name = environments.plain_name(package)
    return next(each.version for each in distributions(name=name, path=[str(folder)]))


def _wanted(engine: str, version: str) -> list[str]:
    """What is installed: each package in the version that it has here, the engine's in the one that is asked for."""
    from packaging.requirements import Requirement

    chosen = environments.plain_name(registry.versioned_package(engine)) if version else ""
    found = {}
    for need in (*map(Requirement, environments.needs()), *registry.driver_requirements(engine)):
        name = f"{need.name}[{','.join(sorted(need.extras))}]" if need.extras else need.name
        found[name] = f"{name}{environments.specifier(version)}" if need.name == chosen else _pinned(name, need)
    return sorted(found.values())


def _pinned(name: str, need: Any) -> str:
    try:
        return f"{name}=={distribution(need.name).version}"
    except PackageNotFoundError:
        return f"{name}{need.specifier}"


def _own() -> dict[str, Path]:
    """Dbbench's own packages, and what it says of itself: name in the environment -> where it is."""
    package = distribution("dbbench")
    names = {"dbbench", *(point.module.partition(".")[0] for point in package.entry_points)}
    found = {}
    for name in sorted(names):
        spec = find_spec(name)
        if spec and spec.submodule_search_locations:
            found[name] = Path(spec.submodule_search_locations[0])
    about = _metadata(package)
    return {**found, about.name: about}


def _metadata(package: Distribution) -> Path:
    for file in package.files or ():
        if file.name == "METADATA":
            return Path(str(package.locate_file(file))).parent
    raise Unavailable(
        "dbbench was installed without a list of its files, which another Python needs; install it with pip"
    )


def _filled(made: Path, wanted: Sequence[str], python: Interpreter, links: dict[str, Path]) -> environments.Manifest:
    """Install into `made`, link our own code to it, and say what it is."""
    packages = environments.installed(made, wanted, f"dbbench for Python {python.release}", python.program)
    found = list(distributions(path=[str(packages)]))
    environments.check_needs(found)
    contents = environments.contents(packages, found)
    for name, path in links.items():
        (packages / name).symlink_to(path, target_is_directory=True)
    return {"release": python.release, **contents}
