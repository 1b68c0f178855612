"""Suites of several scenarios in one chart: every engine and scenario."""

from dataclasses import replace
from pathlib import Path

import pytest

from dbbench.analysis.standings import Standing, across
from dbbench.report.charts import overview
from dbbench.report.charts.layout import Look
from dbbench.report.run_view import View, view
from dbbench.report.write import write_report
from tests.fabricated import Fake, fabricate
from tests.scenes import texts

ENGINES = {"a": Fake("A", {"bulk-insert": 1.0, "join-1": 3.0}), "b": Fake("B", 2.0), "c": Fake("C", 3.0)}
TITLE = "The second of two long titles of scenarios"


def standing(engine: str, mean: float | None) -> Standing:
    return Standing(engine, engine.upper(), mean, {})


def test_engines_stand_by_the_mean_of_their_means_and_those_that_lack_one_last() -> None:
    first = [standing("a", 1.0), standing("b", 2.0), standing("c", None)]
    second = [standing("b", 1.0), standing("a", 9.0), standing("d", 1.0), standing("c", 1.0)]
    found = across([first, second])
    names = [next(each.engine for each in row if each) for row in found]
    assert names[:2] == ["b", "a"]
    assert {*names[2:]} == {"c", "d"}
    assert [row[0] for row in found if row[1] and row[1].engine == "d"] == [None]


@pytest.fixture
def shown(tmp_path: Path) -> View:
    """A run's view, with its scenario once more under another name, in which the first engine has no mean."""
    found = view(fabricate(tmp_path / "run", ENGINES, rounds=6))
    (one,) = found.scenarios
    first, *rest = one.standings
    scenario = one.scenario.model_copy(update={"name": "second", "title": TITLE})
    without = replace(first, mean_ratio=None, low=None, high=None)
    other = replace(one, scenario=scenario, standings=(without, *rest), steps=(), charts=())
    scenarios = (one, other)
    return replace(found, scenarios=scenarios, across=tuple(across([each.standings for each in scenarios])))


def test_a_cell_is_a_mean_with_its_interval_or_says_that_there_is_none(shown: View) -> None:
    said = texts(overview.across(shown, Look({}, ["caption"])))
    assert said.count("–") == 1
    assert TITLE in " ".join(said)
    means = [item for each in shown.scenarios for item in each.standings if item.mean_ratio]
    assert len(means) == 5
    assert {f"×{item.mean_ratio:.2f}" for item in means} <= {*said}
    assert f"{means[0].low:.2f}–{means[0].high:.2f}" in said
    assert "with its interval" in " ".join(said)


def test_the_pages_begin_with_it(shown: View) -> None:
    write_report(shown, ["svg", "html", "md"])
    report = shown.folder / "report"
    page = (report / "index.html").read_text()
    assert page.index('id="all-scenarios"') < page.index("<h2 id=", page.index('id="all-scenarios"') + 1)
    assert "How many times the best of each step" in page[page.index('id="all-scenarios"') :]
    assert "](scenarios.svg)" in (report / "index.md").read_text()
    assert (report / "scenarios.svg").stat().st_size > 1000
