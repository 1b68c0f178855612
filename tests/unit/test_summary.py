"""From trials to rows: outcomes, ranks, ratios and the harness's share."""

import datetime
import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from dbbench.analysis.footprint import resources
from dbbench.analysis.ordering import ordered
from dbbench.analysis.remarks import About, Remark
from dbbench.analysis.row import Row
from dbbench.analysis.standings import standings
from dbbench.analysis.summary import summarise
from dbbench.analysis.verdicts import compare_rows
from dbbench.report.remarks import detail, worded
from dbbench.results.outcome import Outcome
from dbbench.results.run_directory import Manifest
from dbbench.results.trial import StepResult, TrialResult
from dbbench.suite.model import Suite, WorstOfLast

ENGINES: dict[str, dict[str, Any]] = {
    "a": {"status": "available", "title": "Engine A"},
    "b": {"status": "available", "title": "Engine B"},
    "c": {"status": "available", "title": ""},
    "null": {"status": "available", "title": "Null", "ranked": False},
    "null+arrow": {"status": "available", "title": "Null Arrow", "ranked": False},
}


def manifest(engines: dict[str, dict[str, Any]] = ENGINES, rounds: int = 5) -> Manifest:
    return Manifest(
        dbbench="0", suite="small", created=datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC), engines=engines,
        rounds=rounds, scale=1, seed=1, limits={}, machine={},
    )  # fmt: skip


def at_url(*names: str) -> Manifest:
    """The servers of these engines are at a URL."""
    return manifest({name: known | {"url": "there"} if name in names else known for name, known in ENGINES.items()})


def step(name: str = "join", value: float | None = None, **more: Any) -> StepResult:
    known = {"outcome": Outcome.OK, "metric": "time", "unit": "s", "facts": {"gives": "rows"}}
    return StepResult(name=name, value=value, **(known | more))


def bad(outcome: Outcome, detail: str = "", name: str = "join") -> StepResult:
    return StepResult(name=name, outcome=outcome, detail=detail)


def trial(engine: str, number: int, *steps: StepResult, **more: Any) -> TrialResult:
    return TrialResult(
        id=f"{engine}-{number}", scenario_name="main", engine_name=engine, round=number, steps=steps, **more
    )


def rounds(engine: str, *steps: StepResult) -> list[TrialResult]:
    """One trial of one step in each round."""
    return [trial(engine, number, one) for number, one in enumerate(steps, 1)]


def timed(engine: str, *values: float, **more: Any) -> list[TrialResult]:
    return rounds(engine, *(step(value=value, **more) for value in values))


@pytest.fixture
def summary(small: Suite) -> Any:
    """Rows of a step by engine, in their order."""

    def rows(
        results: Sequence[TrialResult], name: str = "join", whole: Sequence[TrialResult] | None = None, **how: Any
    ) -> dict[str, Row]:
        return {row.engine: row for row in summarise(small, manifest(**how), results, whole=whole) if row.step == name}

    return rows


# Values, ratios and ranks (how engines are told apart is test_ranking.py's)


def ratios(rows: dict[str, Row]) -> dict[str, float | None]:
    return {row.engine: row.ratio.value if row.ratio else None for row in rows.values()}


def numbers(rows: dict[str, Row]) -> dict[str, str]:
    return {row.engine: str(row.rank or "") for row in rows.values()}


def test_rows_are_medians_best_first(summary: Any) -> None:
    rows = summary(timed("a", 4, 8, 6) + timed("b", 3, 1, 2) + timed("c", 3, 3, 3))
    assert [(row.engine, row.value) for row in rows.values()] == [("b", 2), ("c", 3), ("a", 6)]
    assert (rows["a"].trial_means, rows["a"].low, rows["a"].high) == ((4, 8, 6), 4, 8)
    assert (rows["a"].title, rows["c"].title) == ("Engine A", "c")


def test_one_block_has_a_value_and_no_interval(summary: Any) -> None:
    row = summary(timed("a", 2), rounds=1)["a"]
    assert (row.value, row.low, row.high) == (2, None, None)


