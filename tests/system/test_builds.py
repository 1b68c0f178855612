"""Builds that the user names with --from: built once, run beside each other, and refused in a line where they can't be had."""

import hashlib
import json
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from dbbench.engine import builds
from dbbench.errors import Unavailable
from dbbench.testing.contract import usable
from dbbench_plugins.jdbc import jars
from tests.conftest import TESTS, Dbbench, summary
from tests.wheels import offline, source_folder, wheel

pytestmark = pytest.mark.matrix  # pip builds and installs

SMALL = str(TESTS / "unit" / "small.yaml")
ENGINE = "sqlite+apsw"


@pytest.fixture
def driver(tmp_path: Path) -> Path:
    """A repository of a driver, whose wheel is the driver that is installed here."""
    apsw = pytest.importorskip("apsw")
    folder = source_folder(tmp_path / "driver", Path(apsw.__file__).parent, "99.1")
    for words in (["init", "-q"], ["add", "."], ["-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "one"]):
        subprocess.run(["git", *words], cwd=folder, check=True)
    return folder


def test_head_and_base_are_built_once_and_named_by_what_they_are(
    tmp_path: Path, driver: Path, dbbench_here: Dbbench
) -> None:
    variables = offline(tmp_path) | {"DBBENCH_CACHE": str(tmp_path / "cache")}
    base = f"git+file://{driver}@HEAD"
    (driver / "apsw" / "more.py").write_text("changed = True\n")
    chosen = ["--from", f"{ENGINE}@head={driver}", "--from", f"{ENGINE}@base={base}"]
    words = [SMALL, *chosen, "--scale", "0.01", "--format", "csv"]
    dbbench_here("suite", *words, "--rounds", "1", "--out", "r", **variables, status=0)
    found = json.loads((tmp_path / "r" / "run.json").read_text())
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=driver, capture_output=True, text=True, check=True).stdout
    built = {name: found["engines"][f"{ENGINE}@{name}"]["versions"]["built from"] for name in ("head", "base")}
    assert built["base"] == f"commit {commit[:12]} of driver"
    assert built["head"].startswith(f"folder driver at {commit[:12]}, changed, sha256 ")
    assert {row["outcome"] for row in summary(tmp_path / "r").values()} == {"ok"}
    kept = sorted((tmp_path / "cache" / "environments").glob("apsw-built-*/environment.json"))
    assert len(kept) == 2
    times = [path.stat().st_mtime_ns for path in kept]
    dbbench_here("suite", "--resume", "r", "--rounds", "2", "--format", "csv", **variables, status=0)
    assert [path.stat().st_mtime_ns for path in kept] == times
    shutil.rmtree(kept[0].parent)
    gone = dbbench_here("suite", "--resume", "r", "--rounds", "3", **variables, status=2)
    assert "its build is in the cache no more; start a new run with --from" in " ".join(gone.stderr.split())


@pytest.mark.parametrize("revision", ["", "@HEAD", "@HEAD@{0}"])
def test_a_folder_of_a_commit_may_have_an_at_in_its_name(driver: Path, revision: str) -> None:
    folder = driver.rename(driver.with_name("driver@2"))
    assert builds.source(f"git+file://{folder}{revision}").words.endswith(" of driver@2")


def test_what_can_t_be_built_is_refused_in_a_line(tmp_path: Path, driver: Path, dbbench_here: Dbbench) -> None:
    other = wheel(tmp_path, "apsw", "3.98.0", "")
    other = other.rename(tmp_path / "apsw-3.98.0-cp27-cp27m-win32.whl")
    named = wheel(tmp_path, "psycopg", "3.98.0", "")
    (tmp_path / "plain").mkdir()
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "pyproject.toml").write_text(
        '[build-system]\nrequires = []\nbuild-backend = "gone"\nbackend-path = ["."]\n'
    )
    for given, said in (
        (f"{ENGINE}={other}", "is not ENGINE@LABEL=WHAT"),
        (f"{ENGINE}@head={tmp_path / 'nowhere'}", "there is no"),
        (f"{ENGINE}@head=https://example.org/apsw.whl", "fetches nothing"),
        (f"{ENGINE}@head=git+file://{tmp_path / 'plain'}", "is no git repository"),
        (f"{ENGINE}@head=git+file://{driver}@HEAD#subdirectory=python", "of driver has no folder python"),
        (f"{ENGINE}@head={tmp_path / 'plain'}", "is no wheel, sdist or folder with a pyproject.toml"),
        (f"{ENGINE}@head={named}", "is not the package apsw (it has psycopg)"),
        (f"{ENGINE}@head={other}", "cp27"),
        (f"{ENGINE}@head={broken}", "pip wheel --no-deps shows all that the build prints"),
    ):
        variables = offline(tmp_path) | {"DBBENCH_CACHE": str(tmp_path / "cache")}
        done = dbbench_here("suite", SMALL, "--from", given, "--quick", "--out", "r", **variables, status=2)
        assert said in " ".join(done.stderr.split()), (given, done.stderr)
        assert "Traceback" not in done.stdout + done.stderr
        assert not (tmp_path / "r").exists()


