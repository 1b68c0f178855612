"""What reports show: titles, many engines, plans, and texts that come from drivers."""

import io
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import pytest
from rich.console import Console

from dbbench.analysis.queryplans import QueryPlan
from dbbench.cli.common import INTERRUPTED
from dbbench.cli.gates import PairGate, show_gates
from dbbench.cli.report import report
from dbbench.cli.suite import _run
from dbbench.errors import UserError
from dbbench.report.charts import draw
from dbbench.report.export import markdown_page
from dbbench.report.export.page_data import _short
from dbbench.report.remarks import worded
from dbbench.report.run_view import View, view
from dbbench.report.steps import wording
from dbbench.report.terminal import run
from dbbench.report.write import EXPORTERS, Exporter, check_formats, write_report
from dbbench.results.outcome import Outcome
from dbbench.suite.steps.statement import StatementStep
from tests.fabricated import FORBIDDEN, MANY, NULLS, PLAN, Fake, fabricate
from tests.scenes import covered, texts


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> View:
    """All engines in one run, one of them withheld, some failed, over four decades."""
    return view(fabricate(tmp_path_factory.mktemp("many") / "run"), publish=True)


def printed(shown: View, width: int = 80) -> list[str]:
    out = io.StringIO()
    run.show(shown, Console(file=out, width=width, soft_wrap=True))
    return out.getvalue().splitlines()


def no_room(*_arguments: object, **_options: object) -> None:
    raise OSError(28, "No space left on device")


def test_an_interrupted_run_says_how_to_go_on_though_the_disk_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_arguments: object) -> None:
        raise KeyboardInterrupt

    made = fabricate(tmp_path / "a run", {"a": Fake("A")}, rounds=1)
    made.manifest.engines["a"]["url"] = "a://u:***@h/d"
    made.manifest = made.manifest.model_copy(update={"cluster": "tls://h:8786", "hosts": 2})
    monkeypatch.setattr("dbbench.scripting.carry_out", interrupted)
    monkeypatch.setattr("dbbench.host.plain_file.write", no_room)
    ready: Any = SimpleNamespace(run=made, absent={}, idle=[])
    assert _run(ready, (), publish=False) == INTERRUPTED
    printed = capsys.readouterr()
    again = f"--resume '{made.path}' --url 'a=a://u:***@h/d' --cluster tls://h:8786 --hosts 2"
    assert f"continue with: dbbench suite {again}" in printed.out.replace("\n", "")
    assert "can't be written" in printed.err
    with pytest.raises(UserError, match="can't be written: No space left on device"):
        show_gates(made, Console(file=io.StringIO()), (PairGate("a", "null", 0.1),), keep=True)


# Titles


@pytest.mark.parametrize(
    ("probed", "told", "title"),
    [
        ({"title": "Any"}, {}, "Any"),
        ({"title": "Any"}, {"title": "Told"}, "Told"),
        ({"title": ""}, {}, "mine"),
        ({"title": "Any", "engine": "sqlalchemy"}, {}, "Any [mine]"),
        ({"title": "Any", "engine": "sqlalchemy"}, {"title": "Told"}, "Told [mine]"),
        ({"title": "", "engine": "sqlalchemy"}, {}, "mine"),
        ({"title": "Any", "engine": ""}, {}, "Any"),
    ],
)
def test_an_engine_is_called_after_the_server_that_answered_and_by_the_users_own_name(
    probed: dict[str, Any], told: dict[str, Any], title: str, tmp_path: Path
) -> None:
    fake = Fake("", probed=probed, told={"title": "", **told})
    run = fabricate(tmp_path / "run", {"mine": fake, "other": Fake("Other")}, rounds=1)
    assert run.manifest.titles(run.results())["mine"] == title
    shown = view(run)
    found = {line.row.title for step in shown.scenarios[0].steps for line in step.lines if line.row.engine == "mine"}
    assert found == {title}
    assert [item.title for item in shown.scenarios[0].standings if item.engine == "mine"] == [title]
    assert [item.title for item in shown.scenarios[0].resources if item.engine == "mine"] == [title]
    assert [item.title for item in shown.systems if item.engine == "mine"] == [title]


# Many engines


