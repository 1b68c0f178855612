"""Control groups: where one can be made, and what is said where none can."""

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import psutil
import pytest

from dbbench.errors import UserError
from dbbench.host import control_group

GIB = 2**30
V2 = "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw"
V1 = "35 31 0:32 / {}/memory rw,relatime - cgroup cgroup rw,memory"


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in place of /sys/fs/cgroup, with the files that say where this process is."""
    own, mounts = tmp_path / "cgroup", tmp_path / "mountinfo"
    own.write_text("4:memory:/job/1\n0::/user/app\n")
    mounts.write_text(f"{V2.replace('/sys/fs/cgroup', str(tmp_path / 'two'))}\n{V1.format(tmp_path)}\n")
    monkeypatch.setattr(control_group, "_CGROUP", own)
    monkeypatch.setattr(control_group, "_MOUNTS", mounts)
    for folder in ("two/user/app", "memory/job/1"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "cgroup.subtree_control").write_text("")
    (tmp_path / "two/user/cgroup.subtree_control").write_text("cpu memory\n")
    return tmp_path


def test_the_nearest_group_that_hands_memory_down_is_the_parent(system: Path) -> None:
    assert set(control_group._parents()) == {(system / "two/user", 2), (system / "memory/job/1", 1)}


@pytest.mark.parametrize(
    ("file", "limit", "memory"),
    [
        ("two/user/app/memory.max", "max", 8 * GIB),
        ("two/user/app/memory.max", f"{GIB}\n", GIB),
        ("two/user/memory.max", f"{2 * GIB}\n", 2 * GIB),
        ("memory/job/1/memory.limit_in_bytes", f"{3 * GIB}\n", 3 * GIB),
        ("memory/job/1/memory.limit_in_bytes", f"{2**63 - 4096}\n", 8 * GIB),
    ],
)
def test_a_container_has_no_more_memory_than_its_limit(
    system: Path, file: str, limit: str, memory: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(total=8 * GIB))
    (system / file).write_text(limit)
    assert control_group.memory() == memory


def test_a_group_that_is_refused_is_refused_in_words(system: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "mkdir", Mock(side_effect=PermissionError(13, "Permission denied")))
    with pytest.raises(
        UserError, match=r"--memory-limit needs a control group .*two/user: Permission denied.*omit --memory-limit"
    ):
        control_group.make(2**30)


def test_a_system_without_groups_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(control_group, "_CGROUP", tmp_path / "nowhere")
    with pytest.raises(UserError, match="this system has none"):
        control_group.make(2**30)


def made(limit: int) -> control_group.Group:
    try:
        return control_group.make(limit)
    except UserError as exc:
        pytest.skip(str(exc))


def test_what_needs_more_is_killed_and_counted_and_the_group_goes() -> None:
    group = made(64 * 2**20)
    try:
        code = "input(); held = [bytearray(b'x' * 2**20) for _ in range(512)]"
        child = subprocess.Popen([sys.executable, "-ISc", code], stdin=subprocess.PIPE)
        group.add(child.pid)
        assert group.kills() == 0
        child.communicate(b"\n")
        assert child.returncode == -9
        assert group.kills() == 1
    finally:
        group.remove()
    assert not group.folder.exists()
    group.remove()  # once more does no harm


def test_removing_kills_what_is_still_in_it() -> None:
    group = made(2**30)
    child = subprocess.Popen([sys.executable, "-ISc", "input()"], stdin=subprocess.PIPE)
    group.add(child.pid)
    group.remove()
    assert child.wait() == -9
    assert not group.folder.exists()
    child.stdin.close()  # type: ignore[union-attr]


def test_a_group_that_cannot_be_removed_costs_no_result(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "cgroup.procs").touch()
    monkeypatch.setattr(control_group, "make", lambda _limit: control_group.Group(tmp_path))
    monkeypatch.setattr(control_group, "_REMOVE_SECONDS", 0)
    monkeypatch.setattr(Path, "rmdir", Mock(side_effect=OSError(16, "Device or resource busy")))
    with control_group.limited(2**30):
        pass


def test_what_a_killed_dbbench_left_is_removed_by_the_next() -> None:
    group = made(2**30)
    left = group.folder.with_name("dbbench-99999999-1")  # no process has that number
    left.mkdir()
    group.remove()
    made(2**30).remove()
    assert not left.exists()
