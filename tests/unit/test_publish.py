"""What may be published: no figure of an engine whose licence forbids it, in any format, by any way round."""

import io
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from dbbench.analysis import publication
from dbbench.analysis.comparability import Side
from dbbench.analysis.compare import compare
from dbbench.analysis.gate import gated
from dbbench.engine.traits import Publication
from dbbench.errors import UserError
from dbbench.report.export.page_data import page_data
from dbbench.report.remarks import detail
from dbbench.report.run_view import View, view
from dbbench.report.terminal import comparison, progress, run
from dbbench.report.write import USUAL, write_report
from dbbench.results.outcome import Outcome
from dbbench.results.run_directory import Run
from dbbench.results.trial import Progress, Trial
from tests.fabricated import FORBIDDEN, Fake, fabricate

CLAUSE = FORBIDDEN["publication_note"]
#: Its figures lie between those of "slow" and "slower" in every step, wherever it does anything.
TELLING = 1.234567
SECRET = Fake("Secret DB (driver)", TELLING, size=34.56789e6, probed=FORBIDDEN, plans={"join-1": "Scan cost=1234567"})
OTHERS = {
    "quick": Fake("Quick", 0.5, size=20e6, plans={"join-1": "Seek"}),
    "slow": Fake("Slow", 1.0, size=30e6),
    "slower": Fake("Slower", 2.0, size=50e6),
}


def measured(scale: float) -> Callable[[dict[str, Any]], None]:
    """Gives the secret engine's trials all that a trial can tell, times `scale`."""

    def change(result: dict[str, Any]) -> None:
        if result["engine_name"] != "secret":
            return
        result |= {
            "peak_memory": int(123456789 * scale), "cpu_seconds": 12.34567 * scale, "seconds": 123.4567 * scale,
            "written_bytes": int(12345678 * scale), "noise": {"others": 0.1234567 * scale, "steal": 0.1234567 * scale},
            "remarks": [f"left {1234567 * scale:.0f} processes behind"],
        }  # fmt: skip
        for step in result["steps"]:
            step["elapsed"] = 1.234567 * scale
            step["written_bytes"] = int(12345678 * scale)
            if step["name"] == "join-2" and "facts" in step:
                step["facts"] |= {"cache": "lukewarm", "why": f"{12.34567 * scale} % stayed"}

    return change


def publish(path: Path, secret: Fake, scale: float = 1.0, formats: tuple[str, ...] = USUAL) -> Run:
    """A run with its report for publication; few charts are enough."""
    run = fabricate(path, {**OTHERS, "secret": secret}, rounds=6, change=measured(scale))
    overview, bars, size = run.suite.scenarios[0].charts
    charts = (overview, bars.model_copy(update={"steps": ("join-2",)}), size)
    scenario = run.suite.scenarios[0].model_copy(update={"charts": charts})
    run.suite = run.suite.model_copy(update={"scenarios": (scenario,)})
    write_report(view(run, publish=True), formats)
    return run


def terminal(shown: View) -> str:
    out = io.StringIO()
    run.show(shown, Console(file=out, width=80, soft_wrap=True))
    return out.getvalue()


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return publish(tmp_path_factory.mktemp("published") / "run", SECRET)


# Nothing of it


def test_the_words_are_those_of_the_contract() -> None:
    assert {publication.ALLOWED, publication.CONDITIONS, publication.FORBIDDEN, "unknown"} == set(Publication)


def told_of_it(shown: View) -> set[str]:
    """Every text that an ordinary report has for the secret engine alone, and its raw values."""
    lines = [line for step in shown.scenarios[0].steps for line in step.lines]
    found = {str(value) for line in lines if line.row.engine == "secret" for value in (
        *line.row.trial_means, f"{line.row.value:.9g}", line.interval, line.ratio_interval, *line.details, "Scan cost",
        "123.4567", "12.34567",
    )}  # fmt: skip
    others = {text for line in lines if line.row.engine != "secret" for text in line.details}
    return {text for text in found - others if len(text) > 5}


