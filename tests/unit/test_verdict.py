"""What stands over a step and a run in words is true whatever the run found."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from dbbench.report.run_view import ScenarioView, View, view
from dbbench.report.verdict import conclusion, finding, overall, smallest, verdict, wins
from dbbench.results.outcome import Outcome
from dbbench.results.run_directory import Run
from tests.fabricated import FORBIDDEN, Fake, fabricate

FAILED = {"join-1": (Outcome.FAILED, "no memory")}


def shown(folder: Path, *fakes: Fake, suite: str = "invoices", rounds: int = 6, publish: bool = False) -> View:
    """Engines a, b, c ... in a run without noise."""
    named = dict(zip("abcdefgh", fakes, strict=False))
    return view(fabricate(folder / "run", named, suite=suite, rounds=rounds, noise=0.0), publish=publish)


@pytest.mark.parametrize(
    ("fakes", "sentence"),
    [
        ([Fake("A"), Fake("B", 2.5), Fake("C", 9.0)], "A is best; then B, ×2.50."),
        ([Fake("A"), Fake("B", 1.04), Fake("C", 9.0)], "A is best; then B, 4 % behind."),
        ([Fake("A"), Fake("B", 1.01)], "A and B tie."),
        ([Fake("A"), Fake("B", 1.01), Fake("C", 5.0), Fake("D", 9.0)], "A and B tie; then C, ×5.00."),
        # B is close to both, but A and C are not.
        ([Fake("A"), Fake("B", 1.012), Fake("C", 1.03)], "A and B tie; then C, 3 % behind."),
        ([Fake(name, 1 + number / 1000) for number, name in enumerate("ABCDE")], "A, B and 3 others tie."),
        ([Fake("A")], ""),
        ([Fake("A"), Fake("B", bad=FAILED)], "Only A has a figure to compare here."),
        (
            [Fake("A"), Fake("B", gives="batches"), Fake("C", bad=FAILED)],
            "Only A has a figure to compare here. Not ranked with rows: Arrow batches (B, 60.0 ms).",
        ),
        ([Fake("A", bad=FAILED), Fake("B", bad=FAILED)], "No engine has a figure to compare here."),
        ([Fake("A"), Fake("B", 1e8)], "A is best; then B, ×100,000,000."),
    ],
)
def test_a_step_in_a_sentence(tmp_path: Path, fakes: list[Fake], sentence: str) -> None:
    assert finding(shown(tmp_path, *fakes).scenarios[0].step("join-1")) == sentence


def test_sizes_are_never_a_matter_of_rounds(tmp_path: Path) -> None:
    three = shown(tmp_path / "1", Fake("A", size=10e6), Fake("B", size=10.1e6), Fake("C", size=30e6), rounds=1)
    assert finding(three.scenarios[0].step("database-size")) == ("A and B tie; then C, ×3.00.")
    close = shown(tmp_path / "3", Fake("A", size=10e6), Fake("B", size=10.4e6), rounds=1)
    assert finding(close.scenarios[0].step("database-size")) == "A is best; then B, 4 % behind."
    two = shown(tmp_path / "2", Fake("A", size=10e6), Fake("B", size=15e6), rounds=1)
    assert finding(two.scenarios[0].step("database-size")) == "A is best; then B, ×1.50."


def test_few_rounds_give_no_order(tmp_path: Path) -> None:
    found = shown(tmp_path, Fake("A"), Fake("B", 2.0), rounds=2).scenarios[0]
    assert finding(found.step("join-1")) == "A is best in these 2 rounds; then B, ×2.00."
    assert verdict(found) == (
        "Fastest overall, from too few rounds to be sure: A, the best of each step; then B, 2.00×. Smallest: A and B, 26.0 MB."
    )


def test_who_lacks_rounds_is_neither_first_nor_next(tmp_path: Path) -> None:
    def without_a_round(engine: str, folder: Path) -> ScenarioView:
        def change(result: dict) -> None:  # type: ignore[type-arg]  # as the file has it
            if (result["engine_name"], result["round"]) == (engine, 3):
                result["steps"] = [s for s in result["steps"] if s["name"] not in ("join-1", "database-size")]

        fakes = {"a": Fake("A", size=1e6), "b": Fake("B", 2.0), "c": Fake("C", 3.0)}
        run = fabricate(folder / engine, fakes, rounds=8, noise=0.0, change=change)
        return view(run).scenarios[0]

    first, next_one = without_a_round("a", tmp_path), without_a_round("b", tmp_path)
    best = "A has the best figure, but no rank: it lacks rounds that others have."
    assert [finding(first.step(name)) for name in ("join-1", "database-size")] == [best] * 2
    assert finding(next_one.step("join-1")) == "A is best; then, of those with a rank, C, ×3.00."
    assert verdict(first).endswith("Clear wins: A 6 of 6 steps.")
    assert verdict(next_one).endswith("Clear wins: A 7 of 7 steps. Smallest: A, 1.00 MB; then C, 26.0 MB.")


def test_nothing_withheld_is_told(tmp_path: Path) -> None:
    one = shown(tmp_path / "1", Fake("A", probed=FORBIDDEN), Fake("B", 2.0), Fake("C", 3.0), publish=True).scenarios[0]
    assert finding(one.step("join-1")) == "Of the figures that may be shown, B has the best: 120 ms."
    assert "lear win" not in verdict(one)
    none = shown(tmp_path / "2", Fake("A", probed=FORBIDDEN), Fake("B", probed=FORBIDDEN), publish=True).scenarios[0]
    assert finding(none.step("join-1")) == "No engine has a figure to compare here."
    fakes = [Fake("A"), Fake("B"), Fake("C", gives="batches", probed={**FORBIDDEN, "url": "db://there"})]
    apart = shown(tmp_path / "3", *fakes, publish=True).scenarios[0]
    assert finding(apart.step("join-1")).endswith("Not ranked with rows: Arrow batches (C).")
    assert finding(apart.step("database-size")).endswith("Not ranked with files: counted by the server at a URL (C).")


def test_where_one_is_withheld_the_answer_is_of_those_that_are_shown(tmp_path: Path) -> None:
    held, lame = Fake("C", 0.5, probed=FORBIDDEN), Fake("B", bad=FAILED)
    for fakes, who in (((held, Fake("A"), lame), "Only A"), ((held, lame), "No engine")):
        found = shown(tmp_path / who, *fakes, publish=True)
        assert overall(found) == f"{who} has a figure to compare in every timed step."
    among = "the engines whose figures may be shown"
    known = (Fake("A"), Fake("B", 2.0), held)
    several = shown(tmp_path, *known, suite="mixes", publish=True)
    assert overall(several).startswith(f"Fastest among {among} over 6 scenarios: A, 1.00×; then B")
    lame = Fake("D", 0.1, bad={**FAILED, "session-store": FAILED["join-1"]})
    complete = "with a figure in every timed step"
    one = shown(tmp_path / "one", *known, lame, publish=True)
    assert overall(one).startswith(f"Fastest overall among {among}, {complete}: A")
    several = shown(tmp_path / "lame", *known, lame, suite="mixes", publish=True)
    assert overall(several).startswith(f"Fastest among {among}, {complete} over 6 scenarios: A")
    assert overall(view(several.run)).startswith(f"Fastest among the engines {complete} over")


@pytest.mark.parametrize(
    ("held", "said", "sizes"),
    [
        (5e6, "", []),
        (15e6, "Smallest: A, 10.0 MB.", ["A"]),
        (50e6, "Smallest: A, 10.0 MB; then B, 20.0 MB.", ["A", "B"]),
    ],
)
def test_the_smallest_database_is_never_one_that_a_withheld_one_is_smaller_than(
    tmp_path: Path, held: float, said: str, sizes: list[str]
) -> None:
    fakes = Fake("A", size=10e6), Fake("B", 2.0, size=20e6), Fake("C", 3.0, size=held, probed=FORBIDDEN)
    found = shown(tmp_path, *fakes, publish=True)
    assert re.findall(r"Smallest: [^.]*(?:\.\d[^.]*)*\.", verdict(found.scenarios[0])) == [said] * bool(said)
    card = smallest(found)
    assert [line.row.title for line in card[1]] == sizes if card else not sizes


def test_arrow_batches_are_not_ranked_with_rows_and_the_answer_says_so(tmp_path: Path) -> None:
    fakes = [Fake("A", 2.0), Fake("B", 5.0), Fake("C", gives="batches")]
    found = shown(tmp_path, *fakes).scenarios[0]
    assert finding(found.step("join-1")) == (
        "A is best; then B, ×2.50. Not ranked with rows: Arrow batches (C, 60.0 ms)."
    )
    assert finding(found.step("bulk-insert")).startswith("C is best; then A, ×2.00.")
    assert verdict(found).startswith("Fastest overall among the engines that return rows: A, on average 1.22× the best")
    assert verdict(found).endswith("Not ranked with rows: C, which returns Arrow batches.")
    one = shown(tmp_path / "one", *fakes, rounds=1).scenarios[0]
    assert finding(one.step("join-1")).startswith("A is best in this single round; then B, ×2.50. Not ranked")
    close = shown(tmp_path / "close", Fake("A", 2.0), Fake("B", 2.01), Fake("C", 2.5), rounds=1).scenarios[0]
    assert finding(close.step("join-1")) == "A and B tie in this single round; then C, ×1.25."
    mixed = view(Run.open(tmp_path / "run"), mixed=True)
    assert finding(mixed.scenarios[0].step("join-1")) == "C is best; then A, ×2.00."
    assert mixed.remarks[0] == "Arrow batches are ranked with rows, as asked for."


def test_arrow_batches_alone_are_ranked(tmp_path: Path) -> None:
    found = shown(tmp_path, Fake("A", gives="batches"), Fake("B", 2.0, gives="batches")).scenarios[0]
    assert finding(found.step("join-1")) == "A is best; then B, ×2.00."


def test_one_engine_of_several_scenarios_is_said_to_be_alone(tmp_path: Path) -> None:
    found = shown(tmp_path, Fake("A"), suite="mixes", rounds=1)
    assert conclusion(found) == "A stands alone here, so there is nothing to compare it with."


@pytest.mark.parametrize(("tier", "how"), [("power", "More"), ("memory", "Less")])
def test_other_durability_than_asked_for_is_in_the_answer(tier: str, how: str, tmp_path: Path) -> None:
    found = shown(tmp_path, Fake("A"), Fake("B", 2.0, told={"tier": tier}), suite="mixes").scenarios[0]
    step = next(step for step in found.steps if not step.counted)
    assert finding(step) == f"A is best; then B, ×2.00. {how} durable than asked for: B at {tier}."
    assert verdict(found).endswith(f"{how} durable than asked for: B at {tier}.")


@pytest.mark.parametrize(
    ("fakes", "start"),
    [
        (
            [Fake("A"), Fake("B", 2.0)],
            "Fastest overall: A, the best of each step; then B, 2.00×. Clear wins: A 7 of 7 steps. Smallest: A and B, ",
        ),
        (
            [Fake("A", {"join-1": 1.02}), Fake("B", {"join-1": 1.0, "scan-1": 3.0})],
            "Fastest overall: A, on average 1.00× the best result; then B",
        ),
        ([Fake("A"), Fake("B", 1.0)], "Fastest overall: a tie of A and B. No clear win in 7 steps. "),
        ([Fake("A"), Fake("B", 1.0), Fake("C", 1.0)], "Fastest overall: a tie of A, B and C."),
        ([Fake("A")], "A stands alone here, so there is nothing to compare it with."),
        (
            [Fake("A", bad=FAILED), Fake("B", bad=FAILED)],
            "Fastest overall over the steps that were verified: a tie of A and B. No clear win in 6 steps.",
        ),
        ([Fake("A"), Fake("B", bad=FAILED)], "Only A has a figure to compare in every timed step."),
    ],
)
def test_a_run_in_two_sentences(tmp_path: Path, fakes: list[Fake], start: str) -> None:
    assert verdict(shown(tmp_path, *fakes).scenarios[0]).startswith(start)


def test_those_that_tie_need_not_follow_one_another(tmp_path: Path) -> None:
    found = shown(tmp_path, Fake("A"), Fake("B", 2.0), Fake("C", 3.0)).scenarios[0]
    ends = ((1.0, 0.9, 1.1), (1.2, 1.15, 1.3), (1.25, 1.0, 1.6))
    level = [
        replace(item, mean_ratio=mean, low=low, high=high)
        for item, (mean, low, high) in zip(found.standings, ends, strict=True)
    ]
    words = verdict(replace(found, standings=tuple(level)))
    assert words.startswith("Fastest overall: a tie of A and C; then B, 1.20×.")


def test_what_fills_the_store_of_a_mix_does_not_count(tmp_path: Path) -> None:
    found = shown(tmp_path, Fake("A", {"fill-session-store": 50.0}), Fake("B", 2.0), suite="mixes")
    scenario = found.scenarios[0]
    assert finding(scenario.step("fill-session-store")) == "B is best; then A, ×25.00."
    assert verdict(scenario).startswith(
        "Fastest overall: A, the best of each step; then B, 2.00×. Clear wins: A 1 of 1 step."
    )
    assert scenario.standings[0].mean_ratio == 1.0
    assert overall(found) == "Fastest over 6 scenarios: A, 1.00×; then B, 2.00× the best result on average."
    few = shown(tmp_path / "few", Fake("A"), Fake("B", 2.0), suite="mixes", rounds=1)
    assert overall(few).startswith("Fastest over 6 scenarios, from too few rounds to be sure: A, 1.00×; then B, ")
    (win,) = wins(found.scenarios)
    assert (win.words, [margin for _, _, margin in win.steps]) == ("A", ["2.00×"] * 6)
