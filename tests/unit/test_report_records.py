"""Reports of operations on records: rates, percentiles, sizes for 1,000 records, and published figures beside ours."""

import io
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError
from rich.console import Console

from dbbench.analysis.recorded import spread, tails
from dbbench.report.charts import draw
from dbbench.report.run_view import View, view
from dbbench.report.terminal import run
from dbbench.report.write import write_report
from dbbench.results.facts import SHOWN, CheckedStepFacts, StepFacts, TimesFacts
from dbbench.results.outcome import Outcome
from dbbench.results.run_directory import Run
from dbbench.suite.model import Tier
from dbbench.suite.references import dangling
from tests.fabricated import FORBIDDEN, OPERATION, STORES, Fake, fabricate
from tests.scenes import covered, intervals, texts


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> View:
    """Fifteen stores, one of them withheld, some of which can't do all."""
    return view(fabricate(tmp_path_factory.mktemp("stores") / "run", STORES, suite="esent", rounds=2), publish=True)


def plain(run: Run) -> Run:
    """A run without charts, of which the tests of words have no need."""
    scenarios = tuple(scenario.model_copy(update={"charts": ()}) for scenario in run.suite.scenarios)
    run.suite = run.suite.model_copy(update={"scenarios": scenarios})
    return run


@pytest.fixture
def two(tmp_path: Path) -> View:
    """Two stores without noise, of which one takes twice as long."""
    fakes = {
        "a": Fake("A", 1.0, size=50e6, heap=20e6, told={"tier": "power"}),
        "b": Fake("B", 2.0, told={"tier": "memory"}),
    }
    return view(plain(fabricate(tmp_path / "run", fakes, suite="esent", rounds=2, noise=0)))


# Rates


def test_a_rate_is_worded_as_one_with_the_best_first_and_ratios_of_time(two: View) -> None:
    step = two.scenarios[0].step("insert")
    assert [(line.row.engine, line.value, line.ratio) for line in step.lines] == [
        ("a", "250", "×1.00"),
        ("b", "125", "×2.00"),
    ]
    assert step.heading == "thousand operations/s"
    assert (step.details[0], [line.details[0] for line in step.lines]) == ("elapsed", ["4.00 s", "8.00 s"])
    assert step.measure.startswith("thousand operations per second, more is better; median of 2 rounds")
    assert step.conditions == (
        "1,000,000 records inserted by one client, in the order of their keys, one in a transaction; "
        "ascending keys of 8 bytes, values of 32."
    )


def test_more_of_a_rate_is_better_also_where_nobody_has_one(tmp_path: Path) -> None:
    refused = {"a": Fake("A", bad={"insert": (Outcome.UNSUPPORTED, "no")})}
    step = view(fabricate(tmp_path / "run", refused, suite="esent", rounds=1)).scenarios[0].step("insert")
    assert step.measure.startswith("operations per second, more is better")


@pytest.mark.parametrize(
    ("suite", "scenario", "step", "words"),
    [
        ("esent", 0, "read-one", "One record read 1,000,000 times by one client; ascending"),
        ("esent", 0, "scan", "1,000,000 records taken by one call of one client; ascending"),
        ("esent", 0, "seek", "1,000,000 records sought by one client, in random order; ascending"),
        ("bplustree", 0, "delete-1", "records deleted by one client bound to a processor, in random order, one in"),
        ("bplustree", 1, "select-4", "records read by 4 threads, in random order; scattered keys of 16 bytes"),
        ("mixes", 0, "fill-session-store", "by one client, in the order of their numbers, 1,000 in a transaction"),
        ("mixes", 4, "threads", "calls by one client: scan 95 %, insert 5 %; some records far more popular"),
    ],
)
def test_conditions_say_what_was_done(suite: str, scenario: int, step: str, words: str, tmp_path: Path) -> None:
    shown = view(fabricate(tmp_path / "run", {"a": Fake("A")}, suite=suite, rounds=1))
    assert words in shown.scenarios[scenario].step(step).conditions


