"""The run directory: what was asked for, every finished trial, and what was made of them.

    run.json      the manifest: suite, options, engines, machine, data
    suite.yaml    the suite's text as it was
    trials/ID/    trial.json, result.json, the plans of its queries, and what the worker printed
    summary.csv   one row for each step and engine
    results.json  all rows, ratios and ranks, for programs
    gate.txt      what its gates said
    report/       charts and pages
    publish/      the same without what licences forbid to publish; made by --publish

A trial is finished when its result.json is there. Everything is written in one step, after each trial.

A run directory may come from elsewhere: what is read is checked, names are those of files in it, and no link is
followed.
"""

import contextlib
import datetime
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BaseModel, Field

from dbbench.errors import RunError, UserError
from dbbench.host import atomic_json, plain_file
from dbbench.results import trial_files
from dbbench.results.facts import Amount, EngineFacts, MachineFacts, NoiseFacts, Rows, ToldFacts
from dbbench.results.outcome import Outcome
from dbbench.results.trial import MOST_ROUNDS, StepResult, Trial, TrialResult, fault, writing
from dbbench.suite.base import EngineName, Slug
from dbbench.suite.loader import parse_suite
from dbbench.suite.model import Suite
from dbbench.suite.variables import Value, Variable

#: The version of the run directory's format.
SCHEMA = 1
#: A trial's number, at the beginning of its name.
_DIGITS = re.compile(r"[0-9]{3,9}(?=-)")
#: The most of a kind that a run directory can have.
_ENGINES = 1_000


def _checked_release(text: str) -> str:
    """A release, or none. Raises ValueError for a text by which releases can't be put in order."""
    from packaging.version import Version  # few runs have variants

    if text:
        Version(text)
    return text


def _checked_moment(moment: datetime.datetime) -> datetime.datetime:
    """A moment that is one in every time zone. Raises ValueError for others."""
    if not datetime.MINYEAR < moment.year < datetime.MAXYEAR:
        raise ValueError(f"no run was in the year {moment.year}")
    return moment


class VariantFacts(BaseModel):
    """What a variant is of."""

    engine: EngineName
    #: The version that its label asks for, the package that it is of, and the exact release that was found.
    version: Annotated[str, Field(pattern=r"^[0-9a-z.]{0,60}$")] = ""
    package: Annotated[str, Field(max_length=200)] = ""
    release: Annotated[str, Field(max_length=100), AfterValidator(_checked_release)] = ""
    #: The Python that it asks for, and the exact one that was found.
    python: Annotated[str, Field(pattern=r"^(3\.\d{1,2}(\.\d{1,3})?)?$")] = ""
    python_release: Annotated[str, Field(max_length=40)] = ""
    #: What it was built from, in words, and the name of the environment in the cache if it is a package.
    build: Annotated[str, Field(max_length=300)] = ""
    built: Annotated[str, Field(pattern=r"^([A-Za-z0-9][A-Za-z0-9._-]{0,100}-built-[0-9a-f]{16})?$")] = ""
    #: The option whose values `--sweep` goes through, of which it has one.
    sweep: Annotated[str, Field(max_length=100)] = ""
    #: Environment variables of its trials.
    env: dict[Variable, Value] = {}
    #: The engine or variant that `--control` repeats under this name.
    repeats: Annotated[str, Field(max_length=100)] = ""

    @property
    def versions(self) -> dict[str, str]:
        """What it was built from, as one of its versions."""
        return {"built from": self.build} if self.build else {}