@pytest.mark.parametrize("counts", [(2, 2, 2), (4, 4, 4), (5, 5, 5), (4, 3, 2)])
@pytest.mark.parametrize(("unit", "direction"), [("s", "lower"), ("1/s", "higher"), ("B", "lower")])
def test_ratios_are_of_the_figures_shown_so_that_they_follow_the_order(
    summary: Any, unit: str, direction: str, counts: tuple[int, ...]
) -> None:
    draw = random.Random(1)
    for _ in range(50):
        values = [[draw.choice([1, 60, 64, 95, 100, 150, 155]) for _ in range(count)] for count in counts]
        results = [timed(name, *mine, unit=unit, direction=direction) for name, mine in zip("abc", values, strict=True)]
        rows = summary([result for each in results for result in each])
        figures = [row.value for row in rows.values()]
        assert figures == sorted(figures, reverse=direction == "higher")
        assert [*ratios(rows).values()] == [max(each, figures[0]) / min(each, figures[0]) for each in figures]
        assert all(
            figures.index(rows[better].value) < figures.index(row.value)
            for row in rows.values()
            for better in row.better
        )
        (pair,) = compare_rows([[rows["a"]]], [[replace(rows["b"], engine="a")]])
        a, b = rows["a"].value, rows["b"].value
        assert pair.ratio.value == pytest.approx(a / b if direction == "higher" else b / a)


def test_zeros_give_no_ratios(summary: Any) -> None:
    assert ratios(summary(timed("a", 0, 0) + timed("b", 4, 4))) == {"a": None, "b": None}


def test_nothing_done_is_no_multiple_where_more_is_better(summary: Any) -> None:
    more = {"direction": "higher"}
    assert ratios(summary(timed("a", 0, 2, **more) + timed("b", 4, 4, **more))) == {"b": 1, "a": None}
    assert ratios(summary(timed("a", 0, 0, **more) + timed("b", 0, 0, **more))) == {"a": None, "b": None}


def test_ranks_count_from_the_greatest_where_more_is_better(summary: Any) -> None:
    more = {"direction": "higher"}
    rows = summary(timed("a", *[10, 11, 12] * 2, **more) + timed("b", *[20, 21, 22] * 2, **more))
    assert numbers(rows) == {"b": "1", "a": "2"}


def test_sizes_have_ranks_after_one_round(summary: Any) -> None:
    rows = summary(timed("a", 4096, unit="B") + timed("b", 1024, unit="B") + timed("c", 1025, unit="B"))
    assert numbers(rows) == {"b": "1-2", "c": "1-2", "a": "3"}


def test_failed_and_null_engines_have_no_rank_and_push_none_down(summary: Any) -> None:
    results = timed("a", *[2, 2.1, 2.2] * 2) + timed("c", *[4, 4.1, 4.2] * 2) + timed("null", *[1] * 6)
    assert numbers(summary([*results, *rounds("b", bad(Outcome.WRONG))])) == {"a": "1", "c": "2", "b": "", "null": ""}


def test_an_engine_with_fewer_rounds_than_the_others_has_a_value_and_no_place(summary: Any) -> None:
    rows = summary(timed("a", *[1] * 5) + timed("b", *[2, 2.1, 2.2] * 2) + timed("c", *[4, 4.1, 4.2] * 2))
    assert numbers(rows) == {"a": "", "b": "1", "c": "2"}
    assert rows["a"].value == 1
    assert not any(row.doubt for row in rows.values()), "nothing was tested against it"


def test_a_row_that_is_set_apart_keeps_nothing_of_its_place(summary: Any) -> None:
    batches = timed("b", *[2.0] * 6, facts={"gives": "batches"})
    mixed = ordered([*summary(timed("a", *[1.0] * 6) + batches).values()], mixed=True)
    assert [str(each.rank) for each in mixed] == ["1", "2"]
    row = ordered(mixed)[1]
    assert (row.apart, row.rank, row.ratio, row.better, row.doubt) == (True, None, None, frozenset(), None)


def test_figures_too_small_to_be_measured_have_no_ratio(summary: Any) -> None:
    assert ratios(summary(timed("a", *[1e-310] * 6) + timed("b", *[1.0] * 6))) == {"a": None, "b": None}


@pytest.mark.parametrize(
    ("means", "doubt"), [([1.02, 1.03, 1.03, 1.5, 1.04, 1.03], About.ONLY_INTERVAL), ([1.01, 1.012, 1.011] * 2, None)]
)
def test_less_than_the_band_is_no_contradiction(summary: Any, means: list[float], doubt: About | None) -> None:
    rows = summary(timed("a", *[1.0] * 6) + timed("b", *means))
    assert numbers(rows) == {"a": "1-2", "b": "1-2"}
    assert (rows["b"].doubt and rows["b"].doubt.about) is doubt


