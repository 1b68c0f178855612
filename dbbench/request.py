"""What a user asked for, checked and turned into a run that is ready to go.

Everything that can be wrong is found here, before a directory is made.
"""

from __future__ import annotations

import datetime
import difflib
import shlex
import shutil
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path

import psutil

import dbbench
from dbbench import machine, noise, registry
from dbbench.datasets.files import Files, materialise
from dbbench.engine import programs
from dbbench.errors import RunError, Unavailable, UserError
from dbbench.loader import find_suite, parse_suite, read_text
from dbbench.plan import DEFAULT_ROUNDS, Trial, fewest_rounds, plan
from dbbench.probe import Probed, probe
from dbbench.store import Manifest, Run
from dbbench.suite import Suite
from dbbench.urls import redacted

#: The null engine of each form that rows come in: its time is the harness's own share.
NULLS = {"rows": "null", "batches": "null+arrow"}
#: The most rounds of a run that goes on until a budget is reached.
MOST_ROUNDS = 50
#: How long a trial may take.
TRIAL_SECONDS = 600.0
#: Free space that a run wants, as a multiple of the data's size as CSV: the engines' files and journals.
_ROOM = 8


@dataclass(frozen=True)
class Request:
    """One call of `dbbench suite`. `engines` empty means every one that is installed."""

    suite: str
    engines: Sequence[str] = ()
    #: None: as many as the number of engines needs, or up to MOST_ROUNDS within a budget.
    rounds: int | None = None
    precision: float | None = None
    time_limit: float | None = None
    #: None: the suite's own, or what it has for `quick`.
    scale: float | None = None
    #: One round, and less of everything where the suite says how much less and `scale` doesn't.
    quick: bool = False
    seed: int | None = None
    options: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    #: Name -> URL of a server to run against. The name of an engine, or of anything that SQLAlchemy reaches.
    urls: Mapping[str, str] = field(default_factory=dict, repr=False)
    out: Path | None = None
    #: None: TRIAL_SECONDS, or what the suite has for `quick`.
    trial_seconds: float | None = None
    trial_memory: int | None = None


@dataclass(frozen=True)
class Ready:
    """A run with its plan and its data."""

    run: Run
    trials: list[Trial]
    datasets: dict[str, Files]
    #: Engines that nobody asked for by name and that can't be run here: name -> what is known.
    absent: dict[str, Probed]
    urls: Mapping[str, str] = field(default_factory=dict, repr=False)
    #: Those of them that have none of the suite's operations.
    idle: Sequence[str] = ()


def new_run(request: Request) -> Ready:
    """Check the request, draw the data and make the run directory. Raises UserError or SuiteError."""
    path = find_suite(request.suite)
    registry.check_names([name for name in (*request.engines, *request.options) if name not in request.urls])
    registry.check_names([name.partition("@")[0] for name in request.urls if "@" in name])
    names = list(dict.fromkeys([*(request.engines or registry.names()), *request.urls, *NULLS.values()]))
    at_first = noise.reading()
    text = read_text(path)
    suite = parse_suite(text, str(path))
    quick = suite.quick if request.quick and request.scale is None else None
    if quick:
        suite = suite.first_look()
    scale = request.scale or (quick.scale if quick else 1.0)
    with ThreadPoolExecutor(1) as pool:  # a process imports every driver meanwhile
        looking = pool.submit(probe, names, request.options, request.urls)
        disturbs = noise.before(_existing(request.out or Path()))
        probed = looking.result()
    disturbs |= noise.between(at_first, noise.reading())
    check_options(request.options, probed)
    named = {*request.engines, *request.urls}
    unasked = {name: found for name, found in probed.items() if name not in named}
    idle = [
        name
        for name, found in unasked.items()
        if not suite.operations & {*found.operations} and (found.operations or found.status == "available")
    ]
    absent = {
        name: found
        for name, found in unasked.items()
        if name in idle or found.status != "available" or found.by_name_only
    }
    engines = {name: found for name, found in probed.items() if name not in absent and found.ranked}
    usable = [found for found in engines.values() if found.status == "available"]
    if not usable:
        reasons = [f"{p.name}: {p.detail}{f' ({p.install})' if p.install else ''}" for p in engines.values()]
        raise UserError(f"no engine to run: {'; '.join(reasons) or 'the null engine alone shows nothing'}")
    engines |= {null: probed[null] for form, null in NULLS.items() if form in {found.gives for found in usable}}
    out = request.out or Path("dbbench-runs") / f"{suite.name}-{datetime.datetime.now():%Y%m%d-%H%M%S}"
    check_out(out)
    seed = request.seed if request.seed is not None else next(iter(suite.datasets.values())).seed
    datasets = draw(suite, scale, seed)
    _check_room(out, datasets)
    manifest = Manifest(
        dbbench=dbbench.__version__,
        suite=suite.name,
        created=datetime.datetime.now(datetime.UTC),
        engines={
            name: asdict(found) | ({"url": redacted(request.urls[name])} if name in request.urls else {})
            for name, found in engines.items()
        },
        rounds=1
        if request.quick
        else request.rounds or _rounds(suite, len(usable), budget=bool(request.precision or request.time_limit)),
        precision=request.precision,
        time_limit=request.time_limit,
        scale=scale,
        quick=quick is not None,
        seed=seed,
        options={name: dict(options) for name, options in request.options.items()},
        limits={
            "seconds": request.trial_seconds or (quick.trial_seconds if quick else TRIAL_SECONDS),
            "memory": request.trial_memory or psutil.virtual_memory().total * 3 // 4,
        },
        machine=machine.describe(_existing(out)),
        noise=disturbs,
        datasets={name: _facts(files) for name, files in datasets.items()},
    )
    run = Run.create(out, manifest, suite, text)
    return Ready(run, _trials(run), datasets, absent, request.urls, idle)


