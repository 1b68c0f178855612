"""Many runs in the order of time: where a level begins, what is refused, and what is written."""

import csv
import datetime
import json
from collections.abc import Sequence
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from dbbench.analysis.comparability import Side
from dbbench.analysis.history import History, chance_of, history, splits
from dbbench.errors import UserError
from dbbench.report.history import files, words
from dbbench.report.history.words import change_lines, step_name, summary
from dbbench.suite.model import Suite
from tests.unit.compared import side, times

#: Runs of the same thing on a quiet machine.
NOISE = (1.0, 1.012, 0.991, 1.006, 0.997, 1.003)
NEW = {"versions": {"A": "1.5"}, "settings": {"cache_mib": 64}}


def sides(suite: Suite, factors: Sequence[float], **of_last: Any) -> list[Side]:
    """A run a day; `of_last` is what differs in the runs whose factor is above 1.2."""
    days = [datetime.datetime(2026, 1, day, tzinfo=datetime.UTC) for day in range(1, len(factors) + 1)]
    return [
        side(suite, f"r{day.day}", factor, created=day, **(of_last if factor > 1.2 else {}))
        for day, factor in zip(days, factors, strict=True)
    ]


def slower(at: int = 3) -> list[float]:
    """Six runs, half as slow again from number `at` on (from 0)."""
    return [*NOISE[:at], *times(1.5, NOISE[at:])]


def slowed(suite: Suite, at: int = 3, **of_last: Any) -> History:
    return history(sides(suite, slower(at), **of_last))


def changed(known: Side, *steps: str, **how: object) -> Side:
    """A run of which some steps were measured otherwise."""
    results = [
        r.model_copy(update={"steps": tuple(s.model_copy(update=how) if s.name in steps else s for s in r.steps)})
        for r in known.results
    ]
    return replace(known, results=results)


def lukewarm(known: Side, *steps: str) -> Side:
    return changed(known, *steps, facts={"cache": "lukewarm"})


def shown(found: History) -> str:
    console = Console(width=200, record=True, file=StringIO())
    words.show(found, console)
    return console.export_text()


def test_an_engine_that_grew_slower_is_found_at_its_run_with_what_differs(small: Suite) -> None:
    found = slowed(small, engine=NEW)
    assert [(series.engine, series.step) for series in found.changed] == [("a", "load"), ("a", "join")]
    (change,) = found.changed[0].changes
    assert (change.at, [*map(str, change.causes)], change.null_too) == (3, ["a: A: 1.4 -> 1.5"], False)
    assert change.ratio == pytest.approx(1.5, rel=0.02)
    text = shown(found)
    assert "×1.50 slower  from run 4 (2026-01-04)" in text
    assert "differs: a: A: 1.4 -> 1.5" in text
    assert "2 of 2 steps of engines changed over 6 runs, 2 for the worse" in text
    (first, _) = change_lines(found)
    assert (first.engine, first.step, first.worse) == ("A", "Load", True)


def test_runs_come_in_the_order_of_time_however_they_are_named(small: Suite) -> None:
    backwards = history(sides(small, NOISE)[::-1])
    assert [one.name for one in backwards.sides] == ["r1", "r2", "r3", "r4", "r5", "r6"]
    assert summary(backwards) == "no change in 2 steps of engines over 6 runs"


def test_two_changes_one_after_the_other_are_two() -> None:
    levels = [0.0, 0.01, -0.01, 0.0, 0.5, 0.51, 0.49, 0.5, 1.0, 1.01, 0.99, 1.0]
    assert sorted(splits(levels, 1)) == [4, 8]


def test_the_first_split_is_where_student_s_test_separates_most() -> None:
    random = np.random.default_rng(6)
    for _ in range(30):
        values = random.normal(0, 0.03, 40) + np.where(np.arange(40) >= random.integers(2, 39), 1.0, 0.0)
        chances = {at: chance_of(values[:at], values[at:]) for at in range(2, 39)}
        assert min(chances, key=lambda at: chances[at]) in splits(values, 1)


def test_another_machine_stands_among_the_causes(small: Suite) -> None:
    of_new = {**sides(small, [1.0])[0].manifest.machine, "cpu": "Another"}
    found = history(sides(small, slower(), machine=of_new), across_machines=True, intervals=False)
    assert [*map(str, found.changed[0].changes[0].causes)] == ["CPU: EPYC -> Another"]
    assert {row.low for series in found.series for row in series.rows if row} == {None}