def test_the_method_of_a_benchmark_that_is_reproduced_stands_beside_the_median(small: Suite) -> None:
    method = WorstOfLast(runs=4, last=2)
    suite = small.model_copy(update={"scenarios": (small.scenarios[0].model_copy(update={"worst_of_last": method}),)})

    def original(*values: float, **more: Any) -> float | None:
        (row,) = summarise(suite, manifest({"a": ENGINES["a"]}), timed("a", *values, **more))
        return row.original

    assert original(9, 8, 2, 3) == 3
    assert original(9, 8, 2, 3, 7) == 3  # the fifth round is none of its four
    assert original(9, 8, 2, 3, direction="higher") == 2
    assert original(9, 8, 2) is None


def test_rows_come_in_the_order_of_the_suites_steps(small: Suite) -> None:
    results = [trial("a", 1, step("join", 1.0), step("load", 2.0))]
    assert [row.step for row in summarise(small, manifest(), results)] == ["load", "join"]


# Outcomes over rounds


def test_the_worst_outcome_of_all_rounds_stands_with_how_often_it_came(summary: Any) -> None:
    wrong, right = bad(Outcome.WRONG, "5 rows instead of 6"), step(value=1.0)
    row = summary(rounds("a", right, wrong, right, wrong, right) + timed("b", 2, 2))["a"]
    assert (row.outcome, row.value, row.rank, row.ratio, row.trial_means) == (Outcome.WRONG, None, None, None, ())
    assert detail(row) == "5 rows instead of 6 (in 2 of 5 rounds)"


@pytest.mark.parametrize(
    ("outcome", "others", "share"),
    [
        (Outcome.NO_RATE, 0.9, "90%"),
        (Outcome.SATURATED, 0.3, "30%"),
        (Outcome.NO_RATE, 0.05, ""),
        (Outcome.FAILED, 0.9, ""),
    ],
)
def test_a_rate_that_was_not_kept_on_a_busy_machine_says_so(
    outcome: Outcome, others: float, share: str, summary: Any
) -> None:
    (result,) = rounds("a", bad(outcome, "why"))
    said = f"; other processes used up to {share} of the machine meanwhile: try again on a quieter one" if share else ""
    assert detail(summary([result.model_copy(update={"noise": {"others": others}})])["a"]) == f"why{said}"


def test_a_search_that_ended_early_says_so(summary: Any) -> None:
    facts = {"find": {"failed": 80.0, "ended": "the search ended at its bound of 9 s"}}
    row = summary(timed("a", 40, 40, unit="1/s", facts=facts))["a"]
    assert "the search ended at its bound of 9 s, before passing and failing rates were within" in detail(row)


@pytest.mark.parametrize(("better", "worse"), list(zip(list(Outcome), list(Outcome)[1:], strict=False)))
def test_outcomes_stand_in_their_order(better: Outcome, worse: Outcome, summary: Any) -> None:
    for pair in ((better, worse), (worse, better)):
        assert summary(rounds("a", *(bad(outcome, outcome.value) for outcome in pair)))["a"].outcome is worse


def test_the_first_round_with_the_outcome_has_the_word(summary: Any) -> None:
    repeated = [bad(Outcome.TIMEOUT, f"not repeated: {Outcome.TIMEOUT} in round 1")] * 4
    row = summary(rounds("a", bad(Outcome.TIMEOUT, "after 600 s"), *repeated))["a"]
    assert (row.outcome, detail(row)) == (Outcome.TIMEOUT, "after 600 s")


def test_a_failed_row_comes_below_all_good_ones_and_is_the_measure_of_none(summary: Any) -> None:
    rows = summary(timed("c", 9, 9) + rounds("b", bad(Outcome.TIMEOUT)) + rounds("a", bad(Outcome.WRONG)))
    assert list(rows) == ["c", "a", "b"]
    assert ratios(rows) == {"c": 1, "a": None, "b": None}


def test_a_step_before_one_that_was_not_repeated_keeps_the_blocks_it_has(summary: Any, small: Suite) -> None:
    again = bad(Outcome.TIMEOUT, "not repeated: timeout in round 2")
    results = [
        trial("a", 1, step("load", 1.0), step("join", 5.0)),
        trial("a", 2, step("load", 3.0), bad(Outcome.TIMEOUT, "after 600 s")),
        *(trial("a", number, again) for number in (3, 4, 5)),
    ]
    load = summary(results, "load")["a"]
    assert (load.outcome, load.trial_means, load.value) == (Outcome.OK, (1, 3), 2)
    join = summary(results)["a"]
    assert (join.outcome, detail(join)) == (Outcome.TIMEOUT, "after 600 s (in 4 of 5 rounds)")