def resumed_run(
    path: Path,
    suite: str | None,
    urls: Mapping[str, str] | None = None,
    settings: Mapping[str, Mapping[str, str]] | None = None,
) -> Ready:
    """The run at `path`, to go on with.

    Raises RunError if it can't be read, UserError if it is of another suite, or if a URL or a program of it is not given
    again.
    """
    run = Run.open(path)
    if suite is not None and suite not in (run.suite.name, run.manifest.suite):
        raise UserError(f"{path} is a run of {run.suite.name!r}, not of {suite!r}")
    if missing := [key for key in ("seconds", "memory") if key not in run.manifest.limits]:
        raise RunError(f"{path / 'run.json'} is damaged: limits: the key {missing[0]!r} is missing")
    _check_urls(run, urls or {})
    _check_programs(run, settings or {})
    return Ready(run, _trials(run), draw(run.suite, run.manifest.scale, run.manifest.seed), {}, urls or {})


def _check_urls(run: Run, urls: Mapping[str, str]) -> None:
    kept = {name: known["url"] for name, known in run.manifest.engines.items() if "url" in known}
    if unknown := [name for name in urls if name not in kept]:
        raise UserError(f"--url names {unknown[0]}, which the run at {run.path} has no server of")
    for name, shown in kept.items():
        if name not in urls:
            raise UserError(f"passwords are not kept: give the URL of {name} ({shown}) again with --url {name}=URL")
        if redacted(urls[name]) != shown:
            raise UserError(f"the run was started with {name} at {shown}, not at {redacted(urls[name])}")


def _check_programs(run: Run, settings: Mapping[str, Mapping[str, str]]) -> None:
    """A run directory may come from elsewhere: what it would have executed is for the user to name again."""
    given = {(name, option): value for name, chosen in settings.items() for option, value in chosen.items()}
    for name, chosen in run.manifest.options.items():
        for option in _programs(run.manifest.plugin(name)) if name in run.manifest.engines else ():
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


def _programs(engine: str) -> list[str]:
    """The options of an engine that name a program; none where the engine can't be run here anyway."""
    try:
        return programs(registry.find(engine).options_class)
    except (UserError, Unavailable, registry.Broken):
        return []


def draw(suite: Suite, scale: float, seed: int) -> dict[str, Files]:
    """The suite's datasets, from the cache or drawn now."""
    return {name: materialise(dataset, scale=scale, seed=seed) for name, dataset in suite.datasets.items()}


def check_out(out: Path) -> None:
    """Raise UserError if a run directory can't be made at `out`."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UserError(f"{out} is there already; name another with --out, or go on with it: --resume {out}")


def parse_settings(settings: Sequence[str]) -> dict[str, dict[str, str]]:
    """`ENGINE.OPTION=VALUE` texts as engine -> option -> value. Raises UserError."""
    options: dict[str, dict[str, str]] = {}
    for text in settings:
        place, equals, value = text.partition("=")
        engine, dot, option = place.rpartition(".")
        if not (equals and dot and engine and option):
            raise UserError(f"--set {text!r} is not ENGINE.OPTION=VALUE, like --set sqlite.cache_mib=256")
        options.setdefault(engine, {})[option] = value
    return options


def check_options(options: Mapping[str, Mapping[str, str]], probed: Mapping[str, Probed]) -> None:
    """Raise UserError for an option that an engine doesn't have, or a value that it doesn't take."""
    for engine, chosen in options.items():
        known = probed[engine].options if engine in probed else {}
        if engine not in probed:
            raise UserError(f"--set names {engine}, which is not among the engines to run")
        if probed[engine].status != "available":
            continue
        for option in chosen:
            if option not in known:
                near = difflib.get_close_matches(option, known, n=1)
                hint = f"; did you mean {near[0]!r}?" if near else ""
                raise UserError(f"{engine} has no option {option!r}{hint} (it has: {', '.join(known) or 'none'})")
        if probed[engine].fault:
            raise UserError(f"--set {engine}.{probed[engine].fault}")


def _rounds(suite: Suite, engines: int, *, budget: bool) -> int:
    """Rounds where the user names none: enough to tell the engines apart, and for the original's method."""
    if budget:
        return MOST_ROUNDS
    methods = [scenario.worst_of_last.runs for scenario in suite.scenarios if scenario.worst_of_last]
    return max(DEFAULT_ROUNDS, fewest_rounds(engines), *methods)


def _trials(run: Run) -> list[Trial]:
    return plan(run.suite, run.manifest.usable, rounds=run.manifest.rounds, seed=run.manifest.seed)


def _facts(files: Files) -> dict[str, object]:
    manifest = files.manifest
    rows = {name: table["rows"] for name, table in manifest["tables"].items()}
    return {"rows": rows, "csv_bytes": manifest["csv_bytes"]}


def _existing(path: Path) -> Path:
    """The nearest folder that exists."""
    return path if path.is_dir() else next(parent for parent in path.absolute().parents if parent.is_dir())


def _check_room(out: Path, datasets: Mapping[str, Files]) -> None:
    needed = _ROOM * sum(files.manifest["csv_bytes"] for files in datasets.values()) + 2**24
    free = shutil.disk_usage(_existing(out)).free
    if free < needed:
        raise UserError(
            f"{_existing(out)} has {free / 1e6:,.0f} MB free, and this run may need {needed / 1e6:,.0f} MB; "
            "make room, name another place with --out, or choose a smaller --scale"
        )