def test_a_folder_that_changes_while_it_is_read_is_not_built(tmp_path: Path) -> None:
    folder = tmp_path / "driver"
    (folder / "apsw").mkdir(parents=True)
    (folder / "apsw" / "__init__.py").write_text("")
    (folder / "pyproject.toml").write_text("")
    (folder / "build").mkdir()
    (folder / "build" / "left.o").write_text("what a build leaves is none of the source")
    (folder / "LICENSE").symlink_to("../LICENSE")
    (tmp_path / "LICENSE").write_text("free")
    (folder / "apsw" / "build").mkdir()
    (folder / "apsw" / "build" / "__init__.py").write_text("")
    source = builds.source(str(folder))
    assert source.copied
    copy = source.copied(tmp_path / "one")
    assert (copy / "LICENSE").read_text() == "free"
    assert (copy / "apsw" / "build" / "__init__.py").is_file()
    assert not (copy / "build").exists()
    (folder / "apsw" / "__init__.py").write_text("changed = True")
    with pytest.raises(Unavailable, match="changed while it was read"):
        source.copied(tmp_path / "two")


def test_a_program_is_an_option_of_its_engine(tmp_path: Path, dbbench_here: Dbbench) -> None:
    library = tmp_path / "libsqlite3.so"
    library.write_bytes(b"not a library")
    dbbench_here(
        "suite", SMALL, "-e", "sqlite", "--from", f"sqlite+library@head={library}", "--quick", "--out", "r",
        "--format", "csv", status=1,
    )  # fmt: skip
    found = json.loads((tmp_path / "r" / "run.json").read_text())
    assert found["options"]["sqlite+library@head"] == {"library": str(library)}
    assert found["engines"]["sqlite+library@head"]["versions"]["built from"].startswith("libsqlite3.so, sha256 ")


def test_two_jars_of_a_database_run_beside_each_other(tmp_path: Path, dbbench_here: Dbbench) -> None:
    usable("hsqldb")
    pinned, *_ = jars.find("hsqldb")
    head = shutil.copy(pinned, tmp_path / "hsqldb-head.jar")
    with zipfile.ZipFile(head, "a") as jar:
        jar.writestr("changed", "by its author")
    (tmp_path / "broken.jar").write_bytes(b"no jar")
    chosen = ["--from", f"hsqldb@head={head}", "--from", f"hsqldb@base={pinned}"]
    words = ["--scale", "0.01", "--rounds", "1", "--format", "csv,html", "--out", "r"]
    dbbench_here("suite", SMALL, *chosen, *words, status=0)
    assert {row["outcome"] for row in summary(tmp_path / "r").values()} == {"ok"}
    found = json.loads((tmp_path / "r" / "run.json").read_text())
    page = (tmp_path / "r" / "report" / "index.html").read_text("utf-8")
    for name, path in (("head", Path(head)), ("base", pinned)):
        digest = hashlib.sha256(path.read_bytes()).hexdigest()[:12]
        assert found["engines"][f"hsqldb@{name}"]["versions"]["built from"] == f"{path.name}, sha256 {digest}"
        assert f"built from {path.name}, sha256 {digest}" in page
        assert "HSQLDB" not in found["engines"][f"hsqldb@{name}"]["versions"]  # the trial says what it opened
    assert "HSQLDB 2.7.4" in page
    broken = ["--from", f"hsqldb@head={tmp_path / 'broken.jar'}", "--quick", "--out", "b"]
    done = dbbench_here("suite", SMALL, *broken, status=2)
    assert "broken.jar is no jar with a JDBC driver" in " ".join(done.stderr.split())


@pytest.fixture
def readable() -> Iterator[Path]:
    """A folder that the user as whom a root's servers run can read, which pytest's own aren't."""
    with tempfile.TemporaryDirectory(dir="/tmp") as made:
        Path(made).chmod(0o755)
        yield Path(made)


def test_a_second_folder_of_programs_runs_beside_the_first(
    tmp_path: Path, readable: Path, dbbench_here: Dbbench
) -> None:
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))
    if not installed:
        pytest.skip("the programs initdb and postgres are missing")
    base = installed[-1].parent
    head = readable / "lib" / "postgresql" / "head"  # where the programs look for what they share, seen from theirs
    shutil.copytree(base.parent, head, symlinks=True)
    chosen = ["--from", f"postgresql@head={head / 'bin'}", "--from", f"postgresql@base={base}"]
    done = dbbench_here("suite", SMALL, *chosen, "--rounds", "1", "--format", "csv,html", "--out", "r", status=0)
    assert {row["outcome"] for row in summary(tmp_path / "r").values()} == {"ok"}
    found = json.loads((tmp_path / "r" / "run.json").read_text())
    assert found["options"]["postgresql@head"] == {"bin": str(head / "bin")}
    page = (tmp_path / "r" / "report" / "index.html").read_text("utf-8")
    for name, folder in (("head", "head/bin"), ("base", f"{base.parent.name}/bin")):
        words = found["engines"][f"postgresql@{name}"]["versions"]["built from"]
        assert words.startswith(f"folder {folder}, sha256 ")
        assert f"built from {words}" in page
    alike = (
        "postgresql@base and postgresql@head have the same versions and settings: what differs between them is noise"
    )
    assert alike in " ".join(done.stdout.split())
