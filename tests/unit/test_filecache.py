"""Dropping files from the system's cache, on real files."""

import mmap
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from dbbench.host import machine, page_cache
from dbbench.host.page_cache import Dropped, drop, present, resident

BYTES = 300 * mmap.PAGESIZE + 17


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with files in it, not all of them on the disk yet."""
    (tmp_path / "deep").mkdir()
    (tmp_path / "data").write_bytes(os.urandom(BYTES))
    (tmp_path / "deep" / "more").write_bytes(os.urandom(BYTES))
    (tmp_path / "empty").touch()
    (tmp_path / "link").symlink_to(tmp_path / "data")
    return tmp_path


@pytest.fixture
def in_memory() -> Iterator[Path]:
    """A folder on a file system that is nothing but the cache."""
    shm = Path("/dev/shm")
    if not os.access(shm, os.W_OK) or machine.file_system(shm) != "tmpfs":
        pytest.skip("no tmpfs at /dev/shm")
    with tempfile.TemporaryDirectory(dir=shm) as folder:
        yield Path(folder)


def test_what_was_written_is_in_memory_and_after_dropping_it_is_not(files: Path) -> None:
    if machine.file_system(files) in ("tmpfs", "ramfs", "overlay"):
        pytest.skip(f"{files} is on {machine.file_system(files)}")
    assert resident(files) == 1
    dropped = drop(files)
    assert dropped == Dropped(0.0, 2 * BYTES)
    assert dropped.cold
    assert dropped.why == ""
    (files / "data").read_bytes()
    again = resident(files)
    assert again is not None
    assert 0.4 < again <= 0.6


def test_files_elsewhere_are_dropped_too(files: Path) -> None:
    if machine.file_system(files) in ("tmpfs", "ramfs", "overlay"):
        pytest.skip(f"{files} is on {machine.file_system(files)}")
    assert drop(files / "deep", [str(files / "data"), str(files / "gone")]) == Dropped(0.0, BYTES)
    assert resident(files) == 0


def test_a_file_in_memory_stays_there_and_is_called_so(in_memory: Path) -> None:
    (in_memory / "data").write_bytes(bytes(BYTES))
    dropped = drop(in_memory)
    assert dropped.resident == 1
    assert not dropped.cold
    assert dropped.why == "100% of the files stayed in the system's cache"


def test_all_caches_are_dropped_only_where_files_did_not_go_and_can(
    files: Path, in_memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[str] = []
    monkeypatch.setattr(Path, "write_text", lambda path, _text, *_: written.append(str(path)))
    monkeypatch.setattr(os, "posix_fadvise", lambda *_: None)
    (in_memory / "data").write_bytes(bytes(BYTES))
    drop(in_memory)
    assert written == []
    assert drop(files).resident == 1
    assert written == ["/proc/sys/vm/drop_caches"]


def test_a_file_that_is_still_open_is_not_cold(files: Path) -> None:
    with open(files / "deep" / "more", "rb"):
        dropped = drop(files)
    assert dropped.held == ("deep/more",)
    assert not dropped.cold
    assert dropped.why == "the engine keeps files open after it was closed (deep/more)"


def test_a_system_that_cannot_drop_is_not_cold(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "posix_fadvise")
    dropped = drop(files)
    assert dropped == Dropped(None, 2 * BYTES)
    assert dropped.why == "this system's file cache can't be dropped or looked into"


def test_a_hole_takes_no_memory(tmp_path: Path) -> None:
    with open(tmp_path / "sparse", "wb") as file:
        file.truncate(1 << 30)
        file.seek(1 << 29)
        file.write(b"x" * mmap.PAGESIZE)
    assert present(tmp_path) == 1 << 30
    assert resident(tmp_path) == 1


def test_a_large_file_is_looked_at_in_windows(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_cache, "_WINDOW", mmap.ALLOCATIONGRANULARITY)
    assert resident(files) == 1


@pytest.mark.parametrize("look", ["lstat", "open"])
def test_a_file_that_an_engine_removes_meanwhile_is_left_out(
    files: Path, monkeypatch: pytest.MonkeyPatch, look: str
) -> None:
    known = getattr(os, look)

    def removed(path: object, *more: object, **how: object) -> object:
        (files / "data").unlink(missing_ok=True)
        return known(path, *more, **how)

    monkeypatch.setattr(os, look, removed)
    assert resident(files) == 1
    assert present(files) == BYTES


def test_no_files_are_neither_here_nor_there(tmp_path: Path) -> None:
    assert present(tmp_path) == 0
    assert drop(tmp_path) == Dropped(0.0, 0)


@pytest.mark.parametrize(("share", "cold"), [(0.0, True), (0.05, True), (0.051, False), (None, False)])
def test_a_few_pages_may_stay(share: float | None, cold: bool) -> None:
    assert Dropped(share, 1).cold is cold
