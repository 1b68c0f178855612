"""results.json and summary.csv: what other programs read of a run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner

from dbbench.cli import main
from dbbench.report.export import results_json, summary_csv
from dbbench.report.run_view import view
from dbbench.report.write import write_report
from tests.fabricated import FORBIDDEN, MANY, Fake, fabricate

ENGINES = {
    **{name: MANY[name] for name in ("sqlite", "turso", "oracle")},  # failures, and one that is unavailable
    "secret": Fake("Secret", 1.2345678, probed=FORBIDDEN),
}


def printed_schema() -> dict[str, Any]:
    done = CliRunner().invoke(main, ["report", "--schema"])
    assert done.exit_code == 0, done.output
    found: dict[str, Any] = json.loads(done.output)
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
