"""Engine classes by name, through the entry points that installed packages declare.

Tells apart an engine that is absent (its driver, or a library of the system, is missing: how to install it), broken
(what broke), and doubled (two packages claim one name, which is an error).
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import EntryPoint
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from dbbench.engine.declared import Declared, about, declared
from dbbench.engine.install import Driver, Steps, apt, driver_hint, requirements, steps
from dbbench.errors import DbbenchError, Unavailable, UserError
from dbbench.message import did_you_mean

if TYPE_CHECKING:
    from packaging.requirements import Requirement

    from dbbench.engine.base import Engine

#: Names of engines become names of files.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9+._-]{0,63}")
#: What the dynamic loader says of a library that it can't find.
_LIBRARY = re.compile(r"(\S+\.so[\w.]*): (?:cannot open shared object file|No such file or directory)")


class Broken(DbbenchError):
    """A plugin whose module can't be imported, or isn't what it should be."""


def names(package: str = "") -> list[str]:
    """The names of all engines, or of one package's, sorted. Raises UserError if two packages claim one name."""
    return sorted(name for name, engine in declared().items() if not package or engine.package == package)


def check_names(wanted: list[str]) -> None:
    """Raise UserError for the first name that no plugin has, with the nearest one that exists, or that can't be one."""
    known = names()
    for name in wanted:
        if name not in known:
            raise UserError(f"there is no engine {name!r}{did_you_mean(name, known)} (`dbbench engines` lists them)")
        if not _NAME.fullmatch(name):
            raise UserError(f"{name!r} can't be an engine's name: it has letters, digits and + . _ -, and at most 64")


def find(name: str) -> type[Engine]:
    """An engine's class, whether or not it can be used here.

    Raises UserError for an unknown name, Unavailable if its module needs a driver to be imported and the
    driver is missing, Broken if anything else is wrong with it.
    """
    from dbbench.engine.base import Engine  # brings pydantic, which the names alone can do without

    check_names([name])
    found = declared()[name]
    engine = _applied(found) if found.reach else _loaded(found.point)
    point = found.point
    if not (isinstance(engine, type) and issubclass(engine, Engine)):
        raise Broken(f"{point.value} is not a dbbench.engine.Engine")
    if getattr(engine, "name", None) != name:
        raise Broken(f"{point.value} calls itself {getattr(engine, 'name', None)!r}, its entry point {name!r}")
    from dbbench.engine.plugin_check import faults

    if wrong := list(faults(engine)):
        raise Broken(f"{point.value}: {'; '.join(wrong)} (see docs/plugins.md)")
    return engine


def load(name: str, *, imported: bool = True) -> type[Engine]:
    """An engine's class, ready to use: its drivers, libraries and programs are there.

    With `imported=False` its drivers are looked for only, so a broken one isn't noticed: for an engine that can't run
    anyway. Raises UserError, Unavailable and Broken as `find` does, and Unavailable for whatever is missing.
    """
    engine = find(name)
    for module in engine.modules:
        try:
            if imported or find_spec(module.partition(".")[0]) is None:
                importlib.import_module(module)
        except Exception as exc:
            raise _absent(exc, f"the Python module {module}", declared()[name].point, engine) from exc
    try:
        with _hinted(engine):
            engine.available()
    except Unavailable:
        raise
    except Exception as exc:
        raise Broken(f"{type(exc).__name__}: {exc}") from exc
    return engine


def require(name: str, options: Mapping[str, object]) -> None:
    """Raise Unavailable if what an engine needs without a URL is missing: see `Engine.available_with`."""
    engine = find(name)
    with _hinted(engine):
        engine.available_with(options)


def install_steps(names: Iterable[str]) -> Steps:
    """What installs the named engines, whether or not they can be used. Raises as `find` does."""
    known = declared()
    wanted = list(names)
    bases = [known[name].base for name in wanted if name in known and known[name].base]
    found = {name: find(name) for name in dict.fromkeys((*wanted, *bases))}
    drivers = {name: _driver(declared()[name].point, engine) for name, engine in found.items()}
    return steps((engine, driver) for name, engine in found.items() if (driver := drivers[name]))


