"""A run that was interrupted, or that is to have more rounds, made ready again."""

import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path

import dbbench
from dbbench.cluster.place import Place
from dbbench.engine import variants
from dbbench.engine.builds import source
from dbbench.engine.probe import probe
from dbbench.engine.urls import redacted
from dbbench.errors import RunError, UserError
from dbbench.host import control_group, machine
from dbbench.results.run_directory import Manifest, Run
from dbbench.runs.choice import check_clients
from dbbench.runs.data import answers_again, drawn_again
from dbbench.runs.over_hosts import again
from dbbench.runs.plan import Ready, trials_of
from dbbench.runs.releases import found_again, program_options
from dbbench.runs.shares import keep


def resumed_run(
    path: Path,
    suite: str | None,
    urls: Mapping[str, str] | None = None,
    settings: Mapping[str, Mapping[str, str]] | None = None,
    rounds: int | None = None,
    cluster: Place | None = None,
    max_clients: int | None = None,
    counts: bool = True,
) -> Ready:
    """The run at `path`, to continue, or to extend to `rounds` rounds; or for trials that don't count.

    Raises RunError if it can't be read, or is to be changed while another dbbench is at work on it, UserError if it is
    of another suite, if a URL or a program of it is not given again, if its caches follow an older rule, if no rounds
    can be added, or if what is left of it would be of another machine, dbbench or engine than it says.
    """
    run = Run.open(path)
    if suite is not None and suite not in (run.suite.name, run.manifest.suite):
        raise UserError(f"{path} is a run of {run.suite.name!r}, not of {suite!r}")
    if missing := [key for key in ("seconds", "memory") if key not in run.manifest.limits]:
        raise RunError(f"{path / 'run.json'} is damaged: limits: the key {missing[0]!r} is missing")
    had_none = keep(run)
    with control_group.limited(run.manifest.memory_limit):
        pass  # refused now, if it can't be made
    check_clients(run.suite, max_clients, run.manifest.spread_over or 1)
    _check_urls(run, urls or {})
    again(run, cluster)
    _check_programs(run, settings or {})
    if rounds is not None:
        extend(run, rounds)
    trials = trials_of(run)
    if counts and len(run.done(trials)) < len(trials) and (differs := list(changed(run))):
        what = "\n".join(f"  {word}: {then} then, {now} now" for word, then, now in differs)
        raise UserError(
            f"the trials left of the run at {run.path} would differ from what it says:\n{what}\nstart a new run"
        )
    datasets = drawn_again(run)
    folders = found_again(run.manifest.variants)
    if rounds is not None or had_none:
        with run.locked():
            run.save()  # from now on the run has this many rounds and these shares, also if it is interrupted
    answers = answers_again(run, datasets)
    fleet = cluster if run.manifest.fleet else None
    return Ready(run, trials, datasets, answers, {}, urls or {}, folders=folders, fleet=fleet)


def extend(run: Run, rounds: int) -> None:
    """Give a run `rounds` rounds in all, which count as if they had been planned from the start.

    It is then unfinished, whatever precision or time limit it had; nothing is saved.

    Raises UserError if it has as many.
    """
    manifest = run.manifest
    if rounds <= manifest.rounds:
        have = f"{manifest.rounds} round{'s' if manifest.rounds > 1 else ''}"
        raise UserError(f"the run at {run.path} has {have}; --rounds is the total number, so name more")
    run.manifest = manifest.model_copy(
        update={"rounds": rounds, "precision": None, "time_limit": None, "stopped": "", "finished": None}
    )


def changed(run: Run) -> Iterator[tuple[str, str, str]]:
    """Differences from the day of the run: (what, then, now)."""
    manifest = run.manifest
    if manifest.dbbench != dbbench.__version__:
        yield "dbbench", manifest.dbbench, dbbench.__version__
    yield from machine.differences(manifest.machine, machine.describe(run.path))
    # A server at a URL is asked by its trials only.
    local = [name for name in manifest.usable if "url" not in manifest.engines[name]]
    for name, found in probe(local, manifest.options, {}, found_again(manifest.variants)).items():
        built = _built(manifest, name)
        then, now = manifest.engines[name].get("versions", {}), found.versions | built
        if found.status != "available":
            yield name, "available", f"{found.status} ({found.detail})"
        elif then != now:
            yield name, _pairs(then), _pairs(now)


def _built(manifest: Manifest, name: str) -> dict[str, str]:
    """What a variant is built from, as one of its versions: a program or library as it is now, a package as it was."""
    variant = manifest.variants.get(name)
    if variant is None or variant.built or not variant.build:
        return variant.versions if variant else {}
    chosen = manifest.options.get(name, {})
    path = next((str(chosen[option]) for option in program_options(variant.engine) if chosen.get(option)), "")
    return variant.model_copy(update={"build": source(path).words if path else ""}).versions


def _pairs(versions: dict[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in versions.items()) or "no version"


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