@pytest.mark.parametrize("width", [400, None, 1600])
def test_no_text_of_a_chart_covers_another_or_leaves_the_sheet(many: View, width: int | None) -> None:
    scenes = dict(draw.figures(many, many.scenarios[0], width))
    for stem in ("invoices-overview", "invoices-join-2", "invoices-database-size"):
        assert len(texts(scenes[stem])) > 60
        assert covered(scenes[stem]) == [], stem


def test_the_terminal_has_a_line_for_each_engine_within_80_columns(many: View) -> None:
    lines = printed(many)
    assert max(map(len, lines)) <= 80
    title = lines.index("Join 1: every column of each invoice and its shipments")
    assert lines[title + 1].startswith("  ")  # what the step found, in a sentence
    start = next(at for at in range(title, len(lines)) if lines[at].endswith("harness"))
    table = lines[start + 1 : start + 1 + len(MANY)]
    assert [next(word for word in line.split() if word in MANY) for line in table] == [
        line.row.engine for line in (*many.scenarios[0].step("join-1").lines, *many.scenarios[0].step("join-1").failed)
    ]
    assert "(log scale)" in " ".join(lines[title : start + 1])


def test_one_figure_with_a_wide_interval_is_drawn_on_a_logarithmic_scale(tmp_path: Path) -> None:
    """Its interval alone makes the scale wide: all figures are the same."""
    shown = view(fabricate(tmp_path / "run", {"sqlite": MANY["sqlite"]}, rounds=6))
    (step, *_) = shown.scenarios[0].steps
    line = step.lines[0]
    wide = replace(step, lines=(replace(line, row=replace(line.row, high=1000 * (line.row.value or 0))),))
    assert wide.wide
    assert run._Scale.of(wide).bar(line.row.value or 0, 10, ascii_only=True) == "---------o"


@pytest.mark.parametrize(("engines", "width"), [(2, 40), (22, 60), (22, 120)])
def test_the_report_is_as_wide_as_the_terminal(many: View, tmp_path: Path, engines: int, width: int) -> None:
    two = fabricate(tmp_path / "run", {"sqlite": Fake("SQLite"), "duckdb": Fake("DuckDB", 2.0)}, rounds=6)
    lines = printed(many if engines > 2 else view(two), width)
    assert width - 10 < max(map(len, lines)) <= width
    assert "Fastest overall" in " ".join(lines[-10:])


def test_several_scenarios_have_names_and_a_table(tmp_path: Path) -> None:
    shown = view(fabricate(tmp_path / "run", {"a": Fake("A"), "b": Fake("B", 2.0)}, suite="mixes", rounds=6, noise=0.0))
    lines = printed(shown)
    assert [line for line in lines if line.isupper()] == [each.scenario.title.upper() for each in shown.scenarios]
    at = lines.index("All scenarios: geometric mean of the ratios to the best")
    assert lines[at + 2].split() == ["a", *["×1.00"] * len(shown.scenarios)]
    assert lines[at + 5].startswith(f"{shown.scenarios[0].scenario.title}. Fastest overall: A")


def test_a_mean_in_the_terminal_has_as_many_digits_as_its_interval(tmp_path: Path) -> None:
    lines = printed(view(fabricate(tmp_path / "run", {"a": Fake("A"), "b": Fake("B", 1234.56)}, rounds=6, noise=0.0)))
    assert any(line.split()[:4] == ["b", "×1,235", "1,235", "to"] for line in lines)


def test_memory_that_is_no_more_than_the_null_engines_is_said_so(tmp_path: Path) -> None:
    engines = {"a": Fake("A", more={"peak_memory": 10**6}), "b": Fake("B", more={"peak_memory": 10**9})}
    made = fabricate(tmp_path / "run", engines, rounds=2)
    lines = printed(view(made))
    used = {line.split()[0]: line for line in lines[next(n for n, line in enumerate(lines) if "memory" in line) :][1:3]}
    assert "as null" in used["a"]
    assert "910 MB" in used["b"]
    assert "above the null engine's: 0 B is no more than it took" in page(view(made), made.path, "html")


