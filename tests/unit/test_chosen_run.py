"""A report of some engines and steps of a run, with names, a title and colours of one's own."""

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from dbbench.analysis.comparability import Side
from dbbench.analysis.compare import compare
from dbbench.errors import UserError
from dbbench.report.charts.palette import COLOURS
from dbbench.report.run_view import view
from dbbench.report.sorting import KEYS, sorted_by
from dbbench.results.chosen_run import Choice, ChosenRun
from dbbench.results.outcome import Outcome
from dbbench.results.run_directory import Run
from tests.conftest import run_here
from tests.fabricated import FORBIDDEN, Fake, fabricate
from tests.unit.refused import rewritten

ENGINES = {"a": Fake("A"), "b": Fake("B", 2.0), "c": Fake("C", 4.0)}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return fabricate(tmp_path_factory.mktemp("chosen") / "run", ENGINES, rounds=6)


def test_ranks_ratios_and_means_are_among_the_engines_chosen(run: Run) -> None:
    found = ChosenRun(run, Choice(["b", "c"], ["join-1"], {"c": "C <2>"}, "Mine"))
    shown = view(found)
    (step,) = shown.scenarios[0].steps
    assert [(line.row.title, line.rank, line.ratio) for line in step.lines] == [
        ("B", "1", "×1.00"),
        ("C <2>", "2", "×2.00"),
    ]
    assert [round(item.mean_ratio or 0) for item in shown.scenarios[0].standings] == [1, 2]
    assert step.harness
    assert (shown.title, [system.title for system in shown.systems]) == ("Mine", ["B", "C <2>"])
    assert shown.warnings == ()
    assert len(view(run).scenarios[0].steps) == 8


def test_a_label_is_the_whole_name_of_a_variant(tmp_path: Path) -> None:
    made = fabricate(tmp_path / "run", {"a@1.3": Fake("A", probed={"engine": "a"}), "b": Fake("B")}, rounds=1)
    for labels, title in (({}, "A [1.3]"), ({"a@1.3": "Old"}, "Old")):
        systems = view(ChosenRun(made, Choice(labels=labels))).systems
        assert [system.title for system in systems] == [title, "B"]


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        (Choice(engines=["B1"]), "this run has no engine 'B1'"),
        (Choice(steps=["join-11"]), "this run has no step 'join-11'; did you mean 'join-1'?"),
        (Choice(labels={"null": "x"}), "this run has no engine 'null'; it has a, b, c"),
    ],
)
def test_what_is_not_in_the_run_cannot_be_chosen(run: Run, choice: Choice, message: str) -> None:
    with pytest.raises(UserError) as caught:
        ChosenRun(run, choice)
    assert str(caught.value).startswith(message)


def report(run: Run, *arguments: str, status: int = 0) -> str:
    done = run_here(Path(), "report", str(run.path), *arguments, status=status)
    return done.stdout + done.stderr


@pytest.mark.parametrize(("theme", "ground"), [("dark", "#14171b"), ("transparent", "none"), ("light", "#ffffff")])
def test_pictures_have_a_theme_a_width_and_say_what_was_measured(
    run: Run, tmp_path: Path, theme: str, ground: str
) -> None:
    out = tmp_path / "post"
    arguments = ["-e", "a", "-e", "b", "--step", "join-1", "--theme", theme, "--width", "700", "--out", str(out)]
    report(run, *arguments, "--format", "svg,png,html,md")
    svg = (out / "report" / "invoices-join-1.svg").read_text("utf-8")
    root = ElementTree.fromstring(svg)
    assert root.attrib["width"] == "700"
    assert f"fill:{ground}" in svg
    assert ("#1a1a1a" in svg) == (theme == "light")
    said = " ".join(root.itertext())
    assert "A: Server 1.2.3" in said
    assert "2026-11-21" in said
    png = (out / "report" / "invoices-join-1.png").read_bytes()
    assert int.from_bytes(png[16:20], "big") == 700
    assert (out / "report" / "index.md").read_text("utf-8").startswith('---\ntitle: "Invoices"\ndate: 2026-11-21\n')
    page = (out / "report" / "index.md").read_text("utf-8")
    found = "Fastest overall: A, the best of each step; then B, 2.0"
    assert f'\ndescription: "{found}' in page
    assert '\nimage: "invoices-overview.svg"\n---\n' in page
    assert f"\n**{found}" in page
    assert "\nA is best; then B, ×2.0" in page
    # What it leaves out.
    html = (out / "report" / "index.html").read_text("utf-8")
    assert not any(re.search(r"[Ww]hat a trial used<|[Bb]ulk|scans", text) for text in (page, html))
    assert "already exists; choose another folder with --out" in report(run, *arguments, status=2)


@pytest.mark.parametrize(
    "option", [["-e", "a"], ["--title", "x"], ["--label", "a=x"], ["--theme", "dark"], ["--width", "700"]]
)
def test_the_runs_own_report_stays_whole(run: Run, option: list[str]) -> None:
    assert "needs --out DIR" in report(run, *option, status=2)


def test_a_label_without_a_text_is_refused(run: Run) -> None:
    assert "--label is ENGINE=TEXT" in report(run, "--label", "a", "--out", "x", status=2)


USED = {
    "a": Fake("A", 3.0, size=5e6, more={"peak_memory": 100_000_000, "cpu_seconds": 9.0, "written_bytes": 3}),
    "b": Fake("B", 2.0, size=9e6, more={"peak_memory": 300_000_000, "cpu_seconds": 7.0, "written_bytes": 2}),
    "c": Fake("C", 1.0, size=7e6, more={"peak_memory": 200_000_000, "cpu_seconds": 8.0, "written_bytes": 1}),
}


