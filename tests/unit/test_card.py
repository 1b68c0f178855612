"""The card: a picture of a run for links and posts."""

import re
from pathlib import Path

import pytest
from matplotlib.image import imread

from dbbench.cli.report import chosen_formats
from dbbench.report.charts import draw
from dbbench.report.charts.bars import bars
from dbbench.report.charts.card import _cells, card
from dbbench.report.charts.layout import CAPTION, Look
from dbbench.report.charts.scene import Scene
from dbbench.report.run_view import View, view
from dbbench.report.step_view import times
from dbbench.report.verdict import means, overall, smallest, wins
from dbbench.report.write import write_report
from dbbench.results.chosen_run import Choice, ChosenRun
from dbbench.results.outcome import Outcome
from dbbench.results.run_directory import Run
from tests.fabricated import MANY, STORES, Fake, fabricate, many
from tests.scenes import boxes, covered, dots, marks, texts


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return fabricate(tmp_path_factory.mktemp("card") / "run", MANY, rounds=12)


def drawn_card(shown: View) -> tuple[Scene, list[str]]:
    scene = card(shown, Look())
    assert scene is not None
    assert covered(scene) == []
    return scene, texts(scene)


@pytest.mark.parametrize("publish", [False, True])
def test_it_says_what_when_where_and_how_sure(run: Run, publish: bool) -> None:
    shown = view(ChosenRun(run, Choice(steps=("join-2",))), publish=publish)
    _, drawn = drawn_card(shown)
    said = " ".join(" ".join(drawn).split())
    for words in ("Invoices", "Join 2:", "21 November 2026", "AMD EPYC 9B14", "95 % interval"):
        assert words in said
    step = shown.scenarios[0].step("join-2")
    places = [drawn.index(line.row.title) for line in step.lines[:8] if line.row.title in drawn]
    assert len(places) > 5
    assert places == sorted(places)
    assert f"{len(step.lines) - 8} more engines are not shown." in said
    assert "Without a figure: Turso (pyturso)" in said
    assert ("withheld: Benchmark clause 5(e)" in said) is publish
    assert ("Its position stays." in said) is publish


def test_charts_and_card_name_the_memory_limit_beside_the_machine(tmp_path: Path) -> None:
    made = fabricate(tmp_path / "run", MANY, rounds=2)

    def footers() -> list[str]:
        shown = view(made)
        return [shown.captions(made.suite.scenarios[0])[-1], " ".join(" ".join(drawn_card(shown)[1]).split())]

    assert not any("memory limit" in footer for footer in footers())
    made.manifest.limits["memory_limit"] = 3 * 2**29
    assert all("CPython 3.12.11 · memory limit 1.5 GiB" in footer for footer in footers())
    limited = view(made)
    assert dict(limited.facts)["Memory limit"].startswith("1.5 GiB for each trial")
    for stem, scene in draw.figures(limited, limited.scenarios[0]):
        assert "memory limit 1.5 GiB" in " ".join(texts(scene)), stem
        assert covered(scene) == [], stem


def test_a_wide_range_is_on_a_logarithmic_axis(run: Run) -> None:
    for engines, wide in ((("sqlite", "access"), True), (("sqlite", "firebird"), False)):
        scene, said = drawn_card(view(ChosenRun(run, Choice(engines=engines, steps=("join-1",)))))
        assert len(dots(scene)) == (2 if wide else 0)
        assert ("(logarithmic axis)" in " ".join(said)) is wide


def test_one_engine_more_than_there_is_room_for_is_one(tmp_path: Path) -> None:
    shown = view(ChosenRun(fabricate(tmp_path / "run", many(9), rounds=2), Choice(steps=("join-1",))))
    assert "1 more engine is not shown." in " ".join(drawn_card(shown)[1])


def test_a_logarithmic_axis_begins_before_the_lowest_interval(tmp_path: Path) -> None:
    made = fabricate(tmp_path / "run", {"a": Fake("A"), "b": Fake("B", 900.0)}, rounds=3, noise=40.0)
    shown = view(ChosenRun(made, Choice(steps=("join-1",))))
    step = shown.scenarios[0].step("join-1")
    assert len(dots(drawn_card(shown)[0])) == 2
    axis = bars(step, "auto", Look()).axis
    assert axis.low < min(line.row.low or 0 for line in step.lines) / step.unit.size


def test_it_has_the_size_that_sites_ask_for_and_the_theme(run: Run, tmp_path: Path) -> None:
    for theme in ("light", "dark"):
        part = ChosenRun(run, Choice(engines=("sqlite", "duckdb", "firebird"), steps=("join-1",), title="Mine " * 40))
        shown = view(part, out=tmp_path / theme)
        assert drawn_card(shown)[1].count("SQLite (sqlite3)") == 1
        write_report(shown, ("card",), theme=theme, width=300)
        assert sorted(path.name for path in (tmp_path / theme / "report").iterdir()) == ["card.png"]
        picture = imread(tmp_path / theme / "report" / "card.png")
        assert picture.shape[:2] == (630, 1200)
        assert bool(picture[0, 0, :3].mean() > 0.5) is (theme == "light")


