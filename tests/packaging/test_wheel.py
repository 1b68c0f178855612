"""The built wheel, installed in a fresh environment, as a user gets it."""

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

from tests.conftest import TESTS

pytestmark = pytest.mark.matrix

PROJECT = TESTS.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(PROJECT, tmp_path_factory.mktemp("dist"))


def built(project: Path, folder: Path) -> Path:
    """The wheel of a project, made into a folder."""
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(project)]
    subprocess.run(command, check=True, capture_output=True)
    (found,) = folder.glob("*.whl")
    return found


def test_the_wheel_has_every_package_and_file(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    for package in ("dbbench", "plugins/dbbench_plugins", "scenarios/dbbench_scenarios"):
        folder = PROJECT / package
        for path in folder.rglob("*"):
            name = str(path.relative_to(folder.parent))
            if path.is_file() and "__pycache__" not in name:
                assert name in names
    assert not [name for name in names if name.startswith(("tests", "plugins", "scenarios"))]


def test_two_builds_are_alike(wheel: Path, tmp_path: Path) -> None:
    """The second from the sdist, at another time, in another folder."""
    for what in ("sdist", "wheel"):
        source = next(tmp_path.glob("unpacked/*"), PROJECT)
        command = [sys.executable, "-m", "build", f"--{what}", "--no-isolation", "--outdir", str(tmp_path), str(source)]
        subprocess.run(command, check=True, capture_output=True)
        if what == "sdist":
            (tmp_path / "unpacked").mkdir()
            unpack = ["tar", "-xzf", str(next(tmp_path.glob("*.tar.gz"))), "-C", str(tmp_path / "unpacked")]
            subprocess.run(unpack, check=True)
    assert next(tmp_path.glob("*.whl")).read_bytes() == wheel.read_bytes()


def test_the_wheel_says_what_it_offers(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    (entries,) = [archive.read(name).decode() for name in archive.namelist() if name.endswith("entry_points.txt")]
    (metadata,) = [archive.read(name).decode() for name in archive.namelist() if name.endswith("METADATA")]
    assert "sqlite+apsw = dbbench_plugins.apsw:APSW" in entries
    for extra in ("sqlite-apsw", "duckdb", "firebird", "embedded", "all"):
        assert f"Provides-Extra: {extra}" in metadata
    assert "License-Expression: Apache-2.0" in metadata


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment with the wheel alone, no extras; the folder of its programs."""
    folder = tmp_path_factory.mktemp("fresh")
    venv.create(folder)
    programs = folder / ("Scripts" if os.name == "nt" else "bin")
    install(wheel, programs)
    return programs


def install(package: Path, programs: Path) -> None:
    """By our pip, and what nobody imports isn't compiled: most of an install's time is for the two."""
    command = [sys.executable, "-m", "pip", "--python", str(programs / "python"), "install", "-q", "--no-compile"]
    subprocess.run([*command, str(package)], check=True, capture_output=True)


def test_it_runs_without_any_extra(installed: Path, tmp_path: Path) -> None:
    """sqlite is Python's own; the engines that aren't here are named, and how to install them is told."""
    command = [installed / "dbbench", "suite", "invoices", "--scale", "0.02", "--quick", "--out", "run"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "unavailable (see `dbbench engines`): access, chdb, derby, duckdb, " in done.stdout
    listed = subprocess.run([installed / "dbbench", "engines", "duckdb"], capture_output=True, text=True, check=False)
    assert "the Python module duckdb is missing" in listed.stdout
    assert "install: pip install 'duckdb>=1.5'" in listed.stdout
    assert (tmp_path / "run" / "report" / "invoices-overview.png").is_file()


def test_drivers_are_installed_without_their_package(installed: Path) -> None:
    command = [installed / "dbbench", "engines", "install", "--print", "duckdb", "postgresql+orm"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    python = os.path.realpath(installed) + "/python"
    assert "apt-get install -y --no-install-recommends postgresql\n" in printed
    assert f"{python} -P -m pip install 'duckdb>=1.5' 'psycopg[binary]>=3.3' 'sqlalchemy>=2.0.14'" in printed


def test_a_plugin_of_a_package_of_its_own_appears(installed: Path, tmp_path: Path) -> None:
    install(built(PROJECT / "examples" / "dbbench-sqlcipher", tmp_path), installed)
    listed = subprocess.run([installed / "dbbench", "engines", "sqlcipher"], capture_output=True, text=True, check=True)
    assert "sqlcipher  available  SQLCipher 4" in listed.stdout
    asked = ("suite", "invoices", "-e", "sqlcipher", "--scale", "0.02", "--quick", "--format", "csv", "--out", "run")
    done = subprocess.run([installed / "dbbench", *asked], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "sqlcipher" in (tmp_path / "run" / "summary.csv").read_text()
