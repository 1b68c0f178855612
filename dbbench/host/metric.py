"""The table of metrics: counts of a step's calls besides their time, and what figures are compared by."""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Literal, Self

#: Base units of figures. "B" is a size, which is exact.
BaseUnit = Literal["s", "1/s", "B"]
#: Those in which the better figure is the faster one.
PACES = ("s", "1/s")
#: The units that figures are shown in: their size in the base unit, and their symbol; the smallest first.
SCALES: Mapping[str, tuple[tuple[float, str], ...]] = {
    "s": ((1e-9, "ns"), (1e-6, "µs"), (1e-3, "ms"), (1.0, "s")),
    "1/s": ((1.0, "/s"), (1e3, "thousand/s"), (1e6, "million/s")),
    "B": ((1.0, "B"), (1e3, "kB"), (1e6, "MB"), (1e9, "GB")),
}


class Metric(StrEnum):
    """Each row is a metric, of which less is better, except `WALL`: a step's own figure, a time or a rate."""

    #: The name of its figures, which no figure of a step itself has; empty for a step's own.
    by: str
    #: The base unit of its amounts.
    unit: Literal["", BaseUnit]
    #: What `--metric` compares by it.
    choice: str
    #: What its figures are, in a sentence without its full stop; empty for a step's own.
    meaning: str
    #: Why a step may have none.
    missing: str
    #: Whether it is counted of the threads that call, and not of whole processes.
    per_thread: bool

    WALL = "wall", "", "", "each step's own figure"
    CPU = (
        "cpu", "CPU time", "s", "the CPU time of its calls",
        "times are CPU time of the calls: of the worker, and of its private server",
        "no CPU time of these calls is known: they waited for their moments, or a server at a URL did the work",
    )  # fmt: skip
    UNDELAYED = (
        "undelayed", "undelayed time", "s", "their time less the wait for a processor",
        "times are undelayed: by the clock, less the calling threads' wait for a processor",
        "no undelayed time of these calls is known: they waited for their moments or each other, or this system doesn't report it",
        True,
    )  # fmt: skip

    def __new__(
        cls, key: str, by: str = "", unit: Literal["", BaseUnit] = "", choice: str = "",
        meaning: str = "", missing: str = "", per_thread: bool = False,
    ) -> Self:  # fmt: skip
        """`key` is its word on the command line and in files."""
        made = str.__new__(cls, key)
        made._value_ = key
        made.by, made.unit, made.choice = by, unit, choice
        made.meaning, made.missing, made.per_thread = meaning, missing, per_thread
        return made


#: The amount of each metric that is known, in its unit. One that isn't known is left out, and never 0.
Usage = Mapping[Metric, float]


def total(parts: Iterable[Usage]) -> Usage:
    """The sum for each metric that is known of all parts."""
    first, *rest = parts
    return {key: sum((each[key] for each in rest), first[key]) for key in first if all(key in each for each in rest)}


def shared(usage: Usage, among: float) -> Usage:
    """The usage of one call `among` several; nothing if there are none."""
    return {metric: amount / among for metric, amount in usage.items()} if among else {}


def of_threads(usage: Usage) -> Usage:
    """What is counted of the threads that call."""
    return {metric: amount for metric, amount in usage.items() if metric.per_thread}
