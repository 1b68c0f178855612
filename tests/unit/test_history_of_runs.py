"""`dbbench history` on six run directories, in one of whose engines a new release is slower."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Dbbench
from tests.fabricated import Fake, fabricate

TIMED = ("bulk-insert", "join-1", "join-2", "insert-1", "scan-1", "scan-2", "scan-3")
#: How far each run as a whole is off, as runs are.
DAYS = (1.0, 1.021, 0.984, 1.012, 0.991, 1.006)
#: From this run on the release is another one, and half as slow again.
SLOWER_FROM = 4


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder, paths = tmp_path_factory.mktemp("runs"), []
    for day, level in enumerate(DAYS, 1):
        late = day >= SLOWER_FROM
        fakes = {
            "slowed": Fake(
                "Slowed", level * (1.5 if late else 1.0), told={"versions": {"A": "1.5" if late else "1.4"}}
            ),
            "steady": Fake("Steady", 1.2 / level),
        }
        run = fabricate(folder / f"r{day}", fakes, rounds=3, day=day)
        paths.append(str(run.path))
    return paths


def test_the_engine_that_was_slowed_is_marked_and_no_other(
    runs: list[str], tmp_path: Path, dbbench_here: Dbbench
) -> None:
    done = dbbench_here("history", *reversed(runs), "--out", "out", status=0)
    assert "7 of 16 steps of engines changed over 6 runs, 7 for the worse" in done.stdout
    assert done.stdout.count("×1.50 slower  from run 4 (2026-11-04)") == len(TIMED)
    assert "differs: slowed: A: 1.4 -> 1.5" in done.stdout
    assert "Steady" not in done.stdout
    document = (tmp_path / "out" / "history.json").read_text("utf-8")
    assert dbbench_here("history", *runs, "--json").stdout == document
    series = json.loads(document)["series"]
    changes = {(one["engine"], one["step"]): [change["run"] for change in one["changes"]] for one in series}
    assert changes == {
        **{("slowed", step): [SLOWER_FROM] for step in TIMED},
        **{("steady", step): [] for step in TIMED},
        **{(engine, "database-size"): [] for engine in ("slowed", "steady")},
    }
    colours = set()
    for step in TIMED:
        drawn = (tmp_path / "out" / f"invoices-{step}.svg").read_text("utf-8")
        assert "medians with the minimum and maximum of the rounds" in drawn
        label = re.search(r"<text[^>]*style=\"([^\"]*)\"[^>]*>Steady</text>", drawn)
        assert label
        colours.add(label[1])
    assert len(colours) == 1  # whatever its place in a step


def test_before_a_fourth_run_nothing_is_said_of_changes(runs: list[str], dbbench_here: Dbbench) -> None:
    assert "no change can be seen in fewer than 4 runs" in dbbench_here("history", *runs[:3], status=0).stdout


def test_cpu_time_shows_what_a_busy_machine_hides(tmp_path: Path, dbbench_here: Dbbench) -> None:
    paths = []
    for day, load in enumerate((1.0, 4.0, 1.5, 6.0, 2.0, 3.0), 1):

        def cost(result: dict[str, Any], slow: float = 1.5 if day >= SLOWER_FROM else 1.0) -> None:
            for step in result["steps"]:
                if step.get("unit") == "s":
                    step["usage"] = {"cpu": 0.01 * slow * (1 + 0.001 * result["round"])}

        run = fabricate(tmp_path / f"r{day}", {"slowed": Fake("Slowed", load)}, rounds=3, change=cost, day=day)
        paths.append(str(run.path))
    by_clock = dbbench_here("history", *paths)
    assert "no change in 8 steps of engines over 6 runs" in by_clock.stdout
    out = tmp_path / "out"
    by_cpu = dbbench_here("history", *paths, "--metric", "cpu", "--out", "out")
    assert by_cpu.stdout.count("×1.50 slower  from run 4 (2026-11-04)") == len(TIMED), by_cpu.stdout
    assert "Times are CPU time of the calls" in by_cpu.stdout
    assert "ms of CPU time, less is better" in (out / "invoices-join-1.svg").read_text("utf-8")
    assert json.loads((out / "history.json").read_text("utf-8"))["metric"] == "cpu"


def test_a_run_without_cpu_time_has_no_history_of_it(runs: list[str], dbbench_here: Dbbench) -> None:
    done = dbbench_here("history", *runs, "--metric", "cpu", status=2)
    assert "keeps no CPU time" in done.stderr