def test_no_text_has_a_figure_of_it(published: Run) -> None:
    telling = told_of_it(view(published))
    assert len(telling) > 50
    texts = {path.name: path.read_text("utf-8") for path in published.publish.rglob("*.*") if path.suffix != ".png"}
    texts["terminal"] = terminal(view(published, publish=True))
    assert {"terminal", "results.json", "summary.csv", "index.md", "index.html"} < set(texts)
    assert {name: text for name in texts for text in telling if text in texts[name]} == {}
    assert any(text in terminal(view(published)) for text in telling)


@pytest.mark.parametrize(
    ("secret", "other"),
    [
        (SECRET, replace(SECRET, slow=1.7654321, size=45.67891e6, plans={"join-1": "Sort cost=7654321"})),
        # Level with the engine before it, so that the two would share a place.
        (SECRET, replace(SECRET, slow=1.0101, size=30.1e6)),
        # The best of all, to which the ratios of the others would be.
        (replace(SECRET, slow=0.25, size=1e6), replace(SECRET, slow=0.12, size=8e6)),
        # The worst of all, which would make the axis longer.
        (replace(SECRET, slow=3.0, size=60e6), replace(SECRET, slow=3e4, size=7e9)),
        (
            replace(SECRET, bad={"join-2": (Outcome.TIMEOUT, "stopped after 600 s")}),
            replace(SECRET, bad={"join-2": (Outcome.TIMEOUT, "stopped after 123 s") }),
        ),
    ],
    ids=["between", "tied", "best", "worst", "failed"],
)  # fmt: skip
def test_what_is_published_does_not_depend_on_its_figures(
    secret: Fake, other: Fake, tmp_path: Path, published: Run
) -> None:
    """The same order, other figures: the same bytes."""
    formats = USUAL if secret is SECRET else ("svg", "csv")
    one = published if secret is SECRET else publish(tmp_path / "a" / "run", secret, 1, formats)
    runs = [one, publish(tmp_path / "b" / "run", other, 3.21, formats)]
    files = [sorted(path for path in run.publish.rglob("*") if path.is_file()) for run in runs]
    names = [[str(path.relative_to(run.publish)) for path in found] for run, found in zip(runs, files, strict=True)]
    assert names[0] == names[1]
    assert "results.json" in names[0]
    for first, second in zip(*files, strict=True):
        assert first.read_bytes() == second.read_bytes(), first.name
    assert terminal(view(runs[0], publish=True)) == terminal(view(runs[1], publish=True))


def test_the_reason_for_which_a_run_was_ended_is_cut_where_it_may_speak_of_an_interval(published: Run) -> None:
    stopped = "precise enough after 6 rounds: no interval is wider than ±12.3 % (join-1, secret)"
    run = Run(published.path, published.manifest.model_copy(update={"stopped": stopped}), published.suite)
    shown = view(run, publish=True)
    assert shown.stopped == "precise enough after 6 rounds"
    assert "12.3" not in terminal(shown) + str(shown.facts)
    assert "12.3" in terminal(view(run))


# Its place


def test_its_place_in_the_order_stays(published: Run) -> None:
    public = view(published, publish=True)
    for shown, word in ((view(published), ""), (public, f"withheld: {CLAUSE}")):
        for step in shown.scenarios[0].steps:
            assert [line.row.engine for line in step.lines] == ["quick", "slow", "secret", "slower"]
            assert step.lines[2].value.startswith(word)
        assert [item.engine for item in shown.scenarios[0].standings] == ["quick", "slow", "secret", "slower"]
    lines = public.scenarios[0].steps[0].lines
    assert (lines[2].interval, lines[2].ratio, lines[2].details, lines[2].share) == ("", "", (), "")
    assert [line.rank for line in lines] == ["1", "2-3", "", "3-4"]


def test_the_page_has_these_ranks_and_recounts_none(published: Run) -> None:
    (scenario,) = json.loads(page_data(view(published, publish=True)))["scenarios"]
    assert all(step["withheld"] for step in scenario["steps"])
    assert [row[4] for row in scenario["steps"][0]["rows"]] == ["1", "2-3", "", "3-4"]


