"""How an engine is installed: Debian packages by apt, its driver by pip, and what neither of them brings.

The facts are on the engine's class; the hints, the documentation, `.ci/run` and `dbbench engines install` read them
here.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import Distribution
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from dbbench.engine.declared import about
from dbbench.host.processes import python

if TYPE_CHECKING:
    from packaging.requirements import Requirement

    from dbbench.engine.base import Engine

#: What a driver is built with where no wheel brings it, in Debian's words.
COMPILER = ("gcc", "libc6-dev", "pkg-config", "python3-dev")


@dataclass(frozen=True)
class Driver:
    """The extras of a package that bring an engine's driver; none if its module belongs to the package itself."""

    package: Distribution
    extras: tuple[str, ...]


@dataclass(frozen=True)
class Steps:
    """Installation of engines: Debian packages, then arguments of `pip install`, then modules to run."""

    debian: tuple[str, ...]
    pip: tuple[str, ...]
    fetch: tuple[tuple[str, ...], ...]

    def commands(self) -> Iterator[list[str]]:
        """The steps as commands, apt's first."""
        if self.debian:
            yield ["apt-get", "install", "-y", "--no-install-recommends", *self.debian]
        yield from self.own_commands()

    def own_commands(self) -> Iterator[list[str]]:
        """Commands that change only this Python's environment and dbbench's cache, so they need no root."""
        if self.pip:
            yield python("pip", "install", *self.pip)
        for module, *engines in self.fetch:
            yield python(module, *engines)


def steps(engines: Iterable[tuple[type[Engine], Driver]]) -> Steps:
    """What installs these engines."""
    wanted: dict[str, Driver] = {}
    packages: dict[str, None] = {}
    fetched: dict[str, tuple[str, ...]] = {}
    for engine, driver in engines:
        packages |= dict.fromkeys((*engine.debian, *built(engine)))
        if engine.modules:
            name = about(driver.package)["Name"]
            known = wanted.get(name, driver)
            wanted[name] = Driver(driver.package, tuple(dict.fromkeys((*known.extras, *driver.extras))))
        if engine.fetched_by:
            fetched[engine.fetched_by] = (*fetched.get(engine.fetched_by, ()), engine.name)
    return Steps(
        tuple(packages),
        tuple(word for driver in wanted.values() for word in pip_arguments(driver)),
        tuple((module, *names) for module, names in fetched.items()),
    )


def built(engine: type[Engine]) -> tuple[str, ...]:
    """The Debian packages that an engine's driver is built with; none if a wheel brings it."""
    return (*engine.built_on, *COMPILER) if engine.built_on else ()


def driver_hint(driver: Driver, engine: type[Engine] | None = None) -> str:
    """The command that brings an engine's driver."""
    pip = shlex.join(["pip", "install", *pip_arguments(driver)])
    before = built(engine) if engine else ()
    return f"{apt(*before)}, then {pip}" if before else pip


def apt(*packages: str) -> str:
    """The command that brings Debian packages, as a hint; empty without any."""
    return f"apt install {' '.join(packages)}" if packages else ""


def pip_arguments(driver: Driver) -> list[str]:
    """What to give `pip install`: what the extras require, so that their package, which may be in use, stays as it is.

    A package that has its driver in itself is installed anew, from the folder or wheel that it came from.
    """
    return _required(driver.package, driver.extras) or _anew(driver.package)


def requirements(driver: Driver) -> list[Requirement]:
    """What the extras of a driver require, without markers."""
    from packaging.requirements import Requirement

    return [Requirement(text) for text in _required(driver.package, driver.extras)]


def _brings(requirement: Requirement, extra: str) -> bool:
    """Whether an extra asks for something that the package alone doesn't."""
    marker = requirement.marker
    return marker is not None and marker.evaluate({"extra": extra}) and not marker.evaluate({"extra": ""})


def _anew(package: Distribution) -> list[str]:
    """What installs a package again: by its name where it didn't come from a path, or the path is gone."""
    from urllib.request import url2pathname  # it imports ssl and http, which nothing else here needs

    origin = json.loads(package.read_text("direct_url.json") or "{}")
    parts = urlsplit(origin.get("url", ""))
    path = Path(url2pathname(parts.path))
    if parts.scheme != "file" or not path.exists():
        return ["--force-reinstall", package.name]
    return ["-e" if origin.get("dir_info", {}).get("editable") else "--force-reinstall", str(path)]


def _required(package: Distribution, extras: Sequence[str]) -> list[str]:
    """What the extras of a package require, those that they name of its own in turn."""
    from packaging.utils import canonicalize_name

    found: dict[str, None] = {}
    for requirement in _parsed(tuple(package.requires or ())):
        if not any(_brings(requirement, extra) for extra in extras):
            continue
        if canonicalize_name(requirement.name) == canonicalize_name(package.name):
            found |= dict.fromkeys(_required(package, sorted(requirement.extras)))
        else:
            found[str(requirement).partition(";")[0].strip()] = None
    return list(found)


@cache
def _parsed(texts: tuple[str, ...]) -> list[Requirement]:
    from packaging.requirements import Requirement

    return [Requirement(text) for text in texts]
