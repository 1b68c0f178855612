"""From an engine's name to its class, through the entry points that installed packages declare.

Tells apart an engine that is absent (its driver, or a library of the system, is missing: how to install it), broken
(what broke), and doubled (two packages claim one name, which is an error).
"""

from __future__ import annotations

import difflib
import importlib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from dbbench.engine import Engine
from dbbench.errors import DbbenchError, Unavailable, UserError
from dbbench.install import Driver, Steps, apt, driver_hint, steps

GROUP = "dbbench.engines"
#: What the dynamic loader says of a library that it can't find.
_LIBRARY = re.compile(r"(\S+\.so[\w.]*): (?:cannot open shared object file|No such file or directory)")


class Broken(DbbenchError):
    """A plugin whose module can't be imported, or isn't what it should be."""


def names() -> list[str]:
    """The names of all engines, sorted. Raises UserError if two packages claim one name."""
    return sorted(_found())


def check_names(wanted: list[str]) -> None:
    """Raise UserError for the first name that no plugin has, with the nearest one that exists."""
    known = names()
    for name in wanted:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise UserError(f"there is no engine {name!r}{hint} (`dbbench engines` lists them)")


def find(name: str) -> type[Engine]:
    """An engine's class, whether or not it can be used here.

    Raises UserError for an unknown name, Unavailable if its module needs a driver to be imported and the
    driver is missing, Broken if anything else is wrong with it.
    """
    check_names([name])
    point = _found()[name]
    try:
        engine = point.load()
    except Exception as exc:
        missing = getattr(exc, "name", None) or ""
        if isinstance(exc, ModuleNotFoundError) and missing.partition(".")[0] == point.module.partition(".")[0]:
            raise Broken(f"{point.value}: no module {missing}") from exc
        raise _absent(exc, point.value, point) from exc
    if not (isinstance(engine, type) and issubclass(engine, Engine)):
        raise Broken(f"{point.value} is not a dbbench.engine.Engine")
    if getattr(engine, "name", None) != name:
        raise Broken(f"{point.value} calls itself {getattr(engine, 'name', None)!r}, its entry point {name!r}")
    return engine


def load(name: str) -> type[Engine]:
    """An engine's class, ready to use: its drivers, libraries and programs are there.

    Raises UserError, Unavailable and Broken as `find` does, and Unavailable for whatever is missing.
    """
    engine = find(name)
    for module in engine.modules:
        try:
            importlib.import_module(module)
        except Exception as exc:
            raise _absent(exc, f"the Python module {module}", _found()[name], engine) from exc
    try:
        with _hinted(engine):
            engine.available()
    except Unavailable:
        raise
    except Exception as exc:
        raise Broken(f"{type(exc).__name__}: {exc}") from exc
    return engine


def require(name: str, options: Mapping[str, Any]) -> None:
    """Raise Unavailable if what an engine needs without a URL is missing: see `Engine.available_with`."""
    engine = find(name)
    with _hinted(engine):
        engine.available_with(options)


def install_steps(names: Iterable[str]) -> Steps:
    """What installs the named engines, whether or not they can be used. Raises as `find` does."""
    found = {name: find(name) for name in names}
    drivers = {name: _driver(_found()[name], engine) for name, engine in found.items()}
    return steps((engine, driver) for name, engine in found.items() if (driver := drivers[name]))


def extras(engine: type[Engine]) -> tuple[str, ...]:
    """The extras that bring an engine's driver; none if it needs no module."""
    driver = _driver(_found()[engine.name], engine)
    return driver.extras if driver and engine.modules else ()


def _found() -> dict[str, EntryPoint]:
    points: dict[str, list[EntryPoint]] = defaultdict(list)
    for point in entry_points(group=GROUP):
        points[point.name].append(point)
    for name, claims in points.items():
        if len(claims) > 1:
            owners = " and ".join(
                sorted(f"{claim.dist.name if claim.dist else '?'} ({claim.value})" for claim in claims)
            )
            raise UserError(f"two plugins are called {name!r}: {owners}; uninstall one of them")
    return {name: claims[0] for name, claims in points.items()}


def _driver(point: EntryPoint, engine: type[Engine] | None = None) -> Driver | None:
    """What brings an engine's driver: the extras that it names or that are named after it, or the package anew."""
    if point.dist is None:
        return None
    if engine is not None and engine.extras:
        return Driver(point.dist, tuple(engine.extras))
    extras = point.dist.metadata.get_all("Provides-Extra") or []
    named = (point.name.replace("+", "-"), point.name.partition("+")[0])
    return Driver(point.dist, tuple(extra for extra in named if extra in extras)[:1])


def _absent(exc: Exception, what: str, point: EntryPoint, engine: type[Engine] | None = None) -> Unavailable | Broken:
    """What an import lacks: a module, or a library of the system. Broken if it is something else."""
    if isinstance(exc, ModuleNotFoundError):
        driver = _driver(point, engine)
        return Unavailable(
            f"the Python module {exc.name or exc} is missing", driver_hint(driver, engine) if driver else ""
        )
    if isinstance(exc, ImportError | OSError) and (library := _LIBRARY.search(str(exc))):
        packages = engine.debian if engine else ()
        return Unavailable(f"{what} needs {library[1]}, a library of the system", apt(*packages))
    return Broken(f"{what}: {type(exc).__name__}: {exc}")


@contextmanager
def _hinted(engine: type[Engine]) -> Iterator[None]:
    """What is missing is of the system, unless the engine says what to do."""
    try:
        yield
    except Unavailable as exc:
        if exc.install:
            raise
        raise Unavailable(exc.reason, apt(*engine.debian)) from exc
