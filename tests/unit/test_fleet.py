"""Whole rounds on hosts: what is refused, what is kept of what hosts say, and what is said of the hosts."""

import json
import subprocess
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from dbbench.analysis import fleet
from dbbench.cluster.leased import HostMachine, HostReply
from dbbench.errors import RunError, UserError
from dbbench.host import atomic_json
from dbbench.host.processes import INTERRUPTED, environment, python
from dbbench.loadgen.job import Failure
from dbbench.report.run_view import view
from dbbench.results.run_directory import Run
from dbbench.results.trial import Progress
from dbbench.runs import round_on_host
from dbbench.runs.begin import new_run
from dbbench.runs.fleet import PROGRAM, Rounds, refuse_fleet
from dbbench.runs.plan import plan
from dbbench.runs.request import Request
from dbbench.runs.round_on_host import ROUND_ORDER, packed, serve
from dbbench.suite.model import Suite
from tests.fabricated import MANY, Fake, fabricate
from tests.unit.piped import piped

TWO = dict(list(MANY.items())[:2])
HERE: Any = {"cpu": "Xeon", "threads": 2, "memory_bytes": 2**34, "kernel": "6.1"}


def at_hosts(result: dict[str, Any], *, cpu: str = "Xeon") -> None:
    """Odd rounds were on h1, even ones on h2."""
    even = result["round"] % 2 == 0
    result["host"] = {**HERE, "name": "h2" if even else "h1", "cpu": cpu if even else "Xeon"}


def test_which_rounds_each_host_had(tmp_path: Path) -> None:
    run = fabricate(tmp_path / "run", TWO, rounds=5, change=at_hosts)
    assert fleet.rounds_of(run.results()) == {"h1": [1, 3, 5], "h2": [2, 4]}
    assert not [text for text in view(run).warnings if text.startswith("the hosts ")]
    assert dict(view(run).facts)["Hosts"] == (
        "whole rounds, each on one host: h1 had rounds 1, 3, 5; h2 had rounds 2, 4"
    )


def test_a_run_without_hosts_says_nothing_of_them(tmp_path: Path) -> None:
    run = fabricate(tmp_path / "run", TWO, rounds=5)
    assert fleet.rounds_of(run.results()) == {}
    assert not [text for text in view(run).warnings if text.startswith("the hosts ")]
    assert "Hosts" not in dict(view(run).facts)


def test_hosts_that_are_unlike_are_told(tmp_path: Path) -> None:
    run = fabricate(tmp_path / "run", TWO, rounds=5, change=lambda result: at_hosts(result, cpu="EPYC"))
    (unlike,) = (text for text in view(run).warnings if text.startswith("the hosts "))
    assert unlike.startswith("the hosts that ran rounds have different processors or memory")


def unfinished(path: Path) -> tuple[Run, Rounds, list[Progress]]:
    """A run of two rounds of which the second is finished in part, and what is reported."""
    run = fabricate(path, TWO, rounds=2)
    trials = plan(run.suite, run.manifest.usable, rounds=2, seed=1)
    last = [trial for trial in trials if trial.round == 2][-1]
    (run.directory(last) / "result.json").unlink()
    reports = list[Progress]()
    return run, Rounds(run, trials, reports.append), reports


def word(trial: str, result: dict[str, Any], **files: bytes) -> HostReply:
    whole = {"result.json": json.dumps(result).encode(), **files}
    return piped(HostReply(trial=trial, machine=HostMachine(**HERE), files=whole))


def test_a_round_is_begun_anew_as_a_whole(tmp_path: Path) -> None:
    run, rounds, _ = unfinished(tmp_path / "run")
    ((number, order),) = rounds.orders().items()
    assert number == 2
    assert piped(order) == order
    assert len(order.trials) == len(run.manifest.usable)
    assert {result.round for result in run.results()} == {1}
    assert (order.manifest.cluster, order.manifest.hosts, order.manifest.fleet) == ("", 0, False)


def test_a_host_with_less_memory_than_a_trial_may_use_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, rounds, _ = unfinished(tmp_path / "run")
    run.manifest.limits["memory"] = 2.0**59
    order = rounds.orders()[2]
    with pytest.raises(UserError, match=r"a trial may use 536870912\.0 GiB of memory, and this host has ") as refused:
        serve(ROUND_ORDER.dump_json(order).decode(), Mock())
    with pytest.raises(UserError, match=r"^on host h2: a trial may use "):
        raise piped(Failure.of(refused.value)).exception("on host h2")
    order.manifest.limits["memory_limit"] = 2.0**20
    monkeypatch.setattr(round_on_host, "drawn_again", Mock(side_effect=KeyError))  # it goes on to draw the data
    with pytest.raises(KeyError):
        serve(ROUND_ORDER.dump_json(order).decode(), Mock())


