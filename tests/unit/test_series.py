"""Variants that form a series, and their chart."""

from __future__ import annotations

from pathlib import Path

import pytest

from dbbench.analysis.paired import changes, series
from dbbench.analysis.verdicts import ComparisonVerdict
from dbbench.report.charts.draw import figures
from dbbench.report.run_view import view
from dbbench.report.write import write_report
from dbbench.results.outcome import Outcome
from dbbench.results.run_directory import Run, VariantFacts
from tests.fabricated import Fake, fabricate

SLOW = {"1.9.0": 1.0, "1.10.1": 1.4, "2.0.0": 1.0, "2.1.0": 1.02}


def releases(path: Path, slow: dict[str, float] = SLOW, **more: object) -> Run:
    engines = {f"duckdb@{name[:-2]}": Fake(f"DuckDB [{name[:-2]}]", factor) for name, factor in slow.items()}
    run = fabricate(path, engines | dict(more), rounds=6)  # type: ignore[arg-type]
    known = {
        f"duckdb@{name[:-2]}": VariantFacts(engine="duckdb", version=name[:-2], release=name) for name in reversed(slow)
    }
    run.manifest = run.manifest.model_copy(update={"variants": known})
    run.save()
    return Run.open(path)


def test_releases_stand_in_the_order_of_versions(tmp_path: Path) -> None:
    (found,) = series(releases(tmp_path / "r").manifest)
    assert [point.label for point in found.points] == ["1.9.0", "1.10.1", "2.0.0", "2.1.0"]
    assert found.axis == "release"


def test_the_values_of_an_option_stand_in_the_order_of_numbers(tmp_path: Path) -> None:
    run = releases(tmp_path / "r")
    values = {"sqlite@cache_mib-256": "256", "sqlite@cache_mib-16": "16", "sqlite@cache_mib-64": "64", "sqlite@x": "1"}
    known = {name: VariantFacts(engine="sqlite", sweep="" if name.endswith("x") else "cache_mib") for name in values}
    options = {name: {"cache_mib": value} for name, value in values.items()}
    manifest = run.manifest.model_copy(update={"variants": known, "options": options})
    (found,) = series(manifest)
    assert [point.label for point in found.points] == ["16", "64", "256"]


def test_one_variant_is_no_series(tmp_path: Path) -> None:
    assert series(releases(tmp_path / "r", {"1.9.0": 1.0}).manifest) == ()


def test_changes_from_one_point_to_the_next_are_marked(tmp_path: Path) -> None:
    run = releases(tmp_path / "r")
    (found,) = series(run.manifest)
    marked = changes(view(run).rows, found)
    join = {engine: verdict for (_, step, engine), verdict in marked.items() if step == "join-1"}
    assert join["duckdb@1.10"] is ComparisonVerdict.SLOWER
    assert join["duckdb@2.0"] is ComparisonVerdict.FASTER


@pytest.mark.parametrize("publish", [False, True])
def test_the_report_has_a_chart_over_releases(publish: bool, tmp_path: Path) -> None:
    run = releases(tmp_path / "r", sqlite=Fake("SQLite"))
    written = write_report(view(run, publish=publish), ("html", "md", "png"))
    folder = next(path for path in written if path.suffix == ".html").parent
    assert (folder / "invoices-over_duckdb-release.png").is_file()
    assert "invoices-over_duckdb-release.svg" in (folder / "index.md").read_text()
    page = (folder / "index.html").read_text()
    for words in ("1.10.1", "DuckDB over its releases", "slower"):
        assert words in page


def test_a_release_that_failed_leaves_a_gap(tmp_path: Path) -> None:
    run = releases(tmp_path / "r")
    bad = {step.name: (Outcome.FAILED, "no") for step in run.suite.scenarios[0].steps}
    run = releases(tmp_path / "s", **{"duckdb@2.0": Fake("DuckDB [2.0]", bad=bad)})
    shown = view(run)
    assert next(name for name, _ in figures(shown, shown.scenarios[0])) == "invoices-over_duckdb-release"


def test_where_every_release_failed_there_is_no_chart(tmp_path: Path) -> None:
    steps = [step.name for step in releases(tmp_path / "r").suite.scenarios[0].steps]
    bad = dict.fromkeys(steps, (Outcome.FAILED, "no"))
    broken = {f"duckdb@{name[:-2]}": Fake("DuckDB", bad=bad) for name in SLOW}
    shown = view(releases(tmp_path / "s", sqlite=Fake("SQLite"), **broken))
    assert not any("over_" in name for name, _ in figures(shown, shown.scenarios[0]))
