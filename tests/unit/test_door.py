"""`dbbench.engine` is the one door, which costs nothing until it is used; what is wrong with a plugin is found at it."""

import ast
import importlib
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import dbbench.engine
from dbbench.engine import Engine, KeyValueOperations, Session, SQLEngine, SQLSession, registry
from dbbench.engine.plugin_check import faults

ROOT = Path(__file__).parents[2]
#: What a plugin, or its tests, may import.
OPEN = {"dbbench.engine", "dbbench.testing"}
PLUGINS = sorted(
    path
    for folder in ("plugins", "examples", "tests/faulty")
    for path in (ROOT / folder).rglob("*.py")
    if path.is_file() and path.name != "unchecked.py"  # it takes the checks out of dbbench itself
)


def imported(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names if node.module == "dbbench")


def behind_the_door(source: str) -> set[str]:
    return {name for name in imported(source) if name.split(".")[0] == "dbbench"} - OPEN - {"dbbench"}


@pytest.mark.parametrize("path", PLUGINS, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_plugin_imports_nothing_but_the_door(path: Path) -> None:
    assert not behind_the_door(path.read_text())


@pytest.mark.parametrize("path", sorted((ROOT / "dbbench/cli/templates").glob("*.jinja")), ids=lambda path: path.name)
def test_a_new_plugin_imports_nothing_but_the_door(path: Path) -> None:
    lines = re.findall(r"^(?:from|import) dbbench.*$", path.read_text(), re.MULTILINE)
    assert not behind_the_door("\n".join(lines))


def test_the_docs_import_nothing_but_the_door() -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs/plugins.md").read_text(), re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines() if re.match(r"(from|import) ", line)]
    assert any("dbbench.engine" in line for line in lines)
    assert not behind_the_door("\n".join(lines))


def test_one_module_knows_the_null_engines() -> None:
    asked = re.compile(r"(?<!types)\.is_null\b(?!\()|[=({]\s*['\"]null['\"]|null\+arrow")
    knowing = {
        str(path.relative_to(ROOT / "dbbench"))
        for path in (ROOT / "dbbench").rglob("*.py")
        if asked.search(path.read_text("utf-8"))
    }
    assert knowing == {"engine/null.py"}


def test_an_import_behind_the_door_is_seen() -> None:
    assert behind_the_door("from dbbench.suite.model import Tier") == {"dbbench.suite.model"}
    assert behind_the_door("from dbbench import host") == {"dbbench.host"}
    assert not behind_the_door("from dbbench.engine import Tier")


def test_every_name_is_there() -> None:
    """Type checkers, `import *` and the running program are told of the same names."""
    tree = ast.parse(Path(dbbench.engine.__file__).read_text())
    block = next(node for node in tree.body if isinstance(node, ast.If))
    typed = {alias.name: node.module for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert sorted(typed) == sorted(dbbench.engine.__all__)
    for name, module in typed.items():
        assert module
        assert getattr(dbbench.engine, name) is getattr(importlib.import_module(module), name)


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(AttributeError, match=r"'dbbench\.engine' has no attribute 'Sessions'"):
        dbbench.engine.Sessions  # noqa: B018


@pytest.mark.parametrize(
    ("taken", "heavy"),
    [
        ("import dbbench.engine", ["numpy", "pyarrow", "pydantic", "psutil"]),
        ("from dbbench.engine import Dialect, Options, Publication, SQLEngine, SQLSession, Tier", ["numpy", "pyarrow"]),
    ],
    ids=["the door alone", "what a plugin takes at its top"],
)
def test_an_import_brings_nothing_heavy(taken: str, heavy: list[str]) -> None:
    code = f"import sys; {taken}; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def engine(session: dict[str, Any] | None = None, *, sql: bool = False, **attributes: Any) -> type[Engine]:
    """A plugin's class with these attributes, and methods of its session."""
    of = type("OwnSession", (SQLSession if sql else Session,), {"__module__": "own", **(session or {})})
    return type("Own", (SQLEngine if sql else Engine,), {"__module__": "own", "session_class": of, **attributes})


@pytest.mark.parametrize(
    ("made", "fault"),
    [
        (engine(lisense="MIT"), "Own.lisense is unknown; did you mean license?"),
        (engine(durabilty={}), "Own.durabilty is unknown; did you mean durability?"),
        (engine(serverversions=dict), "Own.serverversions is unknown; did you mean server_versions?"),
        (engine({"prepare_raed": lambda self: None}), "OwnSession.prepare_raed is no operation; did you mean prepare_read?"),
        (engine({"prepare_zzz": lambda self: None}), "OwnSession.prepare_zzz is no operation"),
        (engine({"load_formt": "csv"}, sql=True), "OwnSession.load_formt is unknown; did you mean load_format?"),
        (engine(title=3), "Own.title is 3: Input should be a valid string"),
        (engine(durability={"sometimes": {}}), "Own.durability is {'sometimes': {}}: Input should be 'memory', 'process' or 'power'"),
        (engine(longest_key="many"), "Own.longest_key is 'many': Input should be a valid integer"),
        (engine({"prepare_read": lambda self: None}), "OwnSession.prepare_read must take (self, *, snapshot=False): got an unexpected"),
        (engine({"prepare_query": lambda self, sql, more: None}, sql=True), "OwnSession.prepare_query must take (self, sql): missing"),
    ],
)  # fmt: skip
def test_a_slip_is_named(made: type[Engine], fault: str) -> None:
    (found,) = faults(made)
    assert found.startswith(fault)


def test_a_plugin_may_have_names_of_its_own() -> None:
    own = {"connected": 1, "cursor": 2, "_titel": 3, "helper": lambda self: None}
    reads = {
        "prepare_read": lambda self, *, snapshot=False: None,
        "prepare_load": lambda self, name, table, **more: None,
    }
    assert not list(faults(engine({**own, **reads}, **own)))
    assert "prepare_read" in vars(KeyValueOperations)


def test_a_faulty_plugin_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry.find("sqlite"), "longest_key", "many")
    with pytest.raises(registry.Broken, match="longest_key is 'many'"):
        registry.find("sqlite")