def test_a_count_is_given_where_all_engines_made_as_many(two: View) -> None:
    step = two.scenarios[0].steps[0]
    for counts, start in (((5, 5), "5 records inserted"), ((5, 6), "Records inserted"), ((), "Records inserted")):
        facts: list[StepFacts] = [{"operations": count} for count in counts]
        assert step.wording.conditions(step.step, [*facts, {}], [], None).startswith(start)


def test_the_harnesss_share_of_a_rate_is_of_the_time_for_one_operation(two: View) -> None:
    step = two.scenarios[0].step("seek")
    assert [line.row.harness_share for line in step.lines] == pytest.approx([0.002, 0.001])
    assert (
        step.harness
        == f"dbbench's own overhead: {OPERATION * 0.002e9:.2f} ns an operation; at most 0.2% of a result (A)"
    )


def test_what_the_harness_binds_is_named_where_no_line_can_mark_it(tmp_path: Path) -> None:
    fakes = {"a": Fake("A", 0.008), "b": Fake("B", 1.0), "c": Fake("C", 0.004)}
    step = view(plain(fabricate(tmp_path / "run", fakes, suite="esent", rounds=1, noise=0))).scenarios[0].step("seek")
    assert step.harness_note() == f"{step.harness}; ! is bound by the harness"
    assert step.harness_note(marked=False) == f"{step.harness}; bound by it: C, A"


def test_engines_that_lack_the_same_for_the_same_reason_are_named_together(tmp_path: Path) -> None:
    run = plain(fabricate(tmp_path / "run", {name: Fake(name.upper()) for name in "abcd"}, suite="esent", rounds=1))
    for name, why in (("a", "it has one file"), ("b", "it forgets"), ("c", "it has one file")):
        run.manifest.engines[name]["lacks"] = {"transactions": why}
    assert view(run).remarks == ("A, C: no transactions (it has one file)", "B: no transactions (it forgets)")


def test_more_durability_than_asked_for_is_told_at_every_figure_but_sizes(two: View) -> None:
    words = "durability power, more than was asked for (memory)"
    for step in two.scenarios[0].steps:
        assert step.footnotes == (() if step.step.kind == "size" else (f"A: {words}",))
    assert [system.settings for system in two.systems] == [f"cache_mib = 64; {words}", "cache_mib = 64"]


@pytest.mark.parametrize(
    ("tier", "told"),
    [
        ("", ()),
        ("process", ()),
        ("nonsense", ()),
        ("memory", ("A: durability memory, LESS than was asked for (process)",)),
    ],
)
def test_less_durability_than_asked_for_is_told(tier: str, told: tuple[str, ...], tmp_path: Path) -> None:
    run = fabricate(tmp_path / "run", {"a": Fake("A", told={"tier": tier})}, suite="mixes", rounds=1)
    assert run.suite.scenarios[0].durability is Tier.PROCESS
    assert view(run).scenarios[0].steps[0].footnotes == told


def test_engines_with_the_same_note_share_it(stores: View) -> None:
    step = stores.scenarios[0].step("seek")
    assert step.footnotes[0].startswith(
        "LMDB (lmdb), LevelDB (plyvel), RocksDB (rocksdict), DuckDB (rows): durability process"
    )
    marks = {line.row.engine: line.mark for line in (*step.lines, *step.failed)}
    assert marks["lmdb"] == marks["duckdb"] == "1"
    assert marks["redis"] == ""


# Charts


