"""The first search after the engine was closed and opened anew, while none of its files is in memory."""

from collections.abc import Callable, Iterable
from typing import Any

from dbbench.host.meters import CallMeter
from dbbench.loadgen.kept_calls import EveryCall
from dbbench.loadgen.loops import timed
from dbbench.workloads.cold_start import ColdCalls, start_cold
from dbbench.workloads.context import StepContext, StepMeasurement
from dbbench.workloads.searches import TIMED, searched

Search = Callable[[Any], Any]


def first_anew(
    context: StepContext, prepare: Callable[[], Search], one: Iterable[Any]
) -> tuple[StepMeasurement, Search, list[Any]]:
    """The seconds of opening, of preparing a search and of searching for `one`; the search; the answer in a list.

    Raises Unsupported if the engine keeps no file.
    """
    context.engine.flush()  # some save only when they are asked to
    cold, every = ColdCalls(), EveryCall()
    dropped = start_cold(context)
    preparing, search = timed(prepare)
    opened, meter = context.opened + preparing / 1e9, CallMeter(context.engine)
    with cold.call(context, dropped, opened):
        first = searched(search, one, TIMED, every, around=meter).total / 1e9
    measured = StepMeasurement("time", "s", [opened + first], facts=cold.facts, usage=meter.usage(first))
    return measured, search, [answer for _, answer in every.calls]
