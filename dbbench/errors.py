"""The exceptions that become a message to the user or part of a result.

DbbenchError
├── UserError            a mistake in what was asked for; the command line prints it and exits with 2
│   ├── SuiteError       faults in a suite file, all of them together
│   └── RunError         a run directory that is damaged, newer than this dbbench, or in use
└── TrialError           what an engine says of itself inside a worker; becomes an outcome
    ├── Unavailable      its driver or library is missing; says how to install it
    ├── Unsupported      it can't do what the step asks; says why
    ├── ServerFailed     a server doesn't start or can't be reached; says what to do
    ├── TimedOut         it wasn't done within the time that its step gives it
    ├── HostLost         a host of a cluster ended, froze or can't be reached in mid-step
    ├── WrongAnswer      it answered, and the right answer is another
    └── NotVerified      there was nothing to check its work by; no outcome of its own
"""

from collections.abc import Sequence
from dataclasses import dataclass


class DbbenchError(Exception):
    """The base of all of them."""


class UserError(DbbenchError):
    """A mistake in what was asked for. The message says what to do about it."""


@dataclass(frozen=True, order=True)
class Fault:
    """One fault of a file: where it is (line and column from 1), what stands there, what should."""

    file: str
    line: int
    column: int
    path: str
    value: str
    expected: str
    nearest: str = ""

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}: "
        what = f"{self.path}: " if self.path else ""
        found = f"{self.value}: " if self.value else ""
        hint = f"; did you mean {self.nearest!r}?" if self.nearest else ""
        return f"{place}{what}{found}expected {self.expected}{hint}"


class SuiteError(UserError):
    """A suite file with faults; `faults` holds them in the order of the file, the first of `count`."""

    def __init__(self, faults: Sequence[Fault], count: int | None = None) -> None:
        super().__init__("\n".join(str(fault) for fault in faults))
        self.faults = tuple(faults)
        self.count = len(faults) if count is None else count


class RunError(UserError):
    """A run directory that can't be read or written."""


class TrialError(DbbenchError):
    """Base of an engine's own errors inside a worker."""


class Unavailable(TrialError):
    """The driver or the library isn't there; `install` is the command that brings it."""

    def __init__(self, reason: str, install: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.install = install


class Unsupported(TrialError):
    """The engine can't do what the step asks for. Refused with a reason, never skipped in silence."""


class ServerFailed(TrialError):
    """A private server that doesn't start, or one at a URL that can't be used. The message says what to do."""


class TimedOut(TrialError):
    """What a step asks for wasn't done within the time that it gives."""


class HostLost(TrialError):
    """A host of a cluster that ended, stands still or can't be reached. The message names it."""


class WrongAnswer(TrialError):
    """The engine's answer differs from the right one; `rows` has the first rows that differ, in words."""

    def __init__(self, reason: str, rows: Sequence[str] = ()) -> None:
        super().__init__(reason)
        self.rows = tuple(rows)


class NotVerified(TrialError):
    """A step was measured, and there is nothing to check it by. Says why."""
