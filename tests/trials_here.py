"""Trials in this process, for what their worker finds: without a supervisor, and without checks of copies."""

import gc
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from pathlib import Path

import pytest

from dbbench.engine.urls import VARIABLE
from dbbench.run import runner
from dbbench.run.record import Planned
from dbbench.run.supervisor import Supervisor
from dbbench.run.worker import Worker
from dbbench.run.worker_process import WorkerProcess


@contextmanager
def trials_here(*engines: str) -> Iterator[None]:
    """Within it this process does trials itself: of these engines and null ones, or of all.

    The processes of a trial take two seconds to start, most often far more than its steps.
    """
    supervise = runner._supervise

    def carry_out(directory: Path, url: str, *more: object) -> None:
        engine = Planned.read(directory).trial.engine
        if engines and engine not in engines and not engine.startswith("null"):
            supervise(directory, url, *more)  # type: ignore[arg-type]
            return
        work = Path(WorkerProcess.read(directory).work)
        work.mkdir(parents=True)
        try:
            with pytest.MonkeyPatch.context() as inner, (directory / "stderr.txt").open("w") as file:
                inner.setenv(VARIABLE, url)
                inner.setattr(sys, "argv", ["worker", str(directory)])  # as in a process of its own
                with redirect_stderr(file):
                    Worker(directory).run()
        finally:
            gc.unfreeze()
            shutil.rmtree(work)
        Supervisor(directory)._result("ended", 0, [], {}).write(directory)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runner, "_supervise", carry_out)
        yield
