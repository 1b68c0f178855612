"""Runs the trials of a plan, one after another, each under a supervisor."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import mean

from dbbench.analysis.budget import Stop, reached
from dbbench.cluster.place import Place
from dbbench.datasets.cache import Files
from dbbench.engine.urls import VARIABLE
from dbbench.errors import RunError
from dbbench.host import control_group
from dbbench.host.kept_folder import cache_folder
from dbbench.host.processes import ended, environment, python, stop, stop_with_its_own
from dbbench.message import cleaned
from dbbench.results.outcome import DID_NOTHING, Outcome
from dbbench.results.trial import Progress, StepResult, Trial, TrialResult
from dbbench.run.order import TrialOrder
from dbbench.run.plan import Ready
from dbbench.run.record import RunningStep
from dbbench.run.seal import Seal
from dbbench.run.shares import kept
from dbbench.run.supervisor import INTERRUPTED, Supervisor
from dbbench.run.worker_process import WorkerProcess

_POLL_SECONDS = 0.1
#: How long a supervisor has to end; and where it may have tables to remove at a URL.
_GRACE_SECONDS, _GRACE_AT_URL_SECONDS = 20, 60
#: A supervisor that was silent for so long stands still; one that goes on so long after its trial's limit hangs.
_SILENT_SECONDS, _LATE_SECONDS = 60, 600
#: A trial that ended like this would do so again, after as long or with as much harm: no second one.
_NOT_REPEATED = (Outcome.TIMEOUT, Outcome.OUT_OF_MEMORY, Outcome.DISK_FULL, Outcome.UNAVAILABLE)


def run_trials(ready: Ready, report: Callable[[Progress], None] = lambda _event: None) -> Stop | None:
    """Run trials without a result, as many rounds as precision and time limit ask for: why it ended early, if so.

    `report` is called as each trial goes on. Raises RunError if the run directory can't be written any more, or if its
    data is gone. On KeyboardInterrupt the trial at work is ended and cleared up before it goes on up.
    """
    run, trials, datasets, answers = ready.run, ready.trials, ready.datasets, ready.answers
    limit = run.manifest.time_limit
    with run.locked() as lock:
        done = run.done(trials)
        seal = Seal(run)
        for number, trial in enumerate(trials, 1):
            if trial.id in done:
                continue
            begins = trial.round > 1 and trials[number - 2].round < trial.round
            if begins and (stop := reached(run.suite, run.manifest, list(done.values()), trial.round - 1)):
                return stop
            left = seconds_left(trials, done, limit)
            at = Progress(trial, number, len(trials), seconds_left=left, at_most=run.manifest.precision is not None)
            report(at)
            directory = run.begin(trial)
            order = order_of(ready, trial, directory)
            order.write(directory)
            if (before := not_repeated(trials, trial, done)) is not None:
                before.write(directory)
            else:
                try:
                    carry_out(
                        ready, order, directory, lock,
                        lambda step, note: report(replace(at, step=step, note=note)),  # noqa: B023 - called at once
                    )  # fmt: skip
                except BaseException:
                    run.discard(trial)
                    seal.restore(trial.id)
                    raise
            changed = seal.restore(trial.id)
            done[trial.id] = run.settled(trial)
            if changed:
                done[trial.id] = run.remarked(trial, _accused(changed))
            seal.keep(trial.id)
            if done[trial.id].outcomes != {Outcome.OK} and not _data_there(datasets.values(), answers[trial.scenario]):
                run.discard(trial)
                raise RunError(
                    f"the data of this run was removed from {cache_folder()} while it ran; "
                    "the finished trials are kept, continue with --resume"
                )
            report(replace(at, result=done[trial.id], seconds_left=seconds_left(trials, done, limit)))
    return None


def _accused(changed: Sequence[str]) -> str:
    """A remark in a trial's result on files of the run that changed while it ran."""
    more = f" and {len(changed) - 3} more" if len(changed) > 3 else ""
    return f"while it ran, other files of the run were changed, now restored: {', '.join(changed[:3])}{more}"


