"""Runs with less than a user has, for tests of the rest: without the null engine, or with all work in this process.

Such a trial has no supervisor, which keeps limits and clears up, and nobody checks copies of its engine's folder.
"""

import gc
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, redirect_stderr
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import pytest

from dbbench import scripting
from dbbench.analysis.budget import Stop
from dbbench.answers import question
from dbbench.engine import probe, registry
from dbbench.engine.null import NULLS
from dbbench.engine.size import File
from dbbench.engine.urls import VARIABLE
from dbbench.host import apart
from dbbench.host.processes import Packages
from dbbench.results.trial import Progress
from dbbench.runs import choice, data, runner
from dbbench.runs.order import TrialOrder
from dbbench.runs.plan import Ready
from dbbench.runs.supervision import Supervision
from dbbench.runs.supervisor import Supervisor
from dbbench.runs.worker import Worker
from dbbench.workloads import ondisk


@contextmanager
def no_null_engine() -> Iterator[None]:
    """Within it a run that is made in this process has no trials of null engines."""

    def of_real_engines(ready: Ready, report: Callable[[Progress], None]) -> Stop | None:
        return runner.run_trials(without_null_engine(ready), report)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scripting, "run_trials", of_real_engines)
        yield


def without_null_engine(ready: Ready) -> Ready:
    """The run without trials of null engines."""
    return replace(ready, trials=[trial for trial in ready.trials if trial.engine not in NULLS.values()])


@contextmanager
def reference_here() -> Iterator[None]:
    """Within it the reference answers in this process: its own would take longer to start than to answer."""

    def run(call: partial[None]) -> str:
        return call() or "" if call.func.__module__ == question.__name__ else own(call)

    own = apart.run
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(apart, "run", run)
        yield


@contextmanager
def engines_seen_here() -> Iterator[None]:
    """Within it this process looks at a run's engines, but at variants with packages of their own.

    What is to be found out of an engine that can be used takes less time than the start of a process that looks.
    """

    def looked_at(
        names: Sequence[str],
        options: Mapping[str, Mapping[str, object]],
        urls: Mapping[str, str],
        folders: Mapping[str, Packages],
    ) -> dict[str, probe.Probed]:
        known = {*registry.names()}
        found = probe.probe([*folders], options, urls, folders)
        for name in names:
            if name not in folders:
                engine = probe._plugin(name, known, urls)
                found[name] = probe.look(name, engine, options.get(name, {}), url=name in urls)
        return {name: found[name] for name in names}

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(choice, "probe", looked_at)
        yield


@contextmanager
def trials_here(*engines: str) -> Iterator[None]:
    """Within it this process does trials itself: of these engines and null ones, or of all.

    The processes of a trial take two seconds to start, most often far more than its steps. Nor has what reads the files
    of a dataset, or answers for the reference, a process of its own; nor what looks at engines, if this one does all.
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

    with (
        pytest.MonkeyPatch.context() as patch,
        reference_here(),
        nullcontext() if engines else engines_seen_here(),
    ):
        patch.setattr(Supervision, "supervise", carry_out)
        patch.setattr(data, "apart", lambda _what, read: read())
        gc.collect()
        gc.freeze()  # what was imported since tests were collected: each step has garbage collected
        yield
