"""From an engine's name to its class, through the entry points that installed packages declare.

Tells apart an engine that is absent (its driver is missing: how to install it), broken (what broke),
and doubled (two packages claim one name, which is an error).
"""

from __future__ import annotations

import difflib
import importlib
from collections import defaultdict
from collections.abc import Iterable
from importlib.metadata import Distribution, EntryPoint, entry_points

from dbbench.engine import Engine
from dbbench.errors import DbbenchError, Unavailable, UserError

GROUP = "dbbench.engines"


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
    except ModuleNotFoundError as exc:
        missing = exc.name or str(exc)
        if missing.partition(".")[0] == point.module.partition(".")[0]:
            raise Broken(f"{point.value}: no module {missing}") from exc
        raise Unavailable(f"the Python module {missing} is missing", _install(point)) from exc
    except Exception as exc:
        raise Broken(f"{point.value}: {type(exc).__name__}: {exc}") from exc
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
        except ModuleNotFoundError as exc:
            reason = f"the Python module {exc.name or module} is missing"
            raise Unavailable(reason, _install(_found()[name], engine)) from exc
        except Exception as exc:
            raise Broken(f"the Python module {module}: {type(exc).__name__}: {exc}") from exc
    try:
        engine.available()
    except Unavailable:
        raise
    except Exception as exc:
        raise Broken(f"{type(exc).__name__}: {exc}") from exc
    return engine


def installers(names: Iterable[str]) -> dict[str, str]:
    """The command that brings each engine's driver, for those that need one."""
    return {name: _install(_found()[name], find(name)) for name in names if find(name).modules}


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


def _install(point: EntryPoint, engine: type[Engine] | None = None) -> str:
    """The command that brings an engine's driver: the extras it names or that are named after it, or the package anew."""
    distribution: Distribution | None = point.dist
    if distribution is None:
        return ""
    if engine is not None and engine.extras:
        return f'pip install "{distribution.name}[{",".join(engine.extras)}]"'
    extras = distribution.metadata.get_all("Provides-Extra") or []
    for extra in (point.name.replace("+", "-"), point.name.partition("+")[0]):
        if extra in extras:
            return f'pip install "{distribution.name}[{extra}]"'
    return f"pip install --force-reinstall {distribution.name}"
