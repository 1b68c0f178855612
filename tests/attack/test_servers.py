"""What a private server, a driver and anybody else on the machine may see of a trial."""

import json
import os
import resource
import stat
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from unittest.mock import Mock

import psutil
import pytest

from dbbench.engine import registry
from dbbench.engine.base import Setup
from dbbench.engine.private_server import PrivateServer
from dbbench.engine.sql.session import fetch
from dbbench.errors import ServerFailed
from dbbench.runs.child_output import PART, Output
from dbbench.suite.model import Tier
from dbbench.testing.contract import usable
from tests.attack.test_leftovers import TWICE
from tests.conftest import Dbbench, Opened, started
from tests.waiting import of_run, until

pytestmark = pytest.mark.matrix

SECRET = "geheim-4711"


def test_a_server_has_little_of_our_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_URL", f"postgresql://me:{SECRET}@h/d")
    monkeypatch.setenv("DBBENCH_URL", f"postgresql://me:{SECRET}@h/d")
    server = PrivateServer("sleep", tmp_path)
    server.start(["sleep", "60"], lambda: None)
    try:
        assert server.process is not None
        assert until(lambda: psutil.Process(server.process.pid).name() == "sleep")
        found = psutil.Process(server.process.pid).environ()
    finally:
        server.stop()
    assert found.keys() <= {"PATH", "LD_LIBRARY_PATH", "HOME", "TMPDIR", "TZ", "LC_ALL"}
    assert found["LC_ALL"] == "C"


def test_a_server_that_is_never_ready_is_told_with_its_words(tmp_path: Path) -> None:
    words = ["sh", "-c", "echo ERROR: busy; exec sleep 60"]
    with pytest.raises(ServerFailed, match=r"wasn't ready after 1 s: nobody listens: ERROR: busy"):
        PrivateServer("sleep", tmp_path).start(words, Mock(side_effect=OSError("nobody listens")), 1)


