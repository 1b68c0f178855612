"""Environments with another release of a package. The installers are fakes that do the harm that real ones do."""

import shutil
import sys
from pathlib import Path

import pytest

from dbbench.engine import environments, registry
from dbbench.engine.environments import prepared
from dbbench.errors import Unavailable, UserError
from dbbench.results.run_directory import VariantFacts
from dbbench.runs import releases
from tests.conftest import Dbbench
from tests.wheels import offline, wheel

#: What each fake has: the folder to install into and what is wanted.
_START = """#!{python}
import os, sys, time
from pathlib import Path
target = Path(sys.argv[sys.argv.index("--target") + 1])
wanted = next(each for each in sys.argv if "==" in each)
with open({log!r}, "a") as log:
    print(os.getcwd(), *sys.argv[1:], file=log)
def put(name, version):
    (target / name).mkdir(parents=True)
    (target / name / "__init__.py").write_text("x = 1")
    info = target / f"{{name}}-{{version}}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\\nName: {{name}}\\nVersion: {{version}}\\n")
"""


class Installer:
    """A `uv` on the PATH that does what `says`."""

    def __init__(self, folder: Path) -> None:
        self.log = folder / "log.txt"
        self.path = folder / "bin" / "uv"
        self.path.parent.mkdir()

    def says(self, source: str) -> None:
        self.path.write_text(_START.format(python=sys.executable, log=str(self.log)) + source)
        self.path.chmod(0o755)

    @property
    def calls(self) -> list[str]:
        return self.log.read_text().splitlines() if self.log.exists() else []


@pytest.fixture
def installer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Installer:
    found = Installer(tmp_path)
    monkeypatch.setenv("PATH", str(found.path.parent))
    monkeypatch.setenv("DBBENCH_CACHE", str(tmp_path / "cache"))
    return found


def kept(tmp_path: Path) -> list[str]:
    return sorted(path.name for path in (tmp_path / "cache").rglob("*") if path.parent.name == "environments")


def test_a_release_is_fetched_once_and_named_exactly(installer: Installer, tmp_path: Path) -> None:
    installer.says("put('tiny', '1.3.2')")
    first = prepared("tiny", "1.3")
    assert (first.release, first.package) == ("1.3.2", "tiny")
    assert (first.folder / "tiny" / "__init__.py").is_file()
    assert prepared("tiny", "1.3") == first
    (call,) = installer.calls
    assert "tiny==1.3.*" in call
    assert "--only-binary :all:" in call
    assert call.startswith(str(tmp_path / "cache"))  # no uv.toml of a current folder counts


def test_a_candidate_is_asked_for_exactly() -> None:
    assert environments.specifier("2.0rc1") == "==2.0rc1"
    assert environments.specifier("1.3.2") == "==1.3.2.*"


def test_a_run_that_goes_on_gets_the_release_that_it_began_with(installer: Installer) -> None:
    installer.says("put('tiny', '1.3.2')")
    first = prepared("tiny", "1.3", "1.3.2")
    assert prepared("tiny", "1.3", "1.3.2") == first
    installer.says("put('tiny', wanted.removeprefix('tiny==').removesuffix('.*'))")
    assert prepared("tiny", "1.3", "1.3.1").release == "1.3.1"


@pytest.mark.parametrize("harm", ["cut", "changed", "gone", "manifest"])
def test_a_damaged_environment_is_made_anew(harm: str, installer: Installer) -> None:
    installer.says("put('tiny', '1.3.2')")
    made = prepared("tiny", "1.3").folder
    if harm == "cut":
        (made / "tiny" / "__init__.py").write_text("")
    elif harm == "changed":
        (made / "tiny" / "__init__.py").write_text("x = 2")
    elif harm == "gone":
        shutil.rmtree(made / "tiny")
    else:
        (made.parent / "environment.json").write_text("{}")
    assert (prepared("tiny", "1.3").folder / "tiny" / "__init__.py").read_text() == "x = 1"
    assert len(installer.calls) == 2


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("sys.exit('error: No solution found\\n  cause: there is no version of tiny==1.3.*')", "No solution found there is no version"),
        ("sys.exit('error: Failed to fetch https://me:s3cr3tword@index.example/simple/tiny/')", "https://me:***@index.example"),
        ("put('tiny', '1.3'); sys.exit('error: No space left on device (os error 28)')", "No space left on device"),
        ("os.abort()", "it gave no reason"),
        ("", "put no tiny into"),
        ("put('tiny', '1.3'); put('numpy', '1.2.0')", "it brings numpy 1.2.0, and dbbench needs numpy>="),
    ],
)  # fmt: skip
def test_an_installer_that_fails_leaves_a_reason_and_nothing_else(
    source: str, told: str, installer: Installer, tmp_path: Path
) -> None:
    installer.says(source)
    with pytest.raises(Unavailable) as raised:
        prepared("tiny", "1.3")
    assert told in raised.value.reason
    assert "s3cr3tword" not in raised.value.reason
    assert kept(tmp_path) == []


