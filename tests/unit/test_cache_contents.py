"""What the cache holds, and how to be rid of it without harm to anything else."""

import json
from functools import partial
from pathlib import Path

import pytest

from dbbench.datasets.cache import materialise
from dbbench.engine import environments
from dbbench.engine.template import Template
from dbbench.host import kept_folder
from dbbench.host.kept_folder import Kept, contents, discard, named
from dbbench.suite.model import Suite
from tests.conftest import Dbbench


@pytest.fixture
def full(own_cache: Path, tmp_path: Path, small: Suite) -> Path:
    """A cache with one of each, made by those that make them."""
    materialise(next(iter(small.datasets.values())), scale=1, seed=1)
    server = tmp_path / "server"
    server.mkdir()
    (server / "base").write_bytes(b"x" * 10_000)
    Template("programs").keep(server)

    def fill(made: Path) -> dict[str, object]:
        (made / "packages").mkdir()
        (made / "packages" / "driver.py").write_text("x = 1\n")
        return {"release": "1.3.2", "packages": {}, "files": {"driver.py": 6}}

    kept_folder.make(environments._folder("duckdb", "1.3"), "environment.json", fill)
    (own_cache / "jars").mkdir()
    (own_cache / "jars" / "a").write_text("a")
    return own_cache


@pytest.fixture
def cache(own_cache: Path, dbbench_here: Dbbench) -> Dbbench:
    return partial(dbbench_here, "cache")


def empty(root: Path, cache: Dbbench) -> None:
    """Remove all that is listed."""
    cache(*(f"--remove={kept.name}" for kept in contents(root)), "--yes", status=0)


def test_all_that_is_made_is_listed_with_its_size(full: Path) -> None:
    found = {kept.kind: kept for kept in contents(full)}
    assert list(found) == ["dataset", "environment", "server", "jars"]
    assert "rows" in found["dataset"].what
    assert found["environment"].what == "release 1.3.2"
    assert found["server"].bytes >= 10_000
    assert found["server"].what.startswith("1 files")


def test_a_cache_that_is_not_there_is_empty(own_cache: Path, cache: Dbbench) -> None:
    assert contents(own_cache) == []
    cache(status=0)


def test_what_is_not_ours_is_neither_listed_nor_removed(full: Path, cache: Dbbench) -> None:
    mine = full / "notes"
    mine.mkdir()
    (mine / "dataset.json").write_text("{}")
    (full / "0123456789abcdef01234567").mkdir()  # a name like a dataset's, and no manifest
    assert not {kept.name for kept in contents(full)} & {"notes", "0123456789abcdef01234567"}
    empty(full, cache)
    assert mine.is_dir()
    assert contents(full) == []


def test_links_are_not_followed(full: Path, tmp_path: Path, cache: Dbbench) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "dataset.json").write_text("{}")
    (outside / "precious").write_bytes(b"x" * 1_000_000)
    (full / ("a" * 24)).symlink_to(outside)
    (full / "environments" / "linked-1.0-x").symlink_to(outside)
    (dataset,) = [kept for kept in contents(full) if kept.kind == "dataset"]
    (dataset.path / "deep").symlink_to(outside)
    again = {kept.name: kept for kept in contents(full)}
    assert "a" * 24 not in again
    assert "linked-1.0-x" not in again
    assert again[dataset.name].bytes < 1_000_000
    empty(full, cache)
    assert not dataset.path.exists()
    assert (outside / "precious").stat().st_size == 1_000_000


def test_a_place_that_is_a_link_is_not_entered(full: Path, tmp_path: Path) -> None:
    (full / "servers").rename(tmp_path / "elsewhere")
    (full / "servers").symlink_to(tmp_path / "elsewhere")
    assert "server" not in {kept.kind for kept in contents(full)}


def test_a_folder_that_became_a_link_before_it_is_removed_stays(full: Path, tmp_path: Path) -> None:
    (dataset,) = [kept for kept in contents(full) if kept.kind == "dataset"]
    dataset.path.rename(tmp_path / "moved")
    dataset.path.symlink_to(tmp_path / "moved")
    discard(dataset)
    assert (tmp_path / "moved" / "dataset.json").exists()


def test_a_damaged_one_is_listed_and_can_be_removed(full: Path, cache: Dbbench) -> None:
    (server,) = [kept for kept in contents(full) if kept.kind == "server"]
    document = json.loads((server.path / "template.json").read_text())
    (server.path / "template.json").write_text(json.dumps(document | {"files": {}}))
    assert "damaged" in cache().stdout
    cache("--remove", server.name, "--yes", status=0)
    assert not server.path.exists()


def test_what_is_being_made_is_called_unfinished(full: Path) -> None:
    (full / f"{kept_folder.MAKING}abc").mkdir()
    assert [kept.kind for kept in contents(full)].count("unfinished") == 1


def test_the_beginning_of_a_name_will_do_if_it_is_one(full: Path, cache: Dbbench) -> None:
    found = [Kept("dataset", name, full / name, 1, "") for name in ("ab", "abc", "b")]
    assert [kept.name for kept in named(found, "ab")] == ["ab"]
    assert [kept.name for kept in named(found, "a")] == ["ab", "abc"]
    cache("--remove", "duckdb-1.3", "--yes", status=0)
    assert "environment" not in {kept.kind for kept in contents(full)}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--remove", "jas", "--yes"], "jars"),
        (["--remove", "", "--yes"], "holds no ''"),
        (["--remove", "jars"], "add --yes"),
    ],
)
def test_what_makes_no_sense_is_refused_and_removes_nothing(
    arguments: list[str], told: str, full: Path, cache: Dbbench
) -> None:
    before = contents(full)
    assert told in cache(*arguments, status=2).stderr
    assert [kept.name for kept in contents(full)] == [kept.name for kept in before]
