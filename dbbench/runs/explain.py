"""One more trial of some engines of a run, which never counts: it watches a step, and keeps plans and profiles."""

import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median

from dbbench.errors import RunError, UserError
from dbbench.host import atomic_json, plain_file
from dbbench.host.metric import Metric
from dbbench.message import did_you_mean
from dbbench.results import trial_files
from dbbench.results.run_directory import Run
from dbbench.results.trial import StepResult, Trial, TrialResult
from dbbench.results.trial_files import PROFILE, Explained, Watch, Watched
from dbbench.runs.choice import check_steps
from dbbench.runs.plan import Ready
from dbbench.runs.resume import changed
from dbbench.runs.runner import carry_out, order_of
from dbbench.runs.seal import Seal
from dbbench.runs.supervision import Supervision
from dbbench.suite.model import Scenario
from dbbench.suite.steps import AnyStep
from dbbench.suite.steps.query import QueryStep

#: A trial is slower where stacks are looked at.
_SLOWER = 5
#: The most calls of a query, and the least seconds of one: about as much goes by beside the clock.
_MOST_CALLS, _ASIDE = 20_000, 0.25e-3
#: What brings py-spy.
PY_SPY = "pip install 'dbbench[profile]'"


def explain(
    ready: Ready, step: str, engines: Sequence[str], seconds: float, report: Callable[[str], None]
) -> tuple[Path, list[Explained]]:
    """Have the trials done in a new folder of the run, which is returned too.

    Raises UserError for a step or an engine that the run doesn't have, and if this isn't the machine of the run.
    """
    run = ready.run
    scenario, chosen = _step(run, step)
    names = _engines(run, engines)
    for what, then, now in changed(run):
        if what in run.manifest.engines and what not in names:
            continue
        raise UserError(f"{run.path} can't be explained here: {what} was {then} then, and is {now} now")
    watch = Watch(step=chosen.name, seconds=seconds, py_spy=_program("py-spy"), perf=_program("perf"))
    before = scenario.steps[: scenario.steps.index(chosen)]
    with run.locked() as lock, Supervision(run.path, lock) as supervision:
        folder = _folder(run, chosen.name)
        found = []
        for name in names:
            report(f"{name}: {chosen.name}, watched")
            trial = Trial(f"explain-{name}", scenario.name, name, 2)
            steps = (*before, _longer(chosen, run, trial, seconds))
            part = scenario.model_copy(update={"steps": steps})
            found.append(_one(ready, trial, part, watch, folder, supervision))
    return folder, found


def _one(
    ready: Ready, trial: Trial, scenario: Scenario, watch: Watch, folder: Path, supervision: Supervision
) -> Explained:
    """One trial up to the step."""
    directory, seal = plain_file.folder(folder, trial.engine), Seal(ready.run)
    order = order_of(ready, trial, directory)
    limit = order.process.seconds * _SLOWER + 2 * watch.seconds
    order = order.model_copy(
        update={
            "scenario": scenario,
            "steps": tuple(step.name for step in scenario.steps),
            "watch": watch,
            "process": replace(order.process, seconds=limit),
        }
    )
    try:
        carry_out(ready, order, directory, supervision, lambda _step, _note: None)
    finally:
        undone = seal.restore(trial.id)
    try:
        result = TrialResult.model_validate(atomic_json.read_clean(directory / "result.json")).step(watch.step)
        watched = Watched.read(directory)
        text = plain_file.read(directory / PROFILE).decode("utf-8", "replace") if (directory / PROFILE).exists() else ""
        plan = trial_files.kept_plan(directory, watch.step)
    except (OSError, ValueError) as exc:
        raise RunError(f"what the trial in {directory} left can't be read: {exc}") from exc
    assert result
    restored = [f"other files of the run were changed, now restored: {', '.join(undone)}"] if undone else []
    missing = [] if watch.py_spy else [f"no profile: py-spy is missing; {PY_SPY}"]
    watched = watched.model_copy(update={"notes": (*restored, *missing, *watched.notes)})
    cost = _cost(ready.run, watch.step, trial) or _seconds(result)
    return Explained(trial.engine, scenario.steps[-1], result, watched, text, plan, cost)


def _longer(step: AnyStep, run: Run, trial: Trial, seconds: float) -> AnyStep:
    """A query with as many calls as fill the time by the run's figures, so that its clock is most of what is seen."""
    known = [found.value for found in _known(run, step.name, trial) if found.value]
    if not isinstance(step, QueryStep) or step.controlled or step.cold or not known:
        return step
    calls = min(_MOST_CALLS, int(seconds / max(median(known), _ASIDE)))
    return step.model_copy(update={"iterations": max(step.iterations, calls)})


def _cost(run: Run, step: str, trial: Trial) -> float | None:
    found = [_seconds(each) for each in _known(run, step, trial) if each.value]
    return median(found) if found else None


def _seconds(result: StepResult) -> float:
    """CPU seconds of a call or an operation, or how long it took."""
    value = result.value or 0.0
    return result.usage.get(Metric.CPU) or (1 / value if result.unit == "1/s" and value else value)


def _known(run: Run, step: str, trial: Trial) -> list[StepResult]:
    """What the run's rounds have of a step, of the trial's engine and scenario."""
    mine = trial.engine, trial.scenario
    known = (each.step(step) for each in run.results() if (each.engine_name, each.scenario_name) == mine)
    return [found for found in known if found]


def _step(run: Run, name: str) -> tuple[Scenario, AnyStep]:
    """The step of that name, STEP or SCENARIO/STEP. Raises UserError."""
    check_steps(run.suite, [name], "--step")
    found = [
        (scenario, step)
        for scenario in run.suite.scenarios
        for step in scenario.steps
        if name in (step.name, f"{scenario.name}/{step.name}")
    ]
    if len(found) > 1:
        raise UserError(
            f"--step {name} is in several scenarios: name {' or '.join(f'{one.name}/{name}' for one, _ in found)}"
        )
    if found[0][1].kind in ("size", "total"):
        raise UserError(f"--step {name} is a {found[0][1].kind}, which calls nothing: name another step")
    return found[0]


def _engines(run: Run, names: Sequence[str]) -> Sequence[str]:
    """The engines to run: those that are named, or the only one or two of the run. Raises UserError."""
    known = [name for name in run.manifest.usable if run.manifest.ranked(name)]
    for name in names:
        if name not in known:
            raise UserError(f"--engine names {name}, which {run.path} has no figures of{did_you_mean(name, known)}")
    if len(names) > 2 or len({*names}) < len(names):
        raise UserError("--engine: one, or two to compare")
    repeated = {name for name, variant in run.manifest.variants.items() if variant.repeats}
    mine = [name for name in known if name not in repeated]
    if not names and len(mine) > 2:
        raise UserError(f"name one engine with --engine, or two to compare: {', '.join(mine)}")
    return names or mine


def _program(name: str) -> str:
    """The path of a program: beside our Python or on the PATH; empty if it is missing."""
    return shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name) or ""


def _folder(run: Run, step: str) -> Path:
    """A new folder of the run, named after the step. Raises UserError if there can't be one."""
    try:
        above = plain_file.folder(run.path, "explain")
        number = 1
        while (folder := above / (step if number == 1 else f"{step}-{number}")).exists():
            number += 1
        folder.mkdir()
    except OSError as exc:
        raise UserError(f"{run.path} can't be written: {exc.strerror or exc}") from exc
    return folder
