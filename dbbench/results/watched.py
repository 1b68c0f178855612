"""What a trial that `explain` has watched leaves besides its result: what its processes used, and profiles."""

from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict

from dbbench.host import atomic_json
from dbbench.message import clean

#: Files in the trial's folder. A profile has a line for each stack: frames with `;` between, and how often it was seen.
WATCHED, PROFILE = "watched.json", "profile.txt"
#: Looks at each stack in a second of computing.
RATE = 200


class Watch(BaseModel):
    """What to watch: a step, which is called again for `seconds` where it writes nothing, by these programs if any."""

    model_config = ConfigDict(frozen=True)

    step: str
    seconds: float
    py_spy: str = ""
    perf: str = ""


class Sample(BaseModel):
    """What a process had used `at` seconds from the start; memory is what it holds then. None: the system doesn't tell."""

    model_config = ConfigDict(frozen=True)

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

    model_config = ConfigDict(frozen=True)

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
        """Read it from a trial's directory; an empty one if the step wasn't reached. Raises ValueError for a damaged one."""
        try:
            return cls.model_validate(clean(atomic_json.read(directory / WATCHED)))
        except FileNotFoundError:
            return cls()
