"""The suite lifecycle: sizes before and after the churn, warm and cold reads, and what a report says of them."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

import dbbench
from dbbench.datasets.cache import materialise
from dbbench.errors import WrongAnswer
from dbbench.suite.loader import load_suite
from dbbench.suite.model import Tier
from dbbench.suite.steps.churn import ChurnStep
from dbbench.workloads import churn, load
from dbbench.workloads.context import StepContext
from tests.conftest import TESTS, Dbbench, Opened, run_here, small_disk, summary
from tests.trials_here import trials_here

pytestmark = pytest.mark.matrix

STEPS = ("load", "size-loaded", "churn", "size-churned", "sums-warm", "sums-cold", "size-compacted")
ENGINES = ("sqlite", "duckdb")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("life")
    words = ("--scale", "0.05", "--quick", "-e", "sqlite", "-e", "duckdb", "--format", "csv,html,md,png", "--out", "r")
    with trials_here("duckdb"):
        done = run_here(folder, "suite", "lifecycle", *words, status=0)
    return folder / "r", done.stdout


def steps(run: tuple[Path, str], engine: str) -> dict[str, Any]:
    (path,) = run[0].glob(f"trials/*-{engine}/result.json")
    return {step["name"]: step for step in json.loads(path.read_text())["steps"]}


@pytest.mark.parametrize("engine", ENGINES)
def test_every_step_is_right(run: tuple[Path, str], engine: str) -> None:
    rows = summary(run[0])
    assert {step: rows[step, engine]["outcome"] for step in STEPS} == dict.fromkeys(STEPS, "ok")


@pytest.mark.parametrize("engine", ENGINES)
def test_a_cold_read_is_cold_or_says_that_it_is_not(run: tuple[Path, str], engine: str) -> None:
    found = steps(run, engine)
    assert found["sums-warm"]["facts"]["cache"] == "warm"
    cold = found["sums-cold"]
    assert (len(cold["samples"]), cold["warm_up"]) == (3, [])
    detail = summary(run[0])["sums-cold", engine]["detail"]
    if cold["facts"]["cache"] == "cold":
        assert "lukewarm" not in detail
    else:
        assert "lukewarm: " in detail
    assert re.search(r"includes .+ to open the database; [\d,]+ bytes read", detail)


def test_a_compaction_gives_the_room_of_the_churn_back_and_says_how_long_it_took(run: tuple[Path, str]) -> None:
    found = steps(run, "sqlite")
    compacted = found["size-compacted"]
    assert compacted["value"] == found["size-loaded"]["value"] <= found["size-churned"]["value"]
    assert compacted["facts"]["compact_seconds"] > 0
    assert "compaction took" in run[1]
    document = json.loads((run[0] / "results.json").read_text("utf-8"))
    (step,) = [step for step in document["scenarios"][0]["steps"] if step["name"] == "size-compacted"]
    assert [row["compact_seconds"] > 0 for row in step["rows"] if row["engine"] in ENGINES] == [True, True]


def test_growth_is_the_same_in_every_file(run: tuple[Path, str]) -> None:
    pytest.importorskip("pandas")
    sizes = [steps(run, "sqlite")[name]["value"] for name in ("size-loaded", "size-churned")]
    grown = sizes[1] - sizes[0]
    assert grown > 0
    document = json.loads((run[0] / "results.json").read_text("utf-8"))
    (step,) = [step for step in document["scenarios"][0]["steps"] if step["name"] == "size-churned"]
    (row,) = [row for row in step["rows"] if row["engine"] == "sqlite"]
    assert row["growth"] == {"bytes": grown, "share": grown / sizes[0], "bytes_per_added_row": None}
    assert f',size-churned,sqlite,ok,"data size, growth",B,lower,1,{grown:.0f},' in (run[0] / "summary.csv").read_text()
    frame = dbbench.open_run(run[0]).growth().set_index(["step", "engine"])
    assert frame.loc[("size-churned", "sqlite"), "grown"] == grown
    assert frame.loc[("size-compacted", "sqlite"), "compact_seconds"] > 0


@pytest.mark.parametrize("engine", ENGINES)
def test_sizes_name_every_file_and_count_the_rows(run: tuple[Path, str], engine: str) -> None:
    found = steps(run, engine)
    for step in ("size-loaded", "size-churned"):
        size = found[step]
        assert size["facts"]["rows"] == 3025
        parts = size["facts"]["size_parts"]
        assert sum(file["apparent"] for file in size["facts"]["files"]) == sum(parts.values())
        assert sum(parts.values()) - parts["reserved"] - parts["empty"] == size["value"] > 0
        assert all(file["name"] and file["allocated"] >= 0 for file in size["facts"]["files"])
        assert size["written_bytes"] is None or size["written_bytes"] >= 0
    assert found["churn"]["facts"]["rows"] == 5 * 1000  # of three runs of a thousand one, five times


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        ("DELETE FROM Child WHERE Id = 17", "COUNT(*) of Child: 99 instead of 100"),
        ("DELETE FROM Child WHERE Id = 17; INSERT INTO Child VALUES (500, 1, 1.0)", 'MAX("Id") of Child: 500 instead of 104'),
        ("UPDATE Child SET Amount = Amount + 1 WHERE Id = 17", 'SUM("Amount") of Child'),
    ],
)  # fmt: skip
def test_a_churn_that_harmed_the_rows_is_wrong(harm: str, words: str, opened: Opened) -> None:
    suite = load_suite(TESTS / "unit" / "small.yaml")
    dataset = suite.datasets["things"]
    engine = opened("sqlite", Tier.POWER)
    engine.create(dataset.tables)
    bench = StepContext(engine, engine.connect(), dataset.tables, materialise(dataset), {})
    first = suite.scenarios[0].steps[0]
    bench.data.accept(first, load.measure(first, bench))  # type: ignore[arg-type]
    load.check(first, bench)  # type: ignore[arg-type]
    step = ChurnStep(kind="churn", name="churn", title="Churn", table="Child", share=0.5, transaction=30)
    measured = churn.measure(step, bench)
    bench.data.accept(step, measured)
    assert measured.facts["rows"] > 100
    churn.check(step, bench)
    for statement in harm.split(";"):
        bench.session.prepare_statement(statement)()  # type: ignore[attr-defined]
    with pytest.raises(WrongAnswer) as caught:
        churn.check(step, bench)
    assert words in str(caught.value)


def test_the_report_tells_sizes_in_full_and_cold_from_warm(run: tuple[Path, str]) -> None:
    assert run[1].count("before flush") == 3
    assert run[1].count("cold caches") == 1
    assert max(len(line) for line in run[1].splitlines()) <= 80
    for page in ("index.md", "index.html"):
        text = (run[0] / "report" / page).read_text()
        assert text.count("Before flush") == 3
        assert "cold caches" in text
    assert (run[0] / "report" / "lifecycle-size-churned.png").is_file()


def test_the_manifest_and_each_trial_tell_what_disturbed_them(run: tuple[Path, str]) -> None:
    noise = json.loads((run[0] / "run.json").read_text())["noise"]
    assert {
        "others", "steal", "governor", "loadavg", "memory_available", "disk_free", "on_battery", "fdatasync",
    } <= set(noise)  # fmt: skip
    for path in run[0].glob("trials/*-sqlite/result.json"):
        result = json.loads(path.read_text())["noise"]
        assert 0 <= result["others"] <= 1
        assert 0 <= result["steal"] <= 1
        assert len(result["loadavg"]) == 3


def test_a_run_in_memory_is_lukewarm_and_warns(dbbench_here: Dbbench, tmp_path: Path) -> None:
    with small_disk(tmp_path, "1g"), trials_here():
        asked = ("--scale", "0.02", "--quick", "-e", "sqlite", "--format", "csv", "--out", "disk/run")
        words = " ".join(dbbench_here("suite", "lifecycle", *asked, status=0).stdout.split())
        assert "lukewarm: 100% of the files stayed in the system's cache" in words
        assert "warning: the run directory is on tmpfs: durable commits cost nothing there" in words
