"""One model of load control, its loops on a scripted clock, the search for a rate, and what endless calls leave."""

import gc
import json
import subprocess
import sys
from collections import deque
from itertools import count, islice
from textwrap import dedent
from time import sleep
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from dbbench.datasets.records import ExpectedRecords, Laps
from dbbench.loadgen.arrivals import growing
from dbbench.loadgen.clients import drive
from dbbench.loadgen.histogram import Samples
from dbbench.loadgen.job import ClientTimings, Job
from dbbench.loadgen.key_streams import CallStream, KeySequence, OperationMix
from dbbench.loadgen.loops import ScheduleStats, paced, stream_until
from dbbench.loadgen.query_calls import QueryCalls
from dbbench.loadgen.timeline import MOST_SLOTS, Timeline
from dbbench.results.outcome import Outcome
from dbbench.suite.dataset import Records
from dbbench.suite.loader import parse_suite
from dbbench.suite.steps.base import Clients
from dbbench.suite.steps.timed import Find, Rate, TimedStep, seconds_of
from dbbench.workloads import load_control
from dbbench.workloads.load_control import LONGEST_SEARCH, LONGEST_TRY, Bracket, NoTime, search
from dbbench_plugins.null import Null
from tests.unit.refused import refused

MS = 1_000_000
SECOND = 1_000 * MS

SUITE = """\
dbbench: 1
name: s
title: S
description: S
datasets:
  d: {tables: {T: {rows: 10, primary_key: Id, columns: {Id: {type: integer, values: {kind: sequence}}}}}}
  r: {records: {count: 10, key_bytes: 16, value_bytes: 16}}
scenarios:
  - {name: a, title: A, dataset: d, steps: [{kind: query, name: q, title: Q, sql: SELECT Id FROM T, TABLES}]}
  - {name: b, title: B, dataset: r, steps: [{name: k, title: K, RECORDS}]}
"""


def suite(tables: str = "iterations: 2", records: str = "kind: keyvalue, operation: read") -> str:
    return SUITE.replace("TABLES", tables).replace("RECORDS", records)


@pytest.mark.parametrize(
    ("text", "seconds"), [("500ms", 0.5), ("10s", 10), ("2 min", 120), ("1h", 3600), ("250us", 0.00025), (3, 3)]
)
def test_a_time_has_a_unit_or_is_of_seconds(text: Any, seconds: float) -> None:
    assert seconds_of(text) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("step", "words"),
    [
        ("rate: {per_second: 100}", "one time for the rate: rate.seconds, or the step's duration"),
        ("rate: {per_second: 100, seconds: 1}, duration: 1s", "one time for the rate"),
        ("rate: {per_second: 1}, duration: 2s", "10 arrivals or more: rate.per_second times duration"),
        ("rate: {per_second: 100, seconds: 1}, iterations: 3", "no iterations where there is a rate"),
        ("duration: 1s, iterations: 3", "no iterations where there is a duration"),
        ("find: {p99: 10ms}, iterations: 3", "no iterations where there is a find"),
        ("find: {p99: 10ms}, duration: 1s", "`find`, or `rate` and `duration`"),
        ("find: {p99: 10ms, p50: 1ms}", "one limit, like {p99: 10ms}"),
        ("find: {trial: 1s}", "one limit, like {p99: 10ms}"),
        ("find: {p99: soon}", "a time, like 500ms, 10s or 2min"),
        ("duration: 0s", "greater than 0"),
        ("warm_up: -1", "a number of calls, 0 or more, or a time, like 5s"),
        ("warm_up: a while", "a time, like 500ms, 10s or 2min"),
        ("cache: cold, duration: 1s", "a warm cache where there are clients"),
        ("kind: keyvalue, operation: delete, duration: 1s", "a record can be deleted once"),
        ("kind: keyvalue, operation: scan, rate: {per_second: 20, seconds: 1}", "a scan is one call"),
        ("kind: keyvalue, operation: read, count: 3, duration: 1s", "no count where there is a duration"),
        ("kind: keyvalue, operation: insert, order: random, duration: 1s", "order ascending"),
        ("kind: mix, weights: {read: 1}", "how many operations there are, or a rate, duration or find"),
        ("kind: mix, weights: {read: 1}, operations: 5, duration: 1s", "no operations where there is a duration"),
        ("kind: mix, weights: {insert: 1}, find: {p50: 1ms}, clients: {threads: 2}", "no inserts, or one client"),
    ],
)
def test_what_does_not_fit_together_is_refused_with_its_place(step: str, words: str) -> None:
    of_records = step.startswith("kind:")
    said = str(refused(suite(records=step) if of_records else suite(step)))
    assert f"s.yaml:{10 if of_records else 9}:" in said
    assert words in said


