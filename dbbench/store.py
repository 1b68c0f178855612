"""The run directory: what was asked for, every finished trial, and what was made of them.

    run.json      the manifest: suite, options, engines, machine, data
    suite.yaml    the suite's text as it was
    trials/ID/    trial.json, result.json, the plans of its queries, and what the worker printed
    summary.csv   one row for each step and engine
    report/       charts and pages
    publish/      the same without what licences forbid to publish, and results.json; made by --publish

A trial is finished when its result.json is there. Everything is written in one step, after each trial.
"""

from __future__ import annotations

import contextlib
import datetime
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from dbbench import jsonfile, queryplan
from dbbench.errors import RunError, UserError
from dbbench.loader import parse_suite
from dbbench.outcome import Outcome
from dbbench.plan import Trial
from dbbench.suite import Suite

#: The version of the run directory's format.
SCHEMA = 1


class StepResult(BaseModel):
    """One step of one trial. `value` is its block; samples are in `unit` ("s", "B" or "1/s")."""

    model_config = ConfigDict(frozen=True)

    name: str
    outcome: Outcome
    detail: str = ""
    metric: str = ""
    unit: str = ""
    direction: str = "lower"
    value: float | None = None
    #: Whether its work was checked and found right. Runs older than this field checked whatever they could.
    verified: bool = True
    samples: tuple[float, ...] = ()
    warm_up: tuple[float, ...] = ()
    facts: dict[str, Any] = {}
    #: What the worker wrote to storage in the step itself, its check left out; None where the system doesn't tell.
    written_bytes: int | None = None
    elapsed: float = 0.0
    #: Why there is no plan of a query.
    no_plan: str = ""


class TrialResult(BaseModel):
    """One finished trial. Memory in bytes, CPU in seconds."""

    model_config = ConfigDict(frozen=True)

    id: str
    scenario_name: str
    engine_name: str
    round: int
    engine: dict[str, Any] = {}
    steps: tuple[StepResult, ...]
    remarks: tuple[str, ...] = ()
    peak_memory: int | None = None
    memory_includes_checks: bool = False
    cpu_seconds: float | None = None
    written_bytes: int | None = None
    seconds: float = 0.0
    exit_status: int = 0
    #: What other processes did to the machine meanwhile: see `noise.between`.
    noise: dict[str, Any] = {}

    def step(self, name: str) -> StepResult | None:
        """The result of a step, if the trial has one."""
        return next((step for step in self.steps if step.name == name), None)


class Manifest(BaseModel):
    """What run.json holds."""

    schema_version: int = SCHEMA
    dbbench: str
    suite: str
    created: datetime.datetime
    #: Engines in the order asked for, with what the probe found.
    engines: dict[str, dict[str, Any]]
    rounds: int
    scale: float
    seed: int
    #: Engine -> option -> value, as set with --set.
    options: dict[str, dict[str, Any]] = {}
    limits: dict[str, float]
    machine: dict[str, Any]
    #: What could disturb the run, as it was at its start: see `noise.before`.
    noise: dict[str, Any] = {}
    #: Dataset -> rows of its tables, bytes as CSV.
    datasets: dict[str, dict[str, Any]] = {}
    finished: datetime.datetime | None = None
    #: --precision and --time-limit, where given; `rounds` is then the most there may be.
    precision: float | None = None
    time_limit: float | None = None
    #: Why the run ended before all rounds, in words.
    stopped: str = ""

    @property
    def usable(self) -> list[str]:
        """The engines that could be run."""
        return [name for name, probed in self.engines.items() if probed["status"] == "available"]

    def plugin(self, name: str) -> str:
        """The plugin that runs under a name: the engine's own, unless the user gave a server another one."""
        return str(self.engines[name].get("engine") or name)