class Manifest(BaseModel):
    """What run.json holds."""

    schema_version: int = SCHEMA
    dbbench: str
    suite: str
    created: Annotated[datetime.datetime, AfterValidator(_checked_moment)]
    #: Engines in the order asked for, with what the probe found.
    engines: dict[EngineName, EngineFacts] = Field(max_length=_ENGINES)
    #: The engines that the user asked for by name; None in older runs.
    named: list[EngineName] | None = None
    rounds: int = Field(ge=1, le=MOST_ROUNDS)
    scale: float = Field(gt=0, le=10_000)
    seed: int = Field(ge=0, lt=2**63)
    #: Engine -> option -> value, as set with --set.
    options: dict[EngineName, dict[str, object]] = {}
    #: The engines that are variants (`ENGINE@LABEL`) and run here, not at a URL. Older runs have none.
    variants: dict[EngineName, VariantFacts] = {}
    limits: dict[str, Amount]
    machine: MachineFacts
    #: What could disturb the run, as it was at its start: see `noise.before`.
    noise: NoiseFacts = {}
    #: Dataset -> rows of its tables, bytes as CSV.
    datasets: dict[str, Rows] = {}
    #: Scenario -> query -> the name of its answer in the cache.
    answers: dict[Slug, dict[Slug, str]] = {}
    finished: datetime.datetime | None = None
    #: --precision and --time-limit, where given; `rounds` is then the most there may be.
    precision: float | None = None
    time_limit: float | None = None
    #: Whether the suite's own settings for `--quick` apply.
    quick: bool = False
    #: Where the clients were, and on how many hosts; empty and 0 where they were with dbbench.
    cluster: Annotated[str, Field(max_length=300)] = ""
    hosts: int = Field(default=0, ge=0, le=1_000)
    #: Whether the hosts ran whole rounds, each by itself.
    fleet: bool = False
    #: Why the run ended before all rounds, in words.
    stopped: str = ""

    @property
    def spread_over(self) -> int:
        """The hosts that the clients of each step are on together; 0 if they aren't spread."""
        return 0 if self.fleet else self.hosts

    @property
    def memory_limit(self) -> int | None:
        """Bytes of memory that a trial may use, as given with --memory-limit."""
        limit = self.limits.get("memory_limit")
        return None if limit is None else int(limit)

    @property
    def usable(self) -> list[str]:
        """The engines that could be run."""
        return [name for name, probed in self.engines.items() if probed["status"] == "available"]

    def plugin(self, name: str) -> str:
        """The plugin that runs under a name: the engine's own, unless the user gave a server another one."""
        return str(self.engines[name].get("engine") or name)

    def ranked(self, name: str) -> bool:
        """Whether an engine takes part, which the null engine doesn't."""
        return name not in self.engines or self.engines[name].get("ranked", True)

    def titles(self, results: Iterable[TrialResult]) -> dict[str, str]:
        """What to call each engine: by its label, after the server that answered, as its plugin does, or by name."""
        answered = {each.engine_name: str(each.engine["title"]) for each in results if each.engine.get("title")}
        found = {}
        for name, probed in self.engines.items():
            title = answered.get(name) or probed.get("title")
            own = f" [{name.partition('@')[2] or name}]" if self.plugin(name) != name else ""
            found[name] = probed.get("label") or (f"{title}{own}" if title else name)
        return found

    def versions(self, name: str, facts: ToldFacts) -> dict[str, str]:
        """The versions that an engine reported, or else those that the probe found, and what it was built from."""
        variant = self.variants.get(name)
        return {
            **(facts.get("versions") or self.engines[name].get("versions", {})),
            **(variant.versions if variant else {}),
        }


def check_free(path: Path) -> None:
    """Raise UserError if there is something at `path` already, so that no run directory can be made there."""
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise UserError(f"{path} already exists; choose another with --out, or continue with --resume {path}")