def test_ranks_leave_room_for_it_where_the_order_alone_does_not_say_on_which_side_it_is(tmp_path: Path) -> None:
    engines = {
        "a": Fake("A", 1.0), "x": Fake("X", 1.001, probed=FORBIDDEN), "b": Fake("B", 1.002), "c": Fake("C", 2.0),
        "y": Fake("Y", 1.999, probed=FORBIDDEN), "d": Fake("D", 9.0),
    }  # fmt: skip
    shown = view(fabricate(tmp_path / "run", engines, rounds=6, noise=0.0001), publish=True)
    found = [(line.row.engine, line.rank) for line in shown.scenarios[0].step("join-1").lines]
    assert found == [("a", "1-4"), ("x", ""), ("b", "1-4"), ("y", ""), ("c", "4-5"), ("d", "6")]


def test_ranks_leave_no_room_for_what_was_not_verified(tmp_path: Path) -> None:
    def unverified(result: dict[str, Any]) -> None:
        for step in result["steps"]:
            step["verified"] = result["engine_name"] != "secret"

    run = fabricate(tmp_path / "run", {**OTHERS, "secret": SECRET}, rounds=6, noise=0.0, change=unverified)
    step = view(run, publish=True).scenarios[0].step("join-1")
    assert [line.rank for line in step.lines] == ["1", "2", "3", "–"]


def test_ranks_leave_no_room_for_what_is_of_another_sort(tmp_path: Path) -> None:
    fakes = {"secret": SECRET, **{name: Fake(name, size=size, probed={"url": "db://there"}) for name, size in (("a", 1e6), ("b", 2e6))}}  # fmt: skip
    step = view(fabricate(tmp_path / "run", fakes, rounds=2), publish=True).scenarios[0].step("database-size")
    assert {line.row.engine: line.rank for line in step.lines} == {"secret": "", "a": "1", "b": "2"}


def test_a_step_that_it_alone_has_a_figure_in_counts(tmp_path: Path) -> None:
    others = {name: replace(fake, bad={"join-1": (Outcome.FAILED, "no")}) for name, fake in OTHERS.items()}
    shown = view(fabricate(tmp_path / "run", {**others, "secret": SECRET}, rounds=2), publish=True)
    assert [item.mean_ratio for item in shown.scenarios[0].standings] == [None] * 4
    (scenario,) = json.loads(page_data(shown))["scenarios"]
    assert [step["name"] for step in scenario["steps"] if step.get("held")] == ["join-1"]


def test_where_it_is_the_best_the_ratios_are_to_the_best_that_is_shown(tmp_path: Path) -> None:
    run = fabricate(tmp_path / "run", {**OTHERS, "secret": replace(SECRET, slow=0.1)}, rounds=6, noise=0.0)
    step = view(run, publish=True).scenarios[0].step("join-1")
    assert [(line.row.engine, line.rank, line.ratio) for line in step.lines] == [
        ("secret", "", ""), ("quick", "1-2", "×1.00"), ("slow", "3", "×2.00"), ("slower", "4", "×4.00"),
    ]  # fmt: skip
    assert "Ratios are to the best figure that is shown." in step.conditions
    mean = next(item.mean_ratio for item in view(run, publish=True).scenarios[0].standings if item.engine == "slow")
    assert mean == pytest.approx(2)


def test_a_long_clause_is_cut_in_the_line_and_stands_whole_once(tmp_path: Path) -> None:
    clause = "The licence terms of Secret DB: results of a benchmark test may be disclosed with prior consent only"
    secret = replace(SECRET, probed={**FORBIDDEN, "publication_note": clause})
    run = fabricate(tmp_path / "run", {**OTHERS, "secret": secret}, rounds=2)
    shown = view(run, publish=True)
    assert shown.scenarios[0].steps[0].lines[2].value == "withheld: The licence terms of Secret DB: results of a …"
    text = terminal(shown)
    assert max(map(len, text.splitlines())) <= 80
    assert " ".join(text.split()).count(clause) == 1
    assert clause in " ".join(shown.captions(run.suite.scenarios[0]))


def test_a_failure_is_named_without_its_reason(tmp_path: Path) -> None:
    secret = replace(SECRET, bad={"join-2": (Outcome.TIMEOUT, "stopped after 600 s (--trial-timeout)")})
    shown = view(fabricate(tmp_path / "run", {**OTHERS, "secret": secret}, rounds=2), publish=True)
    (line,) = shown.scenarios[0].step("join-2").failed
    assert (line.value, detail(line.row)) == ("timeout", f"withheld: {CLAUSE}")
    assert "600" not in terminal(shown)
    assert shown.unsuccessful