def test_what_a_host_sends_is_kept_with_its_name(tmp_path: Path) -> None:
    run, rounds, reports = unfinished(tmp_path / "run")
    like = atomic_json.read(next(run.path.glob("trials/*-round1-*/result.json")))
    trial = rounds.orders()[2].trials[0]
    result = {**like, "id": trial.id, "engine_name": trial.engine, "round": 2}
    rounds.heard("h2", 2, word(trial.id, result, **{"stderr.txt": b"a word", "plans/join-1.txt": b"SCAN"}))
    kept = next(each for each in run.results() if each.id == trial.id)
    assert kept.host is not None
    assert (kept.host["name"], kept.host["cpu"]) == ("h2", "Xeon")
    folder = run.path / "trials" / trial.id
    assert (folder / "stderr.txt").read_bytes() == b"a word"
    assert (folder / "plans" / "join-1.txt").read_bytes() == b"SCAN"
    assert [event.trial.id for event in reports] == [trial.id]
    (folder / ".steps.json.0f").touch()
    assert set(packed(folder)) == {"result.json", "stderr.txt", "plans/join-1.txt"}
    rounds.lost(2, "host h2 lost after 3 s")
    assert not folder.exists()
    assert reports[-1].note == "host h2 lost after 3 s; its round has to begin anew"


@pytest.mark.parametrize("name", ["../evil", "/etc/evil", "a/b/c", "plans/../../x", ".hidden", ""])
def test_a_file_of_another_place_is_refused(tmp_path: Path, name: str) -> None:
    run, rounds, _ = unfinished(tmp_path / "run")
    order = rounds.orders()[2]
    with pytest.raises(RunError, match="a file with the name"):
        rounds.heard("h1", 2, word(order.trials[0].id, {}, **{name: b"x"}))
    assert not (tmp_path / "evil").exists()
    assert {result.round for result in run.results()} == {1}


def test_a_trial_that_nobody_asked_for_is_refused(tmp_path: Path) -> None:
    _, rounds, _ = unfinished(tmp_path / "run")
    rounds.orders()
    with pytest.raises(RunError, match="was not assigned"):
        rounds.heard("h1", 2, word("001-round1-invoices-x", {}))


def test_a_trial_that_would_time_out_again_is_not_sent(tmp_path: Path) -> None:
    run = fabricate(tmp_path / "run", {**TWO, "slow": Fake("Slow", 1.0)}, rounds=2)
    trials = plan(run.suite, run.manifest.usable, rounds=2, seed=1)
    first = next(trial for trial in trials if (trial.round, trial.engine) == (1, "slow"))
    file = run.directory(first) / "result.json"
    result = atomic_json.read(file)
    result["steps"][0] |= {"outcome": "timeout", "detail": "stopped"}
    atomic_json.write(file, result)
    again = next(trial for trial in trials if (trial.round, trial.engine) == (2, "slow"))
    (run.directory(again) / "result.json").unlink()
    order = Rounds(run, trials, Mock()).orders()[2]
    assert "slow" not in {trial.engine for trial in order.trials}
    assert "not repeated: timeout in round 1" in str(run.result(again).steps[0].detail)


def test_what_can_be_spread_by_rounds(invoices: Suite) -> None:
    refuse_fleet(invoices, (), budget=False)


@pytest.mark.parametrize(
    ("urls", "budget", "why"), [(("postgresql",), False, "omit --url postgresql"), ((), True, "omit --precision")]
)
def test_what_is_no_work_for_a_fleet(urls: tuple[str, ...], budget: bool, why: str, invoices: Suite) -> None:
    with pytest.raises(UserError, match=why):
        refuse_fleet(invoices, urls, budget=budget)


def test_an_answer_that_engines_give_is_no_work_for_a_fleet(invoices: Suite) -> None:
    (scenario,) = invoices.scenarios
    steps = tuple(
        step.model_copy(update={"answer": "agree"}) if step.name == "join-2" else step for step in scenario.steps
    )
    changed = invoices.model_copy(update={"scenarios": (scenario.model_copy(update={"steps": steps}),)})
    with pytest.raises(UserError, match="can't compute the answer of join-2"):
        refuse_fleet(changed, (), budget=False)


def test_a_fleet_needs_hosts() -> None:
    with pytest.raises(UserError, match="--fleet needs --cluster PLACE"):
        new_run(Request("invoices", fleet=True))


def test_who_gets_no_order_ends_when_nobody_can_give_one() -> None:
    """Its host died before: it waited for ever, as also where it was started by nohup and so ignored SIGINT."""
    ignoring = ["sh", "-c", "trap '' INT; exec \"$@\"", "sh", *python(PROGRAM)]
    process = subprocess.Popen(ignoring, env=environment(), stdin=subprocess.PIPE)
    try:
        assert process.stdin
        process.stdin.close()
        assert process.wait(60) == INTERRUPTED
    finally:
        process.kill()
        process.wait()
