"""A run that was interrupted, or that is to have more rounds, made ready again."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path

from dbbench.cluster.place import Place
from dbbench.engine import variants
from dbbench.engine.urls import redacted
from dbbench.errors import RunError, UserError
from dbbench.host import control_group
from dbbench.results.run_directory import Run
from dbbench.run.answers import answers_again
from dbbench.run.choice import check_clients
from dbbench.run.data import drawn_again
from dbbench.run.extension import extend
from dbbench.run.over_hosts import again
from dbbench.run.ready import Ready, trials_of
from dbbench.run.releases import found_again, program_options


def resumed_run(
    path: Path,
    suite: str | None,
    urls: Mapping[str, str] | None = None,
    settings: Mapping[str, Mapping[str, str]] | None = None,
    rounds: int | None = None,
    cluster: Place | None = None,
    max_clients: int | None = None,
) -> Ready:
    """The run at `path`, to go on with, or to add rounds to, so that it has `rounds` in all.

    Raises RunError if it can't be read, UserError if it is of another suite, if a URL or a program of it is not given
    again, or if no rounds can be added.
    """
    run = Run.open(path)
    if suite is not None and suite not in (run.suite.name, run.manifest.suite):
        raise UserError(f"{path} is a run of {run.suite.name!r}, not of {suite!r}")
    if missing := [key for key in ("seconds", "memory") if key not in run.manifest.limits]:
        raise RunError(f"{path / 'run.json'} is damaged: limits: the key {missing[0]!r} is missing")
    with control_group.limited(run.manifest.memory_limit):
        pass  # refused now, if it can't be made
    check_clients(run.suite, max_clients, run.manifest.spread_over or 1)
    _check_urls(run, urls or {})
    again(run, cluster)
    _check_programs(run, settings or {})
    if rounds is not None:
        extend(run, rounds)
    datasets = drawn_again(run)
    folders = found_again(run.manifest.variants)
    if rounds is not None:
        run.save()  # from now on the run has this many rounds, also if it is interrupted
    answers = answers_again(run, datasets)
    fleet = cluster if run.manifest.fleet else None
    return Ready(run, trials_of(run), datasets, answers, {}, urls or {}, folders=folders, fleet=fleet)


def _check_urls(run: Run, urls: Mapping[str, str]) -> None:
    known_urls = {name: known["url"] for name, known in run.manifest.engines.items() if "url" in known}
    if unknown := [name for name in urls if name not in known_urls]:
        raise UserError(f"--url names {unknown[0]}, which the run at {run.path} has no server of")
    for name, shown in known_urls.items():
        if name not in urls:
            raise UserError(f"passwords are not kept: give the URL of {name} ({shown}) again with --url {name}=URL")
        if redacted(urls[name]) != shown:
            raise UserError(f"the run was started with {name} at {shown}, not at {redacted(urls[name])}")


def _check_programs(run: Run, settings: Mapping[str, Mapping[str, str]]) -> None:
    """A run directory may come from elsewhere: what it would have executed is for the user to name again."""
    mine = variants.inherited(run.manifest.variants, settings)
    taken = {variant.engine for variant in run.manifest.variants.values()} - run.manifest.engines.keys()
    named = {name: chosen for name, chosen in settings.items() if name not in taken} | mine
    given = {(name, option): value for name, chosen in named.items() for option, value in chosen.items()}
    for name, chosen in run.manifest.options.items():
        for option in program_options(run.manifest.plugin(name)) if name in run.manifest.engines else ():
            if not chosen.get(option):
                continue
            value = given.pop((name, option), None)
            if value is None:
                again = shlex.quote(f"{name}.{option}={chosen[option]}")
                raise UserError(
                    f"the run at {run.path} executes or reads a file that it names; "
                    f"if you trust that, name it again: --set {again}"
                )
            if value != chosen[option]:
                raise UserError(f"the run was started with {name}.{option}={chosen[option]}, not {value}")
    for name, option in given:
        raise UserError(f"--resume goes on as the run was started; omit --set {name}.{option}")
