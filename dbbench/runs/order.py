"""What a worker is to do (`trial.json`)."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict

from dbbench.cluster.place import Place
from dbbench.engine.options import Shares
from dbbench.host import atomic_json
from dbbench.results.trial import Trial, writing
from dbbench.results.trial_files import Watch
from dbbench.suite.dataset import Dataset
from dbbench.suite.model import Scenario


@dataclass(frozen=True)
class WorkerProcess:
    """How a worker is started and limited. Memory in bytes. Empty: there is no such folder, group, or other Python."""

    #: The folder that the trial may write to, removed at its end.
    work: str
    seconds: float
    memory: float
    #: Set by --memory-limit: the system itself keeps the worker and its servers within it.
    memory_limit: int | None = None
    #: The folder of the control group that does so.
    group: str = ""
    #: A folder of packages that override ours, and the Python to run instead of ours.
    packages: str = ""
    python: str = ""
    #: Environment variables that a variant sets.
    env: Mapping[str, str] = field(default_factory=dict)


class TrialOrder(BaseModel):
    """What a trial is to do."""

    model_config = ConfigDict(defer_build=True, frozen=True)

    trial: Trial
    #: Names of its steps.
    steps: tuple[str, ...]
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
    options: dict[str, object]
    process: WorkerProcess
    shares: Shares = Shares()
    #: The steps among them after which the engine's folder is copied and checked.
    copied: tuple[str, ...] = ()
    #: The hosts that the clients are on, if they are on several.
    place: Place | None = None
    #: What `explain` wants to know of a step.
    watch: Watch | None = None

    @classmethod
    def read(cls, directory: Path) -> Self:
        """Read it from a trial's directory."""
        return cls.model_validate(atomic_json.read(directory / "trial.json"))

    def limited(self, group: str) -> Self:
        """The same order, for a worker in a control group."""
        return self.model_copy(update={"process": replace(self.process, group=group)})

    def write(self, directory: Path) -> None:
        """Write it to a trial's directory. Raises RunError if it can't be."""
        with writing(directory):
            atomic_json.write(directory / "trial.json", self.model_dump(mode="json"))
