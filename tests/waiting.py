"""Other processes: waiting for what they do, and those of a run."""

import contextlib
import time
from collections.abc import Callable
from pathlib import Path

import psutil


def until(condition: Callable[[], object], seconds: float = 300) -> bool:
    """Whether it becomes so; the time is only a bound, for a machine that is busy."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return False


def of_run(folder: Path, module: str = "") -> list[psutil.Process]:
    """The processes of a run in a folder, whose path they have in their command or environment: all, or a module's.

    In the order in which they were started.
    """
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            command = " ".join(process.cmdline())
            if module in command and any(str(folder) in text for text in (command, *process.environ().values())):
                found.append(process)
    return found
