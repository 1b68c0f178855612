"""A cache that is damaged, or that others may write to: what isn't as it was written is made anew, and nothing of others is executed."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from dbbench.answers.given import by_reference, question
from dbbench.answers.stored import read_answers
from dbbench.datasets.cache import Files, materialise
from dbbench.engine.environments import prepared
from dbbench.errors import Unavailable
from dbbench.suite.dataset import Dataset
from dbbench.suite.loader import load_suite
from dbbench.suite.model import Suite
from dbbench.suite.steps.query import QueryStep
from tests.conftest import TESTS
from tests.unit.test_environments import Installer, installer  # noqa: F401 - a fixture


@pytest.fixture
def suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Suite:
    monkeypatch.setenv("DBBENCH_CACHE", str(tmp_path / "cache"))
    return load_suite(TESTS / "unit" / "small.yaml")


@pytest.fixture
def data(suite: Suite) -> Dataset:
    return suite.datasets["things"]


def zeroed(path: Path) -> None:
    """64 bytes in the middle become zeros; the length stays."""
    with open(path, "r+b") as file:
        file.seek(path.stat().st_size // 2)
        file.write(bytes(64))


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def changed(path: Path) -> None:
    path.write_text(path.read_text().replace('"csv_bytes": ', '"csv_bytes": 1'))


def replaced(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize(
    ("name", "spoil"),
    [
        ("Child.arrow", zeroed), ("Child.arrow", emptied), ("Child.arrow", cut), ("Parent.arrow", Path.unlink),
        ("Parent.arrow", replaced), ("dataset.json", emptied), ("dataset.json", cut), ("dataset.json", changed),
        ("dataset.json", Path.unlink), ("dataset.json", replaced),
    ],
)  # fmt: skip
def test_a_damaged_dataset_is_drawn_anew(
    name: str, spoil: Callable[[Path], None], data: Dataset, caplog: pytest.LogCaptureFixture
) -> None:
    files = materialise(data)
    whole = contents(files)
    assert materialise(data) == files
    assert caplog.messages == []
    spoil(files.directory / name)
    assert contents(materialise(data)) == whole
    (message,) = caplog.messages
    assert message.startswith(f"dbbench: the cached dataset {files.directory} was damaged (")
    assert message.endswith(" and has been removed")


@pytest.mark.parametrize("spoil", [zeroed, emptied, cut])
def test_a_damaged_answer_is_computed_anew(
    spoil: Callable[[Path], None], suite: Suite, data: Dataset, caplog: pytest.LogCaptureFixture
) -> None:
    step = suite.scenarios[0].steps[1]
    assert isinstance(step, QueryStep)
    files = materialise(data)
    (path,) = by_reference([question(step)], data.tables, files)
    rows = read_answers(path)[0].to_pylist()
    spoil(path)
    (again,) = by_reference([question(step)], data.tables, files)
    assert read_answers(again)[0].to_pylist() == rows
    assert caplog.messages == [f"dbbench: the cached answer {path} is damaged; it is computed anew"]
    assert [each.name for each in files.directory.glob("answer*.arrow")] == [again.name]


@pytest.mark.parametrize("harm", ["folder", "parent", "owner"])
def test_no_environment_that_others_may_write_is_used(
    harm: str,
    installer: Installer,  # noqa: F811 - a fixture
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Neither one that others may change, nor one in whose place they may put another."""
    installer.says("put('tiny', '1.3.2')")
    kept = prepared("tiny", "1.3").folder.parent
    if harm == "owner":
        user = os.geteuid()
        monkeypatch.setattr(os, "geteuid", lambda: user + 1)
    else:
        (kept if harm == "folder" else kept.parent).chmod(0o775)
    with pytest.raises(Unavailable, match="others than you may write to it or its folder"):
        prepared("tiny", "1.3")
    assert len(installer.calls) == 1


def contents(files: Files) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in files.directory.iterdir()}
