"""A run that is ready to go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dbbench.cluster.place import Place
from dbbench.datasets.cache import Files
from dbbench.engine.probe import Probed
from dbbench.host.processes import Packages
from dbbench.results.run_directory import Run
from dbbench.results.trial import Trial
from dbbench.run.plan import plan


@dataclass(frozen=True)
class Ready:
    """A run with its plan and its data."""

    run: Run
    trials: list[Trial]
    datasets: dict[str, Files]
    #: Scenario -> query -> the file of the rows that it must return, or the folder of those that engines gave.
    answers: dict[str, dict[str, str]]
    #: Engines that nobody asked for by name and that can't be run here: name -> what is known.
    absent: dict[str, Probed] = field(default_factory=dict)
    urls: Mapping[str, str] = field(default_factory=dict, repr=False)
    #: Those of them that have none of the suite's operations.
    idle: Sequence[str] = ()
    #: Variant -> the folder with another release of its package, and the Python that it runs in.
    folders: Mapping[str, Packages] = field(default_factory=dict)
    #: The hosts that whole rounds run on.
    fleet: Place | None = None


def trials_of(run: Run) -> list[Trial]:
    """The trials of a run, those that are done among them."""
    beside = {name: variant.engine for name, variant in run.manifest.variants.items()}
    return plan(
        run.suite,
        run.manifest.usable,
        rounds=run.manifest.rounds,
        seed=run.manifest.seed,
        beside=beside,
        digits=run.digits(),  # those of the rounds it was begun with
    )
