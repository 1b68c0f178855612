"""Debian's Python modules, which a virtual environment finds in Debian's folder, and its libraries."""

import ctypes
import sys
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import pytest

from dbbench.errors import Unavailable
from dbbench_plugins import debian
from dbbench_plugins.firebird import Firebird
from dbbench_plugins.xapian import Xapian


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder in the place of Debian's, whose package lacks its native module."""
    monkeypatch.setattr(debian, "_FOLDERS", (str(tmp_path),))
    (tmp_path / "xapian").mkdir()
    (tmp_path / "xapian" / "__init__.py").write_text("from ._xapian import said\n")
    (tmp_path / "neighbour_of_xapian.py").touch()
    debian.debian_module.cache_clear()
    with patch.dict(sys.modules, {"xapian": None}):
        sys.modules.pop("xapian._xapian", None)
        yield tmp_path
    debian.debian_module.cache_clear()


def test_it_is_loaded_alone_of_its_folder(folder: Path) -> None:
    (folder / "xapian" / "_xapian.py").write_text("said = 'loaded'\n")
    assert debian.debian_module("xapian").said == "loaded"
    with pytest.raises(ModuleNotFoundError):
        __import__("neighbour_of_xapian")


@pytest.mark.parametrize("installed", [True, False])
def test_one_that_is_built_for_another_python_is_unavailable(folder: Path, installed: bool) -> None:
    (folder / "xapian" / "_xapian.cpython-22-x86_64-linux-gnu.so").touch()
    if not installed:
        (folder / "xapian").rename(folder / "other")
    with pytest.raises(Unavailable, match=f"^{sys.implementation.cache_tag} can load no module xapian"):
        Xapian.available()


def test_one_whose_own_library_is_missing_is_unavailable(folder: Path) -> None:
    missing = "libxapian.so.30: cannot open shared object file"
    (folder / "xapian" / "_xapian.py").write_text(f"raise ImportError({missing!r})\n")
    with pytest.raises(Unavailable, match="can load no module xapian"):
        Xapian.available()


def test_firebird_is_not_there_without_the_library_that_it_loads_later(monkeypatch: pytest.MonkeyPatch) -> None:
    """It opens without ICU, and then fails in its first table."""
    monkeypatch.setattr(ctypes, "CDLL", lambda name: None)
    monkeypatch.setattr("dbbench_plugins.firebird.find_library", lambda name: None)
    with pytest.raises(Unavailable, match="libicuuc"):
        Firebird.available()
