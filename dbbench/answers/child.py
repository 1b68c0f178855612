"""Answers are computed in a process of their own: whatever becomes of it, dbbench goes on."""

from __future__ import annotations

import pickle
import subprocess
import tempfile
from collections.abc import Callable

from dbbench.host.processes import ended, environment, python, stop_with_its_own
from dbbench.message import cleaned

#: Longest that it may take, in seconds.
LIMIT = 3600.0
#: How long a server of its own then has to end, in seconds.
_GRACE = 5.0


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