@pytest.fixture(scope="module")
def used(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return fabricate(tmp_path_factory.mktemp("used") / "run", USED, rounds=6)


@pytest.mark.parametrize(
    ("key", "order"), [("time", "CBA"), ("memory", "ACB"), ("cpu", "BCA"), ("written", "CBA"), ("size", "ACB")]
)
def test_engines_are_sorted_everywhere_and_keep_their_ranks(used: Run, tmp_path: Path, key: str, order: str) -> None:
    out = tmp_path / "post"
    text = report(used, "--sort", key, "--step", "join-1", "--out", str(out), "--format", "svg,md,html")
    bars = [line.split()[:2] for line in text.splitlines() if "█" in line]
    assert bars == [[str("CBA".index(name) + 1), name.lower()] for name in order]
    assert ("order: engines by" in text) is (key != "time")
    svg = (out / "report" / "invoices-join-1.svg").read_text("utf-8")
    root = ElementTree.fromstring(svg)
    names = [text for each in root.iter() if (text := (each.text or "").strip()) in ("A", "B", "C")]
    assert names == [*order]
    ranks = [text for each in root.iter() if (text := (each.text or "").strip()) in ("1", "2", "3")]
    assert ranks[:3] == [str("CBA".index(name) + 1) for name in order]
    assert ("engines by" in " ".join(root.itertext())) is (key != "time")
    page = (out / "report" / "index.html").read_text("utf-8")
    assert "C is best; then B, ×2.00." in page
    assert (f'"sort":"{key}"' in page) is (key != "time")


def test_what_a_run_does_not_tell_is_no_order(tmp_path: Path) -> None:
    unknown = {"a": Fake("A", more={"written_bytes": None}), "b": Fake("B", more={"written_bytes": None})}
    found = fabricate(tmp_path / "run", unknown, rounds=1)
    text = report(found, "--sort", "written", "--format", "csv", status=2)
    assert "the run has no bytes written to sort by" in text


def test_an_order_gives_away_nothing_that_is_withheld(tmp_path: Path) -> None:
    engines = {**USED, "d": Fake("D", 1.5, size=1e6, probed=FORBIDDEN, more={"peak_memory": 95_000_000})}
    published = view(fabricate(tmp_path / "run", engines, rounds=6), publish=True)
    for key in KEYS:
        (scenario,) = sorted_by(published, key, published).scenarios
        assert scenario.standings[-1].engine == "d"
        assert all((*step.lines, *step.failed)[-1].row.engine == "d" for step in scenario.steps)


def test_one_engine_in_colour_leaves_the_others_grey(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "post"
    report(run, "--highlight", "a", "--step", "join-1", "--out", str(out), "--format", "svg")
    drawn = ElementTree.parse(out / "report" / "invoices-join-1.svg").getroot()
    styles = [each.attrib.get("style") for each in drawn.iter("{http://www.w3.org/2000/svg}path")]
    assert f"fill:{COLOURS[3]}" in styles
    text = report(run, "--highlight", "nobody", "--out", str(tmp_path / "other"), status=2)
    assert "the report has no such engine" in text


def test_the_data_are_those_of_the_chosen_scenarios_with_all_their_steps(tmp_path: Path, small_text: str) -> None:
    total = "      - {kind: total, name: sum, title: Sum, of: [load, join]}\n    charts:\n"
    (tmp_path / "small.yaml").write_text(rewritten(small_text, ("    charts:\n", total)), "utf-8")
    run = fabricate(tmp_path / "run", {"a": Fake("A")}, suite=str(tmp_path / "small.yaml"), rounds=1)
    known = {"rows": {"Parent": 10}, "csv_bytes": 1_000_000}
    run.manifest = run.manifest.model_copy(update={"datasets": {"things": known, "others": known}})
    facts = dict(view(ChosenRun(run, Choice(steps=["sum"]))).facts)
    assert facts["Data"] == "things: 10 rows, 1.0 MB as CSV; scale 1, seed 2006"


def test_a_dispute_is_a_fact_of_the_whole_run(tmp_path: Path) -> None:
    def wrong(result: dict[str, Any]) -> None:
        for step in result["steps"]:
            if step["name"] == "join-1" and result["engine_name"] in ("b", "c"):
                step |= {"outcome": "wrong", "facts": {"disputes": 1, "differs": ["x"]}}

    engines = {**ENGINES, "c": Fake("C", probed=FORBIDDEN)}
    runs = [fabricate(tmp_path / str(day), engines, rounds=1, change=wrong, day=day) for day in (1, 2)]
    shown = view(ChosenRun(runs[0], Choice(["a", "b"])))
    rows = {row.engine: row for row in shown.rows if row.step == "join-1"}
    assert (rows["a"].verified, rows["b"].outcome) == (False, Outcome.DISPUTED)
    pairs = compare(*([Side.read(run)] for run in runs), publish=True).pairs
    (worst,) = [pair.worst for pair in pairs if (pair.engine, pair.step) == ("b", "join-1")]
    assert [row.outcome for row in worst] == [Outcome.DISPUTED] * 2


def test_what_was_written_and_grown_since_the_size_before_is_that_of_all_steps(tmp_path: Path) -> None:
    run = fabricate(tmp_path / "run", {"a": Fake("A")}, suite="lifecycle", rounds=1)
    part = ChosenRun(run, Choice(steps=["load", "size-churned"]))
    whole, chosen = (view(each).scenarios[0].step("size-churned").footprints for each in (run, part))
    assert chosen == whole != {}
