"""`python -m dbbench.host.apart`: calls a function in another process, so that a damaged file can't end dbbench."""

import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Callable
from typing import TypeVar

from dbbench.errors import DbbenchError, UserError
from dbbench.host.processes import end_with_parent, ended, environment, python, signal_name, stop_with_its_own
from dbbench.message import cleaned

Result = TypeVar("Result")
#: Longest that a call of `run` may take, in seconds.
LIMIT = 3600.0
#: How long a server of the call then has to end, in seconds.
_GRACE = 5.0


def apart(what: str, call: Callable[[], Result]) -> Result:
    """What a call gives, or the DbbenchError that it raises. Its function, arguments and result can be pickled.

    Raises UserError, which names `what` is read, if its process ends otherwise.
    """
    command = python("dbbench.host.apart")
    done = subprocess.run(command, input=pickle.dumps(call), capture_output=True, env=environment(), check=False)
    said = done.stderr.decode("utf-8", "replace")
    if done.returncode:
        how = f"its reader was ended by {signal_name(-done.returncode)}" if done.returncode < 0 else ""
        reason = how or (said.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
        raise UserError(f"{what} can't be read: {reason}; it may be damaged: write it anew")
    sys.stderr.write(said)
    error, found = pickle.loads(done.stdout)  # noqa: S301 - written by our own child a moment ago
    if error is not None:
        raise error
    return found  # type: ignore[no-any-return]  # what the call gave


def run(call: Callable[[], None]) -> str:
    """Make a call that can be pickled; why it failed, empty if it did not.

    A server of its own is asked to end before it is: else the kernel would kill the server, and its memory would stay.
    """
    with (
        tempfile.TemporaryDirectory(prefix="dbbench-answer-") as folder,
        tempfile.TemporaryFile() as said,
        tempfile.TemporaryFile() as asked,
        tempfile.TemporaryFile() as answer,
    ):
        pickle.dump(call, asked)
        asked.seek(0)
        with subprocess.Popen(
            python("dbbench.host.apart"),
            cwd=folder,
            env=environment(TMPDIR=folder),
            stdin=asked,
            stdout=answer,
            stderr=said,
        ) as child:
            try:
                if not ended(child, LIMIT):
                    return f"it took more than {LIMIT:g} s"
            finally:
                if child.poll() is None:
                    stop_with_its_own(child, _GRACE)
        if not child.returncode:
            answer.seek(0)
            error, _ = pickle.load(answer)  # noqa: S301 - written by our own child a moment ago
            return str(error or "")
        said.seek(0)
        words = said.read().decode("utf-8", "replace").strip().splitlines()
    return cleaned(words[-1] if words else "", 1_000) or f"exit status {child.returncode}"


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