def test_bars_over_several_decades_are_points_on_a_logarithmic_scale(many: View) -> None:
    lines = [line for line in printed(many) if re.match(r" *\d+(-\d+)? \S+ +─*● ", line)]
    lengths = {line.split()[1]: line.count("─") for line in lines[:22]}
    assert lengths["duckdb"] == 0
    assert 0 < lengths["sqlite"] < lengths["derby"] < lengths["access"]


def test_why_an_engine_is_missing_stands_once(many: View) -> None:
    text = " ".join(printed(many))
    assert text.count("it runs against a server of yours") == 1
    assert "unavailable[" not in text


def test_arrow_engines_are_named_and_told_apart(many: View) -> None:
    words = many.scenarios[0].step("join-1").conditions
    assert "Python objects: DuckDB (Arrow), PostgreSQL (ADBC, Arrow) and chDB (ClickHouse, Arrow); the others" in words
    assert "Arrow" not in many.scenarios[0].step("bulk-insert").conditions


def test_what_an_engine_does_otherwise_stands_at_its_bar_too(many: View, tmp_path: Path) -> None:
    assert [line.ratio for line in many.scenarios[0].step("join-1").lines if line.arrow] == ["Arrow"] * 3
    text = "\n".join(printed(many, 120))
    assert re.search(r"^ +duckdb\+arrow .* Arrow( |$)", text, re.MULTILINE)
    stores = {"lmdb": Fake("LMDB", 0.5), "dbm.gnu": Fake("GDBM", 2.0, told={"tier": "power"})}
    text = "\n".join(printed(view(fabricate(tmp_path / "run", stores, suite="mixes", rounds=6)), 120))
    assert re.search(r"^ *2 dbm.gnu, power ", text, re.MULTILINE)


def test_engines_that_did_nothing_come_after_those_that_failed_in_a_step(many: View) -> None:
    assert [item.engine for item in many.scenarios[0].standings][-3:] == ["access", "turso", "oracle"]


def test_a_null_engine_has_no_part_in_whether_a_run_was_successful(tmp_path: Path) -> None:
    def nobody_knows(result: dict[str, Any]) -> None:
        if result["engine_name"] in NULLS:
            result["steps"][1] |= {"outcome": Outcome.UNSUPPORTED, "detail": "the number of rows to return is unknown"}
            result["remarks"] = ["left 1 process(es) behind, now killed: java"]

    shown = view(fabricate(tmp_path / "run", {"a": Fake("A")}, rounds=1, change=nobody_knows))
    assert {row.outcome for row in shown.rows if not row.ranked} == {Outcome.OK, Outcome.UNSUPPORTED}
    assert not shown.unsuccessful


@pytest.mark.parametrize(
    ("outcome", "named", "unsuccessful"),
    [("unsupported", [], False), ("unsupported", ["a"], True), ("unsupported", None, True), ("failed", [], True)],
)
def test_an_engine_that_nobody_named_may_be_unsupported_and_no_more(
    tmp_path: Path, outcome: str, named: Any, unsuccessful: bool
) -> None:
    """What follows it counts as it does."""

    def refused(result: dict[str, Any]) -> None:
        if result["engine_name"] == "a":
            result["steps"][1] |= {"outcome": Outcome(outcome), "detail": "no room"}
            result["steps"][2] |= {"outcome": Outcome.NOT_RUN, "detail": f"join-1 {outcome}: no room"}

    run = fabricate(tmp_path / "run", {"a": Fake("A"), "b": Fake("B")}, rounds=1, change=refused)
    run.manifest.named = named
    assert view(run).unsuccessful is unsuccessful


# Plans


def page(shown: View, folder: Path, form: str) -> str:
    write_report(shown, (form,))
    return (folder / "report" / f"index.{form}").read_text("utf-8")


def noted(plan: QueryPlan) -> str:
    return worded(plan.note) if plan.note else ""


def test_a_plan_stands_once_for_the_engines_that_share_it_the_best_first(many: View) -> None:
    plans = many.scenarios[0].step("join-1").plans
    assert [(plan.title, plan.text[:9], noted(plan)) for plan in plans] == [
        ("SQLite (APSW), SQLite (sqlite3)", "SCAN B\nSE", ""),
        (plans[1].title, "", "no query plan available"),
        ("SQL Server Express (mssql-python)", "", f"withheld: {FORBIDDEN['publication_note']}"),
        ("PostgreSQL (psycopg, libpq prepared), PostgreSQL (psycopg), PostgreSQL (ADBC, Arrow)", PLAN[:9], ""),
    ]
    assert plans[1].title.endswith("DuckDB (Arrow), chDB (ClickHouse, Arrow)")


