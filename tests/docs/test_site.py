"""The documentation builds as a site without a warning, with every engine, every command, and runs that are named."""

import json
from pathlib import Path

import click
import pytest

from dbbench import cli
from dbbench.engine import registry
from docs.build_site import ACCESSIBLE, build
from tests.fabricated import Fake, fabricate

pytestmark = pytest.mark.matrix


def test_it_builds_without_a_warning(tmp_path: Path) -> None:
    pytest.importorskip("sphinx", reason="pip install -e '.[docs]'")
    run = fabricate(tmp_path / "run", {"sqlite": Fake("SQLite")}, rounds=1)
    build(tmp_path / "site", [str(run.path)])
    site = tmp_path / "site"
    engines = {name for name in registry.names("dbbench") if not registry.find(name).is_null}
    assert {page.stem for page in (site / "docs/engines/reference").iterdir()} == {*engines, "index"}
    text = (site / "docs/commands.html").read_text("utf-8")
    commands = [name for name, command in cli.main.commands.items() if not isinstance(command, click.Group)]
    assert [name for name in commands if f"dbbench {name}" not in text] == []
    assert "SQLSession" in (site / "docs/contract.html").read_text("utf-8")
    assert "BplusDotNet" in (site / "docs/seeds.html").read_text("utf-8")
    assert "gallery/index.html" in (site / "gallery.html").read_text("utf-8")
    assert list((site / "gallery/runs").glob("*.html"))
    assert "scenarios" in json.loads((site / "suite.schema.json").read_bytes())["properties"]
    assert "schema_version" in json.loads((site / "results.schema.json").read_bytes())["properties"]
    first = (site / "index.html").read_text("utf-8")
    assert 'href="docs/method.html' in first
    assert ".md)" not in first
    texts = first + (site / "docs/method.html").read_text("utf-8")
    assert [lacking for lacking in ACCESSIBLE if lacking in texts] == []
    assert [whole for whole in ACCESSIBLE.values() if whole not in texts] == []
