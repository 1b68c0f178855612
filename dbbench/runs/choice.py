"""The engines and variants of a request, with options, as this machine has them; how much of the suite, how often."""

from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from dbbench.analysis.ranking import fewest_rounds
from dbbench.engine import builds, registry, variants
from dbbench.engine.null import NULLS, nulls
from dbbench.engine.probe import Probed, probe
from dbbench.errors import UserError
from dbbench.host import control_group, interference
from dbbench.host.processes import Packages
from dbbench.message import did_you_mean
from dbbench.results.found_runs import MADE_IN
from dbbench.results.run_directory import VariantFacts
from dbbench.runs.data import existing
from dbbench.runs.fleet import refuse_fleet
from dbbench.runs.over_hosts import refuse
from dbbench.runs.plan import DEFAULT_ROUNDS
from dbbench.runs.releases import Releases, program_options
from dbbench.runs.releases import found as releases_of
from dbbench.runs.request import Request, check_options
from dbbench.suite.model import Quick, Suite, Variant

#: The most rounds of a run that goes on until a budget is reached.
MOST_ROUNDS = 50
#: Memory for a client that is a process of its own; and how many there may be wherever a suite runs.
_CLIENT_BYTES, _FEW_CLIENTS = 64 * 2**20, 256
#: How long a trial may take; with a scale above 1 as many times as long.
TRIAL_SECONDS = 600.0


@dataclass(frozen=True)
class Choice:
    """All that a request leaves open, chosen for this machine."""

    #: The suite as it is to run.
    suite: Suite
    scale: float
    #: Whether it is what the suite has for `--quick`.
    quick: bool
    trial_seconds: float
    rounds: int
    #: Engines and variants that the user named, and the options of all.
    named: frozenset[str]
    options: dict[str, dict[str, str]]
    variants: dict[str, VariantFacts]
    #: Variant -> the folder with another release of its package, and the Python that it runs in.
    folders: Mapping[str, Packages]
    #: Those that run, null engines among them, or that can't though they were asked for: name -> what is known.
    engines: dict[str, Probed]
    #: Those that nobody named and that can't run here; and those of them that have none of the suite's operations.
    absent: dict[str, Probed]
    idle: Sequence[str]
    #: How far other processes disturbed the machine meanwhile.
    noise: dict[str, object]


def choose(request: Request, suite: Suite, report: Callable[[str], None]) -> Choice:
    """Choose engines, options and the amount of work, and look at each engine. `report` gets a line before long work.

    Raises UserError for names and options that don't exist, for too many clients, and if no engine is left to run.
    """
    known = {**request.config.variants, **suite.variants}
    only, asked = _asked(request, suite, known)
    variants.check(name for name in asked if name not in request.urls)
    mine = [name for name in asked if "@" in name and name not in request.urls]
    engines_of = [variants.base(name) for name in (*asked, *request.options) if name not in request.urls]
    registry.check_names([*engines_of, *(variants.base(name) for name in request.urls if "@" in name)])
    names = list(dict.fromkeys([*(only or registry.names()), *asked, *request.urls, *NULLS.values()]))
    for name in request.needed:
        if name not in names:
            raise UserError(f"--gate names {name}, which is not among the engines to run; add -e {name}")
    sources = {name: builds.source(what) for name, what in request.builds.items()}
    request = _with_programs(request, sources)
    check_steps(suite, request.needed_steps)
    suite, quick = _sized(suite, request)
    check_clients(suite, request.max_clients, request.cluster.hosts if request.cluster and not request.fleet else 1)
    options = options_of(known, request, names, mine)
    repeated = {variants.control(request.control): request.control} if request.control else {}
    options |= {name: options[original] for name, original in repeated.items() if original in options}
    releases = releases_of(mine, options, known, report, sources, repeated)
    probed, noise = _looked_at(names, options, request, releases)
    check_options(options, probed)
    swept = {
        name: facts.model_copy(update={"sweep": request.sweeps.get(name, "")}) for name, facts in releases.facts.items()
    }
    named = frozenset((*asked, *request.urls))
    engines, absent, idle = partition(probed, named, suite)
    usable = sum(found.ranked and found.status == "available" for found in engines.values())
    scale = request.scale or (quick.scale if quick else 1.0)
    return Choice(
        suite, scale, quick is not None, trial_seconds(request, quick, scale), _rounds(request, suite, usable),
        named, options, swept, releases.folders, engines, absent, idle, noise,
    )  # fmt: skip


def _with_programs(request: Request, sources: Mapping[str, builds.Source]) -> Request:
    """The request with each build that is no package as the program that the engine is to run. Raises UserError."""
    options = dict(request.options)
    for name, source in sources.items():
        if source.copied:
            continue
        own = program_options(variants.base(name))
        if len(own) != 1:
            raise UserError(
                f"--from: {request.builds[name]} is no wheel, sdist or folder with a pyproject.toml, and "
                f"{variants.base(name)} has no option that names a program or library"
            )
        options[name] = {**options.get(name, {}), own[0]: str(Path(request.builds[name]).resolve())}
    return replace(request, options=options)


