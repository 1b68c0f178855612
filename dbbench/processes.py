"""Waiting for a child process without polling for its end."""

from __future__ import annotations

import contextlib
import os
import select
import subprocess


def ended(process: subprocess.Popen[bytes], seconds: float) -> bool:
    """Wait up to `seconds` for a child's end; whether it came. Raises what a signal handler raises."""
    if process.poll() is not None:
        return True
    if hasattr(os, "pidfd_open"):  # Linux: woken at the end itself, where Popen.wait sleeps up to 50 ms
        try:
            descriptor = os.pidfd_open(process.pid)
        except OSError:
            pass
        else:
            try:
                select.select([descriptor], [], [], seconds)
            finally:
                os.close(descriptor)
            return process.poll() is not None
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(seconds)
    return process.returncode is not None
