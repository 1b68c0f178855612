"""Profiles and what was used: read, compared, drawn, and what stands in the way of a profiler named."""

import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from dbbench.analysis.profiles import functions, samples, stacks
from dbbench.report.charts import svg
from dbbench.report.charts.flame import flame
from dbbench.report.charts.layout import Look
from dbbench.report.charts.palette import THEMES
from dbbench.report.charts.use import use
from dbbench.report.explained import lines, speedscope
from dbbench.results.outcome import Outcome
from dbbench.results.trial import StepResult, Trial
from dbbench.results.trial_files import WATCHED, Explained, Sample, Watched
from dbbench.runs import explain, observer
from dbbench.suite.loader import find_suite, load_suite
from tests.fabricated import Fake, fabricate
from tests.waiting import until

LOOPS = "main (dbbench/runs/worker.py:9);timed (dbbench/loadgen/loops.py:68)"
BASE = f"""\
{LOOPS};execute (driver.c:12);step (driver.c:40) 60
{LOOPS};execute (driver.c:12);0x7f01 (libc.so.6) 20
{LOOPS} 10
main (dbbench/runs/worker.py:9);compare (dbbench/answers/compare.py:7) 900
main (dbbench/runs/worker.py:9);collector_off (dbbench/host/collector.py:14);collect (gc.c:1) 900
{LOOPS};read (dbbench/host/meters.py:3);times (libc.so.6) 900
[postgres];exec (postgres) 10
"""
#: The same with another address and line, and a slow `step`.
HEAD = BASE.replace("0x7f01", "0x55aa").replace("driver.c:40) 60", "driver.c:47) 160")


def test_a_profile_is_what_the_clock_and_the_servers_saw() -> None:
    found = stacks(BASE, cost=1.0)
    assert found == {
        ("execute (driver.c)", "step (driver.c)"): pytest.approx(0.6),
        ("execute (driver.c)", "(libc.so.6)"): pytest.approx(0.2),
        ("timed (dbbench/loadgen/loops.py)",): pytest.approx(0.1),
        ("[postgres]", "exec (postgres)"): pytest.approx(0.1),
    }
    assert samples(BASE) == 100
    assert stacks("", 1.0) == {}


def test_a_functions_name_commands_no_terminal_and_ends_no_line() -> None:
    (frames,) = stacks(f"{LOOPS};\x1b[31mf\x85\x0b\rg (a.c) 3\n", 1.0)
    assert frames == ("f\ufffd\ufffd g (a.c)",)


def test_a_step_costs_what_it_did_in_its_own_scenario(tmp_path: Path) -> None:
    """Several may have a step of that name."""

    def change(result: dict[str, Any]) -> None:
        seconds = 1.0 if result["scenario_name"] == "threads" else 0.01
        result["steps"] = [{"name": "mix", "outcome": "ok", "unit": "s", "value": seconds}]

    run = fabricate(tmp_path / "run", {"a": Fake("A")}, suite="mixes", rounds=1, change=change)
    assert explain._cost(run, "mix", Trial("1", "threads", "a", 2)) == 1.0
    assert explain._cost(run, "mix", Trial("1", "accounts", "a", 2)) == 0.01


def test_the_function_that_became_slower_comes_first() -> None:
    head, base = stacks(HEAD, 0.002), stacks(BASE, 0.001)
    most, *others = functions((head, base), (200, 100))
    assert most.differs
    assert not any(each.differs for each in others)
    few = functions((head, base), (10, 5))
    assert not any(each.differs for each in few)
    assert (most.name, most.own) == ("step (driver.c)", (pytest.approx(0.0016), pytest.approx(0.0006)))
    assert most.difference == pytest.approx(0.001)
    assert all(abs(each.difference) < 1e-9 for each in others)
    whole = {each.name: each.whole for each in others}
    assert whole["execute (driver.c)"] == (pytest.approx(0.0018), pytest.approx(0.0008))


