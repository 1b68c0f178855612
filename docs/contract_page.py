"""Print the plugin contract, made of its code, as a page: `python docs/contract_page.py`."""

import ast
import inspect
import re
from collections.abc import Iterator, Mapping
from textwrap import dedent, fill
from typing import Any, get_args

import pyarrow as pa

from dbbench.datasets.driver_rows import CsvChunk
from dbbench.datasets.generate import CHUNK_ROWS, arrow_type
from dbbench.engine.awaited import AwaitedConnection, AwaitedEngine, AwaitedSession, LoopOptions
from dbbench.engine.base import Engine, Session, SessionGroup, Setup
from dbbench.engine.driver_timer import DriverTimer
from dbbench.engine.event_loop import EventLoop
from dbbench.engine.layer import Layer
from dbbench.engine.operations import FAMILIES, LoadFormat, LoadPart, ResultFormat, Retry
from dbbench.engine.options import Shares
from dbbench.engine.private_server import PrivateServer
from dbbench.engine.size import File, FileRole, Size
from dbbench.engine.sql.dialect import Dialect
from dbbench.engine.sql.session import SQLEngine, SQLSession
from dbbench.engine.traits import Concurrency, EngineInfo, Knob, MissingFeature, Publication, Traits
from dbbench.suite.data_types import TYPES, DataType, parse_type
from dbbench.suite.dataset import Column, Records, Table, Vectors
from dbbench.suite.model import Tier
from dbbench.suite.steps.search import MatchKind, Payload

START = """# The plugin contract

Every attribute and method of the contract, with its exact signature and meaning. [plugins.md](plugins.md) shows how to
write a plugin. Import all these names from `dbbench.engine`. An attribute is given as `name: type = default`; one
without a default must be set. A method that overrides one described above is only named, unless it promises more.

`python docs/contract_page.py` makes this page of the code.
"""
#: What the comment of an attribute ends with that only the harness reads.
_PRIVATE = "of no concern to an engine."

_OPERATIONS = """A session supports an operation by defining its `prepare_...` method. That method does all that can be done
once and returns a callable; only the callable runs inside the clock. Each meaning begins with the callable's name and
parameters. For an operation that a store can't support, give the reason in `unsupported_reasons`, under its name
without `prepare_`."""

#: Heading, what to know before, and the classes beneath it.
PARTS: tuple[tuple[str, str, tuple[type, ...]], ...] = (
    (
        "An engine",
        "`Engine` has the attributes of `Traits`.",
        (Traits, Engine),
    ),
    ("A session", "", (Session,)),
    (
        "Operations",
        _OPERATIONS,
        FAMILIES,
    ),
    (
        "SQL engines",
        "What `SQLEngine` and `SQLSession` add. Override what your system does in another way.",
        (SQLEngine, SQLSession, Dialect),
    ),
    (
        "Asynchronous drivers",
        "An event loop awaits what sessions ask for; see `postgresql+asyncpg`.",
        (AwaitedEngine, AwaitedSession, AwaitedConnection, LoopOptions, EventLoop),
    ),
    ("Access layers", "A layer that returns objects over SQL engines, like an ORM.", (Layer,)),
    ("What an engine is given", "", (Setup, Shares, Table, Column, DataType, Records, Vectors, CsvChunk, DriverTimer)),
    ("What an engine returns or uses", "", (EngineInfo, Size, File, Concurrency, Knob, PrivateServer, SessionGroup)),
)


_COLUMN_TYPES = f"""The Arrow batch that a load receives (`load_format = "batches"`) has a column for each of `Table.columns`:
in that order, under that name, with the type of this table. Every field of its schema is nullable: `Column.nullable`
shows whether values are missing. A batch has up to {CHUNK_ROWS:,} rows. Rows and mappings have the Python values of the
last column, unless `bind` says otherwise, and None for a missing value.

| in a suite | Arrow type | Python value |
|---|---|---|"""

#: Names of values -> the values, and what they are.
VALUES: dict[str, tuple[Any, str]] = {
    "Tier": (Tier, "What a commit survives: nothing, the end of the process, a power failure."),
    "Publication": (Publication, "Whether the licence lets results be published."),
    "LoadFormat": (LoadFormat, "How a load receives rows."),
    "ResultFormat": (ResultFormat, "How a query returns them."),
    "LoadPart": (LoadPart, "What ends a load."),
    "MatchKind": (MatchKind, "How the words of a search must be in a text."),
    "Payload": (Payload, "What a search returns of each text."),
    "Retry": (Retry, "Why a transaction may succeed when it is made again."),
    "FileRole": (FileRole, "What a file of a database is for."),
}
#: What dbbench expects of every engine, unless the engine says that it is missing -> what it then means.
MISSING_FEATURES: Mapping[MissingFeature, str] = {
    "transactions": (
        "What was written before a failure stays, without a commit too. Contention steps refuse the engine; `dbbench "
        "durability` and the kit accept half of a transaction, a load without commit and half of a list."
    ),
    "atomic commits": (
        "A commit that the end of the process cuts off may stay in part. `dbbench durability` still counts such commits "
        "and fails the tier; the reports say why."
    ),
    "unique keys": "A second row with the same primary key is accepted. The kit then expects two rows, not an error.",
    "indexes": "Secondary indexes are never made. The kit expects no statement of `create_indexes`, a load no index.",
    "empty values": "A value of no bytes may read as if its key were missing. The kit then writes none.",
}


