"""Crash checks of each engine and tier that a user asked for, one checker process after another."""

import datetime
import logging
import random
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import dbbench
from dbbench.durability.check import CHECK_TASK, TIER_CHECK, CheckTask
from dbbench.engine import registry
from dbbench.engine.probe import Probed, probe
from dbbench.errors import UserError
from dbbench.host import atomic_json, machine
from dbbench.host.processes import INTERRUPTED, environment, python, stop
from dbbench.message import did_you_mean
from dbbench.results import crash_checks
from dbbench.results.crash_checks import CheckVerdict, CrashCheck, Subject, TierCheck, TierChecks
from dbbench.runs.request import check_options
from dbbench.suite.model import Tier

_GRACE_SECONDS = 20
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class CheckRequest:
    """One call of `dbbench durability`. `engines` empty means every one that is installed, no `tiers` all of them."""

    engines: Sequence[str] = ()
    tiers: Sequence[str] = ()
    kills: int = 20
    seed: int | None = None
    options: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    #: How long an engine may take to open and to make its first commit.
    seconds: float = 60


def check_all(request: CheckRequest, report: Callable[[str], None]) -> TierChecks:
    """Check what was asked for, in the current directory; `report` gets the progress.

    Raises UserError. On KeyboardInterrupt the checker at work is ended and cleared up. It goes on up if no check is
    finished.
    """
    registry.check_names([*request.engines, *request.options])
    tiers = checked_tiers(request.tiers)
    probed = probe(list(dict.fromkeys(request.engines)) or registry.names(), request.options)
    check_options(request.options, probed)
    idle = {name for name, found in probed.items() if found.status == "available" and not keeps(found)}
    if asked := [name for name in request.engines if name in idle]:
        if probed[asked[0]].ranked and {"add", "search"} & {*probed[asked[0]].operations}:
            raise UserError(
                f"{asked[0]} keeps vectors or texts alone, which no crash check covers: its tiers are as its plugin declares"
            )
        raise UserError(f"{asked[0]} keeps no data of its own: there is nothing to check")
    absent = {} if request.engines else {name: _why(found) for name, found in probed.items() if _left_out(found)}
    engines = [found for name, found in probed.items() if name not in absent and name not in idle]
    seed = random.SystemRandom().randrange(2**32) if request.seed is None else request.seed
    here = machine.describe(Path.cwd())
    try:
        folder = Path(tempfile.mkdtemp(prefix="dbbench-durability-", dir=Path.cwd().resolve()))
    except OSError as exc:
        raise UserError(f"the databases for the check can't be made in the current directory: {exc.strerror}") from exc
    checks: list[TierCheck] = []
    interrupted = False
    try:
        for engine in engines:
            for tier in tiers:
                directory = folder / str(len(checks))
                options = request.options.get(engine.name, {})
                task = CheckTask(engine.name, tier, here["file_system"], options, request.kills, seed, request.seconds)
                checks.append(_without_trying(engine, tier) or _check(directory, task, report))
                _keep(checks[-1], task)
    except KeyboardInterrupt:
        if not checks:
            raise
        interrupted = True
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    created = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    return TierChecks(created, here, seed, request.kills, tuple(checks), absent, interrupted)


def _keep(check: TierCheck, task: CheckTask) -> None:
    """Keep what runs may name. A check that decided nothing leaves an older one as it is."""
    if check.verdict not in (CheckVerdict.PASSED, CheckVerdict.FAILED):
        return
    versions = {**check.versions, "dbbench": dbbench.__version__}
    subject = Subject(check.engine, check.tier, versions, task.file_system, task.options, check.code)
    day = datetime.datetime.now(datetime.UTC).date().isoformat()
    try:
        crash_checks.keep(subject, CrashCheck(check.verdict is CheckVerdict.PASSED, check.kills.kills, day))
    except OSError as exc:
        _log.warning(
            "dbbench: the result can't be stored in %s (%s), so runs won't name it; name another folder in the environment "
            "variable DBBENCH_DATA",
            crash_checks.folder(),
            exc.strerror,
        )


def keeps(engine: Probed) -> bool:
    """Whether it has tables or records; an access layer has those of the engine beneath it."""
    operations = {*engine.operations}
    searches_alone = operations & {"nearest", "search"} and not operations & {"query", "insert"}
    return engine.ranked and bool(operations & {"load", "insert"}) and not searches_alone


def _left_out(engine: Probed) -> bool:
    return engine.status != "available" or bool(engine.by_name_only)


def checked_tiers(names: Sequence[str]) -> list[Tier]:
    """The tiers of these names, or all. Raises UserError for an unknown one, with the nearest."""
    known = [tier.value for tier in Tier]
    for name in names:
        if name not in known:
            raise UserError(
                f"there is no durability tier {name!r}{did_you_mean(name, known)} (there are: {', '.join(known)})"
            )
    return [tier for tier in Tier if not names or tier in names]


def _without_trying(engine: Probed, tier: Tier) -> TierCheck | None:
    """What is known without a checker."""
    if engine.status != "available":
        return TierCheck(engine.name, tier, CheckVerdict.ERROR, f"{engine.status}: {_why(engine)}")
    if tier not in engine.durability:
        offered = ", ".join(engine.durability) or "none"
        return TierCheck(engine.name, tier, CheckVerdict.REFUSED, f"it offers: {offered}", versions=engine.versions)
    return None


def _why(engine: Probed) -> str:
    if engine.status == "available":
        return f"runs only by name: {engine.by_name_only}"
    return f"{engine.detail}; {engine.install}" if engine.install else engine.detail


def _check(directory: Path, task: CheckTask, report: Callable[[str], None]) -> TierCheck:
    """One checker from its start to its end."""
    directory.mkdir(mode=0o700)
    atomic_json.write(directory / "task.json", CHECK_TASK.dump_python(task, mode="json"))
    error = directory / "checker.txt"
    with error.open("wb") as stderr:
        checker = subprocess.Popen(
            python("dbbench.durability.checker", str(directory)),
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=stderr,
            start_new_session=True,
        )
    assert checker.stdout is not None
    try:
        with checker.stdout:
            for line in checker.stdout:
                report(f"{task.engine} {task.tier}: {line.decode().strip()}")
        checker.wait()
    except BaseException:
        stop(checker, _GRACE_SECONDS)
        raise
    if checker.returncode == INTERRUPTED:
        raise KeyboardInterrupt
    try:
        return TIER_CHECK.validate_python(atomic_json.read(directory / "check.json"))
    except (OSError, ValueError):
        said = error.read_text("utf-8", errors="replace").strip().splitlines()
        why = (said or [f"status {checker.returncode}"])[-1]
        return TierCheck(task.engine, task.tier, CheckVerdict.ERROR, f"the checker left no result: {why}")
