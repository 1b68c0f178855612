"""A run for other programs: DataFrames, and results.json."""

import json
import runpy
import shutil
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import dbbench
from dbbench.errors import RunError, UserError
from dbbench.report.export import results_json, summary_csv, wide_csv
from dbbench.report.run_view import view
from dbbench.report.write import write_report
from dbbench.results.outcome import Outcome
from tests.conftest import run_here
from tests.fabricated import FORBIDDEN, MANY, Fake, fabricate

ENGINES = {
    **{name: MANY[name] for name in ("sqlite", "turso", "oracle")},  # failures, and one that is unavailable
    "secret": Fake("Secret", 1.2345678, probed=FORBIDDEN),
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("frames") / "run"
    engines = {name: MANY[name] for name in ("sqlite", "duckdb", "turso")}  # one of them with failures
    write_report(view(fabricate(path, engines)), ("csv",))
    return path


def test_a_summary_has_the_figures_of_the_report_with_types(run: Path) -> None:
    pd = pytest.importorskip("pandas")
    frame = dbbench.open_run(run).summary()
    table = pd.read_csv(run / "summary.csv")
    table = table[(table["step"] != "(trial)") & table["blocks"].notna()]
    theirs = {(row.step, row.engine.strip("()")): row.value for row in table.itertuples() if row.value == row.value}
    ours = {(row.step, row.engine): row.value for row in frame.itertuples() if row.value == row.value}
    assert theirs
    assert {key: pytest.approx(value, rel=1e-8) for key, value in theirs.items()} == {key: ours[key] for key in theirs}
    assert {name: str(kind) for name, kind in frame.dtypes.items() if name in ("value", "rank_best", "verified")} == {
        "value": "float64", "rank_best": "Int64", "verified": "boolean",
    }  # fmt: skip
    assert set(frame.loc[frame["is_null"], "verified"].isna()) <= {True}


def test_samples_and_sizes_are_there(run: Path) -> None:
    pytest.importorskip("pandas")
    opened = dbbench.open_run(run)
    samples, sizes = opened.samples(), opened.sizes()
    assert len(samples) > 0
    assert {"step", "engine", "round", "warm_up", "number", "value", "unit"} <= set(samples.columns)
    assert (sizes["apparent"] > 0).all()


def test_a_frame_has_its_columns_and_types_whatever_is_in_it(run: Path, tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    empty = fabricate(tmp_path / "run", {"a": MANY["sqlite"]}, rounds=1)
    for folder in (empty.path / "trials").iterdir():
        shutil.rmtree(folder)
    for kind in ("summary", "samples", "sizes", "growth"):
        full, none = (getattr(dbbench.open_run(path), kind)() for path in (run, empty.path))
        assert len(full) > len(none) == 0
        assert dict(full.dtypes) == dict(none.dtypes)


def test_what_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="is not a run directory"):
        dbbench.open_run(tmp_path)


def test_pandas_is_needed_when_a_frame_is(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(
        UserError, match="a DataFrame needs pandas, which is not installed: pip install pandas"
    ) as raised:
        dbbench.open_run(run).summary()
    assert raised.value.__cause__ is None
    assert raised.value.__suppress_context__, "one traceback, not two"


def test_a_name_that_dbbench_does_not_offer_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = dbbench.nothing


def test_the_example_draws_a_chart(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("pandas")
    example = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "own_chart.py"))
    example["main"](str(run), str(tmp_path / "chart.png"))
    assert (tmp_path / "chart.png").stat().st_size > 10_000
    assert "join-1" in capsys.readouterr().out


def printed_schema() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run_here(Path(), "report", "--schema", status=0).stdout)
    jsonschema.Draft202012Validator.check_schema(found)
    return found


@pytest.mark.parametrize("rounds", [1, 6])
@pytest.mark.parametrize("publish", [False, True])
def test_what_is_written_keeps_to_the_schema_that_is_printed(tmp_path: Path, rounds: int, publish: bool) -> None:
    shown = view(fabricate(tmp_path / "run", ENGINES, rounds=rounds), publish=publish)
    write_report(shown, ("csv",))
    document = json.loads((shown.folder / "results.json").read_text("utf-8"))
    jsonschema.validate(document, printed_schema())
    rows = [row for step in document["scenarios"][0]["steps"] for row in step["rows"]]
    assert {row["engine"] for row in rows if row["withheld"]} == ({"secret"} if publish else set())
    assert ("secret" in {row["engine"] for row in rows if row["value"] is not None}) is not publish
    assert document["not_run"].keys() == {"oracle"}


@pytest.mark.parametrize(
    ("key", "value"), [("rounds", "six"), ("scenarios", None), ("schema_version", 2), ("unknown", 1)]
)
def test_the_schema_refuses_what_is_none(tmp_path: Path, key: str, value: object) -> None:
    document = results_json.document(view(fabricate(tmp_path / "run", {"a": Fake("A")}, rounds=1)))
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**document.model_dump(mode="json"), key: value}, printed_schema())


def test_pandas_reads_the_summary_without_a_loss(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    shown = view(fabricate(tmp_path / "run", {"a": Fake("A", 1 / 3), "b": Fake("B", size=12_345_678_901)}, rounds=2))
    frame = pd.read_csv(summary_csv.write(shown))
    assert set(frame["engine"]) == {"a", "b", "(null)", "(null+arrow)"}
    assert not frame[["suite", "scenario", "step", "engine", "outcome"]].isna().any().any()
    ours = {(row.step, row.engine): row.value for row in shown.rows if row.ranked and row.value is not None}
    theirs = frame[frame["step"] != "(trial)"].set_index(["step", "engine"])["value"]
    assert {key: theirs[key] for key in ours} == {key: pytest.approx(value, rel=1e-15) for key, value in ours.items()}
    assert "12345678901" in summary_csv.write(shown).read_text("utf-8")


def test_the_wide_table_has_a_column_for_each_step_with_its_unit_and_nothing_that_is_withheld(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    shown = view(fabricate(tmp_path / "run", ENGINES, rounds=2), publish=True)
    write_report(shown, ("wide",))
    frame = pd.read_csv(shown.folder / "wide.csv", index_col="Engine")
    (scenario,) = shown.scenarios
    assert {*frame.index} == {item.title for item in scenario.standings}
    assert [*frame.columns] == [f"{step.step.title} ({step.lines[0].row.unit})" for step in scenario.steps]
    assert frame.loc["Secret"].isna().all()
    row = scenario.step("join-1").best_first[0].row
    assert row.value
    assert frame.loc[row.title, f"{scenario.step('join-1').step.title} (s)"] == pytest.approx(row.value)
    failed = Fake("A", bad={"join-1": (Outcome.FAILED, "no memory")})
    nothing = wide_csv.write(view(fabricate(tmp_path / "none", {"a": failed}, rounds=1)))
    assert f"{scenario.step('join-1').step.title} (s)" in pd.read_csv(nothing).columns