def extras(engine: type[Engine]) -> tuple[str, ...]:
    """The extras that bring an engine's driver; none if it needs no module."""
    driver = _driver(declared()[engine.name].point, engine)
    return driver.extras if driver and engine.modules else ()


def versioned_package(name: str) -> str:
    """The package whose version is an engine's, as pip takes it: `duckdb`, `psycopg[binary]`.

    Of an access layer over an engine it is that engine's. Raises UserError if there is none or more than one, and as
    `find` does.
    """
    engine = find(declared()[name].base or name)
    driver = _driver(declared()[engine.name].point, engine) if engine.modules else None
    brought = requirements(driver) if driver else []
    if len(brought) != 1:
        why = f"needs {' and '.join(each.name for each in brought)}" if brought else "needs no package of its own"
        raise UserError(f"{name} {why}, so that no version of it can be chosen")
    (found,) = brought
    return f"{found.name}[{','.join(sorted(found.extras))}]" if found.extras else found.name


def driver_requirements(name: str) -> list[Requirement]:
    """What the extras of an engine, and of the engine that it is a layer over, require. Raises as `find` does."""
    found = []
    for each in filter(None, (name, declared()[name].base)):
        engine = find(each)
        if engine.modules and (driver := _driver(declared()[each].point, engine)):
            found += requirements(driver)
    return found


def _loaded(point: EntryPoint) -> Any:
    """What an entry point names. Raises Unavailable if a driver is missing, Broken if anything else is wrong."""
    try:
        return point.load()
    except Exception as exc:
        missing = getattr(exc, "name", None) or ""
        if isinstance(exc, ModuleNotFoundError) and missing.partition(".")[0] == point.module.partition(".")[0]:
            raise Broken(f"{point.value}: no module {missing}") from exc
        raise _absent(exc, point.value, point) from exc


def _applied(found: Declared) -> type[Engine]:
    """An access layer over its base engine."""
    from dbbench.engine.layer import Layer
    from dbbench.engine.sql.session import SQLEngine

    assert found.reach is not None
    base, layer, reach = find(found.base), _loaded(found.point), _loaded(found.reach)
    if not (isinstance(layer, type) and issubclass(layer, Layer)):
        raise Broken(f"{found.point.value} is not a dbbench.engine.Layer")
    if not issubclass(base, SQLEngine):
        raise Broken(f"{found.base} has no tables that {found.point.value} could read: it is not an SQLEngine")
    base_found = declared()[found.base]
    # The extras of another package are that package's own: `install_steps` asks it for them.
    own = base.modules and base_found.package == found.package
    driver = _driver(base_found.point, base) if own else None
    return layer.applied(found.name, base, reach, driver.extras if driver else ())


def _driver(point: EntryPoint, engine: type[Engine] | None = None) -> Driver | None:
    """What brings an engine's driver: the extras that it names or that are named after it, or the package anew."""
    if point.dist is None:
        return None
    if engine is not None and engine.extras:
        return Driver(point.dist, tuple(engine.extras))
    extras = about(point.dist).get_all("Provides-Extra") or []
    named = (point.name.replace("+", "-"), point.name.partition("+")[0])
    return Driver(point.dist, tuple(extra for extra in named if extra in extras)[:1])


def _absent(exc: Exception, what: str, point: EntryPoint, engine: type[Engine] | None = None) -> Unavailable | Broken:
    """What an import lacks: a module, or a library of the system. Broken if it is something else."""
    if isinstance(exc, ModuleNotFoundError) and (exc.name or "").startswith("dbbench."):
        return Broken(
            f"{what} was written for an older plugin contract: there is no module {exc.name}; "
            "import Engine, Session, Tier and all else from dbbench.engine (see docs/plugins.md)"
        )
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
    """A missing part of the system, unless the engine names the command."""
    try:
        yield
    except Unavailable as exc:
        if exc.install:
            raise
        raise Unavailable(exc.reason, apt(*engine.debian)) from exc