def _data_there(datasets: Iterable[Files], answers: Mapping[str, str]) -> bool:
    return all(files.there for files in datasets) and all(map(os.path.exists, answers.values()))


def order_of(ready: Ready, trial: Trial, directory: Path) -> TrialOrder:
    """What a trial is to do, in a directory of its own."""
    run, manifest, packages = ready.run, ready.run.manifest, ready.folders.get(trial.engine)
    scenario = run.suite.scenario(trial.scenario)
    variant = manifest.variants.get(trial.engine)
    return TrialOrder(
        trial=trial,
        plugin=manifest.plugin(trial.engine),
        rounds=manifest.rounds,
        steps=tuple(step.name for step in scenario.steps),
        scenario=scenario,
        dataset=run.suite.datasets[scenario.dataset],
        files=ready.datasets[scenario.dataset].directory.resolve(),
        answers={name: Path(file) for name, file in ready.answers[trial.scenario].items()},
        run=run.path.resolve(),
        options=manifest.options.get(trial.engine, {}),
        shares=kept(run),
        place=Place(manifest.cluster, manifest.spread_over) if manifest.spread_over else None,
        process=WorkerProcess(
            work=str((directory / "work").resolve()),
            seconds=manifest.limits["seconds"],
            memory=manifest.limits["memory"],
            memory_limit=manifest.memory_limit,
            packages=str(packages.folder) if packages else "",
            python=packages.python if packages else "",
            env=variant.env if variant else {},
        ),
    )


def carry_out(
    ready: Ready, order: TrialOrder, directory: Path, lock: Sequence[int], report_step: Callable[[str, str], None]
) -> None:
    """Have a trial done, within the memory that the run allows. Raises RunError if it left no result."""
    with control_group.limited(ready.run.manifest.memory_limit) as group:
        (order.limited(str(group.folder)) if group else order).write(directory)
        url = ready.urls.get(order.trial.engine, "")
        _supervise(directory, url, lock, order.process.seconds, report_step)


def _supervise(
    directory: Path, url: str, lock: Sequence[int], seconds: float, report_step: Callable[[str, str], None]
) -> None:
    """One trial from its start to its end, which its supervisor sees to within `seconds`. Nobody else can read the URL.

    Nor can what the trial writes be read, until the supervisor has cleared it. Should we be killed, it has the lock.
    """
    directory.chmod(0o700)
    supervisor = subprocess.Popen(
        python("dbbench.run.supervisor", str(directory.resolve())),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,  # its heartbeat
        stderr=subprocess.PIPE,
        start_new_session=True,
        env=environment(**{VARIABLE: url}),
        pass_fds=lock,
    )
    try:
        shown, reported, silent, read = "", 0, 0, (0, 0)
        latest = time.monotonic() + seconds + _LATE_SECONDS
        while not ended(supervisor, _POLL_SECONDS):
            silent = (
                0 if _heard(supervisor) else silent + 1
            )  # looks, not seconds: dbbench may have been stopped as well
            if silent * _POLL_SECONDS > _SILENT_SECONDS or time.monotonic() > latest:
                _end(supervisor, directory, url)
            if (version := _version(directory / "steps.json")) == read:
                continue  # reading it takes the processor from the step that is timed
            read = version
            at = RunningStep.so_far(directory)
            step, notes = at.running or "", at.notes
            if step != shown or len(notes) > reported:
                for note in notes[reported:] or [""]:
                    report_step(step, note)
                shown, reported = step, max(reported, len(notes))
    except BaseException:
        while supervisor.poll() is None:
            with contextlib.suppress(KeyboardInterrupt):  # a second one: tables at a URL take their time to remove
                stop(supervisor, _GRACE_AT_URL_SECONDS if url else _GRACE_SECONDS)
        _show(directory, _said(supervisor))
        raise
    said = _said(supervisor)
    if supervisor.returncode == INTERRUPTED:
        _show(directory, said)
        raise KeyboardInterrupt
    if not (directory / "result.json").is_file():
        reason = (said.splitlines() or [f"status {supervisor.returncode}"])[-1]
        raise RunError(
            f"the trial {directory.name} left no result: {reason}; the finished trials are kept, continue with --resume"
        )