class Run:
    """A run directory."""

    def __init__(self, path: Path, manifest: Manifest, suite: Suite) -> None:
        self.path = path
        self.manifest = manifest
        self.suite = suite
        #: The run that it is a part of: itself, if it is none.
        self.whole: Run = self

    @classmethod
    def create(cls, path: Path, manifest: Manifest, suite: Suite, suite_text: str) -> Self:
        """A new run directory. Raises UserError if `path` is taken or can't be written."""
        try:
            check_free(path)
            (path / "trials").mkdir(parents=True)
            plain_file.write(path / "suite.yaml", suite_text.encode(), durable=True)
            run = cls(path, manifest, suite)
            run.save()
        except OSError as exc:
            raise UserError(f"{path} can't be written: {exc.strerror or exc}; name another with --out") from exc
        return run

    @classmethod
    def open(cls, path: Path) -> Self:
        """An existing run directory. Raises RunError if it isn't one, or is damaged, or newer than this dbbench."""
        document = _read_json(path, "run.json", missing=f"{path} is not a run directory (it has no run.json)")
        file = path / "run.json"
        try:
            version = document["schema_version"]
            if version > SCHEMA:
                raise RunError(
                    f"{path} was written by a newer dbbench (format {version}, this one reads {SCHEMA}); upgrade"
                )
            manifest = Manifest.model_validate(document)
            file = path / "suite.yaml"
            text = plain_file.read(file).decode("utf-8")
        except (OSError, ValueError, TypeError, KeyError) as exc:
            raise RunError(f"{file} is damaged: {fault(exc)}") from exc
        suite = parse_suite(text, str(path / "suite.yaml"), former=True)
        suite = suite.first_look() if manifest.quick else suite
        return cls(path, manifest, suite.over_hosts(manifest.spread_over) if manifest.spread_over > 1 else suite)

    @property
    def report(self) -> Path:
        """The folder of charts and pages."""
        return self.path / "report"

    @property
    def publish(self) -> Path:
        """The folder of what may be published."""
        return self.path / "publish"

    def query_plans(self, trial: str) -> set[str]:
        """The steps of a trial whose queries may have a plan. Raises RunError."""
        try:
            return trial_files.steps_with_plan(plain_file.inside(self.path, "trials", trial))
        except OSError as exc:
            raise RunError(f"the plans in {self.path / 'trials' / trial} can't be read: {fault(exc)}") from exc

    def query_plan(self, trial: str, step: str) -> str:
        """An engine's plan of a query, as a trial has kept it; empty if there is none. Raises RunError."""
        try:
            return trial_files.kept_plan(plain_file.inside(self.path, "trials", trial), step)
        except OSError as exc:
            raise RunError(f"the plan of {step} in {self.path / 'trials' / trial} can't be read: {fault(exc)}") from exc

    def save(self) -> None:
        """Write the manifest. Raises RunError if it can't be written."""
        with writing(self.path):
            atomic_json.write(self.path / "run.json", self.manifest.model_dump(mode="json"), durable=True)

    def keep_gates(self, lines: Iterable[str]) -> None:
        """Write what gates said, for a comment: a fence of backticks around it holds."""
        text = "".join(f"{line}\n" for line in lines).strip("\n").replace("`", "'")
        plain_file.write(self.path / "gate.txt", f"{text}\n".encode())

    def directory(self, trial: Trial) -> Path:
        """Folder of a trial's files."""
        return self.path / "trials" / trial.id

    def begin(self, trial: Trial) -> Path:
        """An empty directory for a trial, without what a broken one left. Raises RunError if it can't be made."""
        with writing(self.directory(trial)):
            self.discard(trial)
            self.directory(trial).mkdir(parents=True)
            plain_file.sync_folder(self.path / "trials")
        return self.directory(trial)

    def discard(self, trial: Trial) -> None:
        """Remove what a trial that was broken off left behind, and nothing else. Raises OSError for a link."""
        trials = plain_file.inside(self.path, "trials", trial.id).parent
        with contextlib.suppress(FileNotFoundError):
            folder = plain_file.open_folder(trials)
            try:
                shutil.rmtree(trial.id, ignore_errors=True, dir_fd=folder)
            finally:
                os.close(folder)

    def digits(self) -> int | None:
        """How many digits the numbers of its trials have; None if it has none yet. Raises RunError."""
        try:
            names = os.listdir(plain_file.inside(self.path, "trials"))
        except OSError as exc:
            raise RunError(f"{self.path / 'trials'} can't be read: {fault(exc)}") from exc
        return min((len(found[0]) for name in names if (found := _DIGITS.match(name))), default=None)

    def done(self, trials: Iterable[Trial]) -> dict[str, TrialResult]:
        """The trials that need not run, by their ids: all that are finished, but those that a full disk ended.

        Raises RunError if a result is damaged, or a link.
        """
        found = {trial.id: self.result(trial) for trial in trials if self.finished(trial)}
        return {name: result for name, result in found.items() if Outcome.DISK_FULL not in result.outcomes}

    def finished(self, trial: Trial) -> bool:
        """Whether a trial has its result. Raises RunError if that is a link."""
        try:
            return os.path.lexists(plain_file.inside(self.path, "trials", trial.id, "result.json"))
        except OSError as exc:
            raise RunError(fault(exc)) from exc

    def result(self, trial: Trial) -> TrialResult:
        """A finished trial. Raises RunError if its file is damaged."""
        return self._result(trial.id)

    def settled(self, trial: Trial) -> TrialResult:
        """A trial that has just ended. One whose result can't be read has that outcome: `steps.json` keeps the rest."""
        try:
            return self.result(trial)
        except RunError as exc:
            detail = f"its result can't be read: {fault(exc.__cause__ or exc)}"
            steps = [
                StepResult(name=step.name, outcome=Outcome.FAILED, detail=detail)
                for step in self.suite.scenario(trial.scenario).steps
            ]
            trial.result(steps).write(self.directory(trial))
            return self.result(trial)

    def remarked(self, trial: Trial, remark: str) -> TrialResult:
        """A trial that has just ended, with one more remark."""
        result = self.result(trial)
        result.model_copy(update={"remarks": (*result.remarks, remark)}).write(self.directory(trial))
        return self.result(trial)

    def results(self) -> list[TrialResult]:
        """All finished trials in the order they ran. Raises RunError for a damaged one."""
        try:
            trials = plain_file.inside(self.path, "trials")
            names = sorted(os.listdir(trials), key=_number)
            done = [
                name
                for name in names
                if not name.startswith(".") and os.path.lexists(os.path.join(trials, name, "result.json"))
            ]
        except OSError as exc:
            raise RunError(f"{self.path / 'trials'} can't be read: {fault(exc)}") from exc
        return [self._result(name) for name in done]

    def _result(self, name: str) -> TrialResult:
        """The result in a trial's folder, if it is one of this run's."""
        path = self.path / "trials" / name / "result.json"
        try:
            found = TrialResult.model_validate(_read_json(self.path, "trials", name, "result.json"))
            self._check_names(found, name)
        except (ValueError, RunError) as exc:
            what = str(exc) if isinstance(exc, RunError) else f"{path} is damaged: {fault(exc)}"
            raise RunError(f"{what}; remove {path.parent} and --resume the run") from exc
        return found

    def _check_names(self, found: TrialResult, folder: str) -> None:
        scenarios = [scenario.name for scenario in self.suite.scenarios]
        for what, name, known in (
            ("id", found.id, [folder]),
            ("engine_name", found.engine_name, self.manifest.engines),
            ("scenario_name", found.scenario_name, scenarios),
        ):
            if name not in known:
                raise ValueError(f"{what}: {name!r} is not of this run")
        for step in found.steps:
            if step.value is not None and not step.unit:
                raise ValueError(f"steps: {step.name} has a value without a unit")
            if step.value is None and step.outcome is Outcome.OK:
                raise ValueError(f"steps: {step.name} is ok without a value")

    @contextlib.contextmanager
    def locked(self) -> Iterator[Sequence[int]]:
        """Keep others from running trials here. Raises RunError if one does.

        Gives the lock's descriptor: who inherits it keeps the lock, should this process be killed.
        """
        try:
            import fcntl
        except ImportError:  # Windows
            yield ()
            return
        handle = os.open(self.path, os.O_RDONLY)
        try:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as exc:
                raise RunError(
                    f"another dbbench is at work on {self.path}, or the trial of one that was killed is still being "
                    "cleared up: try again in half a minute"
                ) from exc
            yield (handle,)
        finally:
            os.close(handle)


def _number(name: str) -> tuple[int, str]:
    """What trials are sorted by: those of rounds that were added may have numbers with more digits."""
    found = _DIGITS.match(name)
    return int(found[0]) if found else 0, name


def _read_json(root: Path, *names: str, missing: str = "") -> Any:
    """A cleaned document below `root`. Raises RunError, with the words of `missing` if there is none."""
    path = root.joinpath(*names)
    try:
        return atomic_json.read_clean(plain_file.inside(root, *names))
    except (FileNotFoundError, NotADirectoryError) as exc:
        raise RunError(missing or f"there is no file {path}") from exc
    except (OSError, ValueError) as exc:
        raise RunError(f"{path} is damaged: {fault(exc)}") from exc
