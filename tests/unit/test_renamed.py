"""A plugin for the old contract is refused in one message, which names what to write now."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

import dbbench.engine
from dbbench.engine import Engine, Session, Setup, SQLEngine, SQLSession, Tier, registry, renamed
from dbbench.engine.declared import GROUP, Declared

ENTRY = EntryPoint("old", "dbbench_old:Old", GROUP)


@pytest.fixture
def old_plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Installs a plugin of this source."""

    def install(source: str) -> None:
        (tmp_path / "dbbench_old.py").write_text(source)
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.delitem(__import__("sys").modules, "dbbench_old", raising=False)
        monkeypatch.setattr(registry, "declared", lambda: {"old": Declared("old", ENTRY)})

    return install


OLD = """
from dbbench.engine import SQLEngine, SQLSession

class OldSession(SQLSession):
    takes = "csv"

    def retried(self, exc):
        return None

class Old(SQLEngine):
    name = "old"
    session_class = OldSession
    impossible = {"insert": "no"}

    def served_by(self):
        return {}
"""


def test_all_that_is_old_is_named_with_its_new_name(old_plugin: Any) -> None:
    old_plugin(OLD)
    with pytest.raises(registry.Broken) as refused:
        registry.find("old")
    assert str(refused.value) == (
        "dbbench_old:Old was written for an older plugin contract: impossible is now unsupported_reasons, served_by is now "
        "server_versions, OldSession.retried is now retry_reason, OldSession.takes is now load_format (see docs/plugins.md)"
    )


def test_a_plugin_with_the_new_names_is_taken(old_plugin: Any) -> None:
    new = OLD.replace("impossible", "unsupported_reasons").replace("served_by", "server_versions")
    old_plugin(new.replace("retried", "retry_reason").replace("takes", "load_format"))
    assert registry.find("old").name == "old"


def test_a_tier_that_is_set_in_open_belongs_into_info(old_plugin: Any, tmp_path: Path) -> None:
    old_plugin(
        """
from dbbench.engine import Engine, Tier

class Old(Engine):
    name = "old"
    durability = {Tier.PROCESS: {}}

    def open(self):
        self.tier = Tier.POWER
"""
    )
    engine = registry.find("old")(Setup(tmp_path, Tier.PROCESS))
    with pytest.raises(AttributeError, match=r"Old sets `tier`: .* from info\(\)"):
        engine.open()


@pytest.mark.parametrize("old", renamed.ENGINE)
def test_each_old_name_of_an_engine(old: str) -> None:
    engine = type("Old", (Engine,), {old: None})
    assert renamed.old_names(engine) == {old: renamed.ENGINE[old]}


@pytest.mark.parametrize("old", renamed.SESSION)
def test_each_old_name_of_a_session(old: str) -> None:
    engine = type("Old", (Engine,), {"session_class": type("Its", (Session,), {old: None})})
    assert renamed.old_names(engine) == {f"Its.{old}": renamed.SESSION[old]}


def test_the_new_names_are_there() -> None:
    for new in renamed.ENGINE.values():
        assert hasattr(SQLEngine, new.partition(",")[0])
    for new in renamed.SESSION.values():
        assert hasattr(SQLSession, new)
    for new in renamed.DOOR.values():
        assert hasattr(dbbench.engine, new)


@pytest.mark.parametrize(("old", "new"), renamed.DOOR.items())
def test_an_old_import(old: str, new: str, old_plugin: Any) -> None:
    old_plugin(f"from dbbench.engine import {old}")
    with pytest.raises(registry.Broken, match=rf"dbbench\.engine\.{old} is now dbbench\.engine\.{new} "):
        registry.find("old")


def test_a_module_that_has_moved(old_plugin: Any) -> None:
    """It isn't told to be installed."""
    old_plugin("from dbbench.schema import Table")
    with pytest.raises(registry.Broken, match=r"no module dbbench\.schema; import .* from dbbench\.engine"):
        registry.find("old")
