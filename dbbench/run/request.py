"""What a user asked for, checked and turned into a run that is ready to go.

Everything that can be wrong is found here, before a directory is made.
"""

from __future__ import annotations

import datetime
import shlex
import shutil
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import psutil

import dbbench
from dbbench.cluster.place import Place
from dbbench.datasets.cache import Files, kept, materialise
from dbbench.engine import registry, variants
from dbbench.engine.null import NULLS, nulls
from dbbench.engine.probe import Probed, probe
from dbbench.engine.urls import redacted
from dbbench.errors import RunError, UserError
from dbbench.host import control_group, interference, machine
from dbbench.host.processes import Packages
from dbbench.results.run_directory import Manifest, Run
from dbbench.results.trial import MOST_ROUNDS as MOST_RUN_ROUNDS
from dbbench.results.trial import Trial
from dbbench.run.answers import answers_again, answers_of, with_agreements
from dbbench.run.config import Config
from dbbench.run.extension import extend
from dbbench.run.fleet import refuse_fleet
from dbbench.run.over_hosts import again, look_at_hosts, refuse
from dbbench.run.plan import DEFAULT_ROUNDS, fewest_rounds, plan
from dbbench.run.releases import found as releases_of
from dbbench.run.releases import found_again, program_options
from dbbench.run.settings import check_options, parse_sweeps
from dbbench.suite.loader import find_suite, parse_suite, read_text
from dbbench.suite.model import Quick, Suite, Variant

#: The most rounds of a run that goes on until a budget is reached.
MOST_ROUNDS = 50
#: The greatest multiple of a suite's rows.
MOST_SCALE = 10_000
#: How long a trial may take; with a scale above 1 as many times as long.
TRIAL_SECONDS = 600.0
#: Free bytes that a run wants besides the size of its data as CSV. What an engine makes of the data nobody knows before:
#: a trial is ended before the disk is full.
_ROOM = 2**24


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
    #: Bytes that a trial's engine and harness may use together, kept by the system.
    memory_limit: int | None = None
    #: Variant -> the option whose values `--sweep` goes through; the variants are among `engines`, their values in `options`.
    sweeps: Mapping[str, str] = field(default_factory=dict)
    #: Engines that a gate compares, which have to be among those that run.
    needed: Sequence[str] = ()
    #: The hosts that the clients are on, if not this machine, or that whole rounds run on.
    cluster: Place | None = None
    fleet: bool = False
    #: What a configuration file says; all else goes before it.
    config: Config = field(default_factory=Config)


@dataclass(frozen=True)
class Ready:
    """A run with its plan and its data."""

    run: Run
    trials: list[Trial]
    datasets: dict[str, Files]
    #: Scenario -> query -> the file of the rows that it must return, or the folder of those that engines gave.
    answers: dict[str, dict[str, str]]
    #: Engines that nobody asked for by name and that can't be run here: name -> what is known.
    absent: dict[str, Probed]
    urls: Mapping[str, str] = field(default_factory=dict, repr=False)
    #: Those of them that have none of the suite's operations.
    idle: Sequence[str] = ()
    #: Variant -> the folder with another release of its package, and the Python that it runs in.
    folders: Mapping[str, Packages] = field(default_factory=dict)
    #: The hosts that whole rounds run on.
    fleet: Place | None = None


def with_sweeps(request: Request, texts: Sequence[str]) -> Request:
    """The request with a variant for each value of the sweeps, `ENGINE.OPTION=VALUE,VALUE` texts. Raises UserError."""
    swept = parse_sweeps(texts)
    options = {name: dict(chosen) for name, chosen in request.options.items()}
    for name, option, value in swept:
        options.setdefault(name, {})[option] = value
    return replace(
        request,
        engines=(*request.engines, *(name for name, _, _ in swept)),
        options=options,
        sweeps={name: option for name, option, _ in swept},
    )


def _check(request: Request) -> None:
    """Raise UserError for a figure that makes no sense, or for what excludes each other."""
    for what, value, most in (
        ("rounds", request.rounds, MOST_RUN_ROUNDS),
        ("scale", request.scale, MOST_SCALE),
        ("precision", request.precision, 1),
        ("time_limit", request.time_limit, None),
        ("trial_timeout", request.trial_seconds, None),
        ("trial_memory", request.trial_memory, None),
        ("memory_limit", request.memory_limit, None),
    ):
        if value is not None and not 0 < value <= (most or float("inf")):
            raise UserError(f"{what}: {value:g} is not above 0{f' and at most {most:,}' if most else ''}")
    if request.seed is not None and not 0 <= request.seed < 2**63:
        raise UserError(f"seed: {request.seed} is not a whole number from 0 to 2^63 - 1")
    if request.quick and (request.rounds not in (None, 1) or request.precision or request.time_limit):
        raise UserError("--quick is one round; omit it to use --rounds, --precision or --time-limit")


