"""Threads with more of the processors than they were given."""

import os
import threading
from dataclasses import replace

import pytest

from dbbench.host import scheduling as host_scheduling
from dbbench.host.scheduling import Scheduling, ahead, scheduling


@pytest.fixture
def own() -> Scheduling:
    found = scheduling()
    assert found is not None
    return found


def test_who_has_what_was_given_is_not_ahead(own: Scheduling) -> None:
    assert not ahead([os.getpid()], own)
    assert not ahead([os.getpid()], replace(own, nice=own.nice - 1, processors=own.processors | {1_000}))


def test_a_thread_may_be_ahead_by_its_nice_value_or_by_its_processors(own: Scheduling) -> None:
    nicer = replace(own, nice=own.nice + 5)
    assert ahead([os.getpid()], nicer) == f"a thread has the nice value {own.nice} in place of {own.nice + 5}"
    fewer = replace(own, processors=own.processors - {min(own.processors)})
    assert ahead([os.getpid()], fewer) == "a thread has 1 more processor than the worker was given"


def test_processors_that_the_parent_has_by_now_are_given(own: Scheduling) -> None:
    fewer = replace(own, processors=own.processors - {min(own.processors)})
    assert not ahead([os.getpid()], fewer.given_by_now(own))
    assert ahead([os.getpid()], fewer.given_by_now(fewer))
    assert ahead([os.getpid()], fewer.given_by_now(None))


#: As in sched(7): elsewhere Python has no names for them.
OTHER, FIFO, RR, BATCH, IDLE, RESET_ON_FORK = 0, 1, 2, 3, 5, 0x40000000


@pytest.mark.parametrize(
    ("policy", "given", "words"),
    [
        (RR, OTHER, "a thread has a real-time scheduling class"),
        (FIFO | RESET_ON_FORK, OTHER, "a thread has a real-time scheduling class"),
        (OTHER, IDLE, "a thread has a scheduling class above the worker's"),
        (OTHER | RESET_ON_FORK, OTHER, ""),
        (IDLE, BATCH, ""),
    ],
)
def test_a_thread_may_be_ahead_by_its_class(
    own: Scheduling, monkeypatch: pytest.MonkeyPatch, policy: int, given: int, words: str
) -> None:
    monkeypatch.setattr(os, "sched_getscheduler", lambda _thread: policy)
    assert ahead([os.getpid()], replace(own, policy=given)) == words


@pytest.mark.parametrize(("works", "words"), [(True, "a thread has the nice value"), (False, "")])
def test_a_thread_that_does_next_to_nothing_may_have_any_priority(
    own: Scheduling, monkeypatch: pytest.MonkeyPatch, works: bool, words: str
) -> None:
    done = threading.Event()
    idle = threading.Thread(target=done.wait)
    idle.start()
    raised = os.getpid() if works else idle.native_id
    monkeypatch.setattr(
        host_scheduling, "scheduling", lambda thread: replace(own, nice=own.nice - 20 * (thread == raised))
    )
    found = ahead([os.getpid()], own)
    done.set()
    idle.join()
    assert found.startswith(words) if words else not found


def test_a_process_that_has_ended_and_a_system_that_does_not_tell_accuse_nobody(own: Scheduling) -> None:
    assert not ahead([2**22 + 1], replace(own, nice=own.nice + 5))
    assert not ahead([os.getpid()], None)
