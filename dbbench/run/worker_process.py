"""How a worker is started and limited: the part of a trial's order that its supervisor needs. Light imports."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from dbbench.host import atomic_json


@dataclass(frozen=True)
class WorkerProcess:
    """Memory in bytes. Empty: there is no such folder, group, or other Python."""

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

    @classmethod
    def read(cls, directory: Path) -> Self:
        """Read it from the order in a trial's directory."""
        return cls(**atomic_json.read(directory / "trial.json")["process"])