def test_load_control_of_a_step() -> None:
    found = parse_suite(suite("duration: 10s, warm_up: 2s, ramp_up: 500ms, clients: {threads: 4}"), "s.yaml")
    (step,) = found.scenario("a").steps
    assert (step.duration, step.warm_up_seconds, step.warm_up_calls, step.ramp_up) == (10, 2, 0, 0.5)  # type: ignore[attr-defined]
    assert type(found).model_validate(found.model_dump(mode="json")) == found


def test_an_old_suite_means_what_it_meant() -> None:
    old = parse_suite(suite("warm_up: 3, iterations: 5"), "s.yaml").scenario("a").steps[0]
    assert (old.warm_up_calls, old.iterations, old.controlled) == (3, 5, False)  # type: ignore[attr-defined]
    assert Rate(per_second=50, seconds=6).model_dump() == {"per_second": 50, "arrivals": "constant", "seconds": 6}
    assert Find(p99=0.01).percentile == 99
    with pytest.raises(ValidationError, match="10 arrivals"):
        Rate(per_second=1, seconds=6)


class Time:
    """A clock that goes on as calls take time."""

    def __init__(self) -> None:
        self.now = 0

    def clock(self) -> int:
        return self.now

    def work(self, nanoseconds: int) -> None:
        self.now += nanoseconds


@pytest.mark.parametrize("each", [1_000, MS, 50 * MS, 3 * SECOND])
def test_a_loop_ends_a_piece_or_a_call_after_its_time(each: int) -> None:
    time, taken, ends = Time(), deque[int](), deque[int]()
    stream_until(
        time.work, iter(lambda: each, 0), lambda times: taken.extend(times.tolist()), SECOND, time.clock,
        seen=lambda readings, _: ends.extend(readings.tolist()),
    )  # fmt: skip
    assert set(taken) == {each}
    assert len(taken) == len(ends) == time.now // each
    assert ends[-1] == time.now
    assert SECOND <= time.now < SECOND + 20 * MS + each


@pytest.mark.parametrize("at_once", [1, 2, 1_024])
def test_a_pause_is_in_no_call_and_in_the_span(at_once: int) -> None:
    time, taken, ends = Time(), list[int](), list[int]()
    paced(
        time.work, [1, 2, 3], iter([0.0, 2e-6, 1e-6]), lambda times: taken.extend(times.tolist()), None, time.clock,
        sleep=lambda seconds: time.work(round(seconds * 1e9)), at_once=at_once,
        seen=lambda readings, _: ends.extend(readings.tolist()),
    )  # fmt: skip
    assert taken == [1, 2, 3]
    assert ends == [1, 3, 2_006]
    assert time.now == 3_006  # the last pause as well


def test_pauses_end_with_the_time_and_take_no_call_that_is_not_made() -> None:
    time, taken, keys = Time(), list[int](), iter([10] * 100)
    paced(
        time.work, keys, iter(lambda: 1e-6, 0), lambda times: taken.extend(times.tolist()), 2_500, time.clock,
        sleep=lambda seconds: time.work(round(seconds * 1e9)),
    )  # fmt: skip
    assert (taken, time.now, len(list(keys))) == ([10] * 3, 2_500, 97)


def test_a_loop_ends_with_its_keys() -> None:
    time = Time()
    stream_until(time.work, [5, 6], lambda _: None, SECOND, time.clock)
    assert time.now == 11


def test_a_rate_grows_evenly_and_is_shared() -> None:
    shares = [np.concatenate(list(growing(1_000, 2, number, 3))) for number in range(3)]
    moments = np.sort(np.concatenate(shares))
    assert len(moments) == 1_000
    assert all(np.all(np.diff(share) > 0) for share in shares)
    halves = np.searchsorted(moments, [SECOND, 2 * SECOND])
    assert halves.tolist() == [250, 1_000]  # a quarter of the calls in the first half


@pytest.mark.parametrize("truth", [30.0, 777.0, 5_000.0, 123_456.0])
@pytest.mark.parametrize("start", [1.0, 1_000.0, 1e6])
def test_a_search_brackets_the_highest_rate(truth: float, start: float) -> None:
    tried: list[float] = []

    def passes(rate: float) -> bool:
        tried.append(rate)
        return rate <= truth

    found = search(passes, start, least=20, most=1e7, resolution=0.05)
    assert found.passed is not None
    assert found.failed is not None
    assert found.passed <= truth < found.failed <= found.passed * 1.05
    assert len(tried) < 60


