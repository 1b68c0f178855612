"""A finished run of a small suite on SQLite, for each test to spoil, and the command line in this process."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from dbbench.host import atomic_json, interference
from dbbench.results.facts import ALL_THERE
from dbbench.runs.begin import new_run as new_run_of
from dbbench.runs.request import Request
from dbbench.runs.runner import run_trials
from tests.conftest import TESTS, run_here
from tests.trials_here import trials_here

Ask = Callable[..., subprocess.CompletedProcess[str]]
#: A suite of vectors, texts and documents.
NEW_KINDS = Path(__file__).with_name("new_kinds.yaml")
#: The engines that its scenarios run on.
ENGINES = ("sqlite", "sqlite+vec")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test marked `drawn(n)` is run for `--drawn` of n seeds."""
    if mark := metafunc.definition.get_closest_marker("drawn"):
        share = metafunc.config.getoption("drawn")
        metafunc.parametrize("seed", range(max(1, round(share * mark.args[0]))))


@pytest.fixture(scope="session")
def _finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    suite = str(TESTS / "unit" / "small.yaml")
    return finished(Request(suite, engines=["sqlite"], rounds=2, out=tmp_path_factory.mktemp("finished") / "run"))


@pytest.fixture(scope="session")
def new_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of the suite of new kinds, to read."""
    path = tmp_path_factory.mktemp("finished") / "new"
    return finished(Request(str(NEW_KINDS), engines=[*ENGINES], rounds=1, out=path))


def finished(request: Request) -> Path:
    """A run by this process, with what only a supervisor tells of trials: what disturbed them, and a checked copy."""
    ready, before = new_run_of(request), interference.reading()
    with trials_here():
        run_trials(ready)
    noise = interference.between(before, interference.reading()) | {"loadavg": interference.loadavg()}
    for path in ready.run.path.glob("trials/*/result.json"):
        result = atomic_json.read(path)
        result["noise"] = noise
        result["steps"][0]["facts"] |= {"copy": ALL_THERE}
        atomic_json.write(path, result)
    return ready.run.path


@pytest.fixture
def run(_finished: Path, tmp_path: Path) -> Path:
    """The run, whole; tmp_path / "elsewhere" is a folder with something in it."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "mine").write_text("mine")
    return Path(shutil.copytree(_finished, tmp_path / "run"))


@pytest.fixture
def ask() -> Ask:
    """Runs `dbbench ...` in this process and folder. The status is 0, 1 or 2, and stdout is all that was said."""

    def asked(*arguments: object) -> subprocess.CompletedProcess[str]:
        found = run_here(Path(), *map(str, arguments))
        found.stdout.encode()  # what has no bytes would end the printing
        found.stdout += found.stderr
        assert found.returncode in (0, 1, 2), found.stdout
        assert "Traceback" not in found.stdout
        return found

    return asked
