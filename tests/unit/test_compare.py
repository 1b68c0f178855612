"""Two runs side by side: verdicts, the gate, and what makes two runs unlike."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from dbbench.analysis.comparability import Side, Weight, check_alike, differences
from dbbench.analysis.compare import Comparison, compare
from dbbench.analysis.gate import Answer, beyond, gated
from dbbench.analysis.row import Row
from dbbench.analysis.statistics import Estimate
from dbbench.analysis.verdicts import ComparisonVerdict, Pair, compare_rows
from dbbench.errors import UserError
from dbbench.report.terminal import comparison
from dbbench.report.terminal.comparison import alone_words, pair_detail
from dbbench.report.warnings import comparison_warnings
from dbbench.results.outcome import Outcome
from dbbench.results.trial import StepResult
from dbbench.suite.model import Suite
from tests.unit.compared import MACHINE, STEADY, bad, many, one, row, several, side, six_runs, terminal, times
from tests.unit.shapes import put

# Verdicts


@pytest.mark.parametrize(
    ("factor", "verdict"),
    [(1.0, "the same"), (1.1, "slower"), (0.9, "faster"), (1.03, "slower"), (0.97, "faster"), (1.015, "the same")],
)
def test_the_verdict_follows_the_ratio_where_the_runs_are_steady(factor: float, verdict: str) -> None:
    pair = several(row(), row(times(factor)))
    assert pair.verdict == verdict
    assert pair.ratio is not None
    assert pair.ratio.value == pytest.approx(factor)
    assert pair.ratio.low < factor < pair.ratio.high
    assert (pair.old, pair.new) == (pytest.approx(1, rel=0.001), pytest.approx(factor, rel=0.001))


@pytest.mark.parametrize(("factor", "verdict"), [(1.1, "faster"), (0.9, "slower")])
def test_where_more_is_better_more_is_faster_and_the_ratio_is_still_of_costs(factor: float, verdict: str) -> None:
    pair = several(row(direction="higher"), row(times(factor), direction="higher"))
    assert pair.verdict == verdict
    assert pair.ratio is not None
    assert pair.ratio.value == pytest.approx(1 / factor)


def test_the_same_is_measured_against_the_margin() -> None:
    spread = (0.97, 0.98, 1.0, 1.0, 1.02, 1.03)
    assert several(row(spread), row(spread)).verdict is ComparisonVerdict.SAME
    assert several(row(spread), row(spread), margin=0.02).verdict is ComparisonVerdict.UNSURE


@pytest.mark.parametrize(("rounds", "tests", "needed"), [(1, 1, 4), (3, 1, 4), (4, 2, 5), (5, 7, 6), (6, 25, 7)])
def test_too_few_blocks_for_the_steps_of_an_engine_allow_no_verdict(rounds: int, tests: int, needed: int) -> None:
    steps = [f"s{number}" for number in range(tests)]
    blocks = STEADY[:rounds]
    pairs = compare_rows([[row(blocks, step) for step in steps]], [[row(times(2, blocks), step) for step in steps]])
    assert {pair.verdict for pair in pairs} == {ComparisonVerdict.UNSURE}
    assert {pair.needed for pair in pairs} == {needed}
    assert f"{rounds} round{'s' if rounds > 1 else ''} each can't decide {tests} step" in pair_detail(pairs[0])


def test_enough_blocks_for_the_steps_of_an_engine_do() -> None:
    steps = [f"s{number}" for number in range(7)]
    pairs = compare_rows([[row(step=step) for step in steps]], [[row(times(2), step) for step in steps]])
    assert {pair.verdict for pair in pairs} == {ComparisonVerdict.SLOWER}


def test_each_engine_is_a_question_of_its_own() -> None:
    """Four blocks decide one step; the steps of other engines don't count."""
    old = [row(STEADY[:4], engine=engine) for engine in "abcdef"]
    new = [row(times(2, STEADY[:4]), engine=engine) for engine in "abcdef"]
    assert {pair.verdict for pair in compare_rows([old], [new])} == {ComparisonVerdict.SLOWER}


def test_a_run_with_more_blocks_makes_up_for_one_with_fewer() -> None:
    more = (*STEADY, *times(1.0005))
    assert one(row(STEADY[:3]), row(times(2, more))).verdict is ComparisonVerdict.SLOWER
    pair = one(row(STEADY[:2]), row(times(2, STEADY)))
    assert (pair.verdict, pair_detail(pair)) == (ComparisonVerdict.UNSURE, "2 and 6 rounds can't decide 1 step")


