"""How the clients of a step make their calls: one model for every kind of step that times calls.

A kind takes it by building on `TimedStep`, and its workload by `dbbench.loadgen.load_control`.
"""

import re
from collections.abc import Iterator
from collections.abc import Mapping as ReadOnly
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from dbbench.host.metric import BaseUnit
from dbbench.suite.base import Model
from dbbench.suite.plain import Dangling, Mapping
from dbbench.suite.steps.base import ClientsStep, Step

#: Calls at a rate that say anything of it.
FEWEST_ARRIVALS = 10
#: The longest that anything here may last, in seconds.
LONGEST = 86_400.0
#: The percentiles that a search can keep under a limit.
PERCENTILES = (50, 90, 95, 99)

_UNITS = {"us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}
_TIME = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([a-zµ]+)\s*")


def seconds_of(text: Any) -> Any:
    """The seconds of `500ms`, `10s`, `2min`; a number is of seconds. Raises ValueError for another text."""
    if not isinstance(text, str):
        return text
    found = _TIME.fullmatch(text)
    if found is None or found[2] not in _UNITS:
        raise ValueError("a time, like 500ms, 10s or 2min")
    return float(found[1]) * _UNITS[found[2]]


def _warm_up(amount: Any) -> Any:
    if isinstance(amount, str):
        seconds_of(amount)
    elif isinstance(amount, bool) or not isinstance(amount, int) or amount < 0:
        raise ValueError("a number of calls, 0 or more, or a time, like 5s")
    return amount


#: Seconds above 0; a suite may write them with a unit.
Time = Annotated[
    float,
    BeforeValidator(seconds_of),
    Field(gt=0, le=LONGEST),
    WithJsonSchema({"type": ["number", "string"], "description": "seconds, or a time such as 500ms, 10s, 2min"}),
]
#: A number of calls, or a text that says how long.
WarmUp = Annotated[int | str, BeforeValidator(_warm_up)]
Arrivals = Literal["constant", "poisson"]


class Rate(Model):
    """Calls at moments set before, even if earlier ones haven't ended: the figure is their latency."""

    per_second: float = Field(gt=0, le=1e7, description="Of all clients together.")
    arrivals: Arrivals = Field(default="constant", description="`poisson`: from the seed, the same for every engine.")
    seconds: Time | None = Field(default=None, description="For how long, unless the step has a `duration`.")

    @model_validator(mode="after")
    def _some_calls(self) -> Self:
        if self.seconds is not None and self.per_second * self.seconds < FEWEST_ARRIVALS:
            raise ValueError(f"{FEWEST_ARRIVALS} arrivals or more: per_second times seconds")
        return self


class Find(Model):
    """The highest rate at which a percentile of latency stays under a limit: one of `p50` to `p99`."""

    p50: Time | None = Field(default=None, description="A limit, such as 10ms.")
    p90: Time | None = Field(default=None, description="A limit.")
    p95: Time | None = Field(default=None, description="A limit.")
    p99: Time | None = Field(default=None, description="A limit.")
    arrivals: Arrivals = Field(default="poisson", description="As for `rate`.")
    trial: Time = Field(
        default=5.0,
        description="Seconds, or a time such as 10s, that each rate is tried; longer where a percentile needs more calls.",
    )
    resolution: float = Field(
        default=0.05,
        ge=0.01,
        le=1,
        description="Ends where the lowest rate that fails is so close to the highest that passes: 0.05 is 5 %.",
    )

    @model_validator(mode="after")
    def _one_limit(self) -> Self:
        if len([name for name in PERCENTILES if getattr(self, f"p{name}") is not None]) != 1:
            raise ValueError("one limit, like {p99: 10ms}")
        return self

    @property
    def percentile(self) -> int:
        """The percentile that has the limit."""
        return next(name for name in PERCENTILES if getattr(self, f"p{name}") is not None)

    @property
    def limit(self) -> float:
        """Seconds."""
        return float(getattr(self, f"p{self.percentile}"))

    def __str__(self) -> str:
        return f"p{self.percentile} at most {self.limit * 1e3:g} ms"


class Adding(Model):
    """What is missing added again while others search: `batch` at a time, evenly over the time of the searches."""

    batch: int = Field(default=100, ge=1, le=100_000, description="Added in one call.")


class TimedStep(ClientsStep):
    """A step under load control. Without these keys one client makes one call after another."""

    rate: Rate | None = Field(default=None, description="Calls at a rate.")
    find: Find | None = Field(default=None, description="The highest rate that keeps a limit.")
    duration: Time | None = Field(
        default=None,
        description="In place of a number of calls, such as 10s; a `search`, and a `nearest` under load, have a second.",
    )
    warm_up: WarmUp = Field(
        default=0,
        description="Calls of each client first, or a time such as 2s, that don't count.",
    )
    ramp_up: Time | None = Field(
        default=None, description="A time before calls count in which clients start in turn, or the rate rises evenly."
    )

    #: The key that says how many calls there are, where nothing says how long.
    calls_key: ClassVar[str] = "iterations"

    @property
    def warm_up_calls(self) -> int:
        """Warm-up calls of each client; 0 if the warm-up is a time."""
        return self.warm_up if isinstance(self.warm_up, int) else 0

    @property
    def warm_up_seconds(self) -> float:
        """Warm-up time of each client; 0 if the warm-up is a number of calls."""
        return 0.0 if isinstance(self.warm_up, int) else float(seconds_of(self.warm_up))

    @property
    def seconds(self) -> float | None:
        """Seconds in which calls count, where their number doesn't end the step."""
        return self.rate.seconds if self.rate and self.rate.seconds else self.duration

    @property
    def controlled(self) -> bool:
        """Whether it is more than a number of calls, one after another by one client, after some calls to warm up."""
        asked = (self.rate, self.find, self.duration, self.ramp_up)
        return any(asked) or self.warm_up_seconds > 0 or self.clients.count > 1

    @property
    def timed(self) -> bool:
        """Whether it isn't a number of calls alone, known before, that are made."""
        return any((self.seconds, self.find, self.warm_up, self.ramp_up))

    @property
    def thinks(self) -> bool:
        """Whether clients pause between their calls."""
        return False

    @property
    def figure_unit(self) -> BaseUnit:
        """Calls in a second, where the highest rate is searched for; the seconds of a call at a rate."""
        return "1/s" if self.find else "s" if self.rate else self.unit

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.find and (self.rate or self.duration):
            raise ValueError("`find`, or `rate` and `duration`: a search tries rates of its own, each for find.trial")
        if self.rate and (self.rate.seconds is None) == (self.duration is None):
            raise ValueError("one time for the rate: rate.seconds, or the step's duration")
        if self.rate and self.duration and self.rate.per_second * self.duration < FEWEST_ARRIVALS:
            raise ValueError(f"{FEWEST_ARRIVALS} arrivals or more: rate.per_second times duration")
        return self

    @classmethod
    def dangling(cls, step: Mapping, tables: Mapping, before: ReadOnly[str, type[Step]]) -> Iterator[Dangling]:
        """A number of calls in a step whose length is set otherwise."""
        yield from super().dangling(step, tables, before)
        saying = next((key for key in ("rate", "duration", "find") if key in step), None)
        if saying and cls.calls_key in step:
            yield (
                (cls.calls_key,),
                f"no {cls.calls_key} where there is a {saying}, which says how many calls there are",
                (),
            )


class SearchingStep(TimedStep):
    """Searches for vectors or texts: warm, while one client more is `adding` others, or the first after reopening.

    With a cold `cache` the figure is the seconds until the engine, closed and opened anew, has answered one search.
    """

    cache: Literal["warm", "cold"] = Field(
        default="warm", description="`cold`: the seconds until the engine, opened anew, has answered one search."
    )
    adding: Adding | None = Field(
        default=None, description="One client more adds meanwhile what a load has left out or a delete has taken away."
    )

    unit = "1/s"
    counts = "searches"

    @model_validator(mode="after")
    def _cold_alone(self) -> Self:
        if self.cold and (self.controlled or self.adding):
            raise ValueError("a warm cache where there are clients, rate, duration, find, ramp_up or adding")
        if self.adding and (self.find or self.rate or self.ramp_up or self.sweep or self.clients.processes > 1):
            raise ValueError("adding beside clients in threads, without rate, find, ramp_up or a sweep")
        return self

    @property
    def cold(self) -> bool:
        """True if the cache is cold."""
        return self.cache == "cold"

    @property
    def sessions(self) -> int:
        """One more for the client that adds."""
        return super().sessions + (self.adding is not None)

    @property
    def fills(self) -> bool:
        """True if something is added."""
        return self.adding is not None

    @property
    def controlled(self) -> bool:
        """Also where others are added meanwhile."""
        return self.adding is not None or super().controlled

    @property
    def figure_unit(self) -> BaseUnit:
        """Seconds of the first search, where the cache is cold."""
        return "s" if self.cold else super().figure_unit