def test_nothing_in_a_plan_becomes_markup(tmp_path: Path) -> None:
    evil = "</pre><script>owned</script>\n````\n# owned\n</details>"
    run = fabricate(tmp_path / "run", {"a": Fake("A <b>", plans={"join-1": evil})}, rounds=1)
    run.suite = run.suite.model_copy(update={"scenarios": (run.suite.scenarios[0].model_copy(update={"charts": ()}),)})
    shown = view(run)
    html = page(shown, run.path, "html")
    assert "&lt;script&gt;owned" in html
    assert "<script>owned" not in html
    markdown = page(shown, run.path, "md")
    assert "owned" not in markdown
    assert r"A \<b>" in markdown


def test_another_plan_in_another_round_is_told_and_other_estimates_are_not(tmp_path: Path) -> None:
    fake = Fake("A", plans={"join-1": "Seek cost=1.0", "join-2": "Seek cost=1.0"})
    run = fabricate(tmp_path / "run", {"a": fake}, rounds=3)
    folders = sorted(path for path in (run.path / "trials").iterdir() if path.name.endswith("-a"))
    (folders[1] / "plans" / "join-1.txt").write_text("Scan cost=1.0")
    (folders[1] / "plans" / "join-2.txt").write_text("Seek cost=2.7e-3")
    steps = view(run).scenarios[0]
    assert [(plan.text, noted(plan)) for plan in steps.step("join-1").plans] == [
        ("Seek cost=1.0", "a different plan in 1 of 3 rounds")
    ]
    assert [(plan.text, noted(plan)) for plan in steps.step("join-2").plans] == [("Seek cost=1.0", "")]


@pytest.mark.parametrize(("text", "fence"), [("a", "```"), ("a ``` b", "````"), ("`````", "``````")])
def test_a_fence_is_longer_than_any_in_the_text(text: str, fence: str) -> None:
    assert markdown_page.fenced(text) == f"{fence}text\n{text}\n{fence}"


# Warnings


def test_a_busy_machine_and_what_to_do_are_told_wherever_figures_are_read(tmp_path: Path) -> None:
    def busy(result: dict[str, Any]) -> None:
        result["noise"] = {"others": 0.3}

    run = fabricate(tmp_path / "run", {"a": Fake("A")}, rounds=1, change=busy)
    run.suite = run.suite.model_copy(update={"scenarios": (run.suite.scenarios[0].model_copy(update={"charts": ()}),)})
    shown = view(run)
    (words,) = (text for text in shown.warnings if text.startswith("other processes used up to 30% of the machine"))
    assert words.endswith(": run again without them, or on a quieter machine")
    assert f"warning: {words}" in " ".join(printed(shown, 400))
    assert f"Warning: {words}" in page(shown, run.path, "html")
    assert f"> **Warning:** {words}" in page(shown, run.path, "md")


# Tables


def test_a_table_has_no_column_without_figures(tmp_path: Path) -> None:
    engines = {"a": Fake("A"), "b": Fake("B", 2.0, bad={"join-2": (Outcome.CRASHED, "killed by SIGSEGV")})}
    heads = {}
    for rounds in (1, 6):
        run = fabricate(tmp_path / str(rounds), engines, rounds=rounds)
        write_report(view(run), ("md", "html"))
        page = (run.report / "index.md").read_text("utf-8")
        heads[rounds] = page[page.index("\n|", page.index("\n## Join 1")) + 1 :].splitlines()[:3]
        assert {line.count("|") for line in heads[rounds]} == {heads[rounds][0].count("|")}
        html = (run.report / "index.html").read_text("utf-8")
        assert ("<th>its interval" in html) is (rounds > 1)
    assert heads[1] == ["| Engine | ms | Ratio | Harness |", "|---|---:|---:|---:|", heads[1][2]]
    assert heads[6][0] == "| Rank | Engine | ms | 95 % interval | Ratio | its interval | Harness |"