def test_equal_blocks_do_not_fool_the_test() -> None:
    """With ties the normal approximation would tell 4 and 4 blocks apart among two tests; there are too few."""
    old, new = [row((1.0,) * 4, step) for step in "xy"], [row((2.0,) * 4, step) for step in "xy"]
    assert {pair.verdict for pair in compare_rows([old], [new])} == {ComparisonVerdict.UNSURE}


@pytest.mark.parametrize("figure", [0.0, 5e-324, 1e300])
def test_figures_that_nobody_measures_give_no_ratio(figure: float) -> None:
    pair = one(row((figure,) * 6), row())
    assert (pair.verdict, pair.ratio) == (ComparisonVerdict.UNSURE, None)


@pytest.mark.parametrize(
    ("old", "new", "verdict", "ratio"),
    [
        (1000, 1000, "the same", 1), (1000, 1019, "the same", 1.019), (1000, 1500, "larger", 1.5),
        (1500, 1000, "smaller", 2 / 3), (0, 0, "the same", 1), (0, 5, "larger", float("inf")), (5, 0, "smaller", 0),
    ],
)  # fmt: skip
def test_sizes_need_no_test(old: float, new: float, verdict: str, ratio: float) -> None:
    pair = one(row((old,), unit="B", metric="size"), row((new,), unit="B", metric="size"))
    assert pair.verdict == verdict
    assert pair.ratio is not None
    assert (pair.ratio.value, pair.ratio.low) == (pytest.approx(ratio), None)


def test_what_was_ok_and_is_not_broke_and_the_other_way_it_is_mended() -> None:
    broke, mended = one(row(), bad()), one(bad(), row())
    assert (broke.verdict, broke.new) == (ComparisonVerdict.BROKE, None)
    assert pair_detail(broke) == "was ok, now crashed: signal 11"
    assert (mended.verdict, mended.old) == (ComparisonVerdict.MENDED, None)
    assert pair_detail(mended) == "is ok, was crashed: signal 11"


def test_what_is_ok_in_neither_has_no_figure() -> None:
    pair = one(bad(), bad(Outcome.TIMEOUT, "after 600 s"))
    assert pair.verdict is ComparisonVerdict.NEITHER
    assert pair_detail(pair) == "was crashed: signal 11; now timeout: after 600 s"
    assert pair_detail(one(bad(), bad())) == "crashed: signal 11"


@pytest.mark.parametrize(
    "change", [{"metric": "latency"}, {"direction": "higher"}, {"rounds": ({"cache": "lukewarm"},)}, {"rounds": ({"gives": "batches"},)}]
)  # fmt: skip
def test_figures_of_different_measures_are_not_compared(change: dict[str, Any]) -> None:
    known = {"rounds": ({"cache": "cold", "gives": "rows"},)}
    pair = one(row(**known), row(times(2), **(known | change)))
    assert (pair.verdict, pair.ratio) == (ComparisonVerdict.UNSURE, None)
    assert pair_detail(pair).startswith("not the same measure: time in s")


def test_a_side_with_files_and_a_server_s_count_is_of_both() -> None:
    files, counted = row((100.0,), unit="B"), row((110.0,), unit="B", at_url=True)
    for mixed in ([[files], [counted]], [[counted], [files]]):
        (pair,) = compare_rows([[files], [files]], mixed)
        assert pair_detail(pair).endswith("is better -> time in B, lower is better, counted by the server, files")


def test_regressions_come_first_and_the_greatest_before_the_rest() -> None:
    factors = {"x": 1.0, "y": 0.5, "z": 1.5, "w": 3.0}
    old = [*(row(step=step) for step in factors), row(step="v")]
    new = [*(row(times(factor), step) for step, factor in factors.items()), bad(step="v")]
    assert [pair.step for pair in compare_rows([old], [new])] == ["v", "w", "z", "y", "x"]


# The gate


def test_the_gate_holds_up_nothing_that_too_few_rounds_say() -> None:
    assert not beyond([one(row((1.0, 1.0)), row((9.0, 9.0)))], 0.05)


def test_the_gate_holds_up_nothing_whose_interval_reaches_1() -> None:
    """All blocks but one are slower, and the test says so; the interval doesn't."""
    pair = Pair("main", "join", "a", ComparisonVerdict.SLOWER, "s", 1.0, 1.2, Estimate(1.2, 0.99, 1.4))
    assert beyond([pair], 0.05) == []


