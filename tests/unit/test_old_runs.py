"""Run directories that an earlier dbbench wrote are reported with the figures that it reported.

`tests/old_runs/one_folder` was run, and `summary.csv` in it written, by dbbench as it was before its modules were sorted
into packages (commit f8ffbe8). Only what no report reads was taken out: `trial.json`, `steps.json`, and what workers printed.
Each list of figures was put in one line.
"""

import csv
import shutil
from pathlib import Path

import pytest

from dbbench.host.metric import Metric
from dbbench.report.run_view import view
from dbbench.report.write import write_report
from dbbench.results.run_directory import Run
from dbbench.results.trial import StepResult

OLD = sorted((Path(__file__).parents[1] / "old_runs").iterdir())
FIGURES = ("value", "ci_low", "ci_high")
#: Wording may change.
ELSE = dict.fromkeys((*FIGURES, "detail"))
Table = dict[tuple[str, ...], dict[str, str]]


def summary(folder: Path) -> Table:
    with (folder / "summary.csv").open(encoding="utf-8") as file:
        return {
            tuple(row[name] for name in ("scenario", "step", "engine", "metric")): row for row in csv.DictReader(file)
        }


@pytest.fixture(params=OLD, ids=lambda path: path.name)
def copied(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    folder: Path = shutil.copytree(request.param, tmp_path / "run")
    return folder


def test_an_old_run_has_the_figures_that_it_had(copied: Path) -> None:
    before = summary(copied)
    write_report(view(Run.open(copied)), ("csv",))
    after = summary(copied)
    assert list(after) == list(before)
    assert len(before) > 20
    for row, now in zip(before.values(), after.values(), strict=True):
        for name in FIGURES:  # it wrote nine digits of them
            assert float(now[name] or 0) == pytest.approx(float(row[name] or 0), rel=1e-8), (row, name)
        assert {**now, **ELSE} == {**row, **ELSE}


def test_a_figure_of_an_old_run_that_differs_is_found(copied: Path) -> None:
    result = next(copied.glob("trials/*-round1-tables-sqlite/result.json"))
    text = result.read_text("utf-8")
    assert '"value": 65664' in text
    result.write_text(text.replace('"value": 65664', '"value": 65665'), "utf-8")
    before = summary(copied)
    write_report(view(Run.open(copied)), ("csv",))
    key = ("tables", "size", "sqlite", "size")
    assert summary(copied)[key]["value"] != before[key]["value"]


def test_what_an_old_run_says_besides_is_worded(copied: Path) -> None:
    """Percentiles, parts and footprints, which the views read from the facts of its steps."""
    (tables, records) = view(Run.open(copied)).scenarios
    details = {step.step.name: step.details for step in (*tables.steps, *records.steps)}
    assert details["load"][:3] == ("insert", "indexes", "commit")
    assert details["size"][0] == details["space"][0] == "allocated"
    assert details["read"][:2] == ("elapsed", "p50")
    (sqlite,) = (line for line in tables.steps[2].lines if line.row.engine == "sqlite")
    assert sqlite.row.size_parts
    (sqlite,) = (line for line in records.steps[1].lines if line.row.engine == "sqlite")
    assert sqlite.row.tails


def test_what_calls_used_is_read_by_the_keys_of_then_and_by_metric() -> None:
    then = {"name": "a", "outcome": "ok", "cpu_seconds": 0.25, "undelayed_seconds": None}
    assert StepResult.model_validate(then).usage == {Metric.CPU: 0.25}
    later = {"name": "a", "outcome": "ok", "usage": {"undelayed": 0.5, "a later metric": 7.0}}
    found = StepResult.model_validate(later)
    assert found.usage == {Metric.UNDELAYED: 0.5}
    assert StepResult.model_validate_json(found.model_dump_json()) == found