def _asked(
    request: Request, suite: Suite, known_variants: Mapping[str, Variant]
) -> tuple[Sequence[str], Sequence[str]]:
    """The engines to look among, none for all of them; and those that are named. Raises UserError."""
    if request.fleet:
        if request.cluster is None:
            raise UserError("--fleet needs --cluster PLACE, the hosts to run rounds on, like --cluster tls://head:8786")
        if request.builds:
            raise UserError("--from builds on this machine alone; omit it, or --fleet")
        refuse_fleet(suite, request.urls, budget=bool(request.precision or request.time_limit))
    elif request.cluster:
        refuse(suite, request.engines, request.urls)
        return tuple(request.urls), request.engines
    return request.engines, request.engines or tuple(known_variants)


def options_of(
    known: Mapping[str, Variant], request: Request, names: Sequence[str], mine: Sequence[str]
) -> dict[str, dict[str, str]]:
    """The options of each name: of a variant its engine's, then the suite's or the file's, then those set for it.

    Those of a name that neither runs nor has a variant that does are kept, to be refused.
    """
    written = {name: known[name].texts for name in mine if name in known}
    for name, settings in written.items():
        if named := [option for option in program_options(variants.base(name)) if option in settings]:
            raise UserError(
                f"a file can't name a program to run: use --set {name}.{named[0]}=... in place of {named[0]}"
            )
    only_inherited = {variants.base(name) for name in mine}.difference(names)
    found = {name: dict(chosen) for name, chosen in request.options.items() if name not in only_inherited}
    return found | variants.inherited(mine, request.options, written)


def _looked_at(
    names: Sequence[str], options: dict[str, dict[str, str]], request: Request, releases: Releases
) -> tuple[dict[str, Probed], dict[str, object]]:
    """What is known of each engine, and how far other processes disturb the machine meanwhile."""
    at_first = interference.reading()
    with ThreadPoolExecutor(1) as pool:  # a process imports every driver meanwhile
        looking = pool.submit(probe, names, options, request.urls, releases.folders)
        disturbs = interference.before(existing(request.out or MADE_IN))
        probed = looking.result()
    for name, why in releases.missing.items():
        probed[name] = replace(probed[name], status="unavailable", detail=why.reason, install=why.install)
    for name, facts in releases.facts.items():
        probed[name] = replace(probed[name], versions=probed[name].versions | facts.versions)
    return probed, disturbs | interference.between(at_first, interference.reading())


def partition(
    probed: Mapping[str, Probed], named: Collection[str], suite: Suite
) -> tuple[dict[str, Probed], dict[str, Probed], list[str]]:
    """The engines to run with the null engines, those left out, and those without work in the suite."""
    unasked = {name: found for name, found in probed.items() if name not in named}
    idle = [
        name
        for name, found in unasked.items()
        if (not suite.operations & {*found.operations} and (found.operations or found.status == "available"))
        or (found.blocks and not suite.has_blocks)
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
    return engines | {name: probed[name] for name in nulls(found.gives for found in usable)}, absent, idle


def _sized(suite: Suite, request: Request) -> tuple[Suite, Quick | None]:
    """The suite as it is to run, and what it has for `--quick` if that is asked for."""
    quick = suite.quick if request.quick and request.scale is None else None
    if quick:
        suite = suite.first_look()
    if request.cluster and not request.fleet:
        suite = suite.over_hosts(request.cluster.hosts)
    return suite, quick


def check_steps(suite: Suite, wanted: Sequence[str], option: str = "--gate") -> None:
    """Raise UserError for a step, STEP or SCENARIO/STEP, that an option names and a suite doesn't have."""
    known = [(scenario.name, step.name) for scenario in suite.scenarios for step in scenario.steps]
    names = {name for scenario, step in known for name in (step, f"{scenario}/{step}")}
    for name in wanted:
        if name not in names:
            raise UserError(
                f"{option} names the step {name}, which {suite.name} doesn't have{did_you_mean(name, names)}"
            )


def check_clients(suite: Suite, allowed: int | None, hosts: int = 1) -> None:
    """Raise UserError for a step with more clients than the user allows, or than are started unasked."""
    most = allowed or hosts * max(_FEW_CLIENTS, control_group.memory() // _CLIENT_BYTES)
    why = "--max-clients allows" if allowed else "start unasked"
    for step in (step for scenario in suite.scenarios for step in scenario.steps):
        if (count := step.concurrent_clients.count) > most:
            raise UserError(
                f"{step.name} has {count:,} clients, more than the {most:,} that {why}; "
                f"to start them nevertheless add --max-clients {count}"
            )


def _rounds(request: Request, suite: Suite, engines: int) -> int:
    """The number of rounds to run."""
    if request.quick:
        return 1
    if request.rounds:
        return request.rounds
    if request.precision or request.time_limit:
        return MOST_ROUNDS
    # Enough to tell the engines apart, and for the original's method.
    methods = [scenario.worst_of_last.runs for scenario in suite.scenarios if scenario.worst_of_last]
    return max(DEFAULT_ROUNDS, fewest_rounds(engines), *methods)


def trial_seconds(request: Request, quick: Quick | None, scale: float) -> float:
    """How long a trial may take."""
    return request.trial_timeout or (quick.trial_seconds if quick else TRIAL_SECONDS * max(1, scale))