def test_remarks_stand_beside_the_result_with_how_often_they_came(summary: Any) -> None:
    results = [trial("a", n, step(value=1.0), remarks=["busy", "hot"] if n == 1 else ["busy"]) for n in (1, 2, 3)]
    assert detail(summary(results)["a"]) == "busy; hot (in 1 of 3 rounds)"


def test_remarks_stand_beside_a_failure_too(summary: Any) -> None:
    results = [trial("a", 1, bad(Outcome.CRASHED, "signal 11"), remarks=["left a process"])]
    assert detail(summary(results)["a"]) == "signal 11; left a process"


# Engines that could not be run


@pytest.mark.parametrize(
    ("probed", "why"),
    [
        ({"status": "absent", "detail": "no module", "install": "pip install x"}, "absent: no module; pip install x"),
        ({"status": "broken", "detail": "no symbol"}, "broken: no symbol"),
    ],
)
def test_an_engine_that_is_not_available_has_a_row_in_every_step(
    probed: dict[str, Any], why: str, small: Suite
) -> None:
    rows = summarise(small, manifest({"x": probed | {"title": "X"}, "a": ENGINES["a"]}), timed("a", 1, 1))
    mine = [row for row in rows if row.engine == "x"]
    assert [(row.step, row.outcome, detail(row), row.title, row.value, row.rank) for row in mine] == [
        (name, Outcome.UNAVAILABLE, why, "X", None, None) for name in ("load", "join")
    ]
    assert rows[-1].engine == "x"


# The null engines


def test_null_engines_come_last_even_one_that_could_not_be_run(summary: Any) -> None:
    broken = {"status": "broken", "detail": "?", "ranked": False}
    rows = summary(
        timed("null", 0.1, 0.1) + timed("a", 1, 1), engines={"null": ENGINES["null"], "n2": broken, "a": ENGINES["a"]}
    )
    assert list(rows) == ["a", "null", "n2"]
    assert [row.ranked for row in rows.values()] == [True, False, False]
    assert ratios(rows) == {"a": 1, "null": None, "n2": None}


def test_the_harness_share_is_the_null_engines_time_for_the_same_form(summary: Any) -> None:
    arrow, awaited = {"facts": {"gives": "batches"}}, {"facts": {"gives": "rows", "awaited": True}}
    rows = summary(
        timed("a", 2, 2)
        + timed("b", 4, 4, **arrow)
        + timed("c", 4, 4, **awaited)
        + timed("null", 0.5, 0.5)
        + timed("null+arrow", 0.04, 0.04, **arrow)
        + timed("null+async", 0.4, 0.4, **awaited),
        engines={**ENGINES, "null+async": ENGINES["null"]},
    )
    assert [rows[engine].harness_share for engine in "abc"] == [0.25, 0.01, 0.1]


def test_without_a_null_engine_of_the_form_there_is_no_share(summary: Any) -> None:
    rows = summary(timed("a", 2, 2) + timed("null+arrow", 1, 1, facts={"gives": "batches"}))
    assert rows["a"].harness_share is None


def test_a_null_engine_that_failed_gives_no_share(summary: Any) -> None:
    rows = summary(timed("a", 2, 2) + rounds("null", bad(Outcome.CRASHED)))
    assert rows["a"].harness_share is None


def test_sizes_have_no_share(summary: Any) -> None:
    rows = summary(timed("a", 4096, 4096, unit="B") + timed("null", 1, 1, unit="B"))
    assert rows["a"].harness_share is None


# Over all steps


def test_standings_are_by_the_geometric_mean_of_ratios(small: Suite) -> None:
    results = [
        *(trial("a", n, step("load", 1.0), step("join", 8.0)) for n in (1, 2)),
        *(trial("b", n, step("load", 2.0), step("join", 2.0)) for n in (1, 2)),
        *(trial("null", n, step("load", 0.1), step("join", 0.1)) for n in (1, 2)),
    ]
    found = standings(summarise(small, manifest(), results), small.scenarios[0])
    assert [(one.engine, one.title) for one in found] == [("b", "Engine B"), ("a", "Engine A")]
    assert [one.mean_ratio for one in found] == pytest.approx([2**0.5, 2])
    assert {name: row.ratio.value for name, row in found[1].rows.items() if row.ratio} == {"load": 1, "join": 4}


