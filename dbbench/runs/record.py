"""How far a trial is: the worker's record (`steps.json`)."""

from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict

from dbbench.host import atomic_json
from dbbench.results.trial import StepResult, TrialRecord


class RunningStep(BaseModel):
    """How far a worker is: the step that runs, the notes of all steps so far, and what it has made at a URL."""

    model_config = ConfigDict(defer_build=True)

    running: str | None = None
    notes: list[str] = []
    #: Whether there are tables at a URL that it has made and not removed.
    made: bool = False

    @classmethod
    def read(cls, directory: Path) -> Self:
        """Read it from a trial's directory. Raises OSError, or ValueError for what no worker wrote."""
        return cls.model_validate(atomic_json.read(directory / "steps.json"))

    @classmethod
    def so_far(cls, directory: Path) -> Self:
        """The same; that of a worker which has done nothing where it can't be read: a plugin may have written it."""
        try:
            return cls.read(directory)
        except (OSError, ValueError):
            return cls()


class WorkerRecord(TrialRecord, RunningStep):
    """The worker's record, written before and after each step."""

    model_config = ConfigDict(frozen=False)

    #: Whether the worker came to its end; a driver may end the process with status 0.
    ended: bool = False

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