@pytest.mark.parametrize(("suite", "step"), [("esent", "seek"), ("bplustree", "insert-1"), ("mixes", "session-store")])
def test_no_text_of_a_chart_covers_another_or_leaves_the_sheet(suite: str, step: str, tmp_path: Path) -> None:
    run = fabricate(tmp_path / "run", STORES, suite=suite, rounds=2)
    kinds = {chart.kind: chart for chart in run.suite.scenarios[0].charts}
    picked = {
        kind: chart.model_copy(update={"steps": (step,)} if "steps" in chart.model_fields_set else {})
        for kind, chart in kinds.items()
    }
    scenario = run.suite.scenarios[0].model_copy(update={"charts": tuple(picked.values())})
    run.suite = run.suite.model_copy(update={"scenarios": (scenario, *run.suite.scenarios[1:])})
    shown = view(run, publish=True)
    for width in (400, None, 1600):
        for stem, scene in draw.figures(shown, shown.scenarios[0], width):
            assert covered(scene) == [], (stem, width)


def test_a_step_with_calls_enough_has_a_chart_of_percentiles(tmp_path: Path) -> None:
    shown = view(fabricate(tmp_path / "esent", {"a": Fake("A")}, suite="esent", rounds=1))
    stems = [stem for stem, _ in draw.figures(shown, shown.scenarios[0])]
    assert stems[-4:-1] == ["esent-insert-percentiles", "esent-read-one-percentiles", "esent-seek-percentiles"]
    run = fabricate(tmp_path / "few", {"a": Fake("A")}, suite="bplustree", rounds=1, change=without_percentiles)
    shown = view(run)
    assert not any("percentiles" in stem for stem, _ in draw.figures(shown, shown.scenarios[0]))
    assert shown.scenarios[0].step("insert-1").details == ("elapsed",)
    fakes = {"a": Fake("A"), "b": Fake("B", probed=FORBIDDEN)}
    published = view(fabricate(tmp_path / "published", fakes, suite="esent", rounds=1), publish=True)
    details = {line.row.engine: line.details for line in published.scenarios[0].step("insert").lines}
    assert details["a"]
    assert details["b"] == ()


def test_the_key_of_percentiles_has_the_shapes_that_are_drawn(tmp_path: Path) -> None:
    def fewer(result: dict[str, Any]) -> None:
        for step in result["steps"]:
            for times in step.get("facts", {}).get("times", {}).values():
                times["percentiles"]["p99.9"] = None

    found = {}
    for name, change in (("all", lambda _: None), ("fewer", fewer)):
        run = fabricate(tmp_path / name, {"a": Fake("A")}, suite="esent", rounds=1, change=change)
        shown = view(run)
        drawn = dict(draw.figures(shown, shown.scenarios[0]))["esent-seek-percentiles"]
        found[name] = [text for text in texts(drawn)[-12:] if text.startswith(("p", "max"))]
    assert found == {"all": ["p50", "p95", "p99", "p99.9", "max"], "fewer": ["p50", "p95", "p99", "max"]}


def test_bars_in_parts_have_their_intervals(tmp_path: Path) -> None:
    shown = view(fabricate(tmp_path / "run", {"a": Fake("A"), "b": Fake("B", 2.0)}, suite="object-load", rounds=6))
    drawn = dict(draw.figures(shown, shown.scenarios[0]))["objects-by-key-13-stacks"]
    assert intervals(drawn) == 2


def without_percentiles(result: dict[str, Any]) -> None:
    for step in result["steps"]:
        for times in step.get("facts", {}).get("times", {}).values():
            times["percentiles"] = dict.fromkeys(times["percentiles"])


def test_percentiles_of_a_mix_are_by_operation(tmp_path: Path) -> None:
    step = view(fabricate(tmp_path / "run", {"a": Fake("A")}, suite="mixes", rounds=1, noise=0)).scenarios[0].steps[1]
    assert step.details == ("read p50", "read p99", "update p50", "update p99")
    assert step.lines[0].details == ("6.40 µs", "32.0 µs", "9.60 µs", "48.0 µs")


def test_the_terminal_keeps_to_80_columns(stores: View) -> None:
    out = io.StringIO()
    run.show(stores, Console(file=out, width=80, soft_wrap=True))
    assert max(map(len, out.getvalue().splitlines())) <= 80


