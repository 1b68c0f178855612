"""Runs the trials of a plan, one after another, each under a supervisor."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import mean

from dbbench.analysis.budget import Stop, reached
from dbbench.cluster.place import Place
from dbbench.datasets.cache import Files
from dbbench.errors import RunError
from dbbench.host import control_group
from dbbench.host.kept_folder import cache_folder
from dbbench.results.outcome import DID_NOTHING, Outcome
from dbbench.results.trial import Progress, StepResult, Trial, TrialResult
from dbbench.runs.order import TrialOrder, WorkerProcess
from dbbench.runs.plan import Ready, copied
from dbbench.runs.seal import Seal
from dbbench.runs.shares import kept
from dbbench.runs.supervision import Supervision

#: A trial that ended like this would do so again, after as long or with as much harm: no second one.
_NOT_REPEATED = (Outcome.TIMEOUT, Outcome.OUT_OF_MEMORY, Outcome.DISK_FULL, Outcome.UNAVAILABLE)


def run_trials(ready: Ready, report: Callable[[Progress], None] = lambda _event: None) -> Stop | None:
    """Run trials without a result, as many rounds as precision and time limit ask for: why it ended early, if so.

    `report` is called as each trial goes on. Raises RunError if the run directory can't be written any more, or if its
    data is gone. On KeyboardInterrupt the trial at work is ended and cleared up before it goes on up.
    """
    run, trials, datasets, answers = ready.run, ready.trials, ready.datasets, ready.answers
    limit = run.manifest.time_limit
    with run.locked() as lock, Supervision(run.path, lock) as supervision:
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
                        ready, order, directory, supervision,
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
    return all(files.complete for files in datasets) and all(map(os.path.exists, answers.values()))


def order_of(ready: Ready, trial: Trial, directory: Path) -> TrialOrder:
    """What a trial is to do, in a directory of its own."""
    run, manifest, packages = ready.run, ready.run.manifest, ready.folders.get(trial.engine)
    scenario = run.suite.scenario(trial.scenario)
    variant = manifest.variants.get(trial.engine)
    return TrialOrder(
        trial=trial,
        plugin=manifest.plugin(trial.engine),
        rounds=manifest.rounds,
        copied=copied(scenario.steps, trial.round, manifest.rounds, manifest.created),
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
    ready: Ready,
    order: TrialOrder,
    directory: Path,
    supervision: Supervision,
    report_step: Callable[[str, str], None],
) -> None:
    """Have a trial done, within the memory that the run allows. Raises RunError if it left no result."""
    with control_group.limited(ready.run.manifest.memory_limit) as group:
        (order.limited(str(group.folder)) if group else order).write(directory)
        url = ready.urls.get(order.trial.engine, "")
        supervision.supervise(directory, url, order.process.seconds, report_step)


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