def test_an_installer_that_hangs_is_ended(
    installer: Installer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(environments, "_SECONDS", 0.5)
    installer.says("time.sleep(600)")
    with pytest.raises(Unavailable, match=r"uv did not finish with tiny==1\.3\.\* in 0\.5 s"):
        prepared("tiny", "1.3")
    assert kept(tmp_path) == []


def test_a_cache_that_cannot_be_written_is_a_reason(installer: Installer, tmp_path: Path) -> None:
    installer.says("put('tiny', '1.3.2')")
    (tmp_path / "cache").write_text("a file")
    with pytest.raises(Unavailable, match=r"no environment for tiny 1\.3 could be made"):
        prepared("tiny", "1.3")


def test_what_pip_says_is_told_in_a_line() -> None:
    said = (
        "WARNING: a long story\nERROR: Could not find a version that satisfies the requirement duckdb==99.* "
        "(from versions: 0.1, 0.2)\nERROR: No matching distribution found for duckdb==99.*\n[notice] a newer pip\n"
    )
    assert environments.reason(said) == (
        "Could not find a version that satisfies the requirement duckdb==99.* "
        "No matching distribution found for duckdb==99.*"
    )


def test_the_package_of_a_version_is_the_one_that_brings_the_driver() -> None:
    assert registry.versioned_package("duckdb+arrow") == "duckdb"
    assert registry.versioned_package("sqlite+apsw") == "apsw"
    with pytest.raises(UserError, match="sqlite needs no package of its own, so that no version of it can be chosen"):
        registry.versioned_package("sqlite")


@pytest.mark.usefixtures("faulty_engines")
def test_a_workflow_installs_the_package_whose_engine_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dbbench_here: Dbbench
) -> None:
    monkeypatch.setattr(registry, "versioned_package", lambda _engine: "driver")
    dbbench_here("init-ci", "invoices", "--engine", "right-sql", "--out", str(tmp_path))
    assert "pip install dbbench-faulty\n" in (tmp_path / "benchmark.yml").read_text()


def test_a_label_chooses_a_version_and_a_program_makes_it_a_name(installer: Installer) -> None:
    installer.says("sys.exit('error: none')")
    lines: list[str] = []
    options = {"postgresql@16": {"bin": "/usr/lib/postgresql/16/bin"}}
    found = releases.found(["duckdb@1.3", "duckdb@small", "postgresql@16"], options, {}, lines.append)
    assert found.facts["duckdb@1.3"] == VariantFacts(engine="duckdb", version="1.3", package="duckdb")
    assert found.facts["duckdb@small"] == VariantFacts(engine="duckdb")
    assert found.facts["postgresql@16"] == VariantFacts(engine="postgresql")
    assert list(found.missing) == ["duckdb@1.3"]
    assert lines == ["duckdb@1.3: looking for duckdb 1.3"]


def test_a_run_directory_can_not_name_a_package(installer: Installer) -> None:
    installer.says("put('duckdb', '1.3.2')")
    facts = VariantFacts(engine="duckdb", version="1.3", package="evil @ https://evil.example/x.whl", release="1.3.2")
    releases.found_again({"duckdb@1.3": facts})
    assert not any("evil" in call for call in installer.calls)


@pytest.mark.parametrize(
    ("minor", "expected"), [(False, ["1.4.0", "1.3.2", "1.3.1", "0.9"]), (True, ["1.4.0", "1.3.2", "0.9"])]
)
def test_releases_are_listed_by_pip(minor: bool, expected: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    said = "tiny (2.0rc1)\nAvailable versions: 2.0rc1, 1.4.0, 1.3.2, 1.3.1, 0.9\n  INSTALLED: 1.3\n"
    monkeypatch.setattr(environments, "pip", lambda scratch: ["pip"])
    monkeypatch.setattr(environments, "run_installer", lambda command, scratch, what: said)
    assert environments.available("tiny[binary]", minor=minor) == expected


def test_releases_are_proposed_for_a_suite_of_the_users_choice(
    monkeypatch: pytest.MonkeyPatch, dbbench_here: Dbbench
) -> None:
    monkeypatch.setattr(environments, "available", lambda package, minor: ["1.2", "1.1"])
    said = dbbench_here("versions", "lmdb").stdout
    assert said.splitlines() == ["1.2", "1.1", "dbbench suite SUITE -e lmdb@1.1 -e lmdb@1.2"]


def test_a_package_without_any_release_is_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environments, "pip", lambda scratch: ["pip"])
    monkeypatch.setattr(environments, "run_installer", lambda command, scratch, what: "")
    with pytest.raises(Unavailable, match="pip lists no release of tiny with a wheel"):
        environments.available("tiny")


@pytest.mark.matrix
@pytest.mark.parametrize("uv", [True, False])
def test_the_real_installers_do_it(uv: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without uv and without pip in this environment `venv` brings one."""
    if uv and not shutil.which("uv"):
        pytest.skip("there is no uv on the PATH")
    for name, value in offline(tmp_path).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("DBBENCH_CACHE", str(tmp_path / "cache"))
    if not uv:
        monkeypatch.setattr(environments.shutil, "which", lambda name: None)
    for version in ("1.2.9", "1.3.1", "1.3.2", "1.4.0"):
        wheel(tmp_path, "dbbenchtiny", version, f"version = {version!r}")
    found = prepared("dbbenchtiny", "1.3")
    assert found.release == "1.3.2"
    assert "1.3.2" in (found.folder / "dbbenchtiny" / "__init__.py").read_text()
    with pytest.raises(Unavailable, match=r"dbbenchtiny==99\.\*"):
        prepared("dbbenchtiny", "99")
