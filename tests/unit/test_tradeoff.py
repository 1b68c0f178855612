"""One figure against another: which points no other is better than, the axes, and what isn't drawn."""

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import pytest

from dbbench.analysis.footprint import Footprint
from dbbench.analysis.remarks import About, Remark
from dbbench.analysis.row import Row
from dbbench.report.charts.layout import Look
from dbbench.report.charts.scene import Dot, Stroke
from dbbench.report.charts.tradeoff import Point, figures, frontier
from dbbench.report.export.results_json import ResultRow, _row
from dbbench.report.run_view import ScenarioView
from dbbench.report.step_builder import step_view
from dbbench.report.step_view import Data
from dbbench.results.outcome import Outcome
from dbbench.suite.loader import parse_suite
from dbbench.suite.model import Suite
from dbbench.testing.suite_text import suite_text
from tests.scenes import texts
from tests.unit.refused import refused, rewritten

SUITE = suite_text(
    "a",
    "vectors: {count: 1000, dimensions: 8, labels: [0.1]}",
    """
    - {kind: load, name: load, title: Load}
    - {kind: nearest, name: near, title: Near, recall: [0.9, 0.99]}
    """,
    more="""
    charts:
      - {kind: tradeoff, title: Recall and speed, steps: [near]}
      - {kind: tradeoff, title: Build and speed, steps: [near-99], against: load}
    """,
)


def parsed(*changes: tuple[str, str]) -> Suite:
    return parse_suite(rewritten(SUITE, *changes), "s.yaml")


def test_a_list_of_recalls_becomes_a_step_for_each() -> None:
    steps: Any = parsed().scenario("a").steps[1:]
    assert [step.name for step in steps] == ["near-90", "near-99"]
    assert [step.title for step in steps] == ["Near, recall 0.9", "Near, recall 0.99"]
    assert [step.target for step in steps] == [0.9, 0.99]
    assert Suite.model_validate(parsed().model_dump(mode="json")) == parsed()
    (one,) = parsed(("[0.9, 0.99]", "0.995"), ("[near-99]", "[near]")).scenario("a").steps[1:]
    assert (one.name, one.title) == ("near", "Near")
    names = [step.name for step in parsed(("[0.9, 0.99]", "[0.995, 0.99]")).scenario("a").steps]
    assert names == ["load", "near-99-5", "near-99"]


FAULTS = [
    (("count: 1000", "count: 9"), ".k: expected at most 9, as many as there are vectors"),
    (("title: Near,", "title: Near, where: {label: 0.2},"), "expected one of the shares in its dataset's labels: 0.1"),
    (("title: Near,", "title: Near, queries: outside,"), "expected inside, or `outside: true` in its dataset"),
    (("title: Near,", "title: Near, k: 101,"), "expected less than or equal to 100"),
    (("[0.9, 0.99]", "[0.9, 0.9]"), "the sweep makes a step near-90, which already exists"),
    (("labels: [0.1]", "queries: 1100"),
        "recall: expected 500 timed queries or more for each, but 1,100 in its dataset"),
    (("[0.9, 0.99]", "1.5"), "expected less than or equal to 1"),
    (("labels: [0.1]", "labels: [0.0001]"),
        "expected labels of one vector or more: of 1,000 a share of 0.0001 is none"),
    (("labels: [0.1]", "labels: [0.6, 0.5]"), "expected labels: different shares that add up to 1 at most"),
    (("labels: [0.1]", "metric: hamming"), "expected one of l2, cosine, ip"),
    (("dimensions: 8", "dimensions: 1"), "expected greater than or equal to 2"),
    (("kind: load, name: load", "kind: keyvalue, operation: read, name: load"), "or a dataset of records"),
    (("steps: [near]", "steps: [neer]"), "did you mean 'near'"),
    (("against: load", "against: laod"), "did you mean 'load'"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "words"), FAULTS)
def test_bad_input_is_told_with_its_place(change: tuple[str, str], words: str) -> None:
    assert words in str(refused(rewritten(SUITE, change)))


def row(step: str, engine: str, value: float, recall: float | None = None, **more: Any) -> Row:
    known: Any = {} if recall is None else {
        "recall": {"mean": recall, "low": recall, "high": recall, "p5": recall, "queries": 100,
        **({"knob": "ef", "effort": 9} if recall < 1 else {})}
    }  # fmt: skip
    unit = "s" if step == "load" else "1/s"
    direction = "lower" if step == "load" else "higher"
    return Row(
        "a", step, engine, f"The {engine}", Outcome.OK, metric="m", unit=unit, direction=direction, value=value,
        trial_means=(value,), of_rounds=(1,), facts=known, rounds=(known,), **more,
    )  # fmt: skip


ROWS = [
    row("load", "graph", 30), row("load", "flat", 0.5), row("load", "slow", 40),
    row("near-90", "graph", 20_000, 0.92), row("near-90", "flat", 100, 1.0), row("near-90", "slow", 50, 0.91),
    row("near-99", "graph", 9_000, 0.991), row("near-99", "flat", 100, 1.0),
    replace(row("near-99", "slow", 0), outcome=Outcome.NO_RECALL, value=None, remarks=(Remark(About.RECORDED, "no recall of 0.99"),)),
]  # fmt: skip


def scenes(*changes: tuple[str, str], rows: Sequence[Row] = ROWS, without: str = "") -> dict[str, Any]:
    scenario = parsed(*changes).scenario("a")
    views = tuple(
        step_view(scenario, step, [each for each in rows if each.step == step.name], Data(), [], {})
        for step in scenario.steps
        if step.name != without
    )
    view = ScenarioView("S", scenario, views, (), (), scenario.charts, Data(), "", frozenset())
    look = Look({"graph": "c0", "flat": "c1", "slow": "c2"})
    return {name: scene for chart in scenario.charts for name, scene in figures(chart, view, look)}  # type: ignore[arg-type]