def new_run(request: Request, report: Callable[[str], None] = lambda _line: None) -> Ready:
    """Check the request, draw the data and make the run directory. Raises UserError or SuiteError.

    `report` gets a line before whatever may take long.
    """
    _check(request)
    path = find_suite(request.suite)
    text = read_text(path)
    suite = parse_suite(text, str(path))
    known_variants = {**request.config.variants, **suite.variants}
    only, asked = _asked(request, suite, known_variants)
    variants.check(name for name in asked if name not in request.urls)
    mine = [name for name in asked if "@" in name and name not in request.urls]
    engines_of = [variants.base(name) for name in (*asked, *request.options) if name not in request.urls]
    registry.check_names(
        [*engines_of, *request.config.settings, *(variants.base(name) for name in request.urls if "@" in name)]
    )
    names = list(dict.fromkeys([*(only or registry.names()), *asked, *request.urls, *NULLS.values()]))
    options = _options(known_variants, request, names, mine)
    with control_group.limited(request.memory_limit):
        pass  # where it can't be made, the user learns it before anything is drawn
    for name in request.needed:
        if name not in names:
            raise UserError(f"--gate names {name}, which is not among the engines to run; add -e {name}")
    releases = releases_of(mine, options, known_variants, report)
    at_first = interference.reading()
    suite, quick = _sized(suite, request)
    scale = request.scale or (quick.scale if quick else 1.0)
    with ThreadPoolExecutor(1) as pool:  # a process imports every driver meanwhile
        looking = pool.submit(probe, names, options, request.urls, releases.folders)
        disturbs = interference.before(_existing(request.out or Path()))
        probed = looking.result()
    for name, why in releases.missing.items():
        probed[name] = replace(probed[name], status="unavailable", detail=why.reason, install=why.install)
    disturbs |= interference.between(at_first, interference.reading())
    check_options(options, probed)
    named = {*asked, *request.urls}
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
    engines |= {name: probed[name] for name in nulls(found.gives for found in usable)}
    out = request.out or Path("dbbench-runs") / f"{suite.name}-{datetime.datetime.now():%Y%m%d-%H%M%S}"
    check_out(out)
    look_at_hosts(request.cluster, [str(found.engine) for found in engines.values()])
    seed = request.seed if request.seed is not None else next(iter(suite.datasets.values())).seed
    datasets = draw(suite, scale, seed, path.parent)
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
        **({"cluster": request.cluster.address, "hosts": request.cluster.hosts} if request.cluster else {}),
        fleet=request.fleet,
        seed=seed,
        options=options,
        variants={
            name: facts.model_copy(
                update={
                    "sweep": request.sweeps.get(name, ""),
                    "env": known_variants[name].env if name in known_variants else {},
                }
            )
            for name, facts in releases.facts.items()
        },
        limits={
            "seconds": request.trial_seconds or _trial_seconds(quick, scale),
            "memory": request.trial_memory or psutil.virtual_memory().total * 3 // 4,
            **({"memory_limit": request.memory_limit} if request.memory_limit else {}),
        },
        machine=machine.describe(_existing(out)),
        noise=disturbs,
        datasets={name: _facts(files) for name, files in datasets.items()},
    )
    known = answers_of(suite, datasets, path.parent)
    manifest.answers = {name: {step: Path(file).name for step, file in each.items()} for name, each in known.items()}
    run = Run.create(out, manifest, suite, text)
    fleet = request.cluster if request.fleet else None
    known = with_agreements(run, known)
    return Ready(run, _trials(run), datasets, known, absent, request.urls, idle, releases.folders, fleet)


def _trial_seconds(quick: Quick | None, scale: float) -> float:
    return quick.trial_seconds if quick else TRIAL_SECONDS * max(1, scale)


def _asked(
    request: Request, suite: Suite, known_variants: Mapping[str, Variant]
) -> tuple[Sequence[str], Sequence[str]]:
    """The engines to look among, none for all of them; and those that are named. Raises UserError."""
    if request.fleet:
        if request.cluster is None:
            raise UserError("--fleet needs --cluster PLACE, the hosts to run rounds on, like --cluster tls://head:8786")
        refuse_fleet(suite, request.urls, budget=bool(request.precision or request.time_limit))
    elif request.cluster:
        refuse(suite, request.cluster, request.engines, request.urls)
        return tuple(request.urls), request.engines
    only = request.engines or request.config.engines
    asked = request.engines or tuple(dict.fromkeys([*request.config.engines, *known_variants]))
    return only, asked