WIDE = (0.8, 0.9, 0.97, 1.03, 1.1, 1.2)
SIZE, LARGER = row((100.0,), unit="B", step="size"), row((110.0,), unit="B", step="size")
URL_SIZE = row((110.0,), unit="B", step="size", at_url=True)
GATES: dict[str, tuple[list[Row], list[Row], Answer, Answer]] = {
    "too few rounds": ([row(STEADY[:1]), SIZE], [row(STEADY[:1]), SIZE], Answer.UNDECIDED, Answer.FAILED),
    "all too noisy": ([row(WIDE)], [row(WIDE)], Answer.UNDECIDED, Answer.FAILED),
    "some too noisy": ([row(WIDE), row(step="s")], [row(WIDE), row(step="s")], Answer.PASSED, Answer.FAILED),
    "one engine of two": ([row(WIDE), row(engine="b")], [row(WIDE), row(engine="b")], Answer.UNDECIDED, Answer.FAILED),
    "another measure": ([row()], [row(metric="latency")], Answer.UNDECIDED, Answer.FAILED),
    "not verified": ([row(verified=False)], [row()], Answer.UNDECIDED, Answer.FAILED),
    "slower and not verified": ([row()], [row(times(2), verified=False)], Answer.FAILED, Answer.FAILED),
    "ok in neither": ([bad()], [bad()], Answer.UNDECIDED, Answer.FAILED),
    "ok in neither, and the rest the same": ([bad(), row(step="s")], [bad(), row(step="s")], Answer.PASSED, Answer.PASSED),
    "ok in neither, and another engine the same": ([bad(), row(engine="b")], [bad(), row(engine="b")], Answer.UNDECIDED, Answer.FAILED),
    "broke": ([row()], [bad()], Answer.FAILED, Answer.FAILED),
    "mended, and a size": ([bad(), SIZE], [row(), SIZE], Answer.UNDECIDED, Answer.FAILED),
    "mended, and the rest the same": ([bad(), row(step="s")], [row(), row(step="s")], Answer.PASSED, Answer.PASSED),
    "sizes of two sorts": ([SIZE], [URL_SIZE], Answer.UNDECIDED, Answer.FAILED),
    "sizes of two sorts, and the rest the same": ([row(), SIZE], [row(), URL_SIZE], Answer.PASSED, Answer.PASSED),
    "sizes of two metrics": ([SIZE], [replace(LARGER, metric="data size")], Answer.UNDECIDED, Answer.FAILED),
    "sizes alone": ([SIZE], [SIZE], Answer.PASSED, Answer.PASSED),
    "a larger size": ([SIZE], [LARGER], Answer.FAILED, Answer.FAILED),
    "a size that is 4 % larger": ([SIZE], [row((104.0,), unit="B", step="size")], Answer.PASSED, Answer.PASSED),
    "all the same": ([row()], [row()], Answer.PASSED, Answer.PASSED),
    "faster": ([row()], [row(times(0.5))], Answer.PASSED, Answer.PASSED),
    "slower": ([row()], [row(times(1.1))], Answer.FAILED, Answer.FAILED),
    "slower by less than the gate": ([row()], [row(times(1.04))], Answer.PASSED, Answer.PASSED),
    "one slower, the rest too noisy": ([row(), row(WIDE, "s")], [row(times(2)), row(WIDE, "s")], Answer.FAILED, Answer.FAILED),
}  # fmt: skip


@pytest.mark.parametrize("case", GATES)
def test_a_gate_passes_only_what_it_could_have_failed(case: str) -> None:
    old, new, answer, strict = GATES[case]
    runs = [[old], [new]] if case == "too few rounds" else [six_runs(old), six_runs(new)]
    pairs = compare_rows(runs[0], runs[1])
    assert gated(pairs, 0.05).answer is answer
    assert gated(pairs, 0.05, strict=True).answer is strict


def test_an_interval_that_lies_below_the_gate_is_decided() -> None:
    pairs = [several(row(WIDE), row(WIDE))]
    assert pairs[0].verdict is ComparisonVerdict.UNSURE
    assert gated(pairs, 0.5).answer is Answer.PASSED


