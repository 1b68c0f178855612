"""The documentation builds as a site without a warning, with every engine, every command, and runs that are named."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import click
import pytest

from dbbench import cli
from dbbench.engine import registry
from tests.conftest import Dbbench

pytestmark = pytest.mark.matrix
ROOT = Path(__file__).resolve().parents[2]


def test_it_builds_without_a_warning(tmp_path: Path, dbbench: Dbbench) -> None:
    pytest.importorskip("sphinx", reason="pip install -e '.[docs]'")
    ran = dbbench("suite", str(ROOT / "docs/examples/tiny.yaml"), "--engine", "sqlite", "--rounds", "1", "--out", "run")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    done = subprocess.run(
        [sys.executable, "-m", "docs.build_site", tmp_path / "site", tmp_path / "run"],
        cwd=ROOT, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    site = tmp_path / "site"
    engines = {name for name in registry.names("dbbench") if not registry.find(name).is_null}
    assert {page.stem for page in (site / "docs/engines/reference").iterdir()} == {*engines, "index"}
    text = (site / "docs/commands.html").read_text("utf-8")
    commands = [name for name, command in cli.main.commands.items() if not isinstance(command, click.Group)]
    assert [name for name in commands if f"dbbench {name}" not in text] == []
    assert "gallery/index.html" in (site / "gallery.html").read_text("utf-8")
    assert list((site / "gallery/runs").glob("*.html"))
    first = (site / "index.html").read_text("utf-8")
    assert 'href="docs/method.html' in first
    assert ".md)" not in first
