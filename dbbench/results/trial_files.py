"""Files of a trial besides its result: the engine's own plans of queries, and what `explain` has watched of it."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict

from dbbench.host import atomic_json, plain_file
from dbbench.message import printable
from dbbench.results.trial import StepResult
from dbbench.suite.steps import AnyStep

#: Files in the trial's folder. A profile has a line for each stack: frames with `;` between, and how often it was seen.
WATCHED, PROFILE = "watched.json", "profile.txt"
#: Looks at each stack in a second of computing.
RATE = 200
#: A plan that is longer is cut: no reader gets further.
_MOST_PLAN = 64 * 1024


class Watch(BaseModel):
    """What to watch: a step, which is called again for `seconds` where it writes nothing, by these programs if any."""

    model_config = ConfigDict(defer_build=True, frozen=True)

    step: str
    seconds: float
    py_spy: str = ""
    perf: str = ""


class Sample(BaseModel):
    """What a process had used `at` seconds from the start; memory is what it holds then. None: not known."""

    model_config = ConfigDict(defer_build=True, frozen=True)

    at: float
    process: int
    cpu: float
    memory: int
    read: int | None = None
    written: int | None = None
    faults: int | None = None
    switches: int | None = None


class Watched(BaseModel):
    """`calls`: how often the step was called in `seconds`; 0 if its process ended before it was done."""

    model_config = ConfigDict(defer_build=True, frozen=True)

    seconds: float = 0.0
    calls: int = 0
    #: Process -> its name.
    names: dict[int, str] = {}
    samples: tuple[Sample, ...] = ()
    #: Waits that the server itself counted meanwhile.
    waits: dict[str, float] = {}
    #: What could not be had, and the setting that would let it.
    notes: tuple[str, ...] = ()

    @classmethod
    def read(cls, directory: Path) -> Self:
        """Read it from a trial's directory; empty if the step wasn't reached. Raises ValueError for a damaged one."""
        try:
            return cls.model_validate(atomic_json.read_clean(directory / WATCHED))
        except FileNotFoundError:
            return cls()


@dataclass(frozen=True)
class Explained:
    """What one more trial of an engine shows of a step."""

    engine: str
    step: AnyStep
    result: StepResult
    watched: Watched
    #: A line for each stack, as the file has them.
    profile: str
    plan: str
    #: CPU seconds of a call or an operation, by the median of the run's rounds; its time where that isn't known.
    cost: float


def keep_plan(trial: Path, step: str, text: str) -> None:
    """Write the plan of a step's query."""
    cut = text if len(text) <= _MOST_PLAN else f"{text[:_MOST_PLAN]}\n[cut: {len(text):,} characters]"
    path = plain_file.folder(trial, "plans") / f"{step}.txt"
    plain_file.write(path, f"{cut}\n".encode(errors="backslashreplace"))


def steps_with_plan(trial: Path) -> set[str]:
    """The steps whose queries may have a plan. Raises OSError if that can't be read."""
    try:
        names = os.listdir(plain_file.inside(trial, "plans"))
    except FileNotFoundError:
        return set()
    return {name.removesuffix(".txt") for name in names}


def kept_plan(trial: Path, step: str) -> str:
    """The plan of a step's query; empty if there is none. Raises OSError if it can't be read."""
    try:
        data = plain_file.read(plain_file.inside(trial, "plans", f"{step}.txt"), most=8 * _MOST_PLAN)
    except FileNotFoundError:
        return ""
    return printable(data.decode("utf-8", errors="replace")).rstrip()
