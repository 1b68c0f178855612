"""What passes between the processes of a trial: its order (`trial.json`) and the worker's record (`steps.json`); the order of a round."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, TypeAdapter

from dbbench.cluster.place import Place
from dbbench.host import atomic_json
from dbbench.results.run_directory import Manifest
from dbbench.results.trial import StepResult, Trial, TrialRecord
from dbbench.run.worker_process import WorkerProcess
from dbbench.suite.dataset import Dataset
from dbbench.suite.model import Scenario


class TrialOrder(BaseModel):
    """What a trial is to do."""

    model_config = ConfigDict(frozen=True)

    trial: Trial
    #: The plugin that runs under the engine's name.
    plugin: str
    rounds: int
    scenario: Scenario
    dataset: Dataset
    #: The folder of the dataset's files.
    files: Path
    #: Step -> the file of its answer.
    answers: dict[str, Path]
    run: Path
    options: dict[str, Any]
    process: WorkerProcess
    #: The hosts that the clients are on, if they are on several.
    place: Place | None = None

    @classmethod
    def read(cls, directory: Path) -> Self:
        """Read the order in a trial's directory."""
        return cls.model_validate(atomic_json.read(directory / "trial.json"))

    def limited(self, group: str) -> Self:
        """The same order, for a worker in a control group."""
        return self.model_copy(update={"process": replace(self.process, group=group)})

    def write(self, directory: Path) -> None:
        """Write it to a trial's directory."""
        atomic_json.write(directory / "trial.json", self.model_dump(mode="json"))


@dataclass(frozen=True)
class RoundOrder:
    """What a host of a fleet is to do: the manifest as of a run of that host, the suite's text, the trials."""

    manifest: Manifest
    suite: str
    trials: list[Trial]


ROUND_ORDER = TypeAdapter(RoundOrder)


class RunningStep(BaseModel):
    """How far a worker is: the step that runs, and the notes of all steps so far."""

    running: str | None = None
    notes: list[str] = []

    @classmethod
    def read(cls, directory: Path) -> Self:
        """Read it from a trial's directory. Raises OSError, or ValueError for what no worker wrote."""
        return cls.model_validate(atomic_json.read(directory / "steps.json"))


class WorkerRecord(TrialRecord, RunningStep):
    """The worker's record, written before and after each step."""

    model_config = ConfigDict(frozen=False)

    #: Whether the engine made tables at a URL, which a killed worker leaves there.
    made: bool = False

    @property
    def by_name(self) -> dict[str, StepResult]:
        """The results so far, by the steps' names."""
        return {step.name: step for step in self.steps}

    def start_step(self, name: str) -> None:
        """Note that a step, or something after it, is running."""
        self.running = name

    def finish_step(self, result: StepResult) -> None:
        """Take a step's result, in place of an earlier one of the step."""
        self.steps = tuple((self.by_name | {result.name: result}).values())  # in its place, if it has one
        self.running = None
