"""Command lines, suites and data files drawn at random, among them what nobody would write."""

from __future__ import annotations

import csv
import datetime as dt
import io
import math
import random
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from functools import cache, reduce
from operator import getitem
from pathlib import Path
from typing import Any

import click
import pyarrow as pa
from pyarrow import parquet
from ruamel.yaml import YAML

from dbbench.cli import main
from dbbench.suite.loader import builtin_suites, find_suite
from tests.attack.conftest import NEW_KINDS
from tests.unit.shapes import places

#: What stands in the place of a value of a document.
WILD: tuple[Any, ...] = (
    None, True, -1, 0, 1, 5e-324, 1e-300, 1e18, 10**18, 2**63, -1e300, "", "x" * 5_000, "../../escaped", "\x1b[2J\u202e", "\ud800",
    [], {}, [[]], {"": ""}, {"a": None}, [1, "b"], "NaN", "ok", "failed",
)  # fmt: skip
#: Words of a command line that fit somewhere.
_WORDS = (
    "run", "latest", "new_kinds.yaml", "vectors", "texts", "documents", "data.csv", "data.parquet", "sources", ".", "..",
    "sqlite", "sqlite+vec", "sqlite@a", "sqlite@a@b", "usearch", "duckdb@head", "null", "no-such", "nearest-90", "best", "path",
    "update", "load-texts", "vectors/nearest-90", "texts/best", "sqlite@head=sources", "sqlite+apsw@head=no-such.whl",
    "duckdb@base=git+file://nowhere@main", "head=", "=", "sqlite.cache_mib=1", "sqlite.cache_mib=-1", "sqlite@a.documents=jsonb",
    "sqlite+vec.cache_mib=x", "sqlite/sqlite@a:5%", "nearest-90:sqlite/sqlite@a:5%", "5%", "0", "-1", "1", "2", "1e309", "nan",
    "0.01", "3.5", "10s", "1MiB", "512MiB", "csv", "csv,md,json", "json,svg", "--", "-", "-x", "--no-such", "x" * 300, "\x1b[2J",
    "postgresql=postgresql://me:SECRET@127.0.0.1:1/x", "postgresql=env:NO_SUCH", "local:1", "tcp://127.0.0.1:1", "wall", "cpu",
    "dark", "power", "memory", "out", "new.yaml", "data=Id", "e\u0301", "bash", "", " ",
)  # fmt: skip
#: Options that install, fetch or remove, or wait for hosts; and commands that take minutes where nothing is wrong.
_LEFT_OUT = {"--yes", "--fetch", "--remove", "--prune", "--cluster", "--fleet"}
_LONG = {"durability", "check"}
#: The commands of these kinds of data come more often than others.
_NEWER = ("engines", "explain", "init-ci", "history", "site", "suite")


@cache
def _commands() -> dict[tuple[str, ...], click.Command]:
    def each(group: click.Group, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], click.Command]]:
        for name, command in group.commands.items():
            yield (*path, name), command
            if isinstance(command, click.Group):
                yield from each(command, (*path, name))

    return dict(each(main, ()))


def command_line(chance: random.Random) -> list[str]:
    """A command and some of its options, with words that may fit."""
    commands = _commands()
    path = chance.choice([*commands, *(path for path in commands if path[0] in _NEWER)])
    line = [*path]
    parameters = commands[path].params
    options = [each for each in parameters if isinstance(each, click.Option) and not _LEFT_OUT & {*each.opts}]
    arguments = [each for each in parameters if isinstance(each, click.Argument)]
    likely = [each for each in options if each.required and chance.random() < 0.9]
    for option in likely + chance.sample(options, min(len(options), chance.choice([0, 0, 1, 1, 2, 3]))):
        line.append(chance.choice(option.opts))
        if not option.is_flag:
            line.append(_value(option, chance))
    for argument in arguments:
        line += [_value(argument, chance) for _ in range(1 if argument.nargs == 1 else chance.choice([0, 1, 1, 2]))]
    if chance.random() < 0.1:
        line.append(chance.choice(_WORDS))
    if path[-1] in _LONG and path[0] != "check":
        line.append("--no-such")
    if path == ("dataset",):
        line += ["--scale", "0.001"]
    if path == ("suite",):  # that no trial takes long
        line += ["--quick", "--trial-timeout", "20", "--scale", "0.001", "--format", "csv"]
        if not {"-e", "--engine"} & {*line}:
            line += ["--engine", "sqlite"]
    return line


