"""Whether a run can have its clients on the hosts of a cluster: refused before anything is made."""

import shlex
from collections.abc import Collection, Iterable, Mapping
from functools import partial
from time import monotonic, sleep

from dbbench.cluster.place import Place, require
from dbbench.engine.null import NULLS
from dbbench.engine.probe import Probed
from dbbench.errors import UserError
from dbbench.results.run_directory import Manifest, Run
from dbbench.suite.model import Suite
from dbbench.suite.steps.base import ClientsStep

_SECONDS = 60.0
_POLL_SECONDS = 0.05


def refuse(suite: Suite, asked: Iterable[str], urls: Collection[str]) -> None:
    """Raise UserError for engines without a server that all hosts reach, and for a suite without clients."""
    if without := [name for name in asked if name not in urls and name not in NULLS.values()]:
        raise UserError(
            f"--cluster needs a server that all hosts reach, and {without[0]} has no --url: omit it, add "
            f"--url {without[0]}=URL, or have whole rounds run on hosts with --fleet"
        )
    if not urls:
        raise UserError(
            "--cluster needs a server that all hosts reach: name it with --url ENGINE=URL, or have whole rounds run on hosts with --fleet"
        )
    steps = [step for scenario in suite.scenarios for step in scenario.steps]
    if not any(isinstance(step, ClientsStep) for step in steps):
        raise UserError(f"--cluster: no step of {suite.name} has clients that could be on several hosts")
    require()


def look_at_hosts(place: Place | None, engines: Iterable[Probed]) -> None:
    """Raise UserError where hosts elsewhere can't be reached, are too few, or differ from this for an engine to run."""
    if place is None or place.local:
        return
    from dbbench.cluster.hosts import Hosts

    names = {each.engine for each in engines if each.status == "available"}
    with Hosts(place) as hosts:
        hosts.check({name: partial(_here, name) for name in sorted(names)})


def _here(name: str) -> Mapping[str, str]:
    """What this machine has for an engine, found by a process of its own: drivers stay out of this one."""
    from dbbench.cluster.agent import Agent, Ended
    from dbbench.cluster.leased import HOST_REPLY, HostOrder

    agent = Agent()
    agent.start(HostOrder(name).sealed)
    until = monotonic() + _SECONDS
    try:
        while monotonic() < until:
            for said in agent.poll():
                if isinstance(said, Ended):
                    raise UserError(f"{name}: {said.printed}")
                word = HOST_REPLY.validate_json(said)
                if word.has:
                    return word.has
                raise UserError(f"{name}: {word.failure and word.failure.text}")
            sleep(_POLL_SECONDS)
    finally:
        agent.finish()
    raise UserError(f"{name} could not be inspected within {_SECONDS:g} s")


def named(manifest: Manifest) -> str:
    """The options that name the hosts of a run once more; empty if it has none."""
    if not manifest.hosts:
        return ""
    hosts = "" if manifest.cluster.startswith("local:") else f" --hosts {manifest.hosts}"
    return f"--cluster {shlex.quote(manifest.cluster)}{hosts}"


def again(run: Run, place: Place | None) -> None:
    """Raise UserError unless a run that goes on is to have the hosts that it was started with, named again.

    A run directory may come from elsewhere: nobody is led to a scheduler by it.
    """
    manifest = run.manifest
    if place is None and manifest.hosts:
        raise UserError(f"the run at {run.path} has hosts: add {named(manifest)}")
    if place is not None and (place.address, place.hosts) != (manifest.cluster, manifest.hosts):
        where = f"on {manifest.hosts} hosts of {manifest.cluster}" if manifest.hosts else "without a cluster"
        raise UserError(f"the run at {run.path} was started {where}")
    if place is not None:
        require()
