"""Prints the table of engines in README.md, made of the registry: `python docs/engines_table.py`.

An engine belongs to the first family that has its name or its module; one that has no family, but operations on records, is
a key-value store, and one with searches for vectors a vector engine, one with searches for texts one of texts.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from fnmatch import fnmatch

from dbbench.engine import registry
from dbbench.engine.declared import Declared, declared
from dbbench.engine.offered import offers

#: Family -> patterns of names and modules, and how its engines run.
FAMILIES: dict[str, tuple[tuple[str, ...], str]] = {
    "SQL, in process": (
        (
            "sqlite",
            "sqlite+apsw",
            "sqlite+aiosqlite",
            "sqlite+library",
            "duckdb*",
            "firebird",
            "libsql",
            "turso",
            "chdb",
        ),
        "the wheel brings the database; `firebird` also needs `apt install libtommath1`",
    ),
    "TCP on loopback": (("*+tcp",), "a private server at a random port of 127.0.0.1, with a password"),
    "PostgreSQL": (("postgresql*",), "a private server, or yours by `--url`"),
    "MariaDB, MySQL": (("mysql*",), "a private MariaDB server, or yours by `--url`"),
    "JDBC": (
        ("dbbench_plugins.jdbc.*",),
        "Java in process; `dbbench engines install h2` fetches the jars, once; `access` is for .mdb and .accdb files",
    ),
    "ADO.NET": (
        ("dbbench_plugins.ado.*",),
        "on Mono or .NET in process: Mono.Data.Sqlite, or a provider that you bring; `jet` on Windows",
    ),
    "ODBC, SQLAlchemy": (
        ("odbc*", "sqlalchemy"),
        "in process; `odbc` and `sqlalchemy` reach any database that has a driver for them, by `--url`",
    ),
    "proprietary": (
        ("sqlserver*", "oracle"),
        "by `--url`; nobody has run them against a live server yet",
    ),
    "files of blocks": (("dbbench_plugins.blocks.*", "virtualfile"), "in process, on Linux"),
    ".NET, Windows": (
        ("dbbench_plugins.dotnet.*", "esent"),
        "on Mono or .NET, with libraries that you bring; `esent` on Windows",
    ),
}
_STORES = "key-value"
_STORES_RUN = "in process; `redis` has a private server. All SQL engines but `chdb` and `access` can keep records, too"
_VECTORS = "vectors"
_TEXTS = "texts"
_TEXTS_RUN = "in process; no word left out, none made another"
_VECTORS_RUN = "in process; each index as its documentation builds it"
_LAYERS = "on those engines, in the suite `object-load`"


def table(package: str = "dbbench") -> Iterator[str]:
    """The rows for a package's engines. Raises ValueError for one that has no family."""
    engines = [
        engine for name, engine in declared().items() if engine.package == package and not name.startswith("null")
    ]
    families: dict[str, list[str]] = defaultdict(list)
    for engine in sorted(engines, key=lambda each: each.name):
        if not engine.base:
            families[family(engine)].append(engine.name)
    yield "| family | engines | how they run |"
    yield "|---|---|---|"
    for name, (_, how) in FAMILIES.items():
        yield f"| {name} | {_quoted(families[name])} | {how} |"
    yield f"| {_STORES} | {_quoted(families[_STORES])} | {_STORES_RUN} |"
    yield f"| {_TEXTS} | {_quoted(families[_TEXTS])} | {_TEXTS_RUN} |"
    yield f"| {_VECTORS} | {_quoted(families[_VECTORS])} | {_VECTORS_RUN} |"
    yield f"| access layers | {_layers([engine for engine in engines if engine.base])} | {_LAYERS} |"


def family(engine: Declared) -> str:
    """The family of an engine."""
    for name, (patterns, _) in FAMILIES.items():
        if any(fnmatch(word, pattern) for pattern in patterns for word in (engine.name, engine.point.module)):
            return name
    if offers(registry.find(engine.name), "insert"):
        return _STORES
    if offers(registry.find(engine.name), "nearest"):
        return _VECTORS
    if offers(registry.find(engine.name), "search"):
        return _TEXTS
    raise ValueError(f"{engine.name} has no family: add one to docs/engines_table.py")


def _layers(engines: Iterable[Declared]) -> str:
    """Each layer with the bases that it reaches; layers of the same bases together."""
    bases: dict[str, list[str]] = defaultdict(list)
    for engine in engines:
        bases[engine.point.name].append(engine.base)
    alike: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for layer, reached in bases.items():
        alike[tuple(sorted(reached))].append(layer)
    words = [f"{_quoted(sorted(layers))} on {_quoted(reached)}" for reached, layers in sorted(alike.items())]
    return f"`BASE+LAYER`, like `sqlite+orm`: {'; '.join(words)}"


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


if __name__ == "__main__":
    print("\n".join(table()))
