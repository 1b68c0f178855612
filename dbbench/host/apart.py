"""`python -m dbbench.host.apart`: a function called in a process of its own, which a damaged file can end without ending dbbench."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable
from typing import TypeVar

from dbbench.errors import DbbenchError, UserError
from dbbench.host.processes import end_with_parent, environment, python

Result = TypeVar("Result")


def apart(what: str, call: Callable[[], Result]) -> Result:
    """What a call gives, or the DbbenchError that it raises. Its function, arguments and result can be pickled.

    Raises UserError, which names `what` is read, if its process ends otherwise.
    """
    command = python("dbbench.host.apart")
    done = subprocess.run(command, input=pickle.dumps(call), capture_output=True, env=environment(), check=False)
    said = done.stderr.decode("utf-8", "replace")
    if done.returncode:
        how = f"its reader was ended by {signal.Signals(-done.returncode).name}" if done.returncode < 0 else ""
        reason = how or (said.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
        raise UserError(f"{what} can't be read: {reason}; it may be damaged: write it anew")
    sys.stderr.write(said)
    error, found = pickle.loads(done.stdout)  # noqa: S301 - written by our own child a moment ago
    if error is not None:
        raise error
    return found  # type: ignore[no-any-return]  # what the call gave


def main() -> None:
    """Call what standard input holds, and answer on standard output, where nothing else is to print."""
    answer = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    call = pickle.load(sys.stdin.buffer)  # noqa: S301 - written by our own parent a moment ago
    found: tuple[DbbenchError | None, object]
    try:
        found = None, call()
    except DbbenchError as exc:
        found = exc, None
    with answer:
        pickle.dump(found, answer)


if __name__ == "__main__":
    end_with_parent()
    main()