def test_a_rate_fails_only_if_it_fails_twice() -> None:
    stalls = count()

    def passes(rate: float) -> bool:
        return rate <= 100 and next(stalls) % 2 == 1  # each first trial meets a stall

    assert search(passes, 80, least=20, most=1e4, resolution=1) == Bracket(80, 160)


def test_a_search_ends_at_the_lowest_and_the_highest_rate() -> None:
    assert search(lambda _: False, 1_000, least=20, most=1e7, resolution=0.05) == Bracket(None, 20)
    assert search(lambda _: True, 1_000, least=20, most=5_000, resolution=0.05) == Bracket(5_000, None)


def test_a_search_without_time_for_a_further_try_keeps_what_it_has() -> None:
    tried: list[float] = []

    def passes(rate: float) -> bool:
        if len(tried) == 6:
            raise NoTime  # before the rate between the two has failed twice
        tried.append(rate)
        return rate <= 100

    assert search(passes, 25, least=20, most=1e4, resolution=0.01) == Bracket(100, 200)


class Served:
    """Clients of a system that keeps up with `highest` calls a second, and the time that they have taken.

    `kept` has whether it kept up with each rate.
    """

    def __init__(self, highest: float) -> None:
        self.highest, self.now, self.longest = highest, 0.0, 0.0
        self.kept: list[bool] = []

    def drive(self, job: Job) -> ClientTimings:
        seconds = (job.rate.seconds if job.rate else job.duration) or 0.0
        self.now += seconds
        self.longest = max(self.longest, seconds)
        rate = job.rate.per_second if job.rate else self.highest
        late = rate > self.highest
        self.kept += [not late] if job.rate else []
        found = ClientTimings(end=round(seconds * SECOND))
        found.schedule = ScheduleStats(10, 0, 0, saturated=late) if job.rate else None
        for samples in (found.service, found.latency):
            samples.record(np.full(int(rate * seconds), MS))
        return found


@pytest.mark.parametrize(
    ("highest", "arrivals", "outcome", "said"),
    [
        (5_000, "p99: 10ms", Outcome.OK, ""),
        (61, "p99: 10ms", Outcome.OK, "the search ended at its bound of 150 s"),  # each try takes 20 s
        (7, "p99: 10ms", Outcome.NO_RATE, "no rate: it can't keep up with 60 calls/s, the lowest that is tried (a longer"),
        (5_000, "p99: 1us, trial: 1s", Outcome.NO_RATE, "no rate: the shortest call takes 1 ms; the limit is 0.001 ms"),
    ],
)  # fmt: skip
def test_a_search_is_bounded_and_says_how_far_it_is(highest: float, arrivals: str, outcome: Outcome, said: str) -> None:
    served, notes = Served(highest), list[str]()
    found = parse_suite(suite(f"find: {{{arrivals}, resolution: 0.01}}"), "s.yaml").scenario("a").steps[0]
    assert isinstance(found, TimedStep)
    assert found.find
    measured = load_control.measure(found, Job("query", (), 0, 0), Clients(), served.drive, notes.append)
    assert (measured.outcome, measured.facts["find"]["ended"] or measured.detail[: len(said)]) == (outcome, said)
    assert served.now <= LONGEST_SEARCH * found.find.trial + 1
    assert served.longest <= LONGEST_TRY * found.find.trial
    assert notes[0].startswith(f"search for {found.find}: about 15 tries of {found.find.trial:g} s, ")
    assert [note.split(":")[0] for note in notes[1:]] == [f"try {number + 1}" for number in range(len(served.kept))]
    assert all(note.endswith("passed" if kept else "failed") for note, kept in zip(notes[1:], served.kept, strict=True))


def test_a_timeline_counts_calls_by_the_second_in_which_they_ended() -> None:
    found = Timeline()
    found.record(7, np.array([7, SECOND + 6, SECOND + 7, 3 * SECOND + 7]), np.array([5, 1 * MS, 2 * MS, 9]))
    summary = found.summary(3 * SECOND + 1)
    assert (summary["seconds"], summary["calls"]) == (1, [2, 1, 0])
    assert summary["p99"][:2] == [pytest.approx(MS, rel=0.04), pytest.approx(2 * MS, rel=0.04)]
    assert summary["p50"][2] is None
    assert found.summary(SECOND) is Timeline().summary(9 * SECOND) is None