def test_an_engine_that_failed_in_a_step_stands_after_those_that_did_all(small: Suite) -> None:
    results = [
        trial("a", 1, step("load", 1.0), bad(Outcome.WRONG)),
        trial("b", 1, step("load", 50.0), step("join", 9.0)),
    ]
    found = standings(summarise(small, manifest(), results), small.scenarios[0])
    assert [(one.engine, one.mean_ratio) for one in found] == [("b", pytest.approx(50**0.5)), ("a", None)]


def test_sizes_are_no_part_of_the_mean(small: Suite) -> None:
    results = [
        trial("a", 1, step("load", 9000.0, unit="B"), step("join", 1.0)),
        trial("b", 1, step("load", 1.0, unit="B"), step("join", 2.0)),
        trial("c", 1, bad(Outcome.UNSUPPORTED, name="load"), step("join", 4.0)),
    ]
    found = standings(summarise(small, manifest(), results), small.scenarios[0])
    assert [(one.engine, one.mean_ratio) for one in found] == [("a", 1), ("b", 2), ("c", 4)]


# What the trials used


def test_resources_are_medians_with_memory_above_the_null_engines() -> None:
    use = {"cpu_seconds": 2.0, "written_bytes": 10, "seconds": 4.0}
    results = [
        *(trial("a", n, peak_memory=memory, **use) for n, memory in enumerate((300, 100, 200), 1)),
        trial("b", 1, peak_memory=30, remarks=["hot"]),
        trial("b", 2, peak_memory=30),
        trial("null", 1, peak_memory=50),
        trial("null", 1, peak_memory=90).model_copy(update={"scenario_name": "other"}),
    ]
    a, b = resources(manifest(rounds=3), results, "main")
    assert (a.engine, a.title, a.peak_memory) == ("a", "Engine A", 150)
    assert (a.cpu_seconds, a.written_bytes, a.seconds, a.remarks) == (2, 10, 4, ())
    assert (b.peak_memory, b.cpu_seconds, b.seconds) == (0, None, None)
    assert [*map(worded, b.remarks)] == ["hot (in 1 of 2 rounds)"]
    assert resources(manifest(rounds=3), results, "other") == []  # only the null engine ran there


def test_what_a_server_at_a_url_hides_is_not_set_against_what_was_seen() -> None:
    used = {"peak_memory": 30, "written_bytes": 10, "cpu_seconds": 1.0}
    results = [trial(name, 1, step("load", 5.0, unit="B"), **used) for name in ("a", "b")]
    a, b = resources(at_url("a"), results, "main")
    assert (a.peak_memory, a.cpu_seconds, a.written_bytes) == (None, None, None)
    assert a.remarks == (Remark(About.USES_UNSEEN),)
    assert (b.peak_memory, b.written_bytes, b.remarks) == (30, 10, ())
    both = resources(at_url("a", "b"), results, "main")
    assert [(each.peak_memory, each.remarks) for each in both] == [(30, ()), (30, ())]


def test_a_size_that_a_server_tells_has_no_rank_among_measured_ones(small: Suite) -> None:
    results = [trial(name, 1, step("load", size, unit="B")) for name, size in (("a", 1.0), ("b", 5.0))]
    b, a = (row for row in summarise(small, at_url("a"), results) if row.value is not None)
    assert (b.engine, str(b.rank), b.ratio and b.ratio.value, b.remarks) == ("b", "1", 1, ())
    assert (a.engine, a.value, a.rank, a.ratio) == ("a", 1, None, None)
    assert detail(a) == worded(Remark(About.COUNTED_ELSEWHERE))
    both = (row for row in summarise(small, at_url("a", "b"), results) if row.value is not None)
    assert [str(row.rank) for row in both] == ["1", "2"]


