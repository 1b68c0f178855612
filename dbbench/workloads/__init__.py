"""What each kind of step does and times: one module for each, with the kind's name.

A module has `measure(step, context)`, which holds the clock and returns the figure and what the step leaves, and
`check(step, context)`, which compares that with the engine's data outside the clock and changes nothing. It may have
two more functions, see `Workload`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any


@dataclass(frozen=True)
class Workload:
    """What a kind's module has."""

    measure: Callable[..., Any]
    #: None where there is nothing to check.
    check: Callable[..., Any] | None = None
    #: The engine's own plan of what the step calls.
    explain: Callable[..., str] | None = None
    #: Changes the data when all figures are made, and looks whether what the step calls follows.
    check_change: Callable[..., None] | None = None
    #: Compares once more, when all steps are done and the data is seen anew, what the steps after it can't have
    #: changed.
    check_again: Callable[..., None] | None = None
    #: Compares what is in the copy that the step asked for before its end.
    check_copy: Callable[..., None] | None = None


def workload(kind: str, *, compares: bool = True) -> Workload:
    """What a kind of step does: only measure, for an engine whose answers are compared with nothing."""
    module = vars(import_module(f"{__name__}.{kind}"))
    if not compares:
        return Workload(module["measure"])
    more = (module.get(name) for name in ("explain", "check_change", "check_again", "check_copy"))
    return Workload(module["measure"], module["check"], *more)