def test_a_flame_graph_has_each_frame_over_its_caller_and_the_difference_in_colour() -> None:
    profile = {("a <b>", "slow"): 0.3, ("a <b>", "same"): 0.1}
    root = ET.fromstring(flame("Step", profile, {("a <b>", "slow"): 0.1, ("a <b>", "same"): 0.1, ("gone",): 0.1}))
    boxes = {}
    for group in root.iter("{http://www.w3.org/2000/svg}g"):
        title, box = group[0].text or "", group[1]
        boxes[title.partition(":")[0]] = {name: box.get(name) for name in ("x", "y", "width", "fill")}
    assert set(boxes) == {"all", "a <b>", "slow", "same"}
    assert float(boxes["slow"]["width"] or 0) == pytest.approx(3 * float(boxes["same"]["width"] or 0), rel=0.01)
    assert float(boxes["slow"]["y"] or 0) < float(boxes["a <b>"]["y"] or 0) < float(boxes["all"]["y"] or 0)
    assert boxes["slow"]["fill"] == "#eb0000"
    assert boxes["same"]["fill"] == "#ebebeb"
    plain = flame("Step", profile).decode()
    assert "in the other" not in plain


def test_a_profile_in_which_nothing_computed_compares_nothing() -> None:
    step = load_suite(find_suite("invoices")).scenarios[0].steps[1]
    result = StepResult(name=step.name, outcome=Outcome.OK, unit="s", value=1.0)
    one = Explained("a", step, result, Watched(), f"{LOOPS.partition(';')[0]} 9\n", "", 1.0)
    assert [*lines([one], 80)][-1] == "no function was seen to compute; more --seconds may show some"


def test_speedscope_gets_indices_of_frames_and_seconds() -> None:
    document = speedscope("Step", {("a", "b"): 0.25, ("a",): 0.5})
    (profile,) = document["profiles"]  # type: ignore[misc]
    assert document["shared"] == {"frames": [{"name": "a"}, {"name": "b"}]}
    assert (profile["samples"], profile["weights"], profile["endValue"]) == ([[0, 1], [0]], [0.25, 0.5], 0.75)  # type: ignore[index]


def sample(at: float, process: int, cpu: float, read: int | None = 0) -> Sample:
    return Sample(at=at, process=process, cpu=cpu, memory=2**20, read=read, written=0, faults=0, switches=0)


def test_use_is_drawn_by_process_and_what_the_system_does_not_tell_is_not() -> None:
    looks = tuple(sample(at, process, at * process, None) for at in (0, 0.5, 1.0, 1.02) for process in (1, 2))
    watched = Watched(seconds=1.0, calls=3, names={1: "python", 2: "postgres"}, samples=looks)
    written = svg.written(use("Step", {"postgresql": watched}, Look()), "x", THEMES["light"]).decode()
    assert written.count(">postgresql python<") == 5  # in all parts but bytes read
    assert "processors used" in written


@pytest.mark.parametrize(
    ("program", "level", "said"),
    [
        ("py-spy", "3\n", "as root, sysctl kernel.yama.ptrace_scope=1 lets it (it is 3)"),
        ("py-spy", "1\n", "in a container, starting it with --cap-add SYS_PTRACE lets it"),
        ("py-spy", None, "in a container, starting it with --cap-add SYS_PTRACE lets it"),
        ("perf", "4\n", "as root, sysctl kernel.perf_event_paranoid=2 lets it (it is 4)"),
    ],
)
def test_what_the_machine_does_not_permit_is_named_with_the_setting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str, level: str | None, said: str
) -> None:
    for name in ("_YAMA", "_PARANOID"):
        monkeypatch.setattr(observer, name, tmp_path / "level")
    if level:
        (tmp_path / "level").write_text(level)
    assert observer.permission(program) == said


def test_an_observer_ends_with_its_parent_though_another_holds_its_pipe(tmp_path: Path) -> None:
    reads, writes = os.pipe()
    os.write(writes, b"\n")
    command = [sys.executable, "-m", "dbbench.runs.observer", str(tmp_path), "", ""]
    text = f"import subprocess; subprocess.Popen({command!r}, stdin={reads}, stdout=subprocess.PIPE).stdout.readline()"
    try:
        with subprocess.Popen([sys.executable, "-c", text], pass_fds=[reads]):
            assert until((tmp_path / WATCHED).exists, 60)
    finally:
        os.close(writes)
        os.close(reads)
