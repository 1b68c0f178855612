"""Runs with less than a user has, for tests of the rest: without the null engine, or with trials in this process.

Such a trial has no supervisor, which keeps limits and clears up, and nobody checks copies of its engine's folder.
"""

import gc
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from dbbench import scripting
from dbbench.analysis.budget import Stop
from dbbench.engine.null import NULLS
from dbbench.engine.size import File
from dbbench.engine.urls import VARIABLE
from dbbench.results.trial import Progress
from dbbench.run import runner
from dbbench.run.order import TrialOrder
from dbbench.run.plan import Ready
from dbbench.run.supervision import Supervision
from dbbench.run.supervisor import Supervisor
from dbbench.run.worker import Worker
from dbbench.workloads import ondisk


@contextmanager
def no_null_engine() -> Iterator[None]:
    """Within it a run that is made in this process has no trials of null engines."""

    def of_real_engines(ready: Ready, report: Callable[[Progress], None]) -> Stop | None:
        trials = [trial for trial in ready.trials if trial.engine not in NULLS.values()]
        return runner.run_trials(replace(ready, trials=trials), report)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scripting, "run_trials", of_real_engines)
        yield


@contextmanager
def trials_here(*engines: str) -> Iterator[None]:
    """Within it this process does trials itself: of these engines and null ones, or of all.

    The processes of a trial take two seconds to start, most often far more than its steps.
    """
    supervise, open_files = Supervision.supervise, ondisk._open_files

    def opened_by_others(process: psutil.Process, *more: Any) -> list[File]:
        return [] if process.pid == os.getpid() else open_files(process, *more)  # not pytest's own

    def carry_out(supervision: Supervision, directory: Path, url: str, *more: Any) -> None:
        order = TrialOrder.read(directory)
        engine = order.trial.engine
        if engines and engine not in (*engines, *NULLS.values()):
            supervise(supervision, directory, url, *more)
            return
        work = Path(order.process.work)
        work.mkdir(parents=True)
        try:
            with pytest.MonkeyPatch.context() as inner, (directory / "stderr.txt").open("w") as file:
                inner.setenv(VARIABLE, url)
                inner.setattr(sys, "argv", ["worker", str(directory)])  # as in a process of its own
                inner.setattr(gc, "freeze", lambda: None)  # or this trial's garbage would stay for ever
                inner.setattr(ondisk, "_open_files", opened_by_others)
                with redirect_stderr(file):
                    Worker(directory).run()
        finally:
            shutil.rmtree(work)
        Supervisor(directory)._result("ended", 0, [], {}).write(directory)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Supervision, "supervise", carry_out)
        yield