def _said(supervisor: subprocess.Popen[bytes]) -> str:
    """What a supervisor that has ended said on standard error."""
    _, error = supervisor.communicate()
    return error.decode(errors="replace").strip()


def _show(directory: Path, said: str) -> None:
    """Show what a supervisor said of a trial that leaves no result to hold it."""
    if said:
        with contextlib.suppress(OSError):  # the terminal is gone
            print(f"{directory.name}: {cleaned(said)}", file=sys.stderr)


def _heard(supervisor: subprocess.Popen[bytes]) -> bool:
    """Whether a supervisor has told since the last look that it runs."""
    assert supervisor.stdout is not None
    os.set_blocking(supervisor.stdout.fileno(), False)
    return bool(supervisor.stdout.read())


def _end(supervisor: subprocess.Popen[bytes], directory: Path, url: str) -> None:
    """End a trial whose supervisor stands still or hangs. If it can't be woken, it is killed with all it started."""
    supervisor.send_signal(signal.SIGUSR1)
    supervisor.send_signal(signal.SIGCONT)
    if not ended(supervisor, _GRACE_SECONDS):
        stop_with_its_own(supervisor, grace=1)
    if not (directory / "result.json").is_file():
        Supervisor(directory).give_up(url)


def _version(path: Path) -> tuple[int, int]:
    """What differs whenever a file was written anew; zeros if there is none."""
    try:
        status = path.lstat()
    except OSError:
        return 0, 0
    return status.st_ino, status.st_mtime_ns


def not_repeated(trials: Sequence[Trial], trial: Trial, done: Mapping[str, TrialResult]) -> TrialResult | None:
    """The result of a trial that isn't run: one before it ended in a way that would come again, or did nothing."""
    for earlier in trials:
        if earlier.id not in done or (earlier.engine, earlier.scenario) != (trial.engine, trial.scenario):
            continue
        result = done[earlier.id]
        bad = next((step for step in result.steps if step.outcome in _NOT_REPEATED), None)
        if bad is not None:
            why = f"not repeated: {bad.outcome} in round {earlier.round}"
            again = [
                StepResult(
                    name=step.name, outcome=step.outcome, detail=why if step.outcome in _NOT_REPEATED else step.detail
                )
                for step in result.steps
                if step.outcome is not Outcome.OK
            ]
            return trial.result(again, engine=result.engine)
        if result.steps and all(step.outcome in DID_NOTHING for step in result.steps):
            return trial.result(result.steps, engine=result.engine)
    return None


def seconds_left(trials: Sequence[Trial], done: Mapping[str, TrialResult], limit: float | None) -> float | None:
    """Estimate by how long each engine took so far; one that hasn't run counts as an average one.

    Within a time limit no round counts that would not fit: see `budget`.
    """
    took: dict[str, list[float]] = {}
    for result in done.values():
        took.setdefault(result.engine_name, []).append(result.seconds)
    engines = {trial.engine for trial in trials}
    if len(took) < min(3, len(engines)):
        return None  # the first one may be anything but typical
    average = mean(mean(times) for times in took.values())
    expected = {engine: mean(took.get(engine, [average])) for engine in engines}
    last = trials[-1].round
    if limit is not None:
        round_seconds = sum(expected[trial.engine] for trial in trials if trial.round == 1)
        begun = max(result.round for result in done.values())
        last = max(begun, int(limit / round_seconds) if round_seconds else last)
    return sum(expected[trial.engine] for trial in trials if trial.id not in done and trial.round <= last)
