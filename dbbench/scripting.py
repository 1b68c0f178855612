"""Runs from Python: `dbbench.run(...)` does what `dbbench suite` does, by the same rules."""

import contextlib
import datetime
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from dbbench.cluster.place import place
from dbbench.engine.urls import parse as parse_urls
from dbbench.report.frames import RunFrames
from dbbench.report.remarks import stopped
from dbbench.report.run_view import view
from dbbench.report.write import check_formats, write_report
from dbbench.results.trial import Progress
from dbbench.runs.begin import new_run
from dbbench.runs.fleet import run_fleet
from dbbench.runs.plan import Ready
from dbbench.runs.request import Request, with_builds, with_control, with_sweeps
from dbbench.runs.runner import run_trials


def run(
    suite: str | os.PathLike[str],
    *,
    engines: Sequence[str] = (),
    rounds: int | None = None,
    scale: float | None = None,
    seed: int | None = None,
    quick: bool = False,
    precision: float | None = None,
    time_limit: float | None = None,
    settings: Mapping[str, Mapping[str, object]] | None = None,
    sweeps: Mapping[str, Sequence[object]] | None = None,
    urls: Mapping[str, str] | None = None,
    cluster: str | None = None,
    hosts: int | None = None,
    fleet: bool = False,
    out: str | os.PathLike[str] | None = None,
    trial_timeout: float | None = None,
    trial_memory: int | None = None,
    memory_limit: int | None = None,
    max_clients: int | None = None,
    allow_outside: bool = False,
    builds: Mapping[str, str | os.PathLike[str]] | None = None,
    control: bool = False,
    formats: Sequence[str] = ("csv",),
    publish: bool = False,
) -> RunFrames:
    """Run a suite, a built-in one or a YAML file, and give its results; it takes as long as `dbbench suite`.

    The names are those of its options (docs/cli.md), and what is left out is as there. Times are in seconds, sizes in
    bytes, shares fractions of one. `settings`: engine or variant -> option -> value. `sweeps`: "ENGINE.OPTION" ->
    values. `builds`: "ENGINE@LABEL" -> what `--from` takes. `urls`: name -> URL. `formats`: what to write besides
    results.json; charts take a few seconds.

    Raises UserError, or SuiteError for a faulty suite, before anything is run. An engine that fails raises nothing: its
    outcome is in the results. After KeyboardInterrupt the finished trials stay, to go on with `dbbench suite --resume`.
    """
    check_formats(formats)
    with _kept_variables(urls or {}):
        request = Request(
            suite=os.fspath(suite),
            engines=tuple(engines),
            rounds=rounds,
            scale=scale,
            seed=seed,
            quick=quick,
            precision=precision,
            time_limit=time_limit,
            options={name: {option: _text(value) for option, value in chosen.items()} for name, chosen in (settings or {}).items()},
            urls=parse_urls([f"{name}={url}" for name, url in (urls or {}).items()]),
            cluster=place(cluster, hosts),
            fleet=fleet,
            out=None if out is None else Path(out),
            trial_timeout=trial_timeout,
            trial_memory=trial_memory,
            memory_limit=memory_limit,
            max_clients=max_clients,
            allow_outside=allow_outside,
        )  # fmt: skip
        request = with_builds(request, [f"{name}={os.fspath(what)}" for name, what in (builds or {}).items()])
        swept = [f"{place}={','.join(map(_text, values))}" for place, values in (sweeps or {}).items()]
        request = with_sweeps(request, swept)
        ready = new_run(with_control(request) if control else request)
        carry_out(ready)
        write_report(view(ready.run, publish=publish), formats)
        return RunFrames(ready.run.path)


@contextlib.contextmanager
def _kept_variables(urls: Mapping[str, str]) -> Iterator[None]:
    """Put back the environment variables of URLs: no trial may see them, and the next run asks for them again."""
    names = [url.removeprefix("env:") for url in urls.values() if url.startswith("env:")]
    before = {name: os.environ[name] for name in names if name in os.environ}
    try:
        yield
    finally:
        os.environ.update(before)


def _text(value: object) -> str:
    """A value as `--set` takes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def carry_out(ready: Ready, report: Callable[[Progress], None] = lambda _event: None) -> None:
    """Run the trials that are left, as many rounds as precision and time limit ask for; note that it is finished.

    Raises RunError if the run directory can't be written any more.
    """
    run, stop = ready.run, None
    if ready.fleet is not None:
        run_fleet(run, ready.trials, ready.fleet, report)
    else:
        stop = run_trials(ready, report)
    early = {"stopped": stopped(stop), "rounds": stop.rounds} if stop else {}
    run.manifest = run.manifest.model_copy(update={"finished": datetime.datetime.now(datetime.UTC), **early})
    run.save()
