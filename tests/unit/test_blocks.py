"""Steps on blocks as they are measured and shown: cold starts, records drawn from all over, yardsticks, spans."""

from functools import partial
from itertools import count
from pathlib import Path
from time import sleep
from typing import Any, ClassVar

import numpy as np
import pytest

from dbbench.datasets.records import ExpectedRecords, Laps, RecordSet, shuffled, unshuffled
from dbbench.engine.base import Setup
from dbbench.errors import WrongAnswer
from dbbench.host import machine, page_cache
from dbbench.host.page_cache import Dropped
from dbbench.loadgen.clients import drive
from dbbench.loadgen.job import ClientTimings, Job
from dbbench.loadgen.key_streams import KeySequence
from dbbench.report.charts.draw import figures
from dbbench.report.run_view import view
from dbbench.suite.dataset import Records
from dbbench.suite.loader import find_suite, load_suite
from dbbench.suite.model import Tier
from dbbench.suite.steps.base import Clients
from dbbench.suite.steps.keyvalue import KeyValueStep
from dbbench.workloads import cold_start, keyvalue
from dbbench.workloads import context as step_context
from dbbench.workloads.context import StepContext
from dbbench_plugins.dict import Dict
from dbbench_plugins.null import Null
from tests.fabricated import Fake, fabricate
from tests.scenes import intervals, texts
from tests.unit.refused import refused, rewritten

RECORDS = RecordSet(Records(count=1_000, value_bytes=32), 1)


class Kept(Dict):
    """A dict that outlives a restart, with a file that is there; it notes what is done to it."""

    held: dict[bytes, bytes]
    log: ClassVar[list[str]] = []
    all: ClassVar[dict[bytes, bytes]] = {}

    def open(self) -> None:
        self.held = self.all
        (self.directory / "file").write_bytes(b"x")
        self.log.append("open")

    def close(self) -> None:
        self.log.append("close")


@pytest.fixture
def bench(tmp_path: Path) -> StepContext:
    Kept.log.clear()
    Kept.all.clear()
    setup = Setup(tmp_path, Tier.MEMORY)
    engine = Kept(setup)
    engine.open()
    made = StepContext(engine, engine.connect(), {}, None, {}, records=RECORDS, setup=setup)  # type: ignore[arg-type]
    made.data.accept(step("insert"), keyvalue.measure(step("insert"), made))
    return made


def step(operation: str, **more: Any) -> KeyValueStep:
    return KeyValueStep.model_validate(
        {"kind": "keyvalue", "name": "step", "title": "Step", "operation": operation, **more}
    )


# Cold starts: what makes one lukewarm, and the refusal without files, are in test_lifecycle


@pytest.mark.parametrize("operation", ["read", "update", "scan"])
def test_a_cold_step_restarts_the_engine_once_and_drops_its_files_meanwhile(
    bench: StepContext, monkeypatch: pytest.MonkeyPatch, operation: str
) -> None:
    monkeypatch.setattr(page_cache, "drop", lambda *_: Kept.log.append("drop") or Dropped(0.0, 10))
    counts = iter([0, 4_096, 12_288])  # the first is before preparing
    monkeypatch.setattr(cold_start, "read", lambda _: next(counts))
    before = bench.engine
    found = keyvalue.measure(step(operation, cache="cold"), bench)
    bench.data.accept(step(operation), found)
    assert Kept.log == ["open", "close", "drop", "open"]
    assert bench.engine is not before
    assert (found.facts["cache"], found.facts["read_bytes"]) == ("cold", 8_192)
    assert found.facts["opened"] > 0
    assert found.facts["operations"] == 1_000
    keyvalue.check(step(operation, cache="cold"), bench)


def test_opening_belongs_to_a_cold_rate(bench: StepContext, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_cache, "drop", lambda *_: Dropped(0.0, 10))
    monkeypatch.setattr(step_context, "perf_counter", partial(next, count(step=1_000.0)))
    (rate,) = keyvalue.measure(step("read", cache="cold"), bench).samples
    assert 0.5 < rate < 1  # 1,000 records in 1,000 seconds and the time that they took


