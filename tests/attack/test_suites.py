"""Suites of a million values, of nothing but unknown keys, without an end: told within seconds, with the first faults."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from tests.attack.conftest import Ask
from tests.conftest import TESTS

SMALL = (TESTS / "unit" / "small.yaml").read_text("utf-8")
#: Seconds on a busy machine; without limits each of these takes many minutes.
LONG = 120


def bomb() -> str:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    return SMALL + "\n".join(lines)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        pytest.param(SMALL + "x: [" + "1, " * 1_000_000 + "]\n", "expected at most 100,000 values", id="values"),
        pytest.param(SMALL + "".join(f"key{n}: 1\n" for n in range(50_000)), "key0: expected one of the keys", id="keys"),
        pytest.param(bomb(), "expected at most 100,000 values in 40 levels", id="aliases"),
        pytest.param(SMALL + "x: &a [*a]\n", "expected at most 100,000 values in 40 levels", id="itself"),
        pytest.param(SMALL + "x: " + "[" * 50_000, "nested too deeply", id="deep"),
        pytest.param(SMALL + "#" * 5 * 2**20, "larger than 4 MiB", id="large"),
        pytest.param(SMALL.replace("title: Small", f"title: {'x' * 100_000}"), "at most 300 characters", id="title"),
        pytest.param(
            SMALL + "".join(f"  - {{name: s{n}, title: S, dataset: things, steps: []}}\n" for n in range(2_000)),
            "2,000 faults, of which these are the first 100", id="scenarios",
        ),
        pytest.param(SMALL.replace("title: Small", 'title: "\\e[2Jgone"'), "expected printable text", id="escape"),
        pytest.param(SMALL.replace("title: Small", 'title: "\\ud800"'), "", id="surrogate"),
        pytest.param(SMALL.replace("name: Main", '"\\e[2J": Main'), "", id="key"),
    ],
)  # fmt: skip
def test_a_monstrous_suite_is_told_within_seconds(text: str, fault: str, ask: Ask, tmp_path: Path) -> None:
    path = tmp_path / "suite.yaml"
    path.write_text(text, "utf-8")
    began = time.monotonic()
    done = ask("check", path)
    assert time.monotonic() - began < LONG
    if "Main" not in text or fault:
        assert done.exit_code == 2
    assert fault in done.output
    assert len(done.output) < 100_000
    assert "\x1b" not in done.output


def test_so_many_faults_are_counted_and_the_first_are_told(ask: Ask, tmp_path: Path) -> None:
    path = tmp_path / "suite.yaml"
    path.write_text(SMALL + "".join(f"key{n}: 1\n" for n in range(5_000)), "utf-8")
    done = ask("check", path)
    lines = done.output.splitlines()
    assert [f": key{n}: expected one of" in line for n, line in enumerate(lines[:100])] == [True] * 100
    assert lines[100:] == ["5,000 faults, of which these are the first 100"]


@pytest.mark.parametrize("kind", ["pipe", "folder", "device"])
def test_a_suite_that_is_no_file_is_told(kind: str, ask: Ask, tmp_path: Path) -> None:
    path = Path("/dev/zero") if kind == "device" else tmp_path / "suite.yaml"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    assert ask("check", path).exit_code == 2