def _value(parameter: click.Parameter, chance: random.Random) -> str:
    if isinstance(parameter.type, click.Choice) and chance.random() < 0.8:
        return str(chance.choice(parameter.type.choices))
    near = [word for word in _WORDS if _fits(parameter, word)]
    return chance.choice(near if near and chance.random() < 0.7 else _WORDS)


def _fits(parameter: click.Parameter, word: str) -> bool:
    match parameter.name:
        case "run" | "runs" | "old" | "new" | "resume":
            return word in ("run", "latest")
        case "suite":
            return word in ("new_kinds.yaml", "vectors", "texts", "documents", "invoices")
        case "files":
            return word.endswith((".csv", ".parquet", ".yaml"))
        case "step" | "steps":
            return word in ("nearest-90", "best", "path", "update", "texts/best", "vectors/nearest-90", "load-texts")
        case "engine" | "engines" | "names" | "name" | "highlight":
            return word.startswith(("sqlite", "duckdb@head", "usearch", "null")) and "=" not in word and "/" not in word
        case "sources" | "builds":
            return "@head=" in word or "@base=" in word
        case "settings":
            return ".cache_mib=" in word or ".documents=" in word
        case "out" | "out_dir":
            return word in ("out", "new.yaml")
    return False


@cache
def _suites() -> tuple[dict[str, Any], ...]:
    read = YAML(typ="safe")
    own = [NEW_KINDS.read_text("utf-8")] * 12  # as often as all the others
    return tuple(
        read.load(text) for text in [*own, *(find_suite(name).read_text("utf-8") for name in builtin_suites())]
    )


@cache
def _values() -> dict[str, list[Any]]:
    """What stands under each key in any suite."""
    found = dict[str, list[Any]]()

    def look(document: Any) -> None:
        for key, value in document.items() if isinstance(document, dict) else ():
            found.setdefault(key, []).append(value)
            look(value)
        for value in document if isinstance(document, list) else ():
            look(value)

    for suite in _suites():
        look(suite)
    return found


def mutated(document: Any, chance: random.Random, values: Mapping[str, list[Any]]) -> str:
    """Leave out, rename or change one value of a document, in place; what was done.

    `values` are those that stand under each key elsewhere: one of them or a near one may take its place, or a wild one.
    """
    _root, *paths = places(document)
    *where, last = chance.choice(paths)
    holder = reduce(getitem, where, document)
    same, was = values.get(last, []), holder[last]
    match chance.randrange(5):
        case 0:
            del holder[last]
            return f"{where} {last} gone"
        case 1 if isinstance(holder, dict):
            name = chance.choice([*values] or [f"{last}?"])
            holder[name] = holder.pop(last)
            return f"{where} {last} renamed to {name}"
        case 2 | 3 if same:
            holder[last] = chance.choice(same)
        case 3 | 4 if values and isinstance(was, int | float):
            holder[last] = chance.choice([was - 1, was + 1, -was, was * 10, was / 3, str(was), 2 * [was]])
        case _:
            holder[last] = chance.choice(WILD)
    return f"{where} {last} {holder[last]!r:.40}"


def suite_text(chance: random.Random) -> str:
    """A suite of ours in which one to three values are others: those of the same key elsewhere, near ones or wild ones."""
    document = chance.choice(_suites())
    document = YAML(typ="safe").load(_yaml(document))  # a copy
    for _ in range(chance.randint(1, 3)):
        mutated(document, chance, _values())
    return _yaml(document)


def _yaml(document: Any) -> str:
    out = io.StringIO()
    write = YAML(typ="safe")
    write.representer.ignore_aliases = lambda _: True
    write.dump(document, out)
    return out.getvalue()


def data_file(folder: Path, chance: random.Random) -> Path:
    """A CSV or Parquet file of few rows in columns of any kind; some are spoiled."""
    rows = chance.choice([0, 1, 2, 7, 100])
    names = [
        chance.choice(["Id", "a", "b c", "", "select", "e\u0301", "Id", 'q"t', "x" * 70, "a,b", "\x1b[2J"])
        for _ in range(5)
    ]
    names = names[: chance.randint(0, 5)]
    if chance.random() < 0.5:
        names = [f"{name}{place}" for place, name in enumerate(names)]
    path = folder / chance.choice(["data.csv", "data.parquet"])
    if path.suffix == ".csv":
        _csv(path, names, rows, chance)
    else:
        columns = [_column(rows, chance) for _ in names]
        try:
            parquet.write_table(pa.Table.from_arrays(columns, names=names), path)
        except (pa.ArrowException, ValueError):  # what the format hasn't
            return data_file(folder, chance)
    if chance.random() < 0.25:
        data = bytearray(path.read_bytes())
        for _ in range(chance.randint(1, 4)):
            place = chance.randrange(len(data) + 1)
            data[place : place + chance.choice([0, 1, 1, 50])] = chance.randbytes(chance.choice([0, 1, 1, 4]))
        path.write_bytes(data)
    return path