def test_an_engine_that_could_not_be_run_has_nothing_to_be_withheld(tmp_path: Path) -> None:
    absent = Fake("Absent", probed={**FORBIDDEN, "status": "unavailable", "detail": "no server", "install": "--url x"})
    shown = view(fabricate(tmp_path / "run", {**OTHERS, "absent": absent}, rounds=2), publish=True)
    assert shown.missing == (("absent", "no server; --url x"),)
    assert shown.remarks == ()


def test_where_all_are_withheld_a_report_is_made_all_the_same(tmp_path: Path) -> None:
    shown = view(fabricate(tmp_path / "run", {"secret": SECRET}, rounds=2), publish=True)
    assert (tmp_path / "run" / "publish" / "report" / "index.html") in write_report(shown)
    assert "withheld" in terminal(shown)
    assert shown.scenarios[0].step("join-1").measure == "s, less is better"


# What stands beside


def test_conditions_and_withheld_clauses_stand_under_every_chart(tmp_path: Path) -> None:
    engines = {**OTHERS, "secret": SECRET, "some": Fake("Some", probed={"publication": "with conditions", "publication_note": "name the edition"})}  # fmt: skip
    run = fabricate(tmp_path / "run", engines, rounds=2)
    shown = view(run, publish=True)
    captions = shown.captions(run.suite.scenarios[0])
    assert captions[:2] == (
        f"Secret DB (driver): figures withheld: {CLAUSE}. Its position stays.",
        "Some: published with conditions: name the edition.",
    )
    assert "Slow: Server 1.2.3" in captions[2]
    assert "durability: power (declared)" in captions[3]
    assert "cache_mib" not in " ".join(captions)  # settings are on the page alone
    assert len(view(run).captions(run.suite.scenarios[0])) == 1


def test_an_engine_of_which_nothing_is_known_is_published_with_a_warning(tmp_path: Path) -> None:
    run = fabricate(tmp_path / "run", {**OTHERS, "some": Fake("Some", probed={"publication": "unknown"})}, rounds=2)
    shown = view(run, publish=True)
    unknown = "whether the licence of Some lets its figures be published is not known: look before you publish"
    assert unknown in shown.warnings
    assert any(line.row.engine == "some" and line.row.value for line in shown.scenarios[0].steps[0].lines)
    assert not any("publish" in warning for warning in view(run).warnings)


def test_a_report_with_figures_that_may_not_be_published_says_so(published: Run) -> None:
    (warning,) = [text for text in view(published).warnings if "not for publication" in text]
    assert "Secret DB (driver)" in warning
    assert "--publish" in warning


def test_the_server_that_answered_tells_whether_it_may_be_published(tmp_path: Path) -> None:
    engines = {
        "any": Fake("Any", probed={"publication": "unknown"}, told={"title": "Oracle 23 (SQLAlchemy)", **FORBIDDEN}),
        "odd": Fake("Odd", probed=FORBIDDEN, told={"publication": "allowed", "publication_note": ""}),
    }
    run = fabricate(tmp_path / "run", engines, rounds=1)
    found = publication.terms(run.manifest, run.results())
    assert {name: each.status for name, each in found.items()} == {"any": "forbidden", "odd": "allowed"}
    lines = view(run, publish=True).scenarios[0].steps[0].lines
    assert {line.row.title: line.withheld for line in lines} == {"Oracle 23 (SQLAlchemy)": True, "Odd": False}


# The folder


def test_the_folder_has_nothing_else_and_nothing_of_an_earlier_one(tmp_path: Path) -> None:
    run = fabricate(tmp_path / "run", OTHERS | {"secret": replace(SECRET, probed={})}, rounds=2)
    write_report(view(run, publish=True))
    assert (run.publish / "report" / "index.html").exists()
    write_report(view(run, publish=True), ("csv",))
    assert sorted(path.name for path in run.publish.iterdir()) == ["results.json", "summary.csv"]
    assert not run.report.exists()
    assert not (run.path / "summary.csv").exists()


