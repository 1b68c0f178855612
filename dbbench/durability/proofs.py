"""From what a user asked for to a proof of each engine and tier, one prover after another."""

from __future__ import annotations

import datetime
import difflib
import logging
import random
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import dbbench
from dbbench import crash_checks, jsonfile, machine, registry
from dbbench.crash_checks import CrashCheck, Subject
from dbbench.durability.proof import Kills, Proof, Proofs, Syncs, Verdict
from dbbench.errors import UserError
from dbbench.probe import Probed, probe
from dbbench.processes import environment, python, stop
from dbbench.request import check_options
from dbbench.suite import Tier
from dbbench.supervisor import INTERRUPTED

_GRACE_SECONDS = 20
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Request:
    """One call of `dbbench durability`. `engines` empty means every one that is installed, no `tiers` all of them."""

    engines: Sequence[str] = ()
    tiers: Sequence[str] = ()
    kills: int = 20
    seed: int | None = None
    options: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    #: How long an engine may take to open and to make its first commit.
    seconds: float = 60


def prove_all(request: Request, report: Callable[[str], None]) -> Proofs:
    """Prove what was asked for, in the current directory; `report` is told what goes on.

    Raises UserError. On KeyboardInterrupt the prover at work is ended and cleared up before it goes on up.
    """
    registry.check_names([*request.engines, *request.options])
    tiers = checked_tiers(request.tiers)
    probed = probe(list(dict.fromkeys(request.engines)) or registry.names(), request.options)
    check_options(request.options, probed)
    idle = {name for name, found in probed.items() if found.status == "available" and not _keeps(found)}
    if asked := [name for name in request.engines if name in idle]:
        raise UserError(f"{asked[0]} keeps no data of its own: there is nothing to prove")
    absent = {} if request.engines else {name: _why(found) for name, found in probed.items() if _left_out(found)}
    engines = [found for name, found in probed.items() if name not in absent and name not in idle]
    seed = random.SystemRandom().randrange(2**32) if request.seed is None else request.seed
    here = machine.describe(Path.cwd())
    try:
        folder = Path(tempfile.mkdtemp(prefix="dbbench-durability-", dir=Path.cwd().resolve()))
    except OSError as exc:
        raise UserError(f"the databases to prove can't be made in the current directory: {exc.strerror}") from exc
    try:
        proofs: list[Proof] = []
        for engine in engines:
            for tier in tiers:
                directory = folder / str(len(proofs))
                task = {
                    "engine": engine.name,
                    "tier": tier,
                    "options": dict(request.options.get(engine.name, {})),
                    "kills": request.kills,
                    "seed": seed,
                    "seconds": request.seconds,
                    "file_system": here["file_system"],
                }
                proofs.append(_without_trying(engine, tier) or _prove(directory, task, report))
                _keep(proofs[-1], task)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    created = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    return Proofs(created, here, seed, request.kills, tuple(proofs), absent)


def _keep(proof: Proof, task: Mapping[str, Any]) -> None:
    """Keep what runs may name. A check that decided nothing leaves an older one as it is."""
    if proof.verdict not in (Verdict.PROVEN, Verdict.REFUTED):
        return
    versions = {**proof.versions, "dbbench": dbbench.__version__}
    subject = Subject(proof.engine, proof.tier, versions, task["file_system"], task["options"])
    day = datetime.datetime.now(datetime.UTC).date().isoformat()
    try:
        crash_checks.keep(subject, CrashCheck(proof.verdict is Verdict.PROVEN, proof.kills.kills, day))
    except OSError as exc:
        _log.warning(
            "dbbench: the result can't be kept in %s (%s), so runs won't name it; name another folder in the environment "
            "variable DBBENCH_DATA",
            crash_checks.folder(),
            exc.strerror,
        )


def _keeps(engine: Probed) -> bool:
    """Whether it has tables or records; an access layer has those of the engine beneath it."""
    return engine.ranked and bool({"load", "insert"} & {*engine.operations})


def _left_out(engine: Probed) -> bool:
    return engine.status != "available" or bool(engine.by_name_only)


def checked_tiers(names: Sequence[str]) -> list[Tier]:
    """The tiers of these names, or all. Raises UserError for an unknown one, with the nearest."""
    known = [tier.value for tier in Tier]
    for name in names:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise UserError(f"there is no durability tier {name!r}{hint} (there are: {', '.join(known)})")
    return [tier for tier in Tier if not names or tier in names]


def _without_trying(engine: Probed, tier: Tier) -> Proof | None:
    """What is known without a prover."""
    if engine.status != "available":
        return Proof(engine.name, tier, Verdict.FAILED, f"{engine.status}: {_why(engine)}")
    if tier not in engine.durability:
        offered = ", ".join(engine.durability) or "none"
        return Proof(engine.name, tier, Verdict.REFUSED, f"it offers: {offered}", versions=engine.versions)
    return None


def _why(engine: Probed) -> str:
    if engine.status == "available":
        return f"runs only by name: {engine.by_name_only}"
    return f"{engine.detail}; {engine.install}" if engine.install else engine.detail


def _prove(directory: Path, task: Mapping[str, Any], report: Callable[[str], None]) -> Proof:
    """One prover from its start to its end."""
    directory.mkdir(mode=0o700)
    jsonfile.write(directory / "task.json", task)
    error = directory / "prover.txt"
    with error.open("wb") as stderr:
        prover = subprocess.Popen(
            python("dbbench.durability.prover", str(directory)),
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=stderr,
            start_new_session=True,
        )
    assert prover.stdout is not None
    try:
        with prover.stdout:
            for line in prover.stdout:
                report(f"{task['engine']} {task['tier']}: {line.decode().strip()}")
        prover.wait()
    except BaseException:
        stop(prover, _GRACE_SECONDS)
        raise
    if prover.returncode == INTERRUPTED:
        raise KeyboardInterrupt
    try:
        return read_proof(jsonfile.read(directory / "proof.json"))
    except (OSError, ValueError):
        said = error.read_text("utf-8", errors="replace").strip().splitlines()
        why = (said or [f"status {prover.returncode}"])[-1]
        return Proof(task["engine"], Tier(task["tier"]), Verdict.FAILED, f"the prover left no proof: {why}")


def read_proof(document: dict[str, Any]) -> Proof:
    """A proof from its JSON."""
    syncs = {**document["syncs"], "hidden": tuple(document["syncs"]["hidden"])}
    known = {
        "tier": Tier(document["tier"]),
        "verdict": Verdict(document["verdict"]),
        "kills": Kills(**document["kills"]),
        "syncs": Syncs(**syncs),
    }
    return Proof(**{**document, **known})