def test_tails_are_medians_of_the_rounds_and_none_where_one_lacks_them() -> None:
    def facts(p50: float | None, p99: float | None, most: int) -> dict[str, Any]:
        percentiles = {"p50": p50, "p95": 20, "p99": p99, "p99.9": None}
        return {"times": {"service time": {"percentiles": percentiles, "max": most}}}

    found = tails([facts(10, 100, 1000), facts(30, None, 3000), facts(20, 300, 2000)])
    assert found["service time"].points == (20e-9, 20e-9, None, None, 2e-6)
    assert tails([facts(10, 100, 1000), facts(None, None, 1)]) == {}
    assert tails([]) == tails([{}]) == tails([{"times": {}}, facts(1, 1, 1)]) == {}


# Sizes


def test_calls_without_a_service_time_have_a_spread() -> None:
    latency: TimesFacts = {"count": 1, "sum": 1e9, "max": 1e9, "percentiles": dict.fromkeys(SHOWN, 1e9)}
    none: TimesFacts = {"count": 0, "sum": 0, "max": None}
    found = spread([{"times": {"latency": latency, "service time": none}, "per_second": 1}])
    assert found
    assert (found.greatest, found.service) == (1, 0)


@pytest.mark.parametrize("key", ["timeline", "adding"])
def test_facts_of_no_seconds_are_refused(key: str) -> None:
    facts = {"seconds": 0, "calls": [], "p50": [], "p99": [], "added": 1, "of": 1}
    with pytest.raises(ValidationError, match="greater than 0"):
        TypeAdapter(CheckedStepFacts).validate_python({key: facts})


def test_sizes_and_memory_are_told_for_1000_records(two: View) -> None:
    step = two.scenarios[0].step("database-size")
    at = {name: index for index, name in enumerate(step.details)}
    cells = {line.row.engine: line.details for line in step.lines}
    assert cells["a"][at["disk/1,000"]] == "50.0 kB"
    assert cells["a"][at["memory/1,000"]] == two.scenarios[0].data.each(two.scenarios[0].resources[0].peak_memory)
    assert [cells[name][at["heap/1,000"]] for name in ("a", "b")] == ["20.0 kB", "–"]
    assert "heap: what a runtime's collector counts" in step.wording.details_note(step.step, step)
    write_report(two, ("html", "md"))
    html, markdown = ((two.folder / "report" / f"index.{form}").read_text("utf-8") for form in ("html", "md"))
    assert "for 1,000 records" in html
    assert "1,000,000 records, 40.0 MB of keys and values" in html
    assert "1,000,000 records, 40.0 MB of keys and values" in markdown


# Then and now


def test_published_figures_stand_apart_as_ratios_to_their_own_best(tmp_path: Path) -> None:
    fakes = {"a": Fake("A", 2.0), "b": Fake("B", 1.0), "c": Fake("C", 3.0, probed=FORBIDDEN)}
    shown = view(fabricate(tmp_path / "run", fakes, rounds=1, noise=0), publish=True)
    found = {step.title: step for step in shown.published_comparisons}
    assert len(found) == 8
    join = found["Join 1: every column of each invoice and its shipments"]
    assert join.unit == "ms"
    assert [(item.title, item.figure, item.ratio) for item in join.published[:4]] == [
        ("SQLite 3.3.7", "156", "×1.00"),
        ("SQLite 3.3.7 (64 bit)", "172", "×1.10"),
        ("SQL Server 2005 Express", "withheld", ""),
        ("Jet 4.0", "453", "×2.90"),
    ]
    assert [(item.title, item.figure, item.ratio) for item in join.measured] == [
        ("B", "", "×1.00"), ("A", "", "×2.00"), ("C", "withheld: Benchmark clause 5(e)", ""),
    ]  # fmt: skip
    size = found["Database size"]
    assert (size.unit, size.published[2].figure, size.published[2].note) == (
        "kB",
        "17,728",
        "its log file was another 219,264 kB",
    )
    insert = next(step for title, step in found.items() if title.startswith("Insert"))
    assert {item.ratio for item in insert.published} == {""}


