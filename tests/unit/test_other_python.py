"""Variants in another Python: which one is found, what is made for it, and that a trial runs there. The Pythons are fakes."""

import json
import sys
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace

import pytest

import dbbench
from dbbench.engine import other_python
from dbbench.engine.other_python import Interpreter, asked_for, interpreter
from dbbench.errors import Unavailable, UserError
from dbbench.runs import releases
from dbbench.suite.model import Variant
from tests.unit.test_environments import Installer, installer  # noqa: F401 - a fixture

NEWER = Interpreter("/python", "3.98.1", "cpython-398", "linux-x86_64")


@pytest.fixture(autouse=True)
def nobody_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))


def fake(path: Path, release: str, *, status: int = 0) -> Path:
    """A Python that says that it is this release."""
    path.parent.mkdir(parents=True, exist_ok=True)
    said = json.dumps([str(path), release, "cpython-398", "linux-x86_64"])
    path.write_text(f"#!/bin/sh\necho '{said}'\nexit {status}\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    ("label", "python"),
    [
        ("py312", "3.12"), ("py3.12", "3.12"), ("py3.12.4", "3.12.4"), ("py3", ""), ("python", ""), ("3.12", ""),
        ("py2.7", ""),
    ],
)  # fmt: skip
def test_a_label_may_ask_for_a_python(label: str, python: str) -> None:
    assert asked_for(label) == python


def test_our_own_python_is_the_first_to_be_asked() -> None:
    mine = f"{sys.version_info.major}.{sys.version_info.minor}"
    assert interpreter(mine).program == sys.executable


def test_a_python_on_the_path_is_found_and_a_broken_one_passed_over(tmp_path: Path) -> None:
    """A shim of pyenv stands on the PATH and fails unless its version is chosen."""
    fake(tmp_path / "bin" / "python3.98", "3.98.7", status=127)
    real = fake(tmp_path / "pyenv" / "versions" / "3.98.1" / "bin" / "python3.98", "3.98.1")
    assert interpreter("3.98") == Interpreter(str(real), "3.98.1", "cpython-398", "linux-x86_64")
    assert interpreter("3.98.1").program == str(real)
    with pytest.raises(Unavailable, match=r"no Python 3\.98\.2 on the PATH"):
        interpreter("3.98.2")


def test_a_program_that_is_another_version_than_its_name_says_is_not_taken(tmp_path: Path) -> None:
    fake(tmp_path / "bin" / "python3.98", "3.981.0")
    with pytest.raises(Unavailable) as refused:
        interpreter("3.98")
    assert refused.value.install == "uv python install 3.98"


def test_a_python_that_is_too_old_for_dbbench_is_refused(tmp_path: Path) -> None:
    fake(tmp_path / "bin" / "python3.8", "3.8.18")
    with pytest.raises(Unavailable, match=r"dbbench runs in Python >=3\.11, and not in 3\.8\.18"):
        interpreter("3.8")


def test_an_environment_has_our_versions_and_our_own_code(installer: Installer) -> None:  # noqa: F811
    installer.says("put('numpy', '9.0')")
    folder = other_python.prepared("sqlite", NEWER)
    (call,) = installer.calls
    assert "--python /python" in call
    assert f"numpy=={version('numpy')}" in call
    assert (folder / "dbbench").resolve() == Path(dbbench.__file__).parent.resolve()
    assert (folder / f"dbbench-{version('dbbench')}.dist-info" / "entry_points.txt").is_file()
    assert other_python.prepared("sqlite", NEWER) == folder
    assert len(installer.calls) == 1
    assert other_python.prepared("sqlite", Interpreter("/python", "3.99.0", "cpython-399", "linux-x86_64")) != folder


def test_the_version_of_the_package_may_be_another(installer: Installer) -> None:  # noqa: F811
    installer.says("put('duckdb', '1.3.2')")
    folder = other_python.prepared("duckdb", NEWER, "1.3")
    assert "duckdb==1.3.*" in installer.calls[0]
    assert other_python.release(folder, "duckdb") == "1.3.2"
    with pytest.raises(UserError, match="needs no package of its own"):
        other_python.prepared("sqlite", NEWER, "3.46")


def test_what_dbbench_can_not_work_with_is_refused(installer: Installer) -> None:  # noqa: F811
    installer.says("put('numpy', '1.0')")
    with pytest.raises(Unavailable, match=r"brings numpy 1\.0, and dbbench needs numpy"):
        other_python.prepared("sqlite", NEWER)


def test_an_engine_of_somebody_elses_package_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(other_python, "declared", lambda: {"theirs": SimpleNamespace(package="their-plugin")})
    with pytest.raises(Unavailable, match="comes with their-plugin"):
        other_python.prepared("theirs", NEWER)


def test_a_variant_names_a_python_by_its_label_or_in_a_file(installer: Installer, tmp_path: Path) -> None:  # noqa: F811
    installer.says("")
    program = fake(tmp_path / "bin" / "python3.98", "3.98.1")
    lines: list[str] = []
    known = {"sqlite@new": Variant(python="3.98")}
    found = releases.found(["sqlite@py398", "sqlite@new", "sqlite@py3.97"], {}, known, lines.append)
    assert lines[0] == "sqlite@py398: looking for Python 3.98"
    assert {name: facts.python_release for name, facts in found.facts.items()} == {
        "sqlite@py398": "3.98.1",
        "sqlite@new": "3.98.1",
        "sqlite@py3.97": "",
    }
    assert {each.python for each in found.folders.values()} == {str(program)}
    assert list(found.missing) == ["sqlite@py3.97"]
    again = releases.found_again(found.facts)
    assert again == found.folders
    fake(program, "3.98.2")
    with pytest.raises(UserError, match=r"in Python 3\.98\.1 can't be run again"):
        releases.found_again(found.facts)