# Answers that the reference has not computed


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        ({"a": [1], "b": [1], "c": [2]}, ("2 of 3 engines agree",) * 2 + ("DIFFERS from the answer that 2 of 3",)),
        ({"a": [1], "b": [1], "c": [1]}, ("all 3 engines agree",) * 3),
        ({"a": [1], "b": [2]}, ("no answer has more engines",) * 2),
        ({"a": [1]}, ("no other engine to compare",)),
        ({"a": [1, 2], "b": [1, 1], "c": [1, 1]}, ("differed between rounds",) + ("2 of 3 engines agree",) * 2),
    ],
)
def test_the_engine_with_another_answer_is_named(
    summary: Any, groups: dict[str, list[int]], words: Sequence[str]
) -> None:
    results = []
    for engine, each in groups.items():
        unknown = {"verified": False, "detail": "not verified"}
        results += rounds(engine, *(step(value=1.0, facts={"agrees": number}, **unknown) for number in each))
    rows = summary(results)
    part = summary(
        [result for result in results if result.engine_name == "a"], engines={"a": ENGINES["a"]}, whole=results
    )
    assert detail(part["a"]) == detail(rows["a"])
    for engine, expected in zip(groups, words, strict=True):
        assert expected in detail(rows[engine]), engine
        assert (rows[engine].verified, rows[engine].rank) == (False, None)


def test_a_reference_engine_is_no_proof_for_itself(summary: Any) -> None:
    facts = {"gives": "rows", "checked_by": "a"}
    own = timed("a", 1.0, 1.1, facts=facts, verified=False, detail="not verified: its own")
    assert not summary(own)["a"].verified
    rows = summary([*own, *timed("b", 2.0, 2.1, facts=facts)])
    assert rows["a"].verified
    assert detail(rows["a"]) == detail(rows["b"]) == "answer checked against a"
    wrong = step(value=1.0, facts=facts, outcome=Outcome.WRONG)
    assert not summary([*own, *rounds("b", wrong, wrong)])["a"].verified


# A second opinion


def wrong(engine: str, *groups: int) -> list[TrialResult]:
    facts = {"gives": "rows", "differs": ["(1, 'a') instead of (1, 'b')"]}
    each = [facts | ({"disputes": number} if number else {}) for number in groups]
    return rounds(engine, *(step(value=1.0, outcome=Outcome.WRONG, detail="wrong", facts=facts) for facts in each))


@pytest.mark.parametrize(
    ("names", "groups", "disputed"),
    [
        (("x", "y"), [(1, 1), (1, 1)], True),
        (("x", "y"), [(1, 2), (1, 2)], True),  # each round has groups of its own, on a host of its own
        (("x", "y"), [(1, 1), (1,)], True),  # one was interrupted
        (("x", "x+other"), [(1, 1), (1, 1)], False),
        (("x", "x@again"), [(1, 1), (1, 1)], False),
        (("x", "odbc+x"), [(1, 1), (1, 1)], False),
        (("x", "y"), [(1, 1), (2, 2)], False),
        (("x", "y"), [(1, 1), (1, 2)], False),
        (("x", "y"), [(1, 0), (1, 0)], False),
        (("x",), [(1, 1)], False),
    ],
)
def test_engines_that_agree_with_each_other_dispute_the_reference(
    summary: Any, names: Sequence[str], groups: list[tuple[int, ...]], disputed: bool
) -> None:
    known = {name: {"status": "available"} for name in (*names, "a", "b")}
    results = [*timed("a", 1.0, 1.1), *timed("b", 3.0, 3.1)]
    for name, numbers in zip(names, groups, strict=True):
        results += wrong(name, *numbers)
    rows = summary(results, engines=known, rounds=2)
    words = "disputed: 2 engines agree with each other, not with the reference"
    for name in names:
        assert rows[name].outcome is (Outcome.DISPUTED if disputed else Outcome.WRONG)
        assert (detail(rows[name]).startswith(f"{words} ((1, 'a') instead of (1, 'b'))")) is disputed
        assert (rows[name].rank, rows[name].value) == (None, None)
    for name in ("a", "b"):
        assert rows[name].verified is not disputed
        assert (words in detail(rows[name])) is disputed
        assert rows[name].value is not None


def test_an_engine_that_timed_out_in_a_round_agrees_in_the_others(summary: Any) -> None:
    known = {name: {"status": "available"} for name in ("x", "y", "a")}
    late = trial("y", 2, bad(Outcome.TIMEOUT))
    results = [*timed("a", 1.0, 1.1), *wrong("x", 1, 1), *wrong("y", 1), late]
    rows = summary(results, engines=known, rounds=2)
    assert [rows[name].outcome for name in ("x", "y")] == [Outcome.DISPUTED, Outcome.TIMEOUT]
    assert not rows["a"].verified