def test_one_odd_run_is_no_level_and_the_newest_is_provisional(small: Suite) -> None:
    odd = [0.0, 0.01, -0.01, 0.6, 0.0, 0.01, 0.0, -0.01]
    assert list(splits(odd, 1)) == []
    newest = slowed(small, at=5)
    assert {change.at for series in newest.changed for change in series.changes} == {5}
    assert not any(series.settled for series in newest.series)
    assert "provisional: only the newest run shows it; make another run" in shown(newest)
    assert "no change in 2 steps of engines over 6 runs; 2 provisional" in shown(newest)
    assert json.loads(files.as_json(newest))["series"][0]["changes"][0]["provisional"] is True
    again = slowed(small, at=4)
    assert all(change.at == 4 and not change.provisional for series in again.changed for change in series.changes)
    assert summary(again) == "2 of 2 steps of engines changed over 6 runs, 2 for the worse"


def test_rare_outliers_make_few_false_changes() -> None:
    """With the newest run as a level of its own they did in 12 to 16 of 100 histories."""
    random = np.random.default_rng(5)
    drawn = random.standard_t(3, (300, 10, 10)) * 0.03
    wrong = sum(any(list(splits(list(series), 10)) for series in one) for one in drawn)
    assert wrong <= 300 * 0.10


def test_too_few_runs_say_so(small: Suite) -> None:
    found = history(sides(small, (1.0, 1.0, 1.5)))
    assert not found.changed
    assert "no change can be seen in fewer than 4 runs: add runs" in shown(found)


def test_a_change_of_the_null_engine_too_is_told(small: Suite) -> None:
    found = slowed(small, null=0.0015)
    assert all(change.null_too for series in found.changed for change in series.changes)
    assert "the null engine changed at this run too" in shown(found)


def test_the_chance_of_one_level_is_small_where_two_are_far_apart() -> None:
    values = [10.0, 10.1, 9.9, 20.0, 20.1, 19.9]
    assert chance_of(values[:3], values[3:]) < 0.001
    assert chance_of([1.0, 1.0], [1.0]) == 1
    assert chance_of([1.0, 1.0], [2.0]) == 0


@pytest.mark.parametrize(("runs", "steps"), [(4, 1), (6, 10), (12, 10)])
def test_equal_runs_have_a_change_in_at_most_one_of_twenty_histories(runs: int, steps: int) -> None:
    random = np.random.default_rng(3)
    drawn = random.normal(0, 0.03, (300, steps, runs))
    wrong = sum(any(list(splits(list(series), steps)) for series in one) for one in drawn)
    assert wrong <= 300 * 0.05 * 1.6  # 5 %, and what 300 draws may be off


def test_a_change_of_a_fifth_is_found_in_ten_runs_that_differ_by_three_percent() -> None:
    random = np.random.default_rng(4)
    drawn = random.normal(0, 0.03, (200, 10)) + np.where(np.arange(10) >= 5, np.log(1.2), 0)
    found = sum(list(splits(list(one), 10)) == [5] for one in drawn)
    assert found > 200 * 0.9


def test_one_run_and_the_same_run_twice_are_refused(small: Suite) -> None:
    with pytest.raises(UserError, match="a history needs two runs or more"):
        history(sides(small, [1.0]))
    with pytest.raises(UserError, match="r1 and r1 are one and the same run; name each once"):
        history([*sides(small, [1.0, 1.0]), *sides(small, [1.0])])


def test_runs_of_other_work_or_another_machine_are_refused(small: Suite) -> None:
    first, second = sides(small, [1.0, 1.0])
    other = side(small, "r2", machine={**first.manifest.machine, "cpu": "Another"}, created=second.manifest.created)
    with pytest.raises(UserError, match="different machines"):
        history([first, other])
    found = history([first, other], across_machines=True)
    assert "different machines, which may be the cause: r2: CPU: EPYC -> Another" in " ".join(shown(found).split())
    scaled = side(small, "r2", scale=2.0, created=second.manifest.created)
    with pytest.raises(UserError, match="did not do the same work"):
        history([first, scaled])


