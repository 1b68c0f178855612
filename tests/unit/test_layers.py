"""Access layers are applied to base engines: ours to those of others, and those of others to ours."""

from pathlib import Path

import pytest

from dbbench.engine import registry
from dbbench.errors import UserError
from tests.conftest import Opened
from tests.plugins import declare
from tests.tables import table_of

TABLE = table_of({"Id": "integer", "Name": "varchar(9)"})
MODULE = """
from dbbench.engine import Layer, Session, fetch, object_maker
from dbbench_plugins.layers.bases import AlchemyBase
from dbbench_plugins.sqlite import SQLite

class Outside(SQLite):
    name = "outside"
    title = "Outside (its driver)"

ALCHEMY = AlchemyBase("sqlite+pysqlite://")
GREETING = "hello"

class PlainSession(Session):
    def __init__(self, engine):
        self.session = engine.connect()

    def prepare_get(self, name, table):
        construct = object_maker(name, table, {})
        return lambda key: construct(fetch(self.session, f"SELECT * FROM {name} WHERE Id = {key}")[0])

    def close(self):
        self.session.close()

class Plain(Layer):
    layer, package, layer_license = "Plain", "pydantic", "MIT"
    session_class = PlainSession

    def objects(self):
        return PlainSession(self.base_engine)

class Own(Plain):
    layer = "Own"
"""
POINTS = """
[dbbench.engines]
outside = outside_of_dbbench:Outside
[dbbench.bases.sqlalchemy]
outside = outside_of_dbbench:ALCHEMY
nowhere = outside_of_dbbench:ALCHEMY
[dbbench.layers.sqlalchemy]
plain = outside_of_dbbench:Plain
wrong = outside_of_dbbench:Outside
[dbbench.layers.own]
own = outside_of_dbbench:Own
[dbbench.bases.own]
outside = outside_of_dbbench:GREETING
dict = outside_of_dbbench:GREETING
"""


def install(folder: Path, monkeypatch: pytest.MonkeyPatch, points: str = POINTS) -> None:
    """Put a package that declares these entry points where Python finds it."""
    (folder / "outside_of_dbbench.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(declare(folder, "outside-of-dbbench", points)))


@pytest.fixture
def outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "package"
    folder.mkdir()
    install(folder, monkeypatch)
    return tmp_path


def test_a_new_base_gets_every_layer_of_its_toolkit_and_a_new_layer_every_base(outside: Path) -> None:
    new = {name for name in registry.names("outside-of-dbbench") if "+" in name}
    bases = ("sqlite", "postgresql", "mysql", "firebird", "outside")
    assert new == {f"{base}+{layer}" for base in bases for layer in ("plain", "wrong")} | {"outside+own", "dict+own"}
    ours = {name for name in registry.names("dbbench") if name.startswith("outside")}
    assert ours == {f"outside+{layer}" for layer in ("core", "core-text", "orm", "sqlmodel")}
    assert not [name for name in registry.names() if name.startswith("nowhere")]


@pytest.mark.parametrize("name", ["outside+orm", "outside+core-text", "sqlite+plain", "outside+plain", "outside+own"])
def test_they_give_objects_over_each_other(outside: Path, opened: Opened, name: str) -> None:
    pytest.importorskip("sqlalchemy")
    engine = opened(name, folder=outside / "data")
    base = engine.base_engine
    engine.create({"T": TABLE})
    filling = base.connect()
    filling.begin_load({"T": TABLE})
    filling.prepare_load("T", TABLE)([(7, "seven")])
    filling.commit()
    filling.close()
    found = engine.connect().prepare_get("T", TABLE)(7)
    assert (found.Id, found.Name) == (7, "seven")
    base_name = name.partition("+")[0]
    assert (engine.name, type(base).name, type(base).name) == (name, base_name, base_name)
    assert engine.info().title.startswith("Outside (" if base_name == "outside" else "SQLite (")


def test_the_toolkit_is_told_what_the_base_declares(outside: Path) -> None:
    assert registry.find("outside+own").reach == "hello"


def test_each_package_installs_its_own_part(outside: Path) -> None:
    """The extra of dbbench's layer, and the base's package; not an extra of dbbench for another's base."""
    assert registry.find("outside+orm").extras == ("sqlalchemy",)
    assert registry.find("firebird+orm").extras == ("firebird", "sqlalchemy", "sqlalchemy-firebird")
    assert registry.install_steps(["firebird+orm"]).debian == ("libtommath1", "icu-devtools")


def test_what_is_no_layer_or_no_base_is_broken(outside: Path) -> None:
    with pytest.raises(registry.Broken, match=r"outside_of_dbbench:Outside is not a dbbench\.engine\.Layer"):
        registry.find("sqlite+wrong")
    with pytest.raises(registry.Broken, match="dict has no tables that outside_of_dbbench:Own could read"):
        registry.find("dict+own")


def test_a_layer_and_an_engine_of_one_name_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, monkeypatch, "[dbbench.engines]\nsqlite+orm = outside_of_dbbench:Outside\n")
    with pytest.raises(
        UserError, match=r"two plugins are called 'sqlite\+orm': dbbench \(.*ORM\) and outside-of-dbbench"
    ):
        registry.names()
