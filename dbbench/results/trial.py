"""One trial: what was planned, how far it is, and what it measured."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from dbbench.errors import RunError
from dbbench.host import atomic_json
from dbbench.host.metric import BaseUnit, Metric
from dbbench.message import clean
from dbbench.results.facts import Amount, CheckedStepFacts, NoiseFacts, RoundHost, ToldFacts
from dbbench.results.outcome import Outcome
from dbbench.suite.base import EngineName, Slug

#: The name of a trial's folder.
TrialId = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9+@._-]{0,199}$")]
#: The most rounds of a run.
MOST_ROUNDS = 1_000
#: The most remarks of a trial.
_REMARKS = 100


@dataclass(frozen=True)
class Trial:
    """One scenario on one engine in one round. `id` names its directory."""

    id: str
    scenario: str
    engine: str
    round: int

    def result(self, steps: Iterable[StepResult], **more: Any) -> TrialResult:
        """Its result; `more` are other fields of that."""
        names = {"id": self.id, "scenario_name": self.scenario, "engine_name": self.engine, "round": self.round}
        return TrialResult(**names, steps=tuple(steps), **more)


#: What runs until 23 November 2026 say of a step instead of its usage.
_OLD_KEYS = {"cpu_seconds": Metric.CPU, "undelayed_seconds": Metric.UNDELAYED}


def _known(usage: Any) -> Any:
    """The metrics that there are: a later version may have others."""
    return {each: usage[each] for each in Metric if each in usage} if isinstance(usage, Mapping) else usage


class StepResult(BaseModel):
    """One step of one trial. `value` is its figure; samples are in `unit` ("s", "B" or "1/s")."""

    model_config = ConfigDict(defer_build=True, frozen=True)

    name: Slug
    outcome: Outcome
    detail: str = ""
    metric: str = ""
    unit: Literal["", BaseUnit] = ""
    direction: Literal["lower", "higher"] = "lower"
    value: Amount | None = None
    #: Whether its work was checked and found right. Runs older than this field checked whatever they could.
    verified: bool = True
    samples: tuple[Amount, ...] = ()
    warm_up: tuple[Amount, ...] = ()
    facts: CheckedStepFacts = {}
    #: What the worker wrote to storage in the step itself, its check left out; None where the system doesn't tell.
    written_bytes: int | None = None
    #: How often threads waited meanwhile (voluntary context switches); None where the system doesn't tell.
    waits: int | None = None
    #: Commits that changed something and came one after another: those of one client.
    commits: int = 0
    #: What is known to be used for what `value` is of: for a call, for an operation where it is a rate.
    usage: Annotated[Mapping[Metric, Amount], BeforeValidator(_known)] = {}
    elapsed: Amount = 0.0
    #: Why there is no plan of a query.
    no_plan: str = ""
    traceback: str = ""

    @model_validator(mode="before")
    @classmethod
    def _of_an_old_run(cls, given: Any) -> Any:
        if not isinstance(given, dict) or _OLD_KEYS.keys().isdisjoint(given):
            return given
        return {**given, "usage": {name: given[key] for key, name in _OLD_KEYS.items() if given.get(key) is not None}}

    def because(self, outcome: Outcome, detail: str) -> StepResult:
        """The same with another outcome."""
        return self.model_copy(update={"outcome": outcome, "detail": detail})


class TrialRecord(BaseModel):
    """What a worker records of a trial. Memory in bytes, CPU in seconds."""

    model_config = ConfigDict(defer_build=True, frozen=True)

    #: The engine that it opened.
    engine: ToldFacts = {}
    steps: tuple[StepResult, ...] = ()
    peak_memory: int | None = None
    #: Why its engine has no rank: a thread has more of the processors than the worker was given, an option another
    #: value, commits are missing that may be in files elsewhere.
    no_rank: str = ""
    cpu_seconds: Amount | None = None
    written_bytes: int | None = None


class TrialResult(TrialRecord):
    """One finished trial."""

    id: TrialId
    scenario_name: Slug
    engine_name: EngineName
    round: int = Field(ge=1, le=MOST_ROUNDS)
    steps: tuple[StepResult, ...]
    remarks: tuple[str, ...] = Field(default=(), max_length=_REMARKS)
    seconds: Amount = 0.0
    #: Seconds since 1970.
    started: Amount = 0.0
    exit_status: int = 0
    #: What other processes did to the machine meanwhile: see `noise.between`.
    noise: NoiseFacts = {}
    #: The host that the round ran on, where whole rounds ran on several.
    host: RoundHost | None = None

    def write(self, directory: Path) -> None:
        """Leave it in a trial's directory; it is on the disk when this returns. Raises RunError if it can't be."""
        with writing(directory):
            atomic_json.write(directory / "result.json", clean(self.model_dump()), durable=True)

    @property
    def outcomes(self) -> set[Outcome]:
        """Outcomes of its steps."""
        return {step.outcome for step in self.steps}

    def step(self, name: str) -> StepResult | None:
        """The result of a step, if the trial has one."""
        return next((step for step in self.steps if step.name == name), None)


@dataclass(frozen=True)
class Progress:
    """How far a run is. `result` is set when the trial has ended, `seconds_left` when one can tell.

    `at_most`: the run ends earlier if its intervals are narrow by then.
    """

    trial: Trial
    number: int
    total: int
    step: str = ""
    #: A line about how far a long step is, after the step's name and a colon.
    note: str = ""
    result: TrialResult | None = None
    seconds_left: float | None = None
    at_most: bool = False


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Within it an OSError becomes a RunError that says that `path` can't be written."""
    try:
        yield
    except OSError as exc:
        raise RunError(f"{path} can't be written: {fault(exc)}") from exc


def fault(exc: BaseException) -> str:
    """What is wrong with a document, in a line."""
    if isinstance(exc, ValidationError):
        error = exc.errors()[0]
        return f"{'.'.join(map(str, error['loc']))}: {error['msg']}"
    if isinstance(exc, OSError) and exc.strerror:
        return exc.strerror
    return str(exc).splitlines()[0] if str(exc) else type(exc).__name__