@pytest.mark.parametrize("clients", [1, 2])
@pytest.mark.parametrize("operation", ["read", "update"])
def test_preparing_belongs_to_a_cold_rate_and_its_reads_do_not(
    bench: StepContext, monkeypatch: pytest.MonkeyPatch, operation: str, clients: int
) -> None:
    monkeypatch.setattr(page_cache, "drop", lambda *_: Dropped(0.0, 10))
    read_so_far = [0]
    monkeypatch.setattr(cold_start, "read", lambda _: read_so_far[0])
    original = KeySequence.prepare

    def prepare(self: KeySequence, *how: Any) -> Any:
        read_so_far[0] += 4_096
        sleep(0.05)
        return original(self, *how)

    monkeypatch.setattr(KeySequence, "prepare", prepare)
    made = step(operation, cache="cold", clients={"threads": clients})
    found = keyvalue.measure(made, bench)
    assert found.facts["read_bytes"] == 0
    assert found.facts["cache"] == ("lukewarm" if operation == "read" else "cold")
    assert found.facts["opened"] > 0.05
    assert "prepare" not in found.facts  # it is on the clock
    assert found.samples[0] < 1_000 / 0.05


@pytest.mark.parametrize("operation", ["read", "scan"])
def test_a_warm_step_says_how_long_it_took_to_prepare(bench: StepContext, operation: str) -> None:
    assert keyvalue.measure(step(operation), bench).facts["prepare"] > 0


@pytest.mark.parametrize(("operation", "cache"), [("read", "lukewarm"), ("update", "cold")])
def test_a_cold_step_that_read_nothing_was_lukewarm_unless_it_writes(
    bench: StepContext, monkeypatch: pytest.MonkeyPatch, operation: str, cache: str
) -> None:
    monkeypatch.setattr(page_cache, "drop", lambda *_: Dropped(0.0, 10))
    monkeypatch.setattr(cold_start, "read", lambda _: 4_096)
    found = keyvalue.measure(step(operation, cache="cold"), bench).facts
    assert found["cache"] == cache
    assert found.get("why", "").startswith("the system counted no byte read") is (cache == "lukewarm")


def test_where_nobody_tells_what_was_read_a_cold_step_is_cold(
    bench: StepContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_cache, "drop", lambda *_: Dropped(0.0, 10))
    monkeypatch.setattr(cold_start, "read", lambda _: None)
    found = keyvalue.measure(step("read", cache="cold"), bench).facts
    assert found["cache"] == "cold"
    assert "read_bytes" not in found
    assert keyvalue.measure(step("read"), bench).facts["cache"] == "warm"


def test_the_null_engine_is_driven_by_hosts_too_where_a_step_is_cold(bench: StepContext, tmp_path: Path) -> None:
    def hosts(engine: Any, session: Any, job: Job, clients: Clients, _returned: Any) -> ClientTimings:
        return drive(engine, session, job, clients)

    (tmp_path / "null").mkdir()
    bench.setup = Setup(tmp_path / "null", Tier.MEMORY)
    bench.engine = null = Null(bench.setup)
    null.open()
    bench.session, bench.driver = null.connect(), hosts
    assert keyvalue.measure(step("read", cache="cold"), bench).facts["cache"] == "cold"


# Some of the records, drawn from all


@pytest.mark.parametrize("count", [1, 2, 3, 1_000, 4_097])
def test_what_was_shuffled_can_be_unshuffled(count: int) -> None:
    numbers = np.arange(count, dtype=np.uint64)
    assert (unshuffled(shuffled(numbers, count, 7), count, 7) == numbers).all()


def test_some_in_random_order_are_drawn_from_all_over(bench: StepContext) -> None:
    before = dict(Kept.all)
    some = step("update", order="random", count=100)
    bench.data.accept(some, keyvalue.measure(some, bench))
    changed = sorted(int.from_bytes(key, "big") for key, value in Kept.all.items() if before[key] != value)
    assert len(changed) == 100
    assert changed[0] < 100
    assert changed[-1] > 900
    keyvalue.check(step("update"), bench)


