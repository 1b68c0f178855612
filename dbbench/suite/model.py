"""The contents of a suite file, as frozen models. `loader` makes them from YAML text."""

from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator

from dbbench.suite.base import EngineName, Identifier, Model, Slug, Title
from dbbench.suite.charts import AnyChart, Bars, Overview, Sweep, Timeline
from dbbench.suite.dataset import Dataset
from dbbench.suite.steps import AnyStep
from dbbench.suite.steps.base import Note, Step
from dbbench.suite.steps.delete import DeleteStep
from dbbench.suite.steps.load import LoadStep
from dbbench.suite.steps.timed import SearchingStep
from dbbench.suite.variables import Value, Variable

#: The version of the suite format that this dbbench reads.
FORMAT = 1

VariantName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9+._-]{0,63}@[a-z0-9][a-z0-9._-]{0,47}$")]
#: More steps than any suite has, and more than could be shown.
_STEPS = 500


#: The charts of a scenario that names none. To construct a model without validation is to build no validator on import.
CHARTS = (
    Overview.model_construct(kind="overview"),
    Bars.model_construct(kind="bars"),
    Sweep.model_construct(kind="sweep"),
    Timeline.model_construct(kind="timeline"),
)


class Tier(StrEnum):
    """What a commit survives: each more than the one before it."""

    MEMORY = "memory"
    PROCESS = "process"
    POWER = "power"


class WorstOfLast(Model):
    """The method of a benchmark that is reproduced: of `runs` rounds, the worst trial mean of the last `last`."""

    runs: int = Field(ge=2, description="Rounds in all.")
    last: int = Field(ge=1, description="How many of the last ones the worst is taken of.")

    @model_validator(mode="after")
    def _some_of_them(self) -> Self:
        if self.last > self.runs:
            raise ValueError(f"last to be at most runs, which is {self.runs}")
        return self

    def __str__(self) -> str:
        return f"worst of the last {self.last} of {self.runs} rounds"


class Scenario(Model):
    """A dataset, an ordered list of steps, and the charts to draw of them."""

    name: Slug = Field(description="Its name in files.")
    title: Title = Field(description="Its name in reports.")
    dataset: Identifier = Field(description="One of the file's datasets.")
    durability: Tier = Field(
        default=Tier.POWER,
        description="What a commit must survive; an engine that can only promise less is unsupported.",
    )
    worst_of_last: WorstOfLast | None = Field(
        default=None, description="Show, beside the median, the worst of the last rounds."
    )
    yardstick: str | None = Field(
        default=None,
        description="An engine, like `rawfile+direct`: figures on records are also shown as multiples of its.",
    )
    steps: tuple[AnyStep, ...] = Field(
        min_length=1,
        max_length=_STEPS,
        description="In their order; those on tables, vectors or texts start with a `load`.",
    )
    charts: tuple[AnyChart, ...] = Field(
        default=CHARTS,
        max_length=_STEPS,
        description="What to draw; `overview`, `bars`, `sweep` and `timeline`, if not set.",
    )

    @field_validator("steps", mode="after")
    @classmethod
    def _sweeps(cls, steps: tuple[Step, ...]) -> tuple[Step, ...]:
        expanded = tuple(each for step in steps for each in step.expanded())
        names = [step.name for step in expanded]
        if taken := [step.name for step in expanded if step not in steps and names.count(step.name) > 1]:
            raise ValueError(f"other names: the sweep makes a step {taken[0]}, which already exists")
        missing = False
        for step in expanded:
            missing |= isinstance(step, DeleteStep) or (isinstance(step, LoadStep) and step.share < 1)
            if isinstance(step, SearchingStep) and step.adding:
                if not missing:
                    raise ValueError(f"something to add in {step.name}: a load with a share, or a delete, before it")
                missing = False
        return expanded

    @property
    def reference(self) -> str | None:
        """The engine that the others are compared with, by its key in the suite format."""
        return self.yardstick


class Published(Model):
    """A published figure of a step: in seconds, in bytes, or in operations a second.

    Those of a step stand in the published order; `note` says why one is missing, or what is to be known of it.
    """

    step: Slug = Field(description="The step that it is of.")
    engine: Title = Field(description="By the source's name.")
    value: Annotated[float, Field(ge=0)] | None = Field(description="In the step's unit; null if none was published.")
    note: Note = Field(default="", description="Why a figure is missing, or a remark.")


