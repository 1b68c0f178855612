"""An environment for another Python: all that dbbench and an engine need, in the versions that are installed here.

dbbench's own code comes along by links, so that a worker there runs the very same. All packages have the versions that they
have here, where they are installed: such a worker differs in its Python alone.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from importlib.metadata import Distribution, PackageNotFoundError, distribution, distributions
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from dbbench.engine import environments, registry
from dbbench.engine.declared import declared
from dbbench.engine.environments import PACKAGES
from dbbench.engine.interpreters import Interpreter
from dbbench.errors import Unavailable


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


def _filled(made: Path, wanted: Sequence[str], python: Interpreter, links: dict[str, Path]) -> dict[str, Any]:
    """Install into `made`, link our own code to it, and say what it is."""
    packages = environments.installed(made, wanted, f"dbbench for Python {python.release}", python.program)
    found = list(distributions(path=[str(packages)]))
    environments.check_needs(found)
    manifest = {"python": python.release, **environments.contents(packages, found)}
    for name, path in links.items():
        (packages / name).symlink_to(path, target_is_directory=True)
    return manifest
