"""A run that is ready to go, and the order of its trials: the same suite, engines, rounds and seed give the same."""

import datetime
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from dbbench.cluster.place import Place
from dbbench.datasets.cache import Files
from dbbench.engine.probe import Probed
from dbbench.host.processes import Packages
from dbbench.results.run_directory import Run
from dbbench.results.trial import Trial
from dbbench.suite.model import Suite
from dbbench.suite.steps.base import Step

#: Rounds by default, if the number of engines doesn't need more.
DEFAULT_ROUNDS = 8


@dataclass(frozen=True)
class Ready:
    """A run with its plan and its data."""

    run: Run
    trials: list[Trial]
    datasets: dict[str, Files]
    #: Scenario -> query -> the file of the rows that it must return, or the folder of those that engines gave.
    answers: dict[str, dict[str, str]]
    #: Engines that nobody asked for by name, and that are unusable, without work here, or run by name only.
    absent: dict[str, Probed] = field(default_factory=dict)
    urls: Mapping[str, str] = field(default_factory=dict, repr=False)
    #: Those of the absent engines that have none of the suite's operations.
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


def copied(steps: Sequence[Step], number: int, rounds: int, created: datetime.datetime) -> tuple[str, ...]:
    """The steps of a round after which an engine's folder is copied and checked.

    In the first round all that write, in another, drawn for the run that was created then, a drawn one of these.
    """
    writing = tuple(step.name for step in steps if step.writes)
    draw = random.Random(str(created))
    later = draw.randint(min(2, rounds), min(rounds, DEFAULT_ROUNDS))
    return writing if number == 1 else tuple(draw.choices(writing)) if writing and number == later else ()


def plan(
    suite: Suite,
    engines: Sequence[str],
    *,
    rounds: int,
    seed: int,
    beside: Mapping[str, str] | None = None,
    digits: int | None = None,
) -> list[Trial]:
    """All trials in order. In each round every scenario visits each engine once, in an order drawn from the seed.

    So a slow drift of the machine hits all engines alike (interleaved rounds, as in asv). `beside`: variant -> its
    engine. The variants of an engine stand next to each other in every round: what disturbs one hits the other too.
    `digits` of the trials' numbers: at least 3, and as many as the last one has, if not given.
    """
    groups: dict[str, list[str]] = {}
    for engine in sorted(engines):
        groups.setdefault((beside or {}).get(engine, engine), []).append(engine)
    order = random.Random(seed)
    trials: list[Trial] = []
    # So that names sort in order.
    width = digits or max(3, len(str(rounds * len(suite.scenarios) * len(engines))))
    for number in range(1, rounds + 1):
        for scenario in suite.scenarios:
            for engine in _shuffled(groups, order):
                identity = f"{len(trials) + 1:0{width}d}-round{number}-{scenario.name}-{engine}"
                trials.append(Trial(identity, scenario.name, engine, number))
    return trials


def _shuffled(groups: Mapping[str, Sequence[str]], order: random.Random) -> Iterator[str]:
    """The groups in a drawn order, each with its members in one."""
    names = sorted(groups)
    order.shuffle(names)
    for name in names:
        members = list(groups[name])
        order.shuffle(members)  # of one it draws nothing
        yield from members