def test_files_for_other_tools(small: Suite, tmp_path: Path) -> None:
    found = slowed(small)
    assert [path.name for path in files.write(found, tmp_path)][:6] == [
        "history.json", "otava.csv", "otava.yaml", "smaller-is-better.json", "bigger-is-better.json", "index.html",
    ]  # fmt: skip
    document = json.loads((tmp_path / "history.json").read_text())
    assert document["series"][0]["changes"][0]["run"] == 4
    with (tmp_path / "otava.csv").open() as file:
        table = list(csv.DictReader(file))
    assert [line["run"] for line in table] == ["r1", "r2", "r3", "r4", "r5", "r6"]
    (test,) = json.loads((tmp_path / "otava.yaml").read_text())["tests"].values()
    assert {metric["column"] for metric in test["metrics"].values()} <= {*table[0]}
    benches = json.loads((tmp_path / "smaller-is-better.json").read_text())
    assert [bench["name"] for bench in benches] == ["Load / A", "Join / A"]
    assert benches[0]["unit"] == "s"
    assert json.loads((tmp_path / "bigger-is-better.json").read_text()) == []


def test_where_more_is_better_what_grew_is_faster(small: Suite, tmp_path: Path) -> None:
    rates = [changed(one, "load", "join", unit="1/s", direction="higher") for one in sides(small, slower())]
    found = history(rates)
    assert found.changed[0].changes[0].ratio == pytest.approx(1 / 1.5, rel=0.02)
    assert "×1.50 faster  from run 4 (2026-01-04)" in shown(found)
    files.write(found, tmp_path)
    assert json.loads((tmp_path / "smaller-is-better.json").read_text()) == []
    benches = json.loads((tmp_path / "bigger-is-better.json").read_text())
    assert [bench["name"] for bench in benches] == ["Load / A", "Join / A"]
    (test,) = json.loads((tmp_path / "otava.yaml").read_text())["tests"].values()
    assert {metric["direction"] for metric in test["metrics"].values()} == {1}


def test_a_scenario_that_the_newest_run_lacks_keeps_its_title(small: Suite) -> None:
    *older, last = sides(small, [1.0, 1.0, 1.0])
    (main,) = small.scenarios
    other = main.model_copy(update={"name": "other", "title": "Other"})
    both = small.model_copy(update={"scenarios": (main, other)})
    more = [
        [*one.results, *(each.model_copy(update={"scenario_name": "other"}) for each in one.results)] for one in older
    ]
    older = [replace(one, suite=both, results=results) for one, results in zip(older, more, strict=True)]
    naive = last.manifest.model_copy(update={"created": last.manifest.created.replace(tzinfo=None)})
    found = history([*older, replace(last, manifest=naive)])
    assert [step_name(one, found) for one in found.series] == ["Load", "Join", "Other: Load", "Other: Join"]


@pytest.mark.parametrize("kept", [True, False])
def test_a_series_with_a_gap_is_drawn_and_left_out_for_otava(small: Suite, tmp_path: Path, kept: bool) -> None:
    known = sides(small, NOISE)
    only_null = replace(known[3], results=[r for r in known[3].results if r.engine_name == "null"])
    known[3] = lukewarm(known[3], "load", "join") if kept else only_null
    found = history(known)
    assert found.series[0].values[3] is None
    files.write(found, tmp_path)
    assert (tmp_path / "otava.csv").read_text().splitlines()[0] == "time,run,dbbench"


def test_what_is_of_another_sort_in_the_newest_run_alone_is_told(small: Suite) -> None:
    *older, last = sides(small, NOISE)
    found = history([*older, lukewarm(last, "load")])
    assert [series.step for series in found.series] == ["join"]
    told = "left out, of another sort than the newest's: Load of A in runs 1, 2, 3, 4, 5"
    assert told in " ".join(shown(found).split())
    assert json.loads(files.as_json(found))["left_out"][0]["runs"] == [1, 2, 3, 4, 5]


def test_hostile_texts_are_escaped(small: Suite, tmp_path: Path) -> None:
    known = sides(small, slower())
    for one in known:
        one.manifest.engines["a"]["title"] = "<script>alert(1)</script>|[x](http://y) @all #12"
    found = history(known)
    files.write(found, tmp_path)
    html = (tmp_path / "index.html").read_text()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    table = "\n".join(words.markdown(found))
    assert "| `<script>alert(1)</script>¦[x](http://y) @all #12` |" in table