def test_later_writes_count_whether_of_some_or_of_all(bench: StepContext) -> None:
    for more in ({"order": "random", "count": 300}, {"count": 50}, {"order": "random", "count": 10}, {}, {"count": 7}):
        bench.data.accept(step("update"), keyvalue.measure(step("update", **more), bench))
        keyvalue.check(step("update"), bench)
    assert bench.data.expected_records.newest == 5
    bench.data.expected_records.laps.append(Laps(0, 1_000, 99, range(10), 10, 6))
    with pytest.raises(WrongAnswer, match="not its latest"):
        keyvalue.check(step("update"), bench)


def test_records_before_those_drawn_keep_their_version() -> None:
    held = ExpectedRecords(first=100, next=200, laps=[Laps(100, 100, 1, range(100), 100, 1)])
    assert held.version_of(np.array([0, 99, 100, 199, 200], np.uint64)).tolist() == [0, 0, 1, 1, 0]


# What is shown

ENGINES = {
    "rawfile+direct": Fake("raw file (O_DIRECT, O_DSYNC)", 1.0),
    "lmdb": Fake("LMDB (lmdb)", 2.0),
    "sqlite": Fake("SQLite (sqlite3)", 4.0),
}


def test_each_figure_is_told_as_a_multiple_of_the_yardsticks(tmp_path: Path) -> None:
    shown = view(fabricate(tmp_path / "run", ENGINES, suite="virtual-file", noise=0))
    (scenario,) = shown.scenarios
    found = scenario.step("random-read-1-warm")
    assert found.details[0] == "of rawfile+direct"
    assert {line.row.engine: line.details[0] for line in found.lines} == {
        line.row.engine: f"×{line.row.value / found.lines[0].row.value:.2f}"  # type: ignore[operator]
        for line in found.lines
    }
    assert {len(line.details) for line in found.lines} == {len(found.details)}
    assert "Of rawfile+direct" in found.details_note
    without = view(fabricate(tmp_path / "without", {"lmdb": ENGINES["lmdb"]}, suite="virtual-file"))
    assert not any(name.startswith("of ") for name in without.scenarios[0].step("random-read-1-warm").details)


def test_cold_and_warm_are_the_ends_of_one_bar(tmp_path: Path) -> None:
    shown = view(fabricate(tmp_path / "run", ENGINES, suite="virtual-file"))
    (scenario,) = shown.scenarios
    drawn = dict(figures(shown, scenario))
    assert sum(stem.endswith("-spans") for stem in drawn) == 8
    scene = drawn["blocks-random-write-1-warm-spans"]
    warm = scenario.step("random-write-1-warm")
    names = [line.row.title for line in warm.lines]
    assert [text for text in texts(scene) if text in names] == names
    assert {"cold", "warm", "of rawfile+direct", "×1.00", "cold start", "warm caches"} <= {*texts(scene)}
    assert intervals(scene) == 2 * len(ENGINES)


def test_then_and_now_has_both_ends() -> None:
    suite = load_suite(find_suite("virtual-file"))
    assert suite.source
    known = {figure.step: figure.value for figure in suite.source.figures}
    assert (known["random-write-1-cold"], known["random-write-1-warm"]) == (2_500, 15_000)
    assert (known["sequential-write-128-cold"], known["sequential-write-128-warm"]) == (37_000, 92_000)


def test_a_span_of_an_unknown_step_is_a_fault() -> None:
    change = ("cold: random-read-1-cold", "cold: random-read-1-kold")
    said = str(refused(rewritten(find_suite("virtual-file").read_text("utf-8"), change)))
    assert "random-read-1-kold" in said
    assert "random-read-1-cold" in said


def test_a_disk_is_told_in_words(tmp_path: Path) -> None:
    words = machine.disk(tmp_path)
    assert words.startswith(machine.file_system(tmp_path))
    facts = machine.disk_facts(tmp_path)
    assert all(facts[name] in words for name in ("device", "write_cache", "logical_block_size") if name in facts)
