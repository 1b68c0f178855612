"""Command lines, suites and data files drawn at random end in an answer or a line that says why, never in a traceback.

A sample; `--drawn 1` draws 600 command lines, 500 suites, 250 spoiled runs (`test_damage.py`) and 100 data files.
"""

import random
import shlex
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.attack.conftest import NEW_KINDS, Ask
from tests.attack.drawn import command_line, data_file, suite_text

#: Seconds that no command takes, on a busy machine.
LONG = 300
_ENGINES = ("--engine", "sqlite", "--engine", "sqlite+vec")
_BRIEF = ("--quick", "--trial-timeout", "20", "--format", "csv")


@pytest.fixture(autouse=True)
def _timed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A folder of its own to work in, no network, and an end."""

    def late(*_: object) -> None:
        raise TimeoutError(f"over {LONG} s")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(LONG)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.drawn(600)
def test_no_command_line_ends_in_a_traceback(seed: int, new_run: Path, ask: Ask, tmp_path: Path) -> None:
    chance = random.Random(seed)
    shutil.copytree(new_run, "run")
    shutil.copy(NEW_KINDS, tmp_path)
    Path("sources").mkdir()
    Path("data.csv").write_text("Id,Words\n1,some\n2,\n")
    line = command_line(chance)
    try:
        done = ask(*line)
    except Exception as exc:
        raise AssertionError(f"{shlex.join(line)}: {exc!r}") from exc
    assert done.returncode != 2 or done.stdout, line
    assert "SECRET" not in done.stdout, line


@pytest.mark.drawn(500)
def test_no_suite_ends_in_a_traceback(seed: int, ask: Ask, tmp_path: Path) -> None:
    path = tmp_path / "suite.yaml"
    text = suite_text(random.Random(f"suite {seed}"))
    path.write_text(text, "utf-8", errors="surrogatepass")
    try:
        checked = ask("check", path)
        ask("describe", path)
        if checked.returncode == 0 and "name: new-kinds" in text:
            ask("dataset", path, "--out", "out", "--scale", "0.5")
            if seed % 20 == 19:
                ask("suite", path, *_ENGINES, *_BRIEF)
    except Exception as exc:
        raise AssertionError(f"{exc!r} of\n{text}") from exc


@pytest.mark.drawn(100)
def test_no_data_file_ends_in_a_traceback(seed: int, ask: Ask, tmp_path: Path) -> None:
    path = data_file(tmp_path, random.Random(f"file {seed}"))
    try:
        if ask("import", path.name, "--suite", "suite.yaml").returncode == 0:
            checked = ask("check", "suite.yaml")
            assert checked.returncode == 0, checked.stdout
            ask("dataset", "suite.yaml", "--out", "out")
            if seed % 20 == 19:
                ask("suite", "suite.yaml", *_ENGINES, *_BRIEF)
    except Exception as exc:
        shown = path.read_bytes()[:2_000]
        raise AssertionError(f"{path.name}: {exc!r} of {shown!r}") from exc
