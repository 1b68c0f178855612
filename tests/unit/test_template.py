"""What a server's set-up made, kept and copied: the same on the disk, damage is found, and nobody else's is used."""

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from dbbench.engine.template import Template
from dbbench.host import kept_folder

MIB = 2**20


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DBBENCH_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "servers"


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """A set-up with a nested folder, an empty one, an empty file, a hole, and space that is reserved only."""
    source = tmp_path / "made"
    (source / "base" / "1").mkdir(parents=True)
    (source / "empty").mkdir()
    (source / "VERSION").write_text("15\n")
    (source / "base" / "1" / "table").write_bytes(os.urandom(3 * 8192))
    (source / "base" / "none").touch()
    with open(source / "hole", "wb") as file:
        file.seek(4 * MIB)
        file.write(b"end")
    with open(source / "log", "wb") as file:
        os.posix_fallocate(file.fileno(), 0, 4 * MIB)
        file.write(b"head")
        file.flush()
        os.fsync(file.fileno())  # what was written counts as data from then on
    source.chmod(0o700)
    (source / "VERSION").chmod(0o640)
    return source


def contents(folder: Path) -> dict[str, object]:
    """Every file and folder below one: its mode, and its bytes."""
    return {
        str(path.relative_to(folder)): (stat.S_IMODE(path.stat().st_mode), path.is_file() and path.read_bytes())
        for path in [folder, *folder.rglob("*")]
    }


def test_a_copy_is_what_was_made(made: Path, tmp_path: Path) -> None:
    assert not Template("it").copy_to(tmp_path / "copy")
    Template("it").keep(made)
    assert Template("it").copy_to(tmp_path / "copy")
    assert contents(tmp_path / "copy") == contents(made)
    for name in ("hole", "log"):  # as much space on the disk, too: a first write to it costs the same
        assert (tmp_path / "copy" / name).stat().st_blocks == (made / name).stat().st_blocks


def test_another_set_up_has_another_template(made: Path, tmp_path: Path) -> None:
    Template("it", "--locale=C").keep(made)
    assert not Template("it", "--locale=de_DE").copy_to(tmp_path / "copy")


def test_only_its_user_can_look_into_a_template(made: Path, cache: Path) -> None:
    Template("it").keep(made)
    (kept,) = cache.iterdir()
    assert [stat.S_IMODE(path.stat().st_mode) & 0o077 for path in [kept, *kept.rglob("*")] if path.is_dir()] == [0] * 5


def test_the_first_of_two_is_kept(made: Path, cache: Path, tmp_path: Path) -> None:
    Template("it").keep(made)
    (made / "VERSION").write_text("16\n")
    Template("it").keep(made)
    assert Template("it").copy_to(tmp_path / "copy")
    assert (tmp_path / "copy" / "VERSION").read_text() == "15\n"
    assert len(list(cache.iterdir())) == 1


def changed(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def cut(path: Path) -> None:
    os.truncate(path, 1)


def linked(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))
    path.symlink_to("elsewhere")


@pytest.mark.parametrize("name", ["template.json", "files/base/1/table", "files/VERSION"])
@pytest.mark.parametrize("spoil", [changed, cut, linked, Path.unlink])
def test_a_damaged_template_is_removed_and_told(
    name: str, spoil: Callable[[Path], None], made: Path, cache: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    Template("it").keep(made)
    (kept,) = cache.iterdir()
    spoil(kept / name)
    assert not Template("it").copy_to(tmp_path / "copy")
    assert not (tmp_path / "copy").exists()
    assert list(cache.iterdir()) == []
    (message,) = caplog.messages
    assert message.startswith(f"dbbench: the server template {kept} is damaged (")
    Template("it").keep(made)
    assert Template("it").copy_to(tmp_path / "copy")


def test_a_copy_that_can_not_be_written_is_no_damage(made: Path, cache: Path, tmp_path: Path) -> None:
    Template("it").keep(made)
    with pytest.raises(FileNotFoundError):
        Template("it").copy_to(tmp_path / "nowhere" / "copy")
    assert Template("it").copy_to(tmp_path / "copy")


def test_a_template_that_others_may_change_is_not_used(
    made: Path, cache: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    Template("it").keep(made)
    (kept,) = cache.iterdir()
    kept.chmod(0o770)
    assert not Template("it").copy_to(tmp_path / "copy")
    assert caplog.messages == [f"dbbench: {kept} is not used: others than you may write to it or its folder"]
    assert kept.exists()


def test_a_cache_that_can_not_be_written_is_told_and_stops_nothing(
    made: Path, cache: Path, caplog: pytest.LogCaptureFixture
) -> None:
    kept_folder.cache_folder().write_text("a file")
    Template("it").keep(made)
    (message,) = caplog.messages
    assert message.endswith("can't be kept: Not a directory")


def test_a_link_is_not_kept(made: Path, cache: Path, caplog: pytest.LogCaptureFixture) -> None:
    (made / "link").symlink_to("VERSION")
    Template("it").keep(made)
    assert "can't be kept" in caplog.text
    assert list(cache.iterdir()) == []