def test_an_engine_that_only_the_old_run_has_fails_a_strict_gate() -> None:
    pairs = [several(row(), row())]
    assert gated(pairs, 0.05, gone=["only in r1: engine b"]).answer is Answer.PASSED
    assert gated(pairs, 0.05, gone=["only in r1: engine b"], strict=True).answer is Answer.FAILED


# Whole runs


def changed(suite: Suite, path: tuple[Any, ...], value: Any) -> Suite:
    return Suite.model_validate(put(suite.model_dump(mode="json"), path, value))


def test_a_comparison_has_the_engines_and_not_the_null_engine(small: Suite) -> None:
    found = compare([side(small)], [side(small, "r2", 1.3)])
    assert [(pair.engine, pair.step, pair.verdict) for pair in found.pairs] == [
        ("a", "load", ComparisonVerdict.SLOWER), ("a", "join", ComparisonVerdict.SLOWER),
    ]  # fmt: skip
    assert (found.alone, found.differences, comparison_warnings(found)) == ((), (), [])


def test_where_the_null_engine_changed_too_the_machine_is_to_blame(small: Suite) -> None:
    (warning,) = comparison_warnings(compare([side(small)], [side(small, "r2", 1.3, null=0.0013)]))
    assert "null in load ×1.30, null in join ×1.30" in warning


STEP = ("scenarios", 0, "steps")
UNLIKE: dict[str, tuple[tuple[Any, ...], Any, str]] = {
    "suite": (("name",), "other", "suite: small in r1, other in r2"),
    "tier": (("scenarios", 0, "durability"), "memory", "scenario main, durability: power in r1, memory in r2"),
    "scenarios": (("scenarios", 0, "name"), "rest", "scenarios: main in r1, rest in r2"),
    "rows": (("datasets", "things", "tables", "Child", "rows"), 99, "dataset things, tables.Child.rows: 100 in r1, 99 in r2"),
    "column": (("datasets", "things", "tables", "Child", "indexes"), [], "dataset things, tables.Child.indexes.0: ParentId in r1, none in r2"),
    "sql": ((*STEP, 1, "sql"), "SELECT P.Name, C.Amount FROM Child C JOIN Parent P ON P.Id = C.ParentId",
            "step join, sql: ..., C.Amount FROM Parent P JOIN Child C ON P.Id = ... in r1, ..., C.Amount FROM Child C"),
    "iterations": ((*STEP, 1, "iterations"), 9, "scenario main, step join, iterations: 1 in r1, 9 in r2"),
    "step": ((*STEP, 0, "name"), "fill", "scenario main, step 1: load in r1, fill in r2"),
}  # fmt: skip


@pytest.mark.parametrize("what", UNLIKE)
def test_runs_of_different_work_are_refused(small: Suite, what: str) -> None:
    path, value, words = UNLIKE[what]
    other = changed(small, path, value)
    with pytest.raises(UserError, match="did not do the same work") as refused:
        compare([side(small)], [side(other, "r2")], across_machines=True)
    assert words in str(refused.value)


def test_runs_of_different_data_are_refused(small: Suite) -> None:
    drawn = {"things": {"rows": {"Parent": 10, "Child": 100}, "csv_bytes": 901}}
    with pytest.raises(UserError, match="dataset things, csv_bytes: 900 in r1, 901 in r2"):
        compare([side(small)], [side(small, "r2", datasets=drawn)])


def test_all_that_is_unlike_is_told_at_once(small: Suite) -> None:
    with pytest.raises(UserError) as refused:
        compare([side(small)], [side(small, "r2", scale=0.05, seed=8)])
    _, *unlike, last = str(refused.value).splitlines()
    assert unlike == ["  scale: 1 in r1, 0.05 in r2", "  seed: 7 in r1, 8 in r2"]
    assert last == "compare runs of the same suite, scale, seed and durability"


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("cpu", "Xeon", "CPU: EPYC in r1, Xeon in r2"), ("threads", 8, "threads: 4 in r1, 8 in r2"),
        ("memory_bytes", 8 * 2**30, "memory: 16.0 GiB in r1, 8.0 GiB in r2"), ("system", "Arch", "system: Debian in r1, Arch in r2"),
        ("kernel", "6.2", "kernel: 6.1 in r1, 6.2 in r2"), ("python", "CPython 3.13", "Python: CPython 3.12 in r1, CPython 3.13 in r2"),
        ("file_system", "tmpfs", "file system: ext4 in r1, tmpfs in r2"), ("cores", None, "cores: 2 in r1, none in r2"),
        ("architecture", "arm64", "architecture: x86_64 in r1, arm64 in r2"),
    ],
)  # fmt: skip
def test_runs_of_different_machines_are_refused_or_stamped(small: Suite, key: str, value: Any, words: str) -> None:
    old, new = side(small), side(small, "r2", machine={**MACHINE, key: value})
    with pytest.raises(UserError, match="add --across-machines") as refused:
        compare([old], [new])
    assert words in str(refused.value)
    found = compare([old], [new], across_machines=True)
    assert [str(item) for item in found.machines] == [words.replace(" in r1, ", " -> ").removesuffix(" in r2")]
    assert "DIFFERENT MACHINES" in terminal(found)
    assert "Different machines" in markdown(found)


