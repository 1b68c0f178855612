"""What a worker is to do (`trial.json`)."""

from dataclasses import replace
from pathlib import Path
from typing import Self

from dbbench.cluster.place import Place
from dbbench.engine.options import Shares
from dbbench.host import atomic_json
from dbbench.results.trial import writing
from dbbench.results.trial_files import Watch
from dbbench.run.record import Planned
from dbbench.run.worker_process import WorkerProcess
from dbbench.suite.dataset import Dataset
from dbbench.suite.model import Scenario


class TrialOrder(Planned):
    """What a trial is to do."""

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
    #: The hosts that the clients are on, if they are on several.
    place: Place | None = None
    #: What `explain` wants to know of a step.
    watch: Watch | None = None

    def limited(self, group: str) -> Self:
        """The same order, for a worker in a control group."""
        return self.model_copy(update={"process": replace(self.process, group=group)})

    def write(self, directory: Path) -> None:
        """Write it to a trial's directory. Raises RunError if it can't be."""
        with writing(directory):
            atomic_json.write(directory / "trial.json", self.model_dump(mode="json"))