def _csv(path: Path, names: list[str], rows: int, chance: random.Random) -> None:
    kinds: list[Callable[[int], str]] = [
        str,
        lambda row: str(row % 3),
        lambda row: f"{row / 7:.2f}",
        lambda row: f"2024-02-{row % 31:02}",
        lambda row: f"2024-02-01T00:00:{row % 60:02}",
        lambda row: f'{{"town": "t{row % 4}", "tags": [{row}], "none": null}}',
        lambda row: f"[{row}.5, 1, -2e{row % 400}]",
        lambda row: ["some words of a text", "", "NaN", "inf", "\u4e2d\u6587", "a\nb", "=1+1", "'", "\x00", "1e400"][row % 10],
    ]  # fmt: skip
    columns = [chance.choice(kinds) for _ in names]
    encoding = chance.choice(["utf-8", "utf-8", "utf-8", "utf-16", "latin-1"])
    with path.open("w", encoding=encoding, errors="replace", newline="") as out:
        write = csv.writer(out, delimiter=chance.choice(",,,;\t|"), lineterminator=chance.choice(["\n", "\r\n"]))
        if chance.random() < 0.95:
            write.writerow(names)
        for row in range(rows):
            write.writerow([kind(row) for kind in columns][: chance.choice([9] * 200 + [1])])


def _column(rows: int, chance: random.Random) -> pa.Array:
    vectors = chance.choice([2, 8, 8, 0])
    kinds: list[tuple[pa.DataType, Callable[[int], Any]]] = [
        (pa.int64(), lambda row: row),
        (pa.int8(), lambda row: row % 100),
        (pa.uint64(), lambda row: 2**64 - 1 - row),
        (pa.float64(), lambda row: [row / 3, math.nan, math.inf, -0.0, 5e-324][row % 5]),
        (pa.float16(), lambda row: row / 2),
        (pa.decimal128(38, 9), lambda row: Decimal(row) / 8),
        (pa.decimal256(60, 2), lambda row: Decimal(row * 10**40)),
        (pa.string(), lambda row: ["words of a text", "", "\u4e2d", "a\x00b"][row % 4]),
        (pa.large_string(), lambda row: f'{{"a": {row}, "b": [{{"c": "d"}}]}}'),
        (pa.binary(), lambda row: bytes([row % 256])),
        (pa.bool_(), lambda row: row % 2 == 0),
        (pa.date32(), lambda row: dt.date(1, 1, 1) + dt.timedelta(days=row * 30_000)),
        (pa.timestamp("ns"), lambda row: row * 10**15),
        (pa.timestamp("us", "Europe/Berlin"), lambda row: row * 10**12),
        (pa.time64("us"), lambda row: row),
        (pa.duration("s"), lambda row: row),
        (pa.null(), lambda row: None),
        (pa.list_(pa.float32(), vectors), lambda row: [row / 2] * vectors),
        (pa.list_(pa.float32()), lambda row: [row / 2, math.nan, 0.0][: 3 if row % 9 else chance.choice([0, 2, 3])]),
        (pa.list_(pa.float64()), lambda row: [0.0] * 4 if row == 1 else [row, 1.0, 2.0, 3.0]),
        (pa.list_(pa.list_(pa.int32())), lambda row: [[row], []]),
        (pa.struct({"a": pa.int32(), "b": pa.list_(pa.string())}), lambda row: {"a": row, "b": ["x"]}),
        (pa.map_(pa.string(), pa.int32()), lambda row: [("k", row)]),
        (pa.dictionary(pa.int32(), pa.string()), lambda row: "ab"[row % 2]),
    ]  # fmt: skip
    kind, value = chance.choice(kinds)
    nulls = chance.choice([0, 0, 0.1, 1])
    return pa.array([None if chance.random() < nulls else value(row) for row in range(rows)], kind)