def test_a_few_megabytes_of_memory_are_the_same_machine(small: Suite) -> None:
    machine = {**MACHINE, "memory_bytes": 16 * 2**30 - 2**25}
    assert compare([side(small)], [side(small, "r2", machine=machine)]).differences == ()


def test_versions_and_settings_are_told_and_forbid_nothing(small: Suite) -> None:
    new = side(
        small, "r2", dbbench="0.2", machine={**MACHINE, "packages": {"numpy": "2.1"}}, limits={"seconds": 60.0},
        engine={"versions": {"A": "2.0"}, "settings": {"cache_mib": 256, "threads": 2}},
    )  # fmt: skip
    found = check_alike(side(small), new, across_machines=False)
    assert {item.weight for item in found} == {Weight.CAUSE}
    assert [str(item) for item in found] == [
        "dbbench: 0.1 -> 0.2", "numpy: 2.0 -> 2.1", "--trial-timeout: 600.0 -> 60.0",
        "a: A: 1.4 -> 2.0", "a: cache_mib: 64 -> 256", "a: threads: none -> 2",
    ]  # fmt: skip


def test_titles_notes_and_charts_make_no_difference(small: Suite) -> None:
    other = changed(changed(small, (*STEP, 0, "title"), "Fill"), ("scenarios", 0, "charts"), [])
    assert list(differences(side(small), side(other, "r2"))) == []


def test_a_step_at_the_end_of_one_run_alone_is_listed(small: Suite) -> None:
    fewer = changed(small, STEP, small.model_dump(mode="json")["scenarios"][0]["steps"][:1])
    found = compare([side(small)], [side(fewer, "r2")])
    assert [pair.step for pair in found.pairs] == ["load"]
    assert [*map(alone_words, found.alone)] == ["only in r1: step join of main"]


def test_an_engine_of_one_run_alone_is_listed_and_two_strangers_are_refused(small: Suite) -> None:
    engines = side(small).manifest.engines
    gone = {**engines, "b": {"status": "absent", "detail": "no module"}}
    alone = compare([side(small)], [side(small, "r2", engines=gone)]).alone
    assert [*map(alone_words, alone)] == ["only in r2: engine b"]
    with pytest.raises(UserError, match=r"no step of an engine in common \(a in the one, b in the other\)"):
        compare([side(small)], [side(small, "r2", engines={name: gone[name] for name in ("b", "null")})])


def test_an_engine_that_can_no_longer_be_used_broke(small: Suite) -> None:
    now = {**side(small).manifest.engines, "a": {"status": "unavailable", "detail": "no module"}}
    left = [result for result in side(small, "r2").results if result.engine_name == "null"]
    new = Side("r2", side(small, "r2", engines=now).manifest, small, left)
    found = compare([side(small)], [new], gate=0.05)
    assert {pair.verdict for pair in found.pairs} == {ComparisonVerdict.BROKE}
    assert "a load: was ok, now unavailable" in terminal(found, 0.05)


def test_one_run_twice_and_one_without_trials_are_refused(small: Suite) -> None:
    with pytest.raises(UserError, match="one and the same run"):
        compare([side(small)], [side(small)])
    empty = side(small, "r2")
    with pytest.raises(UserError, match="r2 has no finished trial"):
        compare([side(small)], [Side("r2", empty.manifest, small, [])])


def test_a_gate_within_the_band_is_refused(small: Suite) -> None:
    with pytest.raises(UserError, match="a gate of 1 % is too small: medians less than 2 % apart are the same"):
        compare([side(small)], [side(small, "r2")], gate=0.01)


