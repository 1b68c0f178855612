"""What all tests share: datasets in a cache of their own, and the command line in a process."""

import contextlib
import csv
import gc
import io
import os
import signal
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from tests.plugins import faulty
from tests.selection import Selection
from tests.sharing import Sharing, together

TESTS = Path(__file__).parent


def pytest_sessionstart(session: pytest.Session) -> None:
    """An editable install keeps the entry points of the day it was made; with old ones engines would seem broken."""
    declared = tomllib.loads((TESTS.parent / "pyproject.toml").read_text("utf-8"))["project"]["entry-points"]
    installed = metadata.distribution("dbbench").entry_points
    for group, points in declared.items():
        if points != {point.name: point.value for point in installed.select(group=group)}:
            pytest.exit(f"the entry points {group} of pyproject.toml are not installed: pip install -e . again", 2)


def pytest_collection_finish() -> None:
    """Have garbage collected among what a test makes: each step of a trial has it done, and there are 10,000 tests."""
    gc.collect()
    gc.freeze()


def pytest_sessionfinish() -> None:
    """Let libraries count what is left of them."""
    gc.unfreeze()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--drawn", type=float, default=0.02, help="How much of the random input of tests/attack to draw.")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Selection())
    config.pluginmanager.register(Sharing())


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files that stay in one process first, since they are the longest; Mono last, else in the order they were in.

    A Java machine that starts in a process with Mono in it may crash.
    """
    points = metadata.entry_points(group="dbbench.engines")
    mono = {
        point.name for point in points if point.value.startswith(("dbbench_plugins.dotnet.", "dbbench_plugins.ado."))
    }

    def place(item: pytest.Item) -> tuple[bool, bool]:
        runs_mono = (
            item.path.name in ("test_dotnet.py", "test_ado.py")
            or getattr(getattr(item, "cls", None), "engine", None) in mono
            or (item.path.name == "test_mutants.py" and "ado" in item.name)
        )
        return runs_mono, "::" in together(item.nodeid)

    items.sort(key=place)


@pytest.fixture(scope="session", autouse=True)
def _cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """One cache for all processes of the test session, and for those that they start.

    And for each of xdist's workers a folder of crash checks, and one for what it makes for itself until its end, since a
    worker that takes long to end is killed.
    """
    from dbbench.testing.contract import of_all_workers

    cache = of_all_workers(tmp_path_factory) / "cache"
    cache.mkdir(mode=0o700, exist_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tempfile, "tempdir", str(tmp_path_factory.mktemp("temporary")))
        patch.setenv("DBBENCH_CACHE", str(cache))
        patch.setenv("DBBENCH_DATA", str(tmp_path_factory.mktemp("data")))
        # Tests start thousands of Pythons: without the threads of numpy's BLAS and pydantic's search for plugins each
        # takes a tenth less time to begin.
        patch.setenv("OPENBLAS_NUM_THREADS", "1")
        patch.setenv("PYDANTIC_DISABLE_PLUGINS", "__all__")
        # Nor do they run Java for long enough to pay for its second compiler, and threads that collect garbage.
        patch.setenv("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
        if os.environ.get("PYTHONDONTWRITEBYTECODE"):  # each process of a test would compile all that it imports
            patch.delenv("PYTHONDONTWRITEBYTECODE")
            patch.setenv("PYTHONPYCACHEPREFIX", str(tmp_path_factory.mktemp("bytecode")))
        yield


@pytest.fixture(scope="session", autouse=True)
def _interruptible() -> None:
    """What a script starts in the background ignores Ctrl-C, and so would all that tests start."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def _shared_processes() -> Iterator[None]:
    from tests.shared_processes import engines_seen_once, shared_supervisors

    with shared_supervisors(), engines_seen_once():
        yield


Dbbench = Callable[..., subprocess.CompletedProcess[str]]
#: Opens an engine: the fixture `opened`.
Opened = Callable[..., Any]


@pytest.fixture
def dbbench(tmp_path: Path) -> Dbbench:
    """Runs `dbbench ...` in tmp_path."""
    return partial(run_dbbench, tmp_path)


@pytest.fixture
def dbbench_here(tmp_path: Path) -> Dbbench:
    """Runs `dbbench ...` in this process, in tmp_path or `folder`."""

    def run(*arguments: str, folder: Path = tmp_path, **how: Any) -> subprocess.CompletedProcess[str]:
        return run_here(folder, *arguments, **how)

    return run