def _sized(suite: Suite, request: Request) -> tuple[Suite, Quick | None]:
    """The suite as it is to run, and what it has for `--quick` if that is asked for."""
    quick = suite.quick if request.quick and request.scale is None else None
    if quick:
        suite = suite.first_look()
    if request.cluster and not request.fleet:
        suite = suite.over_hosts(request.cluster.hosts)
    return suite, quick


def resumed_run(
    path: Path,
    suite: str | None,
    urls: Mapping[str, str] | None = None,
    settings: Mapping[str, Mapping[str, str]] | None = None,
    rounds: int | None = None,
    cluster: Place | None = None,
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
    _check_urls(run, urls or {})
    again(run, cluster)
    _check_programs(run, settings or {})
    if rounds is not None:
        extend(run, rounds)
    datasets = drawn_again(run)
    folders = found_again(run.manifest.variants)
    if rounds is not None:
        run.save()  # from now on the run has this many rounds, also if it is interrupted
    answers = with_agreements(run, answers_again(run, datasets))
    fleet = cluster if run.manifest.fleet else None
    return Ready(run, _trials(run), datasets, answers, {}, urls or {}, folders=folders, fleet=fleet)


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


def draw(suite: Suite, scale: float, seed: int, folder: Path) -> dict[str, Files]:
    """The suite's datasets, from the cache, or drawn or read now. Files are looked for in `folder`."""
    return {
        name: materialise(dataset, scale=scale, seed=seed, folder=folder) for name, dataset in suite.datasets.items()
    }


def drawn_again(run: Run) -> dict[str, Files]:
    """A run's datasets. What came from files is taken from the cache: paths in a run directory are not followed."""
    found = {}
    for name, dataset in run.suite.datasets.items():
        if dataset.from_files:
            known = run.manifest.datasets.get(name)
            found[name] = kept(str(known.get("key", "")) if known else "")
        else:
            found[name] = materialise(dataset, scale=run.manifest.scale, seed=run.manifest.seed)
    return found


def check_out(out: Path) -> None:
    """Raise UserError if a run directory can't be made at `out`."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UserError(f"{out} already exists; choose another with --out, or continue with --resume {out}")


def _rounds(suite: Suite, engines: int, *, budget: bool) -> int:
    """Rounds where the user names none: enough to tell the engines apart, and for the original's method."""
    if budget:
        return MOST_ROUNDS
    methods = [scenario.worst_of_last.runs for scenario in suite.scenarios if scenario.worst_of_last]
    return max(DEFAULT_ROUNDS, fewest_rounds(engines), *methods)


def _options(
    known: Mapping[str, Variant], request: Request, names: Sequence[str], mine: Sequence[str]
) -> dict[str, dict[str, str]]:
    """The options of each name: of a variant its engine's, then the suite's or the file's, then those set for it.

    Of an engine those of the configuration file, then those set for it. A file may be of settings for other runs, too.
    """
    written = {name: known[name].texts for name in mine if name in known}
    for name, settings in {**request.config.texts, **written}.items():
        if named := [option for option in program_options(variants.base(name)) if option in settings]:
            raise UserError(
                f"a file can't name a program to run: use --set {name}.{named[0]}=... in place of {named[0]}"
            )
    engines = {name: dict(chosen) for name, chosen in request.config.texts.items()}
    for name, chosen in request.options.items():
        engines[name] = {**engines.get(name, {}), **chosen}
    found = {name: chosen for name, chosen in engines.items() if name in names}
    found |= variants.inherited(mine, {**engines, **{name: request.options.get(name, {}) for name in mine}}, written)
    taken = {*names, *map(variants.base, mine)}
    return found | {name: dict(chosen) for name, chosen in request.options.items() if name not in taken}


def _trials(run: Run) -> list[Trial]:
    beside = {name: variant.engine for name, variant in run.manifest.variants.items()}
    return plan(
        run.suite,
        run.manifest.usable,
        rounds=run.manifest.rounds,
        seed=run.manifest.seed,
        beside=beside,
        digits=run.digits(),  # those of the rounds it was begun with
    )


def _facts(files: Files) -> dict[str, object]:
    manifest = files.manifest
    rows = {name: table["rows"] for name, table in manifest["tables"].items()}
    return {"rows": rows, "csv_bytes": manifest["csv_bytes"], "key": files.directory.name}


def _existing(path: Path) -> Path:
    """The nearest folder that exists."""
    return path if path.is_dir() else next(parent for parent in path.absolute().parents if parent.is_dir())


def _check_room(out: Path, datasets: Mapping[str, Files]) -> None:
    needed = _ROOM + sum(files.manifest["csv_bytes"] for files in datasets.values())
    free = shutil.disk_usage(_existing(out)).free
    if free < needed:
        raise UserError(
            f"{_existing(out)} has {free / 1e6:,.0f} MB free, and this run needs {needed / 1e6:,.0f} MB or more; "
            "make room, name another place with --out, or choose a smaller --scale"
        )
