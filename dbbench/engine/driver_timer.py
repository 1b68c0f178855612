"""What a driver's own calls take, seen from between it and whatever calls it: to execute, and to fetch.

A connection or cursor is put into a wrapper that reads the clock around those calls and passes on everything else.
The wrapper's own time lies outside of what it measures, and so counts for the layer above.
"""

from collections.abc import Callable, Iterator
from time import perf_counter_ns
from typing import Any

#: Calls by which a driver sends a statement, and those by which it hands out what came back.
EXECUTE = frozenset({"execute", "executemany", "exec_prepared", "query"})
FETCH = frozenset({"fetchone", "fetchmany", "fetchall", "fetch_row", "use_result", "discard"})


_EMPTY = 1_000


class _Nothing:
    """Called to see what a timer takes itself."""

    def execute(self, *_: Any) -> None: ...


class DriverTimer:
    """Nanoseconds of a driver's calls since it was last cleared."""

    def __init__(self, clock: Callable[[], int] = perf_counter_ns) -> None:
        self.clock = clock
        self.clear()

    def clear(self) -> None:
        """Begin anew."""
        self.execute = self.fetch = self.executes = self.fetches = 0

    @property
    def calls(self) -> int:
        """Calls seen."""
        return self.executes + self.fetches

    @property
    def own(self) -> tuple[float, float]:
        """What the timer adds to each call, at least: nanoseconds of those that it shows, and of all that it takes."""
        empty, nothing = DriverTimer(self.clock), _Nothing()
        timed = empty.over(nothing)
        shown, taken, bare = [], [], []
        for _ in range(_EMPTY):
            empty.clear()
            start = self.clock()
            nothing.execute(1, 2)
            middle = self.clock()
            timed.execute(1, 2)
            taken.append(self.clock() - middle)
            bare.append(middle - start)
            shown.append(empty.execute)
        return min(shown), max(min(taken) - min(bare), 0)

    def over(self, thing: Any) -> Any:
        """A driver's connection or cursor whose calls are seen here."""
        return TimedDriver(thing, self)

    def executed(self, function: Callable[..., Any], *values: Any, **named: Any) -> Any:
        """Call what executes a statement."""
        start = self.clock()
        try:
            return function(*values, **named)
        finally:
            self.execute += self.clock() - start
            self.executes += 1

    def fetched(self, function: Callable[..., Any], *values: Any) -> Any:
        """Call what hands out rows."""
        start = self.clock()
        try:
            return function(*values)
        finally:
            self.fetch += self.clock() - start
            self.fetches += 1


class TimedDriver:
    """A connection, cursor or result of a driver under a timer."""

    def __init__(self, thing: Any, timer: DriverTimer) -> None:
        vars(self).update(_thing=thing, _timer=timer)

    def __getattr__(self, name: str) -> Any:
        thing, timer = vars(self)["_thing"], vars(self)["_timer"]
        found = getattr(thing, name)
        if name in EXECUTE:
            return lambda *values, **named: self._given(timer.executed(found, *values, **named))
        if name in FETCH:
            return lambda *values: self._given(timer.fetched(found, *values))
        if name == "cursor":
            return lambda *values, **named: TimedDriver(found(*values, **named), timer)
        return found

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(vars(self)["_thing"], name, value)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        return vars(self)["_timer"].fetched(next, vars(self)["_thing"])

    def __enter__(self) -> Any:
        vars(self)["_thing"].__enter__()
        return self

    def __exit__(self, *exc: object) -> Any:
        return vars(self)["_thing"].__exit__(*exc)

    def _given(self, given: Any) -> Any:
        """What a call gave: itself again, another cursor or result, or a value."""
        if given is vars(self)["_thing"]:
            return self
        fetches = hasattr(given, "fetchone") or hasattr(given, "fetch_row")
        return TimedDriver(given, vars(self)["_timer"]) if fetches else given