class PublishedRatio(Model):
    """A published ratio of a step without figures: one engine's speed as a multiple of another's."""

    step: Slug = Field(description="The step that it is of.")
    engine: str = Field(description="By the source's name.")
    than: str = Field(description="What it was compared with: another engine, or the same under other conditions.")
    value: Annotated[float, Field(gt=0)] | None = Field(
        description='3 for "3:1"; null where the text only says which is better.'
    )
    note: Note = Field(default="", description="A remark.")
    of: tuple[EngineName, ...] = Field(
        default=(), description="Beside it stands the run's ratio of the worst of these engines ..."
    )
    to: tuple[EngineName, ...] = Field(default=(), description="... to the best of these, ...")
    to_step: Slug | None = Field(default=None, description="... there in this step.")
    why: Note = Field(default="", description="Shown where a run goes the other way.")


class Source(Model):
    """The published benchmark that a suite reproduces, its figures, and the machine that they are of."""

    title: Title = Field(description="What it is called.")
    year: int = Field(description="Of its publication.")
    note: Note = Field(default="", description="How the suite differs.")
    machine: Title = Field(default="", description="The machine of its day.")
    figures: tuple[Published, ...] = Field(default=(), description="Those of a step in the published order.")
    ratios: tuple[PublishedRatio, ...] = Field(default=(), description="For steps without figures.")


class Quick(Model):
    """What `--quick` changes, alike for all engines, so that a first look takes three minutes at most."""

    scale: float = Field(default=1.0, gt=0, le=1, description="The scale of `--quick`, unless `--scale` is given.")
    one_process: bool = Field(default=False, description="As many clients, but all of them threads of one process.")
    trial_seconds: float = Field(
        default=600, gt=0, description="The time limit of a trial; one that takes longer is a timeout."
    )


class Variant(Model):
    """An engine once more, with settings or a version of its own: `--set NAME@LABEL.OPTION=VALUE` in a file."""

    settings: dict[Identifier, str | int | float | bool] = Field(
        default={}, max_length=100, description="Option -> value, as of `--set`."
    )
    version: str = Field(
        default="",
        pattern=r"^(\d{1,5}(\.\d{1,9}){0,4}((a|b|rc|\.post|\.dev)\d{1,20})?)?$",
        description='The version of the engine\'s package, like "1.3"; a label that looks like one has the same effect.',
    )

    python: str = Field(
        default="",
        pattern=r"^(3\.\d{1,2}(\.\d{1,3})?)?$",
        description='The Python of its trials, like "3.12"; a label like py3.12 has the same effect.',
    )

    env: dict[Variable, Value] = Field(default={}, max_length=20, description="Environment variables of its trials.")

    @property
    def texts(self) -> dict[str, str]:
        """The settings as texts, as the command line gives them."""
        return {
            key: str(value).lower() if isinstance(value, bool) else str(value) for key, value in self.settings.items()
        }


class Suite(Model):
    """One suite file."""

    dbbench: Literal[1] = Field(description="The format's version.")
    name: Slug = Field(description="Part of the default run directory's name.")
    title: Title = Field(description="Its name in reports.")
    description: Note = Field(description="What the suite is for.")
    source: Source | None = Field(default=None, description="The published benchmark that it reproduces.")
    quick: Quick | None = Field(default=None, description="What `--quick` changes.")
    variants: dict[VariantName, Variant] = Field(
        default={}, max_length=100, description="ENGINE@LABEL -> variant, run where `--engine` names nothing else."
    )
    datasets: dict[Identifier, Dataset] = Field(min_length=1, description="Name -> dataset.")
    scenarios: tuple[Scenario, ...] = Field(min_length=1, max_length=_STEPS, description="Each on one dataset.")

    @property
    def operations(self) -> set[str]:
        """What its steps ask of a session. A load or a compaction is no reason to take part, unless it is all."""
        steps = (step for scenario in self.scenarios for step in scenario.steps)
        asked = {operation for step in steps for operation in step.required_operations}
        return asked - {"load", "compact"} or asked

    @property
    def has_blocks(self) -> bool:
        """Whether a file of blocks can keep any of its records."""
        return any(dataset.records and dataset.records.numbered for dataset in self.datasets.values())

    def first_look(self) -> Self:
        """The suite with its clients as `--quick` has them."""
        if self.quick is None or not self.quick.one_process:
            return self
        scenarios = (
            scenario.model_copy(update={"steps": tuple(step.in_one_process() for step in scenario.steps)})
            for scenario in self.scenarios
        )
        return self.model_copy(update={"scenarios": tuple(scenarios)})

    def over_hosts(self, hosts: int) -> Self:
        """The suite with its clients on each of the hosts."""
        scenarios = (
            scenario.model_copy(update={"steps": tuple(step.over_hosts(hosts) for step in scenario.steps)})
            for scenario in self.scenarios
        )
        return self.model_copy(update={"scenarios": tuple(scenarios)})

    def scenario(self, name: str) -> Scenario:
        """A scenario by its name."""
        return next(scenario for scenario in self.scenarios if scenario.name == name)