def test_an_engine_that_could_not_run_is_reported_without_a_reason(tmp_path: Path) -> None:
    fakes = {"a": Fake("A"), "b": Fake("B", probed={"status": "unavailable"})}
    run = fabricate(tmp_path / "run", fakes, rounds=1)
    del run.manifest.engines["b"]["detail"]
    assert view(run).missing == (("b", ""),)


def test_a_footnote_says_so_where_the_test_and_the_interval_of_the_ratio_differ(tmp_path: Path) -> None:
    def change(result: dict[str, Any]) -> None:
        if (result["engine_name"], result["round"]) == ("b", 4):
            result["steps"] = [step | {"value": 1.2 * step["value"]} for step in result["steps"]]

    fakes = {"a": Fake("A"), "b": Fake("B", 1.03)}
    shown = view(fabricate(tmp_path / "run", fakes, rounds=6, noise=0.001, change=change))
    step = shown.scenarios[0].step("join-1")
    assert [(line.rank, line.mark) for line in step.lines] == [("1-2", ""), ("1-2", "1,2")]
    assert step.footnotes[1].startswith("B: the interval of the ratio excludes ×1, but the corrected test")
    assert "[2] B: the interval" in "\n".join(printed(shown))


def test_charts_of_where_the_time_goes_are_on_the_page(tmp_path: Path) -> None:
    run = fabricate(tmp_path / "run", {"a": Fake("A")}, suite="object-load", rounds=1)
    write_report(view(run), ("md", "html", "svg"))
    text = (run.report / "index.md").read_text("utf-8")
    assert "(objects-by-key-13-stacks.svg)" in text
    assert [path.name for path in run.report.glob("*.svg") if f"({path.name})" not in text] == []
    assert "materialise (objects and everything else" in (run.report / "index.html").read_text("utf-8")


def test_a_load_shows_its_parts_and_beside_them_the_making_of_its_rows(many: View) -> None:
    """The parts add up to the figure, to the digits that are shown."""
    (load,) = [step for step in many.scenarios[0].steps if step.step.kind == "load"]
    assert load.details == ("insert", "indexes", "commit", "(rows made)")
    line = next(line for line in load.lines if line.details)
    *parts, made = [float(cell.replace(",", "")) for cell in line.details]
    assert sum(parts) == pytest.approx((line.row.value or 0) / load.unit.size, rel=0.02)
    assert made * load.unit.size == pytest.approx(0.2)
    assert "outside the clock" in load.details_note


def test_one_call_is_not_called_a_mean() -> None:
    step = StatementStep(kind="statement", name="s", title="S", sql="DELETE FROM A", iterations=1)
    assert wording(step).conditions(step, [{}], [], None).startswith("A round is one call after 1 to warm up.")


def test_every_format_of_the_registry_is_in_the_help_and_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = fabricate(tmp_path / "run", {"sqlite": MANY["sqlite"]}, rounds=2)
    written = {path.name for path in write_report(view(run), tuple(EXPORTERS))}
    assert written == {"summary.csv", "wide.csv", "results.json", "index.html", "index.md"}
    kinds = {path.suffix.removeprefix(".") for path in run.path.rglob("*") if path.is_file()}
    assert kinds >= set(EXPORTERS) - {"card", "wide"}
    assert (run.report / "card.png").is_file()
    (option,) = [option for option in report.params if option.name == "formats"]
    monkeypatch.setitem(EXPORTERS, "new", Exporter("new"))
    help_text = option.get_help_record(click.Context(report))
    assert help_text is not None
    assert f": {', '.join(EXPORTERS)}. If omitted, all but wide, card;" in help_text[1]
    monkeypatch.undo()
    with pytest.raises(UserError, match="unknown format 'pdf'; there are png, svg, html, md, csv, wide, json, card"):
        check_formats(["png", "pdf"])


def test_the_script_rounds_to_the_figure_that_tables_show() -> None:
    """13.549568 as 13.55 would become 13.6."""
    assert f"{_short(13_549_568, 1e6):.1f}" == f"{13.549568:.1f}" == "13.5"
    assert _short(13_549_568, 1e6) != 13.55