def test_operations_of_two_seconds_have_a_timeline() -> None:
    timings = ClientTimings(begin=7, end=2 * SECOND + 7)
    timings.timeline.record(7, np.array([8, SECOND + 8]), np.array([MS, MS]))
    assert load_control.throughput(timings, 2, Clients()).facts["timeline"]["calls"] == [1, 1]


def test_a_long_timeline_has_wider_slots_and_survives_merge_and_pipe() -> None:
    one, other = Timeline(), Timeline()
    for second in range(4 * MOST_SLOTS):
        one.record(0, np.array([second * SECOND]), np.array([MS]))
    other.record(0, np.array([SECOND // 2, 5 * SECOND]), np.array([MS, MS]))
    one.merge(Timeline.from_json(json.loads(json.dumps(other.to_json()))))
    summary = one.summary(4 * MOST_SLOTS * SECOND)
    assert summary["seconds"] == 4
    assert len(summary["calls"]) == MOST_SLOTS
    assert summary["calls"][:3] == [5, 5, 4]


def records(operation: str, **more: Any) -> KeySequence:
    spec = Records(count=10, key_bytes=16, value_bytes=16, key_order="ascending")
    plain = {"order": "ascending", "first": 100, "count": 10, "version": 3, "endless": True, **more}
    return KeySequence(spec, 1, 1.0, operation, **plain)


def test_endless_inserts_of_two_clients_never_meet() -> None:
    sequence = records("insert")
    numbers = [[int.from_bytes(key, "big") for key, _ in islice(sequence._share(number, 2), 3)] for number in range(2)]
    assert numbers == [[100, 102, 104], [101, 103, 105]]


@pytest.mark.parametrize("order", ["ascending", "random"])
@pytest.mark.parametrize("transaction", [1, 3])
def test_what_endless_updates_leave_is_known_to_each_record(order: str, transaction: int) -> None:
    sequence = records("update", order=order, transaction=transaction)
    for made in range(1, 14):
        last: dict[int, int] = {}
        taken = {number: sequence.taken(made, number, 2) for number in range(2)}
        for number in range(2):
            pairs = [
                pair
                for item in islice(sequence._share(number, 2), made)
                for pair in ([item] if transaction == 1 else item)
            ]
            assert len(pairs) == taken[number]
            for key, value in pairs:
                last[int.from_bytes(key, "big")] = int.from_bytes(value[:8], "little")
        seed = 1 if order == "random" else None
        laps = [Laps(100, 10, seed, sequence.share(number, 2), taken[number], 3) for number in range(2)]
        expected = ExpectedRecords(first=100, next=110, laps=laps)
        numbers = np.arange(100, 110, dtype=np.uint64)
        assert expected.version_of(numbers).tolist() == [last.get(number, 0) for number in range(100, 110)]


@pytest.mark.parametrize(
    ("clients", "records", "scheduled", "told"),
    [(1, 0, False, True), (1, 10, False, True), (2, 0, False, False), (1, 0, True, False)],
)
def test_first_calls_that_differ_are_told_of_one_client_without_a_rate(
    clients: int, records: int, scheduled: bool, told: bool
) -> None:
    found = ClientTimings(end=SECOND, schedule=ScheduleStats(30, 0, 0, saturated=False) if scheduled else None)
    for samples in (found.service, found.latency):
        samples.record(np.array([3 * MS] * 3 + [MS] * 27))
    step = parse_suite(suite(), "s.yaml").scenarios[0].steps[0]
    assert isinstance(step, TimedStep)
    made = load_control.measured(step, found, Clients(threads=clients), records=records)
    assert made.facts.get("first_calls") == (3.0 if told else None)


def test_the_first_calls_of_an_endless_mix_can_be_made_again() -> None:
    mix = OperationMix(
        Records(count=50, key_bytes=16, value_bytes=16), 1, 1.0, 0, 50, 1, {"read": 1, "insert": 1}, "uniform", 10,
        endless=True,
    )  # fmt: skip
    whole = np.concatenate([kinds for kinds, *_ in mix.drawn(0, 2, 3_000)])
    assert len(whole) == 3_000
    assert (np.concatenate([kinds for kinds, *_ in mix.drawn(0, 2, 1_500)]) == whole[:1_500]).all()
    assert mix.inserted(0, 2, 1_500) == int((whole[:1_500] == 2).sum())


def test_times_are_told_by_operation_however_the_calls_are_cut() -> None:
    codes = deque([np.array([0, 0, 1]), np.array([1, 0])])
    whole, by = Samples(), dict[str, Samples]()
    record = CallStream(str, (), codes=codes).recorder(whole, by)
    record(np.array([1, 2]))
    record(np.array([30, 40, 5]))
    assert whole.count == 5
    assert (by["read"].exact.tolist(), by["update"].exact.tolist()) == ([1, 2, 5], [30, 40])


def test_nothing_is_imported_where_times_are_recorded() -> None:
    script = """
        import sys
        from collections import deque
        import numpy as np
        from dbbench.loadgen.client import client_run
        from dbbench.loadgen.histogram import Samples
        from dbbench.loadgen.key_streams import CallStream
        from dbbench.loadgen.timeline import Timeline
        before = set(sys.modules)
        times, timeline = np.arange(200_000), Timeline()
        record = CallStream(str, (), codes=deque([times % 3])).recorder(Samples(), {})
        record(times)
        timeline.record(0, times, times)
        print(*sorted({*sys.modules} - before))
    """
    done = subprocess.run([sys.executable, "-c", dedent(script)], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


@pytest.mark.parametrize("clients", [Clients(), Clients(threads=2), Clients(threads=2, processes=2)])
def test_warm_up_and_ramp_up_are_made_and_do_not_count(null: Null, clients: Clients) -> None:
    job = Job("read", (), 2, 0, seed=1, inputs=records("read"), duration=0.5, warm_up_seconds=0.01, ramp_up=0.02)
    found = drive(null, null.connect(), job, clients)
    assert found.warm_up.count > 2 * clients.count
    assert found.service.count > 0
    assert found.calls == sum(made for _, made in found.made)
    assert sorted(number for number, _ in found.made) == list(range(clients.count))


def test_queries_at_a_rate_with_a_load_that_grows(null: Null) -> None:
    job = Job("query", (), 1, 0, Rate(per_second=200, seconds=0.2), 1, QueryCalls("SELECT", 0, (3,)), ramp_up=0.1)
    found = drive(null, null.connect(), job, Clients(threads=2))
    assert found.schedule is not None
    assert found.schedule.due == 40
    assert found.latency.count == found.service.count == 40 - found.schedule.dropped
    assert 2 <= found.warm_up.count <= 2 + 10


def test_as_many_calls_as_asked_for_after_a_warm_up(null: Null) -> None:
    job = Job("read", (), 5, 11, seed=1, inputs=records("read"))
    assert drive(null, null.connect(), job, Clients(threads=2)).service.count == 11
    each = Job("query", (), 5, 11, seed=1, inputs=QueryCalls("SELECT", 0, (3,)), each=True)
    assert drive(null, null.connect(), each, Clients(threads=2)).service.count == 22


class Numbered:
    """Endless calls with a number each, none of which is quick enough for its rate."""

    endless = True

    def __init__(self) -> None:
        self.made: list[int] = []

    def check(self, *_: Any) -> None: ...

    def prepare(self, *_: Any) -> CallStream:
        def run(number: int) -> None:
            self.made.append(number)
            sleep(0.001)

        return CallStream(run, count(), premade=100)


def test_calls_dropped_while_the_load_grows_are_made_later(null: Null) -> None:
    """What the clients' calls have done is known by their number: they are the first ones of all, none left out."""
    calls = Numbered()
    job = Job("read", (), 0, 0, Rate(per_second=50_000, seconds=0.01), 1, calls, ramp_up=0.02)  # type: ignore[arg-type]
    drive(null, null.connect(), job, Clients())
    assert calls.made == list(range(len(calls.made)))


@pytest.mark.parametrize("rate", [None, Rate(per_second=10_000, seconds=0.01)])
def test_calls_made_before_the_start_are_no_garbage_to_go_through_after_it(null: Null, rate: Rate | None) -> None:
    young: list[int] = []
    # One in Python, as hypothesis has it, lets another thread in, whose own collection does nothing meanwhile.
    others, gc.callbacks[:] = gc.callbacks[:], []

    class Made(Numbered):
        def prepare(self, *_: Any) -> CallStream:
            return CallStream(
                lambda _: young.append(gc.get_count()[0]), ([number] for number in count()), premade=50_000
            )

    job = Job("read", (), 0, 20, rate, 1, Made())  # type: ignore[arg-type]
    try:
        drive(null, null.connect(), job, Clients(threads=2))
    finally:
        gc.callbacks[:] = others
    assert young[0] < 5_000
