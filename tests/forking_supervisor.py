"""A supervisor, run as a file, that forks its workers: imports take more than most of the trials that tests make.

A trial that counts has a process of its own, with other hashes and another layout of its memory in each round.
"""

import os
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from dbbench.runs import supervisor, worker

_POPEN = subprocess.Popen


class ForkingSupervisor(supervisor.Supervisor):
    def _start(self, work: Path) -> subprocess.Popen[bytes]:
        if not (self.trace or self.process.python or self.process.packages or self.process.env):  # they need a new one
            subprocess.Popen = _forked
        try:
            return super()._start(work)
        finally:
            subprocess.Popen = _POPEN


def _forked(
    command: Sequence[str], *, env: Mapping[str, str], pass_fds: Sequence[int], **how: Any
) -> subprocess.Popen[bytes]:
    """A worker, as a copy of this process in place of one that makes the imports."""

    def work() -> None:
        subprocess.Popen = _POPEN
        kept = {0, 1, 2, *pass_fds}
        for descriptor in {*map(int, os.listdir("/proc/self/fd"))} - kept:  # also the one that Popen waits for
            with suppress(OSError):  # the list's own
                os.close(descriptor)
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1):
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.environ.clear()
        os.environ |= env
        tempfile.tempdir = None
        sys.argv = [worker.__file__, *command[4:]]
        try:
            worker.main()
        except BaseException:
            traceback.print_exc()
        os._exit(1)

    # Popen would give SIGPIPE its default back: a worker that is started ignores it, as all Pythons do.
    return _POPEN(command, env=env, pass_fds=pass_fds, preexec_fn=work, restore_signals=False, **how)


if __name__ == "__main__":
    supervisor.Supervisor = ForkingSupervisor
    supervisor.main()
