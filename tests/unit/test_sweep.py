"""A sweep over clients: the steps that it becomes, what is refused, and the charts."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dbbench.analysis.remarks import About, Remark
from dbbench.analysis.row import Row
from dbbench.errors import SuiteError
from dbbench.report import run_view
from dbbench.report.charts.axis import Axis
from dbbench.report.charts.layout import Frame, Look
from dbbench.report.charts.plot import Curve, Plot, named, shapes
from dbbench.report.charts.scene import Scene
from dbbench.report.charts.sweep import sweep
from dbbench.report.charts.timeline import has_timeline, timeline
from dbbench.report.step_builder import step_view
from dbbench.report.step_view import Data, StepView
from dbbench.report.write import write_report
from dbbench.results.outcome import Outcome
from dbbench.suite.loader import parse_suite
from dbbench.suite.model import Scenario, Suite
from dbbench.testing.suite_text import suite_text
from tests.fabricated import Fake, fabricate
from tests.scenes import covered, texts
from tests.unit.refused import refused

SUITE = suite_text(
    "a",
    "tables: {T: {rows: 10, primary_key: Id, columns: {Id: {type: integer, values: {kind: sequence}}}}}",
    """
    - {kind: query, name: q, title: Q, sql: SELECT Id FROM T, duration: 4s, clients: CLIENTS}
    - {kind: total, name: q-3, title: Both, of: [q-1, q-2]}
    """,
)


def parsed(clients: str = "[1, 2, 4]", text: str = SUITE) -> Suite:
    return parse_suite(text.replace("CLIENTS", clients), "s.yaml")


def test_a_sweep_becomes_a_step_for_each_of_its_clients() -> None:
    suite = parsed("[1, {threads: 2, processes: 2}, {processes: 2}]")
    steps = suite.scenario("a").steps
    assert [step.name for step in steps] == ["q-1", "q-4", "q-2", "q-3"]
    assert [step.title for step in steps[:3]] == ["Q, 1 client", "Q, 4 clients", "Q, 2 clients"]
    clients = [str(step.concurrent_clients) for step in steps[:3]]
    assert clients == ["1 thread", "2 processes of 2 threads", "2 processes"]
    assert Suite.model_validate(suite.model_dump(mode="json")) == suite


def test_a_sweep_takes_no_name_that_is_there() -> None:
    text = SUITE.replace("q-3", "q-4").replace("steps:\n", "steps:\n      - {kind: load, name: q-2, title: L}\n")
    said = refused(text.replace("CLIENTS", "[1, 2]"))
    assert "other names: the sweep makes a step q-2, which already exists" in str(said)


def test_a_number_of_clients_is_one_of_threads() -> None:
    text = SUITE.replace("      - {kind: total, name: q-3, title: Both, of: [q-1, q-2]}\n", "")
    (step,) = parsed("3", text).scenario("a").steps
    assert (step.name, step.concurrent_clients.threads, step.concurrent_clients.processes) == ("q", 3, 1)


@pytest.mark.parametrize(
    ("clients", "words"),
    [
        ("[1]", "clients: a list of two or more different numbers, like [1, 2, 4, 8]"),
        ("[2, {processes: 2}]", "two or more different numbers"),
        ("[1, many]", "two or more different numbers"),
        ("[1, 2, 0]", "greater than or equal to 1"),
        ("[1, 2, 3]", "a name that no other has"),
        ("[2, 4]", "one of the steps before it that take seconds: q-2, q-4"),
        ("[1, {thread: 2}]", "two or more different numbers"),
        ("{thread: 2}", "one of the keys processes, threads"),
    ],
)
def test_a_sweep_that_is_none_is_refused(clients: str, words: str) -> None:
    assert words in str(refused(SUITE.replace("CLIENTS", clients)))


def test_a_mistyped_key_is_not_told_of_what_no_suite_writes() -> None:
    assert "sweep" not in str(refused(SUITE.replace("CLIENTS", "2, clinets: 3")))


def test_charts_may_name_a_sweep_or_its_steps() -> None:
    text = SUITE + "    charts: [{kind: sweep, steps: [q]}, {kind: timeline, steps: [q-2]}]\n"
    assert [chart.kind for chart in parsed(text=text).scenario("a").charts] == ["sweep", "timeline"]
    with pytest.raises(SuiteError, match="one of the steps q, q-1, q-2, q-4"):
        parsed(text=text.replace("[q-2]", "[q-8]").replace("q-3", "all"))


TITLES = [f"Engine number {number}" for number in range(10)]


def row(scenario: Scenario, step: str, number: int, clients: int, outcome: Outcome = Outcome.OK) -> Row:
    known = (scenario.name, step, str(number), TITLES[number], outcome)
    if outcome is not Outcome.OK:
        return Row(*known, remarks=(Remark(About.RECORDED, "can't serve that many"),))
    calls = 1_000.0 / (number + 1) * clients
    p99 = 10**6 * (number + 1)
    slots = {"seconds": 1.0, "calls": [int(calls)] * 4, "p50": [9, 9, 9, None], "p99": [p99, p99, p99, None]}
    facts: dict[str, Any] = {"per_second": calls, "timeline": slots}
    return Row(
        *known, metric="time", unit="s", value=1 / calls, trial_means=(1 / calls,),
        facts=facts, rounds=(facts, {**facts, "per_second": calls * 1.1}),
    )  # fmt: skip


def views(engines: int) -> Iterator[StepView]:
    scenario = parsed().scenario("a")
    for step in scenario.steps[:3]:
        clients = step.concurrent_clients.count
        rows = [row(scenario, step.name, number, clients) for number in range(engines)]
        if clients == 4:
            rows[0] = row(scenario, step.name, 0, clients, Outcome.UNSUPPORTED)
        yield step_view(scenario, step, rows, Data(), (), ())


def words(scene: Scene) -> list[str]:
    return [*texts(scene), " ".join(texts(scene))]


def test_the_chart_of_a_sweep_has_a_curve_for_each_engine_and_says_who_is_missing() -> None:
    scene = sweep(list(views(3)), Look({}, ["caption"]))
    found = words(scene)
    assert {"Q", "clients", *TITLES[:3]} <= set(found)
    assert any("calls per second" in text for text in found)
    assert any("Engine number 0: can't serve that many (4 clients)." in text for text in found)
    assert covered(scene) == []


def test_the_chart_of_a_sweep_has_the_note_of_its_step() -> None:
    note = "Derived from another benchmark."
    noted = [replace(view, step=view.step.model_copy(update={"note": note})) for view in views(3)]
    assert note in words(sweep(noted, Look()))


def test_more_engines_than_can_be_told_apart_are_named_beneath() -> None:
    scene = sweep(list(views(10)), Look())
    assert sum(text in TITLES for text in texts(scene)) == 8
    assert any("Not drawn, because slower:" in text for text in words(scene))
    assert covered(scene) == []


def test_the_chart_over_seconds_has_calls_above_and_p99_below() -> None:
    view = next(views(8))
    assert has_timeline(view)
    scene = timeline(view, Look())
    found = words(scene)
    assert sum(text in TITLES for text in texts(scene)) == 16
    assert {"0", "4"} <= {*texts(scene)}  # both halves end with the last second, which has no p99
    assert any(text.startswith("p99 of a call in ms, less is better") for text in found)
    assert "seconds from the start" in found
    assert covered(scene) == []


ENGINES = {title: str(number) for number, title in enumerate(TITLES)}
ALIKE = Look(dict.fromkeys(ENGINES.values(), "c0"))


def test_an_engine_has_its_own_shape_wherever_it_stands() -> None:
    look = Look({"0": "c0", "1": "c1", "2": "c2"})
    first = shapes(TITLES[:3], ENGINES, look)
    assert shapes(TITLES[2::-1], ENGINES, look) == first
    assert len({*first.values()}) == 3


def test_two_curves_of_a_chart_never_have_one_shape() -> None:
    drawn = shapes([*TITLES[2:9], TITLES[0]], ENGINES, ALIKE)  # the ninth has the first's shape elsewhere
    assert len({*drawn.values()}) == 8


def test_more_curves_than_shapes_have_each_shape_before_any_comes_again() -> None:
    drawn = [*shapes(TITLES, ENGINES, ALIKE).values()]
    assert len({*drawn[:8]}) == 8
    assert len(drawn) == 10


def test_charts_of_several_steps_and_of_seconds_are_on_both_pages(tmp_path: Path) -> None:
    charts = "[{kind: sweep}, {kind: timeline}, {kind: tradeoff, title: Both, steps: [q], against: q-3}]"
    suite = tmp_path / "s.yaml"
    suite.write_text(f"{SUITE.replace('CLIENTS', '[1, 2, 4]')}    charts: {charts}\n", "utf-8")
    slots = {"seconds": 1.0, "calls": [9, 9], "p50": [9, 9], "p99": [10**6] * 2}

    def under_load(result: dict[str, Any]) -> None:
        for step in result["steps"][:3]:
            step["facts"] |= {"per_second": 9.0, "timeline": slots}

    fakes = {"a": Fake("A"), "b": Fake("B", 2.0)}
    run = fabricate(tmp_path / "run", fakes, suite=str(suite), rounds=1, change=under_load)
    write_report(run_view.view(run), ("html", "md"))
    html, markdown = ((run.report / f"index.{form}").read_text("utf-8") for form in ("html", "md"))
    for name in ("q-sweep", "q-by-q-3"):
        assert f'aria-label="A: a-{name}"' in html
        assert f"](a-{name}.svg)" in markdown
    assert html.count(': second by second"') == markdown.count("-timeline.svg)") == 3


def test_names_at_the_ends_of_curves_keep_apart() -> None:
    scene = Scene(600, 320, "", "")
    curves = [Curve(title, "c0", "circle", [(0, 1), (1, 9.99)]) for title in TITLES[:6]]
    named(Plot(curves, Axis(0, 1), Axis(0, 10), [], ""), scene, Frame(60, 30, 450, 280))
    assert len(texts(scene)) == 6
    assert covered(scene) == []


def test_an_empty_chart_can_be_drawn() -> None:
    scenario = parsed().scenario("a")
    none = [
        step_view(scenario, step, [row(scenario, step.name, 0, 1, Outcome.UNSUPPORTED)], Data(), (), ())
        for step in scenario.steps[:3]
    ]
    assert "Q" in words(sweep(none, Look()))
    assert not has_timeline(none[0])
