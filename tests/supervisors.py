"""Supervisors that runs in this process share: each takes a second of imports to start."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from dbbench.host import processes
from dbbench.run import supervision
from dbbench.run.supervision import Supervision


@contextmanager
def shared_supervisors() -> Iterator[None]:
    """Within it a run's supervisor is left to the next run with the same plugins and processors. It has no run's lock."""
    idle: dict[object, Any] = {}
    begin, end = Supervision.__init__, Supervision.__exit__

    def given() -> object:
        return os.environ.get("PYTHONPATH"), tuple(os.sched_getaffinity(0))

    def from_before(self: Supervision, run: Path, lock: Sequence[int]) -> None:
        real = supervision.python is processes.python
        begin(self, run, () if real else lock)
        self._process = idle.pop(given(), None) if real else None

    def to_the_next(self: Supervision, *why: object) -> None:
        process = self._process
        if process and process.poll() is None and supervision.python is processes.python and given() not in idle:
            idle[given()] = process
        else:
            end(self, *why)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Supervision, "__init__", from_before)
        patch.setattr(Supervision, "__exit__", to_the_next)
        yield
    for process in idle.values():
        last = Supervision(Path(), ())
        last._process = process
        last._end_process()