def page() -> str:
    """The whole page."""
    lines = [START]
    for heading, before, classes in PARTS:
        lines += [f"## {heading}\n"]
        lines += [f"{before}\n"] if before else []
        for described in classes:
            lines += [*_described(described)]
    lines += ["## Column types\n", _COLUMN_TYPES, *_column_types(), ""]
    lines += [
        "## Values\n",
        "`Tier` and `Publication` are enums, like `Tier.POWER`; the others are texts in quotes.\n",
        "| name | one of | what it is |",
        "|---|---|---|",
    ]
    lines += [f"| `{name}` | {_either(kind)} | {what} |" for name, (kind, what) in VALUES.items()]
    lines += [
        "",
        "## Missing features\n",
        "What dbbench expects of every engine. One that lacks a feature names it in `missing_features`, with what that means",
        "in the words of the report; the conformance tests then ask for less.\n",
        "| value | what it means, and what the kit then asks |",
        "|---|---|",
        *(f"| `{feature}` | {meaning} |" for feature, meaning in MISSING_FEATURES.items()),
    ]
    return "\n".join(lines) + "\n"


def _column_types() -> Iterator[str]:
    """A row for each type, with arguments as an example."""
    for name, count in TYPES.items():
        text = f"{name}({', '.join(('19', '4')[:count])})" if count else name
        held = arrow_type(parse_type(text))
        python = {pa.types.is_decimal: "Decimal", pa.types.is_date: "datetime.date", pa.types.is_timestamp: "datetime.datetime",
                  pa.types.is_string: "str", pa.types.is_integer: "int", pa.types.is_floating: "float"}  # fmt: skip
        value = next(word for test, word in python.items() if test(held))
        yield f"| `{text}` | `{held}` | `{value}` |"


def _described(described: type) -> Iterator[str]:
    source = dedent(inspect.getsource(described))
    (node,) = ast.parse(source).body
    assert isinstance(node, ast.ClassDef)
    yield f"### {described.__name__}\n"
    yield _wrapped(_text(ast.get_docstring(node))) + "\n"
    families = FAMILIES if issubclass(described, Session) and described is not Session else ()
    above = {name for base in (*described.__mro__[1:], *families) for name in vars(base)}
    points = [*_attributes(node, source.splitlines()), *_methods(node, above)]
    if overridden := [each.name for each in _public(node) if _only_named(each, above)]:
        points.append(f"- It overrides {', '.join(f'`{name}`' for name in overridden)}.")
    if points:
        yield from (_wrapped(point, "  ") for point in points)
        yield ""


def _attributes(node: ast.ClassDef, lines: list[str]) -> Iterator[str]:
    """A point of a list for each, with the comment `#:` above it, or the description of a model's field."""
    for each in node.body:
        if not (isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)) or each.target.id[0] == "_":
            continue
        said: list[str] = []
        at = each.lineno - 2
        while lines[at].strip().startswith("#:"):
            said.insert(0, lines[at].strip().removeprefix("#:").strip())
            at -= 1
        meaning = " ".join(said) or _said(each.value)
        if meaning.endswith(_PRIVATE):
            continue
        kind = re.sub(r"^ClassVar(\[(.*)\])?$", r"\2", ast.unparse(each.annotation))
        default = _default(each.value)
        yield f"- `{each.target.id}{kind and f': {kind}'}{default and f' = {default}'}`: {meaning}"


def _either(kind: Any) -> str:
    values = get_args(kind) or [str(each) for each in kind]
    return ", ".join(f'`"{value}"`' for value in values)


def _default(value: ast.expr | None) -> str:
    """The name as written, or the one that a dataclass or a model has."""
    if not (isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in ("field", "Field")):
        return ast.unparse(value) if value else ""
    told = {each.arg: each.value for each in value.keywords}
    if factory := told.get("default_factory"):
        return ast.unparse(factory.body) if isinstance(factory, ast.Lambda) else f"{ast.unparse(factory)}()"
    return ast.unparse(told["default"]) if "default" in told else ""


def _said(value: ast.expr | None) -> str:
    """The description of a model's field."""
    named = value.keywords if isinstance(value, ast.Call) else []
    return next((ast.literal_eval(each.value) for each in named if each.arg == "description"), "")


def _methods(node: ast.ClassDef, above: set[str]) -> Iterator[str]:
    """A point of a list for each that is public, with its signature."""
    for each in node.body:
        if isinstance(each, ast.FunctionDef) and each.name == "__init__":
            arguments = re.sub(r"^self(, )?", "", ast.unparse(each.args))
            yield f"- `{node.name}({arguments})`: {_text(ast.get_docstring(each)) or 'its constructor.'}"
    for each in _public(node):
        if _only_named(each, above):
            continue
        marks = {mark.id for mark in each.decorator_list if isinstance(mark, ast.Name)}
        result = f" -> {ast.unparse(each.returns)}" if each.returns else ""
        arguments = re.sub(r"^(self|cls)(, )?", "", ast.unparse(each.args))
        signature = each.name if "property" in marks else f"{each.name}({arguments})"
        kind = "class method. " if "classmethod" in marks else ""
        yield f"- `{signature}{result}`: {kind}{_text(ast.get_docstring(each))}"


def _public(node: ast.ClassDef) -> Iterator[ast.FunctionDef]:
    """The public methods of a class, and its properties, without setters, which only refuse."""
    for each in node.body:
        if not isinstance(each, ast.FunctionDef) or each.name[0] == "_":
            continue
        if not any(isinstance(mark, ast.Attribute) and mark.attr == "setter" for mark in each.decorator_list):
            yield each


def _only_named(method: ast.FunctionDef, above: set[str]) -> bool:
    """Whether it overrides a method and raises nothing else."""
    return method.name in above and "Raises" not in (ast.get_docstring(method) or "")


def _wrapped(text: str, indent: str = "") -> str:
    return fill(text, 120, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def _text(docstring: str | None) -> str:
    """One line to a paragraph."""
    return re.sub(r"\s*\n\s*", " ", docstring or "").strip()


if __name__ == "__main__":
    print(page(), end="")
