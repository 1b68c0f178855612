"""Print the table of engines in docs/engines.md, made of the registry: `python docs/engines_table.py`.

An engine belongs to the first family that has its name or its module, and otherwise to that of its operations.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from fnmatch import fnmatch

from dbbench.engine import registry
from dbbench.engine.declared import Declared, declared
from dbbench.engine.offered import offers

#: Family -> patterns of names and modules, its page, and how its engines run.
FAMILIES: dict[str, tuple[tuple[str, ...], str, str]] = {
    "SQL, in process": (
        ("sqlite", "sqlite+a[ip]*", "sqlite+library", "duckdb*", "firebird", "libsql", "turso", "chdb"),
        "embedded",
        "the wheel brings the database; `firebird` also needs `apt install libtommath1 icu-devtools`",
    ),
    "PostgreSQL": (
        ("postgresql*",),
        "postgresql",
        "a private server, or yours by `--url`; `+tcp` at a random port of 127.0.0.1, with a password",
    ),
    "MariaDB, MySQL": (("mysql*",), "mysql", "a private MariaDB server, or yours by `--url`"),
    "Java": (("dbbench_plugins.jdbc.*",), "jdbc", "in process; `access` is for .mdb and .accdb files"),
    "ADO.NET": (
        ("sqlite+ado",),
        "ado",
        "in process, on Mono or .NET, with Mono.Data.Sqlite or a provider that you bring",
    ),
    "Windows": (("dbbench_plugins.ado.*",), "windows", "in process; not run yet"),
    "ESENT": (("esent",), "esent", "in process, on Windows"),
    "ODBC": (("odbc*",), "odbc", "in process; `odbc` reaches any database that has a driver, by `--url`"),
    "SQLAlchemy": (("sqlalchemy",), "sqlalchemy", "any database that has a dialect, by `--url`"),
    "SQL Server": (("sqlserver*",), "sqlserver", "by `--url`; not run yet"),
    "Oracle": (("oracle",), "oracle", "by `--url`; not run yet"),
    "files of blocks": (("dbbench_plugins.blocks.*", "virtualfile"), "blocks", "in process, on Linux"),
    ".NET": (("dbbench_plugins.dotnet.*",), "dotnet", "in process, on Mono or .NET, with libraries that you bring"),
}
#: What an engine without a family may search or keep -> its family, page, and how it runs.
REST = {
    "insert": (
        "records under keys",
        "keyvalue",
        "in process; `redis` has a private server. Most SQL engines keep records, too",
    ),
    "nearest": ("vectors", "vectors", "in process; some SQL engines search vectors, too"),
    "search": ("texts", "texts", "in process; some SQL engines search texts, too"),
}
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
    yield "| page | engines | how they run |"
    yield "|---|---|---|"
    for name, page, how in (*((name, *rest) for name, (_, *rest) in FAMILIES.items()), *REST.values()):
        yield f"| [{name}](engines/{page}.md) | {_quoted(families[name])} | {how} |"
    yield f"| access layers | {_layers([engine for engine in engines if engine.base])} | {_LAYERS} |"


def family(engine: Declared) -> str:
    """The family of an engine."""
    for name, (patterns, *_) in FAMILIES.items():
        if any(fnmatch(word, pattern) for pattern in patterns for word in (engine.name, engine.point.module)):
            return name
    for operation, (name, *_) in REST.items():
        if offers(registry.find(engine.name), operation):
            return name
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