@pytest.mark.parametrize("publish", [False, True])
def test_it_has_the_whole_answer(run: Run, publish: bool) -> None:
    shown = view(run, publish=publish)
    scene, drawn = drawn_card(shown)
    said = " ".join(" ".join(drawn).split())
    assert said.startswith(overall(shown).removesuffix("."))
    known = [(item.title, mean) for item, mean in means(shown) if mean][:8]
    assert [text for text in drawn if re.fullmatch(r"[\d.,]+×", text)][:8] == [f"{times(mean)}×" for _, mean in known]
    assert known[0][0] in drawn
    found = smallest(shown)
    assert found
    sizes = [found[0].unit.text(line.row.value or 0) for line in found[1][:3]]
    assert [text for text in drawn if text.endswith(" MB")] == sizes
    assert bool(wins(shown.scenarios)) is not publish
    for win in wins(shown.scenarios):
        assert f"{win.words[:30]}" in said
        for _, step, lead in win.steps:
            assert step.step.name.replace("-", " ") in said
            assert lead in said
    assert ("withheld: Benchmark clause 5(e)" in said) is publish
    assert "Not ranked with rows: " in said
    assert "Without a figure in every step: " in said
    assert _fullness(scene) > 0.9


def test_who_has_every_figure_is_never_said_to_lack_one(run: Run, tmp_path: Path) -> None:
    fakes = {f"x{number}": Fake(f"X{number}", 1.0 + number, "batches") for number in range(5)}
    arrow = view(fabricate(tmp_path / "run", {"a": Fake("A"), "b": Fake("B", 2.0), **fakes}, rounds=6))
    said = " ".join(drawn_card(arrow)[1])
    assert "Not ranked with rows: X0, X1 and 3 others" in said
    assert "Without a figure in every step" not in said
    for publish in (False, True):
        said = " ".join(" ".join(drawn_card(view(run, publish=publish))[1]).split())
        lacking = said.partition("Without a figure in every step: ")[2].partition(".")[0]
        assert "Turso (pyturso)" in lacking
        assert "SQL Server Express" not in lacking


@pytest.mark.parametrize("suite", ["mixes", "decision-support", "lifecycle", "virtual-file"])
@pytest.mark.parametrize("count", [2, 4, 10])
def test_both_halves_are_full(tmp_path: Path, suite: str, count: int) -> None:
    fakes = STORES if suite in ("mixes", "virtual-file") else MANY
    names = [name for name in fakes if name not in ("dict", "dotnet-dictionary", "libmdbx", "sqlite+apsw")][:count]
    shown = view(fabricate(tmp_path / "run", {name: fakes[name] for name in names}, suite=suite, rounds=6))
    scene, said = drawn_card(shown)
    assert "Best by step, with the lead" in said
    assert _fullness(scene) > 0.7


def test_half_a_card_has_a_logarithmic_axis_where_a_bar_would_be_too_short_to_see(tmp_path: Path) -> None:
    for slow, wide in ((15.0, False), (30.0, True)):
        fakes = {"a": Fake("A"), "b": Fake("B", slow)}
        scene, said = drawn_card(view(fabricate(tmp_path / f"run{slow:g}", fakes, rounds=6)))
        assert len(dots(scene)) == (2 if wide else 0)
        assert ("Mean multiple of each step's best (logarithmic axis)" in said) is wide


def _fullness(scene: Scene) -> float:
    """How far down the emptier of both halves reaches, as a share of the height over the notes."""
    ends = [(mark.x, mark.y) for mark in marks(scene) if mark.size > CAPTION]
    ends += [(box.x, box.y + box.height) for box in boxes(scene)]
    foot = min(mark.y for mark in marks(scene) if mark.size <= CAPTION)
    return min(max(y for x, y in ends if (x > scene.width * 0.55) is right) for right in (False, True)) / foot


def test_of_one_step_it_shows_the_bars(run: Run, tmp_path: Path) -> None:
    part = view(ChosenRun(run, Choice(steps=("bulk-insert", "database-size", "join-1"))))
    assert "Mean multiple of each step's best" in drawn_card(part)[1]
    part = view(ChosenRun(run, Choice(steps=("database-size", "join-1"))))
    assert "Join 1" in " ".join(drawn_card(part)[1])
    # A load is not what the suite asks, if it asks something else.
    alone = {"scan-3": (Outcome.FAILED, "no memory")}
    ran = fabricate(
        tmp_path / "asked",
        {"a": Fake("A"), "b": Fake("B", 2.0, bad=alone), "c": Fake("C", bad={"bulk-insert": alone["scan-3"]})},
    )
    part = view(ChosenRun(ran, Choice(steps=("bulk-insert", "scan-3"))))
    assert "Scan 3" in " ".join(drawn_card(part)[1])
    nothing = fabricate(
        tmp_path / "run", {"a": Fake("A", probed={"status": "unavailable", "detail": "no driver"})}, rounds=1
    )
    assert card(view(nothing), Look()) is None
    write_report(view(nothing), ("card",))
    assert not (nothing.report / "card.png").exists()


def test_it_comes_with_what_is_made_to_be_shown() -> None:
    assert "card" in chosen_formats(None, shared=True)
    assert "card" not in chosen_formats(None, shared=False)
    assert chosen_formats("png", shared=True) == ("png",)


@pytest.mark.parametrize(
    ("figure", "shown"), [("16.5 ms", "16.5 ms"), ("7.41 ms¹", "7.41 ms"), ("7.58 ms¹,²", "7.58 ms")]
)
def test_a_figure_keeps_no_number_of_a_footnote(figure: str, shown: str) -> None:
    assert _cells([figure, "×1.02"], verified=True) == [shown, "×1.02"]
