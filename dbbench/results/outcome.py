"""The outcome of a step, in one word, and that of an exception."""

import re
from enum import StrEnum

from dbbench.errors import HostLost, ServerFailed, TimedOut, Unavailable, Unsupported, WrongAnswer

#: What engines and systems say when the disk is full, and what else of the system may have no space left.
_NO_SPACE = re.compile(r"(?i)no space left|\b(disk|storage) ?(is )?full\b|quota exceeded")
_ELSE = re.compile(r"(?i)shared memory|semaphore")
#: What every report says of a figure whose work nothing was compared with.
UNVERIFIED = "not verified"


class Outcome(StrEnum):
    """Outcomes from best to worst: of several rounds, the worst one stands.

    A step is "not counted" in a report by a metric that it has no figure of, and "not run" if a step before it did not
    leave the data that it needs. No trial is "disputed", but a step of a run is, if engines of several databases give
    the same wrong answer.
    """

    OK = "ok"
    NOT_COUNTED = "not counted"
    NOT_RUN = "not run"
    DISPUTED = "disputed"
    WRONG = "wrong"
    SATURATED = "saturated"
    NO_RATE = "no rate"
    NO_RECALL = "no recall"
    FAILED = "failed"
    CRASHED = "crashed"
    OUT_OF_MEMORY = "out of memory"
    DISK_FULL = "disk full"
    TIMEOUT = "timeout"
    UNSUPPORTED = "unsupported"
    UNAVAILABLE = "unavailable"

    @property
    def badness(self) -> int:
        """0 for ok, more for worse."""
        return list(Outcome).index(self)


#: The step did its work, and what it was to reach it didn't: there is no figure.
FELL_SHORT = (Outcome.SATURATED, Outcome.NO_RATE, Outcome.NO_RECALL)
#: The step changed nothing.
DID_NOTHING = (Outcome.UNSUPPORTED, Outcome.NOT_RUN)


def no_space(detail: str) -> bool:
    """Whether a message says that the system has no room, on the disk or elsewhere."""
    return bool(_NO_SPACE.search(detail))


def disk_is_full(detail: str) -> bool:
    """Whether a message says that there is no room on the disk."""
    return no_space(detail) and not _ELSE.search(detail)


def described(exc: BaseException) -> tuple[Outcome, str]:
    """The outcome for an exception, and its message."""
    match exc:
        case WrongAnswer():
            return Outcome.WRONG, str(exc)
        case TimedOut():
            return Outcome.TIMEOUT, str(exc)
        case Unsupported():
            return Outcome.UNSUPPORTED, str(exc)
        case ServerFailed() | HostLost():
            return Outcome.FAILED, str(exc)
        case Unavailable(reason=reason, install=install):
            return Outcome.UNAVAILABLE, f"{reason}; {install}" if install else reason
        case MemoryError():
            return Outcome.OUT_OF_MEMORY, f"MemoryError: {exc}"
    first = (str(exc).strip().splitlines() or [""])[0]
    return Outcome.FAILED, f"{type(exc).__name__}: {first}"