def rings(scene: Any) -> list[Dot]:
    return [mark for mark in scene.marks if isinstance(mark, Dot) and mark.hollow][1:]  # the first is the key's


def test_points_that_no_other_is_better_than_are_marked() -> None:
    points = [Point(ROWS[0], *at) for at in ((1, 5), (2, 4), (2, 3), (3, 1), (3, 1))]
    assert [each.best for each in frontier(points, across=True, up=True)] == [True, True, False, True, True]
    assert [each.best for each in frontier(points, across=False, up=True)] == [True, False, False, False, False]
    assert [each.best for each in frontier(points, across=False, up=False)] == [True, False, True, True, True]


def test_recall_against_throughput_is_a_curve_for_each_engine() -> None:
    scene = scenes()["near-by-recall"]
    said = texts(scene)
    assert "recall" in said
    assert any("better up and to the right; one round (logarithmic axis)" in text for text in said)
    assert any("The slow: no recall of 0.99 (near-99)." in text for text in said)
    assert {"The graph", "The flat", "The slow"} <= {*said}
    assert any("searches/s" in text for text in said)
    assert len(rings(scene)) == 3  # both of the graph, and one of the exact search
    assert len([mark for mark in scene.marks if isinstance(mark, Stroke) and mark.ink == "c0"]) == 1


def test_steps_with_other_numbers_of_clients_are_not_in_the_curve() -> None:
    rows = [
        row(f"near-{recall}-{clients}", "graph", 9_000 * clients - 90 * recall, recall / 100)
        for recall in (90, 99) for clients in (1, 2)
    ]  # fmt: skip
    changed = (
        ("0.99]", "0.99], clients: [2, 1]"),
        ("[near-99]", "[near-99-1, near-90-1]"),
        ("against: load", "against: recall"),
    )
    found = scenes(*changed, rows=rows)
    assert found["near-by-recall"].description.endswith("The graph 0.9: 9.9, 0.99: 9.09")
    assert found["near-99-1-near-90-1-by-recall"].description.endswith("The graph 0.9: 900, 0.99: 90")


def test_the_figure_at_a_rate_is_in_seconds() -> None:
    steps = parsed(("recall: [0.9, 0.99]", "rate: {per_second: 9, seconds: 2s}"), ("[near-99]", "[near]"))
    assert steps.scenario("a").steps[1].figure_unit == "s"


def test_a_step_against_another_has_its_unit_below() -> None:
    scene = scenes()["near-99-by-load"]
    assert any("better up and to the left" in text for text in texts(scene))
    assert "Load, s" in texts(scene)
    assert len(rings(scene)) == 2
    failed = replace(ROWS[0], outcome=Outcome.FAILED, value=None, remarks=(Remark(About.RECORDED, "no room"),))
    assert "The graph: no room (load)." in texts(scenes(rows=[failed, *ROWS[1:]])["near-99-by-load"])


def test_rings_are_of_what_is_ranked_among_what_is_shown() -> None:
    for change in ({"verified": False}, {"apart": True}):
        rows = [replace(each, **change) if (each.step, each.engine) == ("load", "flat") else each for each in ROWS]
        scene = scenes(rows=rows)["near-99-by-load"]
        assert len(rings(scene)) == 1
        assert any("The flat: not ranked, so without a ring (near-99)." in text for text in texts(scene))
        assert "no other ranked one is better in both" in texts(scene)
    assert "no other is better in both" in texts(scenes()["near-99-by-load"])
    rows = [*ROWS[:-1], replace(ROWS[-1], outcome=Outcome.OK, withheld="clause")]
    assert "no other of those shown is better in both" in texts(scenes(rows=rows)["near-99-by-load"])


def test_axes_have_the_units_of_the_metric() -> None:
    rows = [replace(each, unit="B", direction="lower") for each in ROWS]
    said = texts(scenes(rows=rows)["near-99-by-load"])
    assert {"Load, B", "B"} <= {*said}


def test_without_the_step_that_it_is_against_there_is_no_chart() -> None:
    assert [*scenes(without="load")] == ["near-by-recall"]


def test_a_size_of_vectors_is_beside_their_numbers_as_float32() -> None:
    scenario = parsed(("kind: load,", "kind: size, compact: no,")).scenario("a")
    found: Any = {"size_parts": {"data": 5_000}, "files": [], "rows": 10}
    size = Row(
        "a", "load", "flat", "The flat", Outcome.OK, metric="m", unit="B", value=5_000.0, trial_means=(5_000.0,),
        of_rounds=(1,), facts=found, rounds=(found,),
    )  # fmt: skip
    known = dict.fromkeys((field.name for field in fields(Footprint)), None)
    footprint: Any = {**known, "value": 5_000.0, "total": 5_000.0, "allocated": 8_192.0, "csv_bytes": 4_000}
    data = Data(csv_bytes=4_000, form="float32")
    view = step_view(scenario, scenario.steps[0], [size], data, [], {"flat": Footprint(**footprint)})
    assert view.lines[0].details[view.details.index("of float32")] == "×1.25"
    assert view.details_note.endswith("per byte of data as float32.")


def test_the_recall_is_in_the_results() -> None:
    found = ResultRow.model_validate(_row(ROWS[3], None).model_dump())
    assert found.recall is not None
    assert (found.recall.mean, found.recall.interval, found.recall.effort) == (0.92, (0.92, 0.92), 9)
    assert _row(ROWS[0], None).recall is None