def test_a_published_figure_is_of_a_step_that_is_there() -> None:
    suite = {
        "source": {
            "figures": [{"step": "insert"}, {"step": "inert"}],
            "ratios": [{"step": "insret", "to_step": "insret"}],
        },
        "scenarios": [{"steps": [{"name": "insert"}]}],
    }
    assert list(dangling(suite)) == [
        (("source", what, index, key), "one of the steps insert", ["insert"])
        for what, index, key in (("figures", 1, "step"), ("ratios", 0, "step"), ("ratios", 0, "to_step"))
    ]


def test_a_lone_published_rate_is_as_it_was_published(two: View) -> None:
    step = two.published_comparisons[0]
    assert step.unit == "operations/s"
    assert [(item.title, item.figure, item.ratio, item.note) for item in step.published] == [
        ("ESENT", "70,210", "×1.00", "elapsed: 14.243 s; the only one")
    ]
    assert len(two.published_comparisons) == 4


def test_what_was_published_as_ratios_stands_beside_those_of_the_run(tmp_path: Path) -> None:
    """With the reason where they go the other way. Of bytes fewer are better."""
    fakes = {
        "bplustree": Fake("A", {"insert-4": 0.5, "update-4": 2.0}, size=30e6),
        "berkeleydb+nontxn": Fake("B", {"insert-1": 0.25, "update-1": 2.0}, size=20e6),
        "raptordb1": Fake("C", size=20e6),
        "stsdb": Fake("D", size=60e6),
    }
    shown = view(fabricate(tmp_path / "run", fakes, suite="bplustree", rounds=1, noise=0))
    said = {
        step.title: [(item.title, item.ratio, item.figure) for item in step.said]
        for step in shown.published_comparisons
    }
    assert said["Insert by one thread"] == [("Berkeley DB, to a fully managed library", "×3", "×4.00")]
    assert said["Update by one thread"] == [("Berkeley DB, to a fully managed library", "×3", "×0.50")]
    assert said["Size with all records"] == [("All others, on disk, to STSdb", "better", "×2.00")]
    assert said["Delete by one thread"][1] == ("BplusDotNet, to BPlusTree", "better", "–")
    assert said["Insert by four threads"] == [("BPlusTree by four threads, to itself by one", "×1.5", "×2.00")]
    assert said["Update by four threads"] == [("BPlusTree by four threads, to itself by one", "×1.5", "×0.50")]
    write_report(shown, ("html",))
    text = (shown.folder / "report" / "index.html").read_text("utf-8")
    assert "a margin of 3:1; here the opposite: BPlusTree of 2014" in text
    assert text.count("here the opposite") == 2
    assert "STSdb 4.0.8 of 2015" in text
    assert text.count("Published as a ratio") == 7
    assert text.count("1,350") == 1


def test_the_page_has_then_and_now(two: View) -> None:
    write_report(two, ("html",))
    text = (two.folder / "report" / "index.html").read_text("utf-8")
    assert "Then and now" in text
    assert "70,210" in text
    assert "a laptop with two processors" in text
    assert "(elapsed: 14.243 s; the only one)" in text


def test_what_is_published_of_records_tells_nothing_of_a_withheld_engine(tmp_path: Path) -> None:
    texts = []
    for slow in (3.0, 3.7):
        fakes = {"a": Fake("A", 1.0), "b": Fake("B", 9.0), "c": Fake("C", slow, size=slow * 1e7, probed=FORBIDDEN)}
        run = plain(fabricate(tmp_path / str(slow) / "run", fakes, suite="mixes", rounds=2))
        shown = view(run, publish=True)
        write_report(shown, ("html", "md", "csv"))
        texts.append(
            {path.name: path.read_text("utf-8") for path in shown.folder.rglob("*.*") if path.suffix != ".svg"}
        )
    assert set(texts[0]) == {"summary.csv", "index.html", "index.md", "results.json"}
    assert texts[0] == texts[1]
