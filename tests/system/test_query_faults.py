"""Engines that lie in some of a query's calls, keep their answers, or save themselves the decoding; beside sqlite."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import run_dbbench, summary

pytestmark = pytest.mark.matrix

#: Engine -> the step that it lies in, and words of what is said of it.
LIES = {
    "faulty-second": ("join-2", "instead of"),
    "faulty-timed": ("join-2", "instead of"),
    "faulty-last": ("join-2", "instead of"),
    "faulty-first": ("join-2", "instead of"),
    "faulty-short": ("join-2", "rows instead of"),
    "faulty-key": ("join-2", "column PKeyShipment: 1 instead of 2"),
    "faulty-keeps": ("join-2", "a row of Invoice was deleted, and the answer is that of before"),
    "faulty-texts": ("join-2", "text in place of decimal, which the engine doesn't declare"),
    "faulty-bytes": ("join-1", "bytes in place of text, which the engine doesn't declare"),
}
#: Those that do nothing wrong -> words of the footnote.
HONEST = {
    "sqlite": "not in the suite's own types: decimal as float",
    "faulty-floats": "not in the suite's own types: decimal as float, integer as float",
    "faulty-declares": "not in the suite's own types: decimal as text, integer as text",
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lies")
    engines = [word for name in (*HONEST, *LIES) for word in ("--engine", name)]
    command = ["suite", "invoices", "--scale", "0.02", "--rounds", "2", "--format", "csv,md", "--out", "run"]
    done = run_dbbench(folder, *command, *engines, plugins=("faulty",))
    assert done.returncode == 1, done.stdout + done.stderr
    return folder / "run"


@pytest.mark.parametrize("engine", LIES)
def test_a_lie_is_wrong_and_has_no_figure(run: Path, engine: str) -> None:
    step, words = LIES[engine]
    row = summary(run)[step, engine]
    assert (row["outcome"], row["value"], row["rank"], row["verified"]) == ("wrong", "", "", "")
    assert words in row["detail"]


@pytest.mark.parametrize("engine", [*HONEST, *LIES])
def test_what_it_does_not_lie_about_stands(run: Path, engine: str) -> None:
    rows = summary(run)
    wrong = {step for (step, name), row in rows.items() if name == engine and row["outcome"] == "wrong"}
    allowed = {"join-1", "join-2", "scan-1", "scan-2", "scan-3"} if engine == "faulty-keeps" else {"join-2"}
    allowed = {"join-1", "scan-1", "scan-2"} if engine == "faulty-bytes" else allowed
    assert wrong == (allowed if engine in LIES else set())
    assert rows["bulk-insert", engine]["outcome"] == rows["insert-1", engine]["outcome"] == "ok"


@pytest.mark.parametrize("engine", HONEST)
def test_another_type_of_the_same_value_is_told_in_a_footnote(run: Path, engine: str) -> None:
    assert summary(run)["join-2", engine]["detail"] == HONEST[engine]
    assert HONEST[engine] in (run / "report" / "index.md").read_text()


def test_rows_are_deleted_and_put_back_in_the_first_round_alone(run: Path) -> None:
    first, second = sorted(run.glob("trials/*-sqlite/result.json"))
    changes = [
        {step["name"]: step["facts"].get("change") for step in json.loads(path.read_text())["steps"] if "facts" in step}
        for path in (first, second)
    ]
    queries = ("join-1", "join-2", "scan-1", "scan-2", "scan-3")
    assert {name: change for name, change in changes[0].items() if change} == dict.fromkeys(queries, "followed")
    assert not any(changes[1].values())