def test_the_json_says_what_is_withheld(published: Run) -> None:
    document = json.loads((published.publish / "results.json").read_text("utf-8"))
    (scenario,) = document["scenarios"]
    rows = {row["engine"]: row for row in scenario["steps"][0]["rows"]}
    assert list(rows) == ["quick", "slow", "secret", "slower", "null", "null+arrow"]
    assert {key: value for key, value in rows["secret"].items() if value not in (None, "", [])} == {
        "engine": "secret", "title": "Secret DB (driver)", "outcome": "ok", "ranked": True, "verified": True,
        "withheld": CLAUSE, "detail": f"withheld: {CLAUSE}", "metric": "time", "unit": "s", "direction": "lower",
    }  # fmt: skip
    assert [rows["slow"][name] for name in ("rank", "rank_best", "rank_worst")] == ["2-3", 2, 3]
    assert rows["slow"]["value"] == pytest.approx(0.9, rel=0.02)
    assert {"engine": "secret", "withheld": True, "mean_ratio": None, "interval": None} in scenario["overall"]
    assert document["notes"][0].startswith("Secret DB (driver): figures withheld")


# While it runs


def told_of_trials(run: Run, *engines: str, **more: Any) -> str:
    """What is told while a run for publication goes on, of a trial of each of the engines, which took 123.4 s."""
    out = io.StringIO()
    with progress.watched(Console(file=out, width=80), run, publish=True) as report:
        for engine in engines:
            trial = Trial("1", "invoices", engine, 1)
            report(Progress(trial, 1, 9, result=trial.result((), seconds=123.4, **more), seconds_left=765.0))
    return out.getvalue()


def test_the_progress_of_a_run_does_not_tell_how_long_its_trials_took(published: Run) -> None:
    slow, secret = told_of_trials(published, "slow", "secret").splitlines()
    assert "123.4 s" in slow
    assert "123" not in secret
    assert "left" not in slow + secret


def test_a_server_that_turns_out_to_forbid_it_is_kept_silent_about_too(tmp_path: Path) -> None:
    run = fabricate(tmp_path / "run", {"any": Fake("Any", probed={"publication": "unknown"})}, rounds=1)
    said = told_of_trials(run, "any", engine=FORBIDDEN)
    assert "123" not in said
    assert "left" not in said


def test_nor_that_of_one_that_has_answered_in_a_run_that_goes_on(tmp_path: Path) -> None:
    run = fabricate(tmp_path / "run", {"a": Fake("A"), "any": Fake("Any", told=FORBIDDEN)}, rounds=1)
    assert "left" not in told_of_trials(run, "a")


# Comparing


def sides(tmp_path: Path, *fakes: Fake) -> list[Side]:
    found = []
    for number, fake in enumerate(fakes):
        engines, change = {**OTHERS, "secret": fake}, measured(number + 1)
        run = fabricate(tmp_path / str(number), engines, rounds=6, change=change, day=1 + number)
        found.append(replace(Side.read(run), name=f"run{number}"))
    return found


def told(old: Side, new: Side) -> str:
    found = compare([old], [new], gate=0.05, publish=True)
    out = io.StringIO()
    gate = gated(found.pairs, 0.05, gone=found.gone)
    comparison.show(found, Console(file=out, width=80, soft_wrap=True), gate=gate)
    return out.getvalue() + "\n".join(comparison.markdown(found, gate=gate))


def test_a_comparison_does_not_depend_on_its_figures(tmp_path: Path) -> None:
    old, new = sides(tmp_path / "a", SECRET, SECRET)
    same = told(old, new)
    old, new = sides(
        tmp_path / "b", SECRET, replace(SECRET, slow=17.654321, size=1e9, bad={"scan-1": (Outcome.FAILED, "77")})
    )
    assert told(old, new) == same
    assert f"withheld: secret: {CLAUSE}" in same
    assert "secret join" not in same
    assert "secret" in {pair.engine for pair in compare([old], [new]).pairs}


def test_a_comparison_of_nothing_else_is_refused(tmp_path: Path) -> None:
    runs = [fabricate(tmp_path / str(day), {"secret": SECRET}, rounds=1, day=day) for day in (1, 2)]
    with pytest.raises(UserError, match="nothing is left to compare for publication: withheld are secret"):
        compare(*([Side.read(run)] for run in runs), publish=True)
