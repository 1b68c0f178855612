"""A finished run of a small suite on SQLite, for each test to spoil, and the command line in this process."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from dbbench.cli import main
from dbbench.run.begin import new_run
from dbbench.run.request import Request
from dbbench.run.runner import run_trials
from tests.conftest import TESTS

Ask = Callable[..., Result]


@pytest.fixture(scope="session")
def _finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("finished") / "run"
    request = Request(str(TESTS / "unit" / "small.yaml"), engines=["sqlite"], rounds=2, out=path)
    ready = new_run(request)
    run_trials(ready)
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
