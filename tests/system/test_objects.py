"""The suite `object-load` as a user runs it."""

from pathlib import Path

import pytest

from dbbench.engine.probe import probe
from dbbench.testing.suite_text import suite_text
from dbbench_plugins.loopback import OPENS
from tests.conftest import Dbbench, run_suite, summary
from tests.tables import one_table
from tests.trials_here import trials_here

LAYERS = ["core", "core-text", "orm", "sqlmodel", "peewee", "django"]
ENGINES = ["sqlite", *(f"sqlite+{layer}" for layer in LAYERS)]
ONE = suite_text(
    "one",
    one_table("T", 5),
    """
    - {kind: load, name: load, title: Load}
    - {kind: objects, name: one, title: One, table: T, operation: get}
    - {kind: query, name: all, title: All, sql: SELECT Id FROM T}
    """,
)


@pytest.mark.matrix
def test_layers_load_objects_and_are_drawn_in_parts(tmp_path: Path, dbbench_here: Dbbench) -> None:
    for module in ("sqlalchemy", "sqlmodel", "peewee", "django"):
        pytest.importorskip(module)
    named = [word for name in ENGINES for word in ("--engine", name)]
    how = ("--quick", "--scale", "0.01", "--format", "csv,svg,html", "--out", "run")
    with trials_here():
        done = dbbench_here("suite", "object-load", *how, *named, status=0)
    found = summary(tmp_path / "run")
    steps = ["persist", *(f"{what}-{count}" for what in ("by-key", "in-bulk", "all") for count in (13, 24)), "again-13"]
    for engine in ENGINES:
        assert {step for step, name in found if name == engine} == set(steps)
        assert {found[step, engine]["outcome"] for step in steps} == {"ok"}
    assert "materialise" in done.stdout
    for step in steps[1:]:
        assert (tmp_path / "run" / "report" / f"objects-{step}-stacks.svg").is_file()
    assert (tmp_path / "run" / "report" / "index.html").read_text("utf-8").count("SQLite 3.7.9")


def test_a_layer_refuses_what_is_no_object(tmp_path: Path) -> None:
    pytest.importorskip("sqlalchemy")
    with trials_here():
        found = summary(run_suite(tmp_path, ONE, ("sqlite", "sqlite+orm"), "--quick"))
    assert (found["one", "sqlite+orm"]["outcome"], found["all", "sqlite+orm"]["outcome"]) == ("ok", "unsupported")
    assert {found[step, "sqlite"]["outcome"] for step in ("load", "one", "all")} == {"ok"}


def test_an_engine_that_opens_a_port_waits_to_be_named() -> None:
    found = probe(["postgresql", "postgresql+tcp", "mysql+tcp"])
    assert not found["postgresql"].by_name_only
    assert found["postgresql+tcp"].by_name_only == found["mysql+tcp"].by_name_only == OPENS