def test_no_private_server_is_reached_by_way_of_the_environment(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PGHOSTADDR would win over the socket that dbbench names."""
    elsewhere = {"PGHOSTADDR": "127.0.0.1", "PGPORT": "9", "PGOPTIONS": "-c no_such=1", "PGSERVICE": "nowhere"}
    for name, value in elsewhere.items():
        monkeypatch.setenv(name, value)
    assert fetch(opened("postgresql", Tier.POWER).connect(), "SELECT 1") == [(1,)]


@pytest.mark.parametrize("name", ["postgresql+tcp", "mysql+tcp"])
def test_a_second_server_is_a_copy_without_a_secret(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usable(name)
    monkeypatch.setenv("DBBENCH_CACHE", str(tmp_path / "cache"))
    ran: list[str] = []
    run = PrivateServer.run

    def counted(server: PrivateServer, command: Sequence[str], seconds: float = 120) -> None:
        ran.append(" ".join(command))
        run(server, command, seconds)

    monkeypatch.setattr(PrivateServer, "run", counted)
    settings, passwords = [], []
    for trial in ("first", "second", "third"):
        (tmp_path / trial).mkdir()
        engine = registry.load(name)(Setup(tmp_path / trial, Tier.POWER))
        engine.open()
        try:
            settings.append(engine.settings())
            engine.connect().close()
        finally:
            engine.close()
        passwords.append(json.loads((tmp_path / trial / "loopback.json").read_text())["password"])
    assert sum("initdb" in command or "install-db" in command for command in ran) == 1
    assert settings[0] == settings[1] == settings[2]
    kept = [path for path in (tmp_path / "cache" / "servers").rglob("*") if path.is_file()]
    assert len(kept) > 100
    assert len(set(passwords)) == 3
    assert not [path for path in kept for password in passwords if password.encode() in path.read_bytes()]
    assert not [path for path in kept if path.suffix in {".pem", ".key"}]


def test_what_a_trial_writes_is_its_users_until_it_is_cleared(tmp_path: Path) -> None:
    """And no process of it leaves its memory in a file."""
    (tmp_path / "suite.yaml").write_text(TWICE, "utf-8")
    words = ("suite", "suite.yaml", "-e", "faulty-hangs", "--trial-timeout", "30", "--quick", "--format", "csv")
    with started(tmp_path, *words, "--out", "run", plugins=("faulty",)) as process:
        assert until(lambda: list(tmp_path.glob("run/trials/*hangs/work/data/*")))
        worker, *_ = of_run(tmp_path, "dbbench.runs.worker")  # the next may check a copy
        (folder,) = tmp_path.glob("run/trials/*hangs")
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert resource.prlimit(worker.pid, resource.RLIMIT_CORE) == (0, 0)
        process.communicate(timeout=200)
    mask = os.umask(0o077)
    os.umask(mask)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o777 & ~mask


def test_of_a_flood_the_first_and_the_last_are_kept(tmp_path: Path) -> None:
    output = Output(tmp_path / "stdout.txt")
    output.take()
    flood = "import sys; sys.stdout.write('first\\n' + 'm' * 100_000_000 + '\\nlast\\n')"
    subprocess.run([sys.executable, "-c", flood], stdout=output.writer, check=True)
    output.finish([])
    text = (tmp_path / "stdout.txt").read_text("utf-8")
    assert text.startswith("first\n")
    assert text.endswith("\nlast\n")
    assert "bytes were left out here" in text
    assert len(text) < 2 * PART + 100


@pytest.mark.parametrize("shift", range(0, len(SECRET) + 1, 3))
@pytest.mark.parametrize("size", [100, 2 * PART, 5 * PART])
def test_no_secret_stays_where_output_is_cut(tmp_path: Path, shift: int, size: int) -> None:
    output = Output(tmp_path / "stdout.txt")
    output.take()
    text = "x" * shift + SECRET * (size // len(SECRET)) + "y" * shift
    with os.fdopen(os.dup(output.writer), "w") as file:
        file.write(text)
    output.finish([SECRET])
    left = (tmp_path / "stdout.txt").read_text("utf-8")
    parts = [part.strip("xy") for part in left.split("***")]
    assert [part for part in parts if part and "left out" not in part] == []
    assert not any(SECRET[:4] in part or SECRET[-4:] in part for part in parts)


def test_a_full_disk_costs_the_last_part_of_an_output_and_no_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, *_: object) -> None:
        path.open("w").close()
        raise OSError(28, "No space left on device")

    output = Output(tmp_path / "stdout.txt")
    output.take()
    os.write(output.writer, SECRET.encode())
    monkeypatch.setattr(Path, "write_text", full)
    output.finish([SECRET])
    assert (tmp_path / "stdout.txt").read_bytes() == b""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a disk that is always full")
def test_a_full_disk_ends_no_child_that_prints(tmp_path: Path) -> None:
    (tmp_path / "stdout.txt").symlink_to("/dev/full")
    output = Output(tmp_path / "stdout.txt")
    output.take()
    flood = "import sys; sys.stdout.write('m' * 1_000_000)"
    done = subprocess.run([sys.executable, "-c", flood], stdout=output.writer, check=False)
    output.finish([])
    assert done.returncode == 0


def test_a_child_that_floods_its_output_fills_no_disk(tmp_path: Path, dbbench_here: Dbbench) -> None:
    """A trial of an engine that prints and dies: its last words are told, its file is small."""
    (tmp_path / "suite.yaml").write_text(TWICE, "utf-8")
    words = ("suite", "suite.yaml", "-e", "faulty-exits", "--quick", "--format", "csv", "--out", "run")
    done = dbbench_here(*words, plugins=("faulty",), FAULTY_FLOODS="1", status=1)
    assert "the process ended itself with status 3: last words" in done.stdout
    (folder,) = tmp_path.glob("run/trials/*exits")
    assert PART < (folder / "stderr.txt").stat().st_size < 3 * PART