class Run:
    """A run directory."""

    def __init__(self, path: Path, manifest: Manifest, suite: Suite) -> None:
        self.path = path
        self.manifest = manifest
        self.suite = suite

    @classmethod
    def create(cls, path: Path, manifest: Manifest, suite: Suite, suite_text: str) -> Run:
        """A new run directory. Raises UserError if `path` is taken or can't be written."""
        try:
            if path.exists() and (not path.is_dir() or any(path.iterdir())):
                raise UserError(f"{path} is there already; name another with --out, or go on with it: --resume {path}")
            (path / "trials").mkdir(parents=True)
            (path / "suite.yaml").write_text(suite_text, "utf-8")
            run = cls(path, manifest, suite)
            run.save()
        except OSError as exc:
            raise UserError(f"{path} can't be written: {exc.strerror or exc}; name another with --out") from exc
        return run

    @classmethod
    def open(cls, path: Path) -> Run:
        """A run directory that is there. Raises RunError if it isn't one, or is damaged, or newer than this dbbench."""
        if not (path / "run.json").is_file():
            raise RunError(f"{path} is not a run directory (it has no run.json)")
        try:
            document = jsonfile.read(path / "run.json")
            version = document["schema_version"]
            if version > SCHEMA:
                raise RunError(
                    f"{path} was written by a newer dbbench (format {version}, this one reads {SCHEMA}); upgrade"
                )
            manifest = Manifest.model_validate(document)
            text = (path / "suite.yaml").read_text("utf-8")
        except (OSError, ValueError, TypeError, KeyError) as exc:
            raise RunError(f"{path} is damaged: {_first(exc)}") from exc
        return cls(path, manifest, parse_suite(text, str(path / "suite.yaml")))

    @property
    def report(self) -> Path:
        """The folder of charts and pages."""
        return self.path / "report"

    @property
    def publish(self) -> Path:
        """The folder of what may be published."""
        return self.path / "publish"

    def query_plan(self, trial: str, step: str) -> str:
        """An engine's plan of a query, as a trial has kept it; empty if there is none."""
        return queryplan.kept(self.path / "trials" / trial, step)

    def save(self) -> None:
        """Write the manifest."""
        jsonfile.write(self.path / "run.json", self.manifest.model_dump(mode="json"))

    def directory(self, trial: Trial) -> Path:
        """Where a trial's files lie."""
        return self.path / "trials" / trial.id

    def finished(self, trial: Trial) -> bool:
        """Whether a trial has its result."""
        return (self.directory(trial) / "result.json").is_file()

    def result(self, trial: Trial) -> TrialResult:
        """A finished trial. Raises RunError if its file is damaged."""
        return _read_result(self.directory(trial) / "result.json")

    def results(self) -> list[TrialResult]:
        """All finished trials in the order they ran. Raises RunError for a damaged one."""
        return [_read_result(path) for path in sorted((self.path / "trials").glob("*/result.json"))]

    def tidy(self) -> None:
        """Remove what trials that were broken off left behind."""
        for folder in (self.path / "trials").iterdir():
            if not (folder / "result.json").is_file():
                shutil.rmtree(folder, ignore_errors=True)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Keep others from running trials here. Raises RunError if one does."""
        try:
            import fcntl
        except ImportError:  # Windows
            yield
            return
        handle = os.open(self.path, os.O_RDONLY)
        try:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as exc:
                raise RunError(f"another dbbench is at work on {self.path}") from exc
            yield
        finally:
            os.close(handle)


def _read_result(path: Path) -> TrialResult:
    try:
        return TrialResult.model_validate(jsonfile.read(path))
    except (OSError, ValueError) as exc:
        raise RunError(f"{path} is damaged: {_first(exc)}; remove {path.parent} and --resume the run") from exc


def _first(exc: Exception) -> str:
    if isinstance(exc, ValidationError):
        error = exc.errors()[0]
        return f"{'.'.join(map(str, error['loc']))}: {error['msg']}"
    return str(exc).splitlines()[0] if str(exc) else type(exc).__name__