def test_trials_that_are_missing_are_told(small: Suite) -> None:
    new = side(small, "r2")
    found = compare([side(small)], [Side("r2", new.manifest, small, new.results[:-2])])
    assert comparison_warnings(found) == [
        "2 of 12 trials of r2 have not been run: `dbbench suite --resume r2` does them"
    ]


# Words


def markdown(found: Comparison, gate: float | None = None) -> str:
    return "\n".join(comparison.markdown(found, gate=None if gate is None else gated(found.pairs, gate)))


def test_the_terminal_says_it_all_within_80_columns(small: Suite) -> None:
    text = terminal(compare([side(small)], [side(small, "r2", 1.3)], gate=0.05), gate=0.05)
    assert max(map(len, text.splitlines())) <= 80
    assert "slower (2)\n  a load  1.00 s  1.30 s  ×1.30  1.13 to 1.49\n" in text.replace("1,00", "1.00")
    assert "\n2 slower\ngate: failed at 5 %: a load: slower, ×1.30, 1.13 or more; a join: slower" in text


def test_a_gate_that_could_not_decide_says_so_and_what_to_do(small: Suite) -> None:
    first = [result for result in side(small).results if result.round == 1]
    old, new = (Side(name, side(small, name).manifest, small, first) for name in ("r1", "r2"))
    found = compare([old], [new], gate=0.05)
    words = "no timed step of a could be decided; 2 of 2 timed steps can't be decided; use --rounds 5 or more"
    assert f"gate: undecided at 5 %: {words}" in " ".join(terminal(found, 0.05).split())
    assert f"gate: failed at 5 %: {words}" in " ".join(terminal(found, 0.05, strict=True).split())
    assert f"**Gate:** undecided at 5 %: {words.replace('of a', 'of `a`')}" in markdown(found, 0.05)


def test_a_large_speed_up_keeps_two_figures(small: Suite) -> None:
    text = terminal(compare([side(small)], [side(small, "r2", 0.001)]))
    assert "a load  1,000 ms  1.00 ms  ×0.0010  0.00087 to 0.0011\n" in text
    assert [comparison.times(ratio) for ratio in (0.998, 1.0, 1.004, 1.5)] == ["0.998", "1.00", "1.004", "1.50"]


def test_names_that_are_long_get_a_line_of_their_own() -> None:
    names = {"step": "s" * 45, "engine": "e" * 40}
    pairs = compare_rows(six_runs([row(**names)]), six_runs([row(times(2), **names)]))
    shown: Any = SimpleNamespace(pairs=pairs)
    lines = [str(text) for text in comparison._table([comparison.worded(pairs[0], shown)])]
    assert max(map(len, lines)) <= 90
    assert lines[-1].split() == ["1.00", "s", "2.00", "s", "×2.00", "1.99", "to", "2.01"]


def test_nothing_of_a_drivers_message_can_format_link_or_mention(small: Suite) -> None:
    new = side(small, "r2")
    nasty = "@all | <b>x</b>\n`code` [l](http://x) #1"
    results = [
        result.model_copy(update={"steps": tuple(StepResult(name=s.name, outcome=Outcome.FAILED, detail=nasty) for s in result.steps)})
        for result in new.results
    ]  # fmt: skip
    text = markdown(compare([side(small)], [Side("r2", new.manifest, small, results)], gate=0.05), gate=0.05)
    assert "`was ok, now failed: @all ¦ <b>x</b> 'code' [l](http://x) #1`" in text
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert {line.count("|") for line in rows} == {9}
    assert "@all" not in "".join(text.split("`")[::2])


def test_markdown_folds_up_what_is_the_same(small: Suite) -> None:
    text = markdown(compare(many(small, "old"), many(small, "new"), gate=0.05), gate=0.05)
    assert text.startswith(
        "### dbbench: 2 the same\n\n**Gate:** passed, nothing is shown to be worse by more than 5 %\n"
    )
    assert "<details><summary>2 the same</summary>\n\n| | engine |" in text


def test_too_few_rounds_are_told_once_with_the_number_needed(small: Suite) -> None:
    sides = [side(small), side(small, "r2", 1.3)]
    few = [Side(each.name, each.manifest, small, [r for r in each.results if r.round <= 3]) for each in sides]
    text = " ".join(terminal(compare(*([each] for each in few))).split())
    assert "warning: a: 3 rounds each can't decide 2 steps; run both again with --rounds 5 or more" in text
    assert text.count("can't decide") == 1
