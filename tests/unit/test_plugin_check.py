"""A plugin's slips are named when it is loaded, before a method is missed in the middle of a run."""

from __future__ import annotations

from typing import Any

import pytest

from dbbench.engine import Engine, KeyValueOperations, Session, SQLEngine, SQLSession, registry
from dbbench.engine.plugin_check import faults


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
