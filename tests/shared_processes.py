"""What runs in this process share: their supervisors, which fork, and what was found out of engines.

Each process takes a second of imports to start.
"""

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from dbbench.engine.probe import Probed
from dbbench.host.processes import Packages
from dbbench.runs import choice, supervision
from dbbench.runs.supervision import Supervision

_FORKING = Path(__file__).with_name("forking_supervisor.py")


@contextmanager
def shared_supervisors() -> Iterator[None]:
    """Within it a run's supervisor is left to the next run with the same plugins and processors. It has no run's lock."""
    idle: dict[object, Any] = {}
    begin, end = Supervision.__init__, Supervision.__exit__

    def given() -> object:
        return os.environ.get("PYTHONPATH"), tuple(os.sched_getaffinity(0))

    def forking(_module: str, *arguments: str) -> list[str]:
        return [sys.executable, "-P", str(_FORKING), *arguments]

    def from_before(self: Supervision, run: Path, lock: Sequence[int]) -> None:
        shared = supervision.python is forking
        begin(self, run, () if shared else lock)
        self._process = idle.pop(given(), None) if shared else None

    def to_the_next(self: Supervision, *why: object) -> None:
        process = self._process
        if process and process.poll() is None and supervision.python is forking and given() not in idle:
            idle[given()] = process
        else:
            end(self, *why)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(supervision, "python", forking)
        patch.setattr(Supervision, "__init__", from_before)
        patch.setattr(Supervision, "__exit__", to_the_next)
        yield
    for process in idle.values():
        last = Supervision(Path(), ())
        last._process = process
        last._end_process()


@contextmanager
def engines_seen_once() -> Iterator[None]:
    """Within it an engine is looked at once for all runs with the same environment, options and URL."""
    known: dict[object, Probed] = {}
    look = choice.probe

    def remembered(
        names: Sequence[str],
        options: Mapping[str, Mapping[str, object]],
        urls: Mapping[str, str],
        folders: Mapping[str, Packages],
    ) -> dict[str, Probed]:
        where = frozenset(item for item in os.environ.items() if item[0] != "PYTEST_CURRENT_TEST")

        def asked(name: str) -> object:
            given = options.get(name, {})
            folder = os.getcwd() if given else ""  # that a path among them is meant from
            return name, where, urls.get(name), folders.get(name), json.dumps(given, default=str), folder

        if new := [name for name in names if asked(name) not in known]:
            known.update((asked(name), found) for name, found in look(new, options, urls, folders).items())
        return {name: known[asked(name)] for name in names}

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(choice, "probe", remembered)
        yield
