"""--publish and query plans, as the command line has them."""

import csv
import json
import re
from pathlib import Path

import pytest

from dbbench.results.run_directory import Run
from tests.conftest import TESTS, Dbbench, run_suite
from tests.trials_here import trials_here

TINY = str(TESTS.parent / "docs" / "examples" / "tiny.yaml")
SUITE = ("suite", TINY, "--scale", "0.1", "--out", "run")


def figures(run: Path, engine: str) -> set[str]:
    """Every time of an engine's trials: its sizes are those of any SQLite."""
    results = [result for result in Run.open(run).results() if result.engine_name == engine]
    return {repr(step.value)[:12] for result in results for step in result.steps if step.unit == "s"}


def test_a_run_for_publication_shows_and_writes_nothing_of_what_is_forbidden(
    tmp_path: Path, dbbench_here: Dbbench
) -> None:
    engines = ("-e", "faulty-forbidden", "-e", "sqlite")
    texts_alone = ("--publish", "--format", "csv,json,md")
    with trials_here():
        done = dbbench_here(*SUITE, *engines, "--rounds", "2", *texts_alone, plugins=("faulty",), status=0)
    assert "withheld: clause 5(e) of no licence" in done.stdout
    assert re.search(r"round 1/2 sqlite +ok \d+\.\d s", done.stdout)
    assert re.findall(r"(?m)round \d/2 faulty-forbidden (.*)$", done.stdout) == ["ok", "ok"]
    run = tmp_path / "run"
    assert sorted(path.name for path in run.iterdir()) == ["publish", "run.json", "suite.yaml", "trials"]
    telling = figures(run, "faulty-forbidden")
    assert len(telling) == 6
    texts = [
        path.read_text("utf-8") for path in (run / "publish").rglob("*") if path.suffix in (".csv", ".json", ".md")
    ]
    texts = [text for text in texts if "sqlite" in text]
    assert len(texts) == 3
    assert not [value for value in telling for text in [*texts, done.stdout] if value in text]
    with open(run / "publish" / "summary.csv", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["engine"] == "faulty-forbidden"]
    assert {row["value"] for row in rows} == {""}
    assert {row["detail"] for row in rows} == {"withheld: clause 5(e) of no licence", "withheld"}
    records = [json.loads(path.read_text("utf-8")) for path in run.glob("trials/*-faulty-forbidden/result.json")]
    terms = [(each["engine"]["publication"], each["engine"]["publication_note"]) for each in records]
    assert terms == [("forbidden", "clause 5(e) of no licence")] * 2

    again = dbbench_here("report", "run", "--publish", "--format", "csv")
    assert "withheld" in again.stdout
    assert sorted(path.name for path in (run / "publish").iterdir()) == ["results.json", "summary.csv"]
    plain = dbbench_here("report", "run", "--format", "csv")
    assert "not for publication: the licence of Faulty: may not be published forbids it" in " ".join(
        plain.stdout.split()
    )
    assert dbbench_here("suite", "--resume", "run", *texts_alone, plugins=("faulty",)).returncode == 0
    refused = dbbench_here("compare", "run/publish", "run", status=2)
    assert "is not a run directory" in refused.stderr


@pytest.mark.matrix
def test_plans_that_can_not_be_had_harm_no_step(tmp_path: Path) -> None:
    names = ("sqlite", "faulty-plan-panics", "faulty-plan-refused", "faulty-plan-kills")
    with trials_here(*names[:3]):
        run = Run.open(run_suite(tmp_path, TINY, names, "--scale", "0.1", "--format", "csv,html", status=None))
    found = {result.engine_name: result for result in run.results()}
    for name in names:
        assert found[name].step("hot").outcome == "ok"  # type: ignore[union-attr]
    assert "Reading" in run.query_plan(found["sqlite"].id, "hot")
    assert found["sqlite"].step("hot").no_plan == ""  # type: ignore[union-attr]
    assert found["faulty-plan-panics"].step("hot").no_plan == "Panic: no plan"  # type: ignore[union-attr]
    assert found["faulty-plan-refused"].step("hot").no_plan == "no query plan available"  # type: ignore[union-attr]
    for name in names[:3]:
        assert found[name].step("insert").outcome == "ok"  # type: ignore[union-attr]
    killed = found["faulty-plan-kills"].step("insert")
    assert killed is not None
    assert (killed.outcome, killed.detail) == ("crashed", "not reached: killed by SIGKILL in the plan of hot")
    page = (tmp_path / "run" / "report" / "index.html").read_text("utf-8")
    assert page.count("<summary>Query plans</summary>") == 1
    assert re.search("<details><summary><span[^>]*>SQLite \\(sqlite3\\)</span></summary>", page)
    assert "(Panic: no plan)" in page