def run_dbbench(
    folder: Path,
    *arguments: str,
    plugins: tuple[str, ...] = (),
    timeout: float = 1200,
    status: int | None = None,
    **variables: str,
) -> subprocess.CompletedProcess[str]:
    """Run `dbbench ...` in a folder; `plugins` are `faulty`, for the engines of tests/faulty, or folders.

    `status` is the exit status that it must have.
    """
    done = subprocess.run(
        [sys.executable, "-m", "dbbench", *arguments],
        cwd=folder,
        env=environment(*plugins, **variables),
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    assert status in (None, done.returncode), f"status {done.returncode}: {done.stdout}{done.stderr}"
    return done


def run_here(
    folder: Path, *arguments: str, plugins: tuple[str, ...] = (), status: int | None = None, **variables: str
) -> subprocess.CompletedProcess[str]:
    """`run_dbbench` in this process: the start of another takes longer than much of what it is asked."""
    from dbbench.cli import main

    out, error = io.StringIO(), io.StringIO()
    handler = signal.getsignal(signal.SIGTERM)
    try:
        with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
            patch.chdir(folder)
            for place in folders_of(plugins):
                patch.syspath_prepend(place)
            for name, value in environment(*plugins, **variables).items():
                patch.setenv(name, value)
            with pytest.raises(SystemExit) as ended:
                main(arguments, prog_name="dbbench")
    finally:
        signal.signal(signal.SIGTERM, handler)
    done = subprocess.CompletedProcess(arguments, ended.value.code or 0, out.getvalue(), error.getvalue())
    assert status in (None, done.returncode), f"status {done.returncode}: {done.stdout}{done.stderr}"
    return done


def run_suite(
    folder: Path, suite: str, engines: Iterable[str], *more: str, status: int | None = 1, **variables: str
) -> Path:
    """Run a suite, by its name or its text, on some engines, faulty ones among them; the run directory.

    One round, and tables alone, unless `more` says otherwise.
    """
    if "\n" in suite:
        (folder / "suite.yaml").write_text(suite, "utf-8")
        suite = "suite.yaml"
    chosen = [word for name in engines for word in ("--engine", name)]
    once = () if {"--quick", "--rounds"} & {*more} else ("--rounds", "1")
    forms = () if "--format" in more else ("--format", "csv")
    words = (suite, *chosen, *once, *forms, *more, "--out", "run")
    run_here(folder, "suite", *words, plugins=("faulty",), status=status, **variables)
    return folder / "run"


@contextlib.contextmanager
def started(
    folder: Path, *arguments: str, plugins: tuple[str, ...] = (), **variables: str
) -> Iterator[subprocess.Popen[bytes]]:
    """`dbbench ...` at work in a folder; at the end it is killed.

    It has a session of its own: as from a terminal, only dbbench gets a signal by its number. Its temporary files have
    a folder of their own.
    """
    temporary = folder / "temporary"
    temporary.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "dbbench", *arguments],
        cwd=folder,
        env=environment(*plugins, TMPDIR=str(temporary), **variables),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def environment(*plugins: str, **variables: str) -> dict[str, str]:
    """The environment with some plugins in it."""
    folders = [*folders_of(plugins), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, folders)), **variables}


def folders_of(plugins: Iterable[str]) -> list[str]:
    """Where plugins are: each is `faulty`, for the engines of tests/faulty, or a folder."""
    return [str(faulty()) if name == "faulty" else name for name in plugins]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Opened]:
    """Opens an engine, by its name or its class, in tmp_path or `folder`; at the end its sessions are closed, then it."""
    from dbbench.engine import Setup, Shares, Tier
    from dbbench.testing.contract import usable

    with contextlib.ExitStack() as closing:

        def open_engine(
            kind: Any,
            tier: Tier = Tier.PROCESS,
            url: str = "",
            folder: Path = tmp_path,
            shares: Shares | None = None,
            **options: Any,
        ) -> Any:
            folder.mkdir(exist_ok=True)
            engine_class = usable(kind) if isinstance(kind, str) else kind
            engine = engine_class(Setup(folder, tier, options, url, shares or Shares()))
            engine.open()
            closing.callback(engine.close)
            connect = engine.connect

            def connected() -> Any:
                session = connect()
                session.close = cache(session.close)  # a test may close it before
                closing.callback(session.close)
                return session

            engine.connect = connected
            return engine

        yield open_engine


@pytest.fixture
def faulty_engines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Installs the engines of tests/faulty for this process and those that it starts."""
    monkeypatch.syspath_prepend(str(faulty()))
    monkeypatch.setenv("PYTHONPATH", environment("faulty")["PYTHONPATH"])


@contextlib.contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path]:
    """A file system of some size in memory, mounted in a folder; skips the test where it can't be."""
    disk = folder / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", disk], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"a small file system can't be mounted here: {mounted.stderr.decode().strip()}")
    try:
        yield disk
    finally:
        subprocess.run(["umount", "--lazy", disk], check=True)  # an engine that failed may have files open


Rows = dict[tuple[str, str], dict[str, str]]


def everything_written(folder: Path) -> str:
    """What all files of a folder hold, as text."""
    return "".join(path.read_bytes().decode("utf-8", "replace") for path in folder.rglob("*") if path.is_file())


#: How remarks begin that any engine may have where the machine is busy.
_BY_CHANCE = ("its first calls took ", "prepared in ")


def summary(run: Path) -> Rows:
    """summary.csv by (step, engine), without the remarks that are by chance."""
    with open(run / "summary.csv", encoding="utf-8") as file:
        rows = [
            row
            for row in csv.DictReader(file)
            if row["metric"] in ("time", "size", "data size", "throughput", "latency", "highest rate", "")
        ]
    for row in rows:
        row["detail"] = "; ".join(part for part in row["detail"].split("; ") if not part.startswith(_BY_CHANCE))
    return {(row["step"], row["engine"]): row for row in rows}
