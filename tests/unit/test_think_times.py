"""Think times: how a step states them, and what its clients make of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dbbench.loadgen.transaction_draws import Draws
from dbbench.report.steps import wording
from dbbench.suite.steps.base import Clients
from dbbench.suite.steps.transaction import Think
from dbbench.workloads import transaction
from dbbench.workloads.context import StepContext
from tests.unit.bank import STEP, changed, opened, validated


@pytest.fixture
def context(tmp_path: Path) -> Iterator[StepContext]:
    yield from opened(tmp_path)


@pytest.mark.parametrize(
    ("think", "seconds", "words"),
    [
        ("2s", (2, 0, 0), "2 s"),
        (0.5, (0.5, 0, 0), "0.5 s"),
        ({"mean": "12s"}, (0, 12, 120), "12 s on average, at most 120 s"),
        ({"constant": "18s", "mean": 12, "at_most": "2min"}, (18, 12, 120), "18 s and 12 s on average, at most 120 s"),
    ],
)
def test_think_times_are_stated(think: Any, seconds: tuple[float, ...], words: str) -> None:
    found = validated(think=think).think
    assert found is not None
    assert (found.seconds, str(found)) == (seconds, words)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"think": {}}, "a time, like 2s, or {mean: 2s}"),
        ({"think": "soon"}, "a time, like 500ms"),
        ({"think": 0}, "greater than 0"),
        ({"think": {"mean": 2, "at_most": 1}}, "not below it"),
        ({"think": {"constant": 2, "at_most": 3}}, "only with a `mean`"),
        ({"think": 1, "calls": None, "rate": {"per_second": 10, "seconds": 10}}, "calls come at moments of their own"),
        ({"think": 1, "calls": None, "find": {"p99": "10ms"}}, "calls come at moments of their own"),
    ],
)
def test_think_times_that_say_nothing_are_refused(more: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        validated(**more)


def test_thoughts_are_of_each_transaction_and_change_no_call(context: StepContext) -> None:
    plain = transaction.mix_of(STEP, context)
    first = STEP.transactions[0].model_copy(update={"think": Think(mean=2.0, at_most=5.0)})
    step = changed(think=Think(constant=3.0), transactions=(first, *STEP.transactions[1:]))
    mix = transaction.mix_of(step, context)
    assert [plan.think for plan in mix.plans] == [(0, 2, 5), (3, 0, 0), (3, 0, 0)]
    kinds = np.array([0, 1, 2] * 20_000)
    found = Draws(mix.plans, mix.known, 0, 1).thoughts()(kinds)
    drawn_, always = found[kinds == 0], found[kinds > 0]
    assert set(always) == {3.0}
    # The mean of min(X, 5) for an exponential X of mean 2 is 2 * (1 - exp(-2.5)).
    assert drawn_.mean() == pytest.approx(2 * (1 - np.exp(-2.5)), rel=0.02)
    assert drawn_.max() == 5.0
    assert (found == Draws(mix.plans, mix.known, 0, 1).thoughts()(kinds)).all()
    assert (found != Draws(mix.plans, mix.known, 1, 2).thoughts()(kinds)).any()
    calls = [each.drawn(0, 1, 100) for each in (plain, mix)]
    assert all((one[0] == other[0]).all() for one, other in zip(*calls, strict=True))


@pytest.mark.parametrize("threads", [1, 2])
def test_thoughts_are_in_the_throughput_alone(context: StepContext, threads: int) -> None:
    step = changed(calls=20, think=Think(constant=0.004), clients=Clients(threads=threads))
    found = transaction.measure(step, context)
    context.data.accept(step, found)
    transaction.check(step, context)
    committed = sum(each["committed"] for each in found.facts["by_transaction"].values())
    assert found.samples[0] <= committed / 20 * threads / 0.004
    assert found.facts["times"]["service time"]["count"] == 20


def test_thoughts_are_told(context: StepContext) -> None:
    step = validated(think="2s")
    assert wording(step).work(step).endswith("; clients think 2 s after each")
    first = step.transactions[0].model_copy(update={"think": Think(mean=1.0)})
    step = step.model_copy(update={"think": None, "transactions": (first, *step.transactions[1:])})
    told = f"Clients think 1 s on average, at most 10 s after {first.name}."
    assert told in wording(step).conditions(step, [], [], None)


def test_a_thought_ends_when_the_clients_are_to_end(context: StepContext) -> None:
    mix = transaction.mix_of(changed(think=Think(constant=3_600.0)), context)
    work = mix.prepare(context.engine, context.session, 0, 1)
    mix.reasons.append(ValueError())
    work.pause(3_600)
