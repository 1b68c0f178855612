"""`python -m dbbench.runs.round_on_host`: one round of a run, on a host of its fleet.

It gets the run's manifest and suite, draws the same data, and runs the round's trials one after another as dbbench
does. Each finished trial's files go back to where the run directory is; nothing stays here.
"""

import os
import signal
import sys
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

from dbbench.cluster.leased import HostMachine, HostReply, Line, obey
from dbbench.datasets.cache import Files
from dbbench.errors import UserError
from dbbench.host import control_group
from dbbench.host.processes import INTERRUPTED
from dbbench.results.run_directory import Manifest, Run
from dbbench.results.trial import Progress, Trial
from dbbench.runs.data import answers_again, drawn_again
from dbbench.runs.plan import Ready
from dbbench.runs.releases import found_again
from dbbench.runs.runner import run_trials
from dbbench.suite.loader import parse_suite


@dataclass(frozen=True)
class RoundOrder:
    """What a host of a fleet is to do: the manifest as of a run of that host, the suite's text, the trials."""

    manifest: Manifest
    suite: str
    trials: list[Trial]


ROUND_ORDER = TypeAdapter(RoundOrder)


def serve(text: str, line: Line) -> None:
    """Run a round. Raises UserError if its data came out otherwise, or a trial may use more memory than there is."""
    order = ROUND_ORDER.validate_json(text)
    manifest = order.manifest
    _check_memory(manifest.limits)
    with tempfile.TemporaryDirectory(prefix="dbbench-") as folder:
        suite = parse_suite(order.suite, "suite.yaml")
        run = Run.create(Path(folder) / "run", manifest, suite.first_look() if manifest.quick else suite, order.suite)
        here = HostMachine.here(Path(folder))
        datasets = drawn_again(run)
        _check(manifest, datasets)

        def report(event: Progress) -> None:
            if event.result is not None:
                line.say(HostReply(trial=event.trial.id, files=packed(run.directory(event.trial)), machine=here))

        folders = found_again(manifest.variants)
        run_trials(Ready(run, order.trials, datasets, answers_again(run, datasets), folders=folders), report)
    line.say(HostReply(done=True))


def _check(manifest: Manifest, datasets: Mapping[str, Files]) -> None:
    for name, files in datasets.items():
        if files.directory.name != manifest.datasets[name]["key"]:
            raise UserError(f"the data of {name} is different here: the packages that draw it differ")


def _check_memory(limits: Mapping[str, float]) -> None:
    most, here = min(limits["memory"], limits.get("memory_limit", limits["memory"])), control_group.memory()
    if most > here:
        raise UserError(
            f"a trial may use {most / 2**30:.1f} GiB of memory, and this host has {here / 2**30:.1f}: "
            "start a new run with less --trial-memory"
        )


def packed(directory: Path) -> dict[str, bytes]:
    """The files of a trial: name, below the directory -> content. What was being written when a process died stays."""
    files = (path for path in directory.rglob("[!.]*") if path.is_file() and not path.is_symlink())
    return {path.relative_to(directory).as_posix(): path.read_bytes() for path in files}


def _interrupt() -> None:
    """Raise KeyboardInterrupt in the main thread, also where it waits for a lock: only a signal wakes it."""
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)


def main() -> None:
    """One round; it is cancelled and cleared up when it is no longer requested."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # the children of nohup ignore it
    status = 0
    try:
        obey(serve, _interrupt)
    except KeyboardInterrupt:
        status = INTERRUPTED
    sys.stderr.flush()
    os._exit(status)  # the line is still listened to


if __name__ == "__main__":
    main()
