"""Steps and hints: from what engines say that they need to commands that name what exists."""

import json
import sys
from importlib.metadata import Distribution
from pathlib import Path

import pytest

from dbbench.engine import registry
from dbbench.engine.base import Engine
from dbbench.engine.install import COMPILER, Driver, driver_hint, pip_arguments, steps
from dbbench.errors import Unavailable

METADATA = """\
Metadata-Version: 2.4
Name: db-mine
Version: 1
Provides-Extra: one
Provides-Extra: two
Requires-Dist: always>=1
Requires-Dist: sometimes; python_version >= "3"
Requires-Dist: first[fast]>=2; extra == "one"
Requires-Dist: db_mine[one]; extra == "two"
Requires-Dist: second; python_version >= "3" and extra == "two"
Requires-Dist: never; python_version < "3" and extra == "two"
"""


def package(tmp_path: Path, **origin: object) -> Distribution:
    """One that is installed from where `origin` says, as in PEP 610; from an index without."""
    folder = tmp_path / "db_mine-1.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text(METADATA)
    if origin:
        (folder / "direct_url.json").write_text(json.dumps(origin))
    return Distribution.at(folder)


def test_a_package_with_its_driver_in_itself_is_installed_anew_from_where_it_came(tmp_path: Path) -> None:
    clone = tmp_path / "my clone"
    clone.mkdir()
    editable = package(tmp_path / "a", url=clone.as_uri(), dir_info={"editable": True})
    copied = package(tmp_path / "b", url=clone.as_uri(), dir_info={})
    assert pip_arguments(Driver(editable, ())) == ["-e", str(clone)]
    assert pip_arguments(Driver(copied, ())) == ["--force-reinstall", str(clone)]
    assert driver_hint(Driver(copied, ())) == f"pip install --force-reinstall '{clone}'"


@pytest.mark.parametrize("url", ["", "file:///", "file:///nowhere/db_mine-1.whl", "https://git.example/db-mine.git"])
def test_the_hint_names_the_drivers_themselves_so_that_their_package_stays_as_it_is(tmp_path: Path, url: str) -> None:
    found = package(tmp_path, **({"url": url} if url else {}))
    assert pip_arguments(Driver(found, ("one",))) == ["first[fast]>=2"]
    assert pip_arguments(Driver(found, ("two",))) == ["first[fast]>=2", "second"]
    assert pip_arguments(Driver(found, ()))[1:] == ["/" if url == "file:///" else "db-mine"]


class Built(Engine):
    name = "built"
    modules = ("nowhere",)
    debian = ("server",)
    built_on = ("libnowhere-dev",)


class Fetched(Engine):
    name = "fetched"
    modules = ("nowhere",)
    debian = ("java", "server")
    fetched_by = "fetcher"


def test_steps_of_several_engines_are_one_command_each(tmp_path: Path) -> None:
    found = package(tmp_path)
    commands = list(steps([(Built, Driver(found, ("one",))), (Fetched, Driver(found, ("two",)))]).commands())
    debian = ["server", "libnowhere-dev", *COMPILER, "java"]
    assert commands == [
        ["apt-get", "install", "-y", "--no-install-recommends", *debian],
        [sys.executable, "-P", "-m", "pip", "install", "first[fast]>=2", "second"],
        [sys.executable, "-P", "-m", "fetcher", "fetched"],
    ]


def test_a_driver_that_is_built_needs_its_compiler_first(tmp_path: Path) -> None:
    hint = driver_hint(Driver(package(tmp_path), ("one",)), Built)
    assert hint == f"apt install libnowhere-dev {' '.join(COMPILER)}, then pip install 'first[fast]>=2'"


def test_a_module_without_its_library_is_missing_something_and_not_broken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = "libodbc.so.2: cannot open shared object file: No such file or directory"
    (tmp_path / "pyodbc.py").write_text(f"raise ImportError({said!r})\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "pyodbc", raising=False)
    with pytest.raises(Unavailable) as raised:
        registry.load("odbc+sqlite")
    assert raised.value.reason == "the Python module pyodbc needs libodbc.so.2, a library of the system"
    assert raised.value.install == "apt install unixodbc libsqliteodbc"
    (tmp_path / "pyodbc.py").write_text("raise ImportError('something else')\n")
    with pytest.raises(registry.Broken, match="something else"):
        registry.load("odbc+sqlite")


def test_a_private_server_without_its_program_is_told_before_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dbbench_plugins.postgresql.programs._folders", lambda: iter(()))
    with pytest.raises(Unavailable, match="initdb and postgres are missing") as raised:
        registry.require("postgresql", {})
    assert raised.value.install == "apt install postgresql"
