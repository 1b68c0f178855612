"""A finished run of a small suite on SQLite, for each test to spoil, and the command line in this process."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from dbbench.cli import main
from dbbench.run.begin import new_run as new_run_of
from dbbench.run.request import Request
from dbbench.run.runner import run_trials
from tests.conftest import TESTS

Ask = Callable[..., Result]
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
    path = tmp_path_factory.mktemp("finished") / "run"
    request = Request(str(TESTS / "unit" / "small.yaml"), engines=["sqlite"], rounds=2, out=path)
    ready = new_run_of(request)
    run_trials(ready)
    return path


@pytest.fixture(scope="session")
def new_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of the suite of new kinds, to read."""
    path = tmp_path_factory.mktemp("finished") / "new"
    run_trials(new_run_of(Request(str(NEW_KINDS), engines=[*ENGINES], rounds=1, out=path)))
    return path


@pytest.fixture
def run(_finished: Path, tmp_path: Path) -> Path:
    """The run, whole; tmp_path / "elsewhere" is a folder with something in it."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "mine").write_text("mine")
    return Path(shutil.copytree(_finished, tmp_path / "run"))


@pytest.fixture
def ask() -> Ask:
    """Runs `dbbench ...` in this process. The status is 0, 1 or 2, and anything else than an exit is a failure."""

    def asked(*arguments: object) -> Result:
        found = CliRunner().invoke(main, [str(argument) for argument in arguments])
        if found.exception is not None and not isinstance(found.exception, SystemExit):
            raise found.exception
        assert found.exit_code in (0, 1, 2), found.output
        assert "Traceback" not in found.output
        return found

    return asked
