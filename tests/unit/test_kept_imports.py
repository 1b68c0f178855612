"""What is known of an engine's imports ends with any change of what they came from."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from dbbench.engine import kept_imports

ODD = {"odd": {"odd": "1"}}


@pytest.fixture
def seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> kept_imports.Seen:
    """What a process saw that imported a package, in a cache of its own."""
    monkeypatch.setenv("DBBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(tmp_path / "programs"))
    for folder in ("programs", "packages/inside"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "packages" / "driver.py").write_text("open('told'); import ctypes")
    (tmp_path / "packages" / "more.pth").write_text("")
    (tmp_path / "packages" / "told").write_text("1")
    program = (
        "import json, os, sys; from dbbench.engine import kept_imports; watch = kept_imports.Watch();"
        "sys.path[:] = [sys.argv[1]]; os.chdir(sys.argv[1]); open(os.path.abspath('told')); print(json.dumps(watch.seen()))"
    )
    told = subprocess.run(
        [sys.executable, "-P", "-c", program, str(tmp_path / "packages")], capture_output=True, text=True, check=True
    )
    found: kept_imports.Seen = json.loads(told.stdout)
    return found


def known() -> dict[str, dict[str, str]]:
    return kept_imports.known(["odd", "other"])


def test_what_was_kept_is_known(seen: kept_imports.Seen) -> None:
    assert known() == {}
    kept_imports.keep(ODD, seen)
    assert known() == ODD
    kept_imports.keep({"other": {}}, seen)
    assert known() == {**ODD, "other": {}}


def test_a_mapped_library_is_seen(seen: kept_imports.Seen) -> None:
    if sys.platform == "linux":
        assert any("libc" in path for path in seen["files"])


@pytest.mark.parametrize(
    "change",
    [
        lambda top: (top / "packages" / "told").write_text("22"),
        lambda top: (top / "packages" / "told").unlink(),
        lambda top: os.utime(top / "packages" / "told", (1, 1)),
        lambda top: (top / "packages" / "more.pth").write_text("/elsewhere"),
        lambda top: (top / "packages" / "ctypes.py").write_text(""),
        lambda top: (top / "packages" / "inside" / "__init__.py").write_text(""),
        lambda top: (top / "packages" / "other-1.0.dist-info").mkdir(),
        lambda top: (top / "programs" / "server").write_text(""),
    ],
    ids=["changed", "removed", "touched", "path", "module", "package", "installed", "program"],
)
def test_a_change_ends_it(seen: kept_imports.Seen, tmp_path: Path, change: Callable[[Path], object]) -> None:
    kept_imports.keep(ODD, seen)
    change(tmp_path)
    assert known() == {}


def test_what_concerns_no_import_changes_nothing(
    seen: kept_imports.Seen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept_imports.keep(ODD, seen)
    (tmp_path / "packages" / "run").mkdir()
    monkeypatch.setenv("COLUMNS", "99")
    assert known() == ODD


def test_another_environment_is_another_matter(seen: kept_imports.Seen, monkeypatch: pytest.MonkeyPatch) -> None:
    kept_imports.keep(ODD, seen)
    monkeypatch.setenv("JAVA_HOME", "/elsewhere")
    assert known() == {}


@pytest.mark.parametrize("text", ["", "[1]", '{"engines": 1}', '[{"engines": {"odd": {}}, "files": 1, "modules": {}}]'])
def test_a_damaged_file_is_none(seen: kept_imports.Seen, tmp_path: Path, text: str) -> None:
    kept_imports.keep(ODD, seen)
    (file,) = (tmp_path / "cache" / "imports").iterdir()
    file.write_text(text)
    assert known() == {}
    kept_imports.keep(ODD, seen)
    assert known() == ODD


def test_a_cache_that_can_not_be_written_is_no_fault(
    seen: kept_imports.Seen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("DBBENCH_CACHE", str(tmp_path / "file"))
    kept_imports.keep(ODD, seen)
    assert known() == {}
