"""What a user asked for, whether its figures make sense, and whether the engines have the options that are set."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from dbbench.cluster.place import Place
from dbbench.engine.probe import Probed
from dbbench.engine.variants import control
from dbbench.errors import UserError
from dbbench.message import did_you_mean
from dbbench.results.trial import MOST_ROUNDS
from dbbench.runs.config import Config

#: The greatest multiple of a suite's rows.
MOST_SCALE = 10_000


@dataclass(frozen=True)
class Request:
    """One call of `dbbench suite`. `engines` empty means every one that is installed."""

    suite: str
    engines: Sequence[str] = ()
    #: None: as many as the number of engines needs, or up to those of a budget.
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
    #: None: the usual time, or what the suite has for `quick`.
    trial_timeout: float | None = None
    trial_memory: int | None = None
    #: Bytes that a trial's engine and harness may use together, kept by the system.
    memory_limit: int | None = None
    #: How many clients a step may have; None: 256, or one for each 64 MiB of memory if that is more.
    max_clients: int | None = None
    #: Whether the suite may read files outside its folder.
    allow_outside: bool = False
    #: Variant -> the option whose values `--sweep` goes through; the variants are among `engines`, their values in
    #: `options`.
    sweeps: Mapping[str, str] = field(default_factory=dict)
    #: The engine or variant that runs once more, as a control; empty for none.
    control: str = ""
    #: Variant -> the build that it is of, as the user named it; the variants are among `engines`.
    builds: Mapping[str, str] = field(default_factory=dict)
    #: Engines that a gate compares, which have to be among those that run.
    needed: Sequence[str] = ()
    #: Steps that a gate compares, which the suite has to have.
    needed_steps: Sequence[str] = ()
    #: The hosts that the clients are on, if not this machine, or that whole rounds run on.
    cluster: Place | None = None
    fleet: bool = False
    #: What a configuration file says; everything else takes precedence.
    config: Config = field(default_factory=Config)


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


def with_control(request: Request, old: str = "") -> Request:
    """The request with one engine twice: `old`, which a gate compares with, or else the first. Raises UserError."""
    repeated = old or next(iter(request.engines), "")
    if not repeated:
        raise UserError("--control runs one engine twice: name it with -e")
    if repeated in request.urls:
        raise UserError(f"--control can't repeat {repeated}, a server at a URL: both would use one server")
    return replace(request, engines=(*request.engines, control(repeated)), control=repeated)


def with_builds(request: Request, texts: Sequence[str]) -> Request:
    """The request with a variant for each `ENGINE@LABEL=WHAT` text. Raises UserError."""
    builds: dict[str, str] = {}
    for text in texts:
        name, equals, what = text.partition("=")
        if not (equals and what and "@" in name):
            raise UserError(f"--from {text!r} is not ENGINE@LABEL=WHAT, like --from duckdb@head=./duckdb-python")
        if name in builds:
            raise UserError(f"--from names {name} twice")
        builds[name] = what
    further = (name for name in builds if name not in request.engines)
    return replace(request, engines=(*request.engines, *further), builds=builds)


def check(request: Request) -> None:
    """Raise UserError for a figure that makes no sense, or for what excludes each other."""
    for what, value, most in (
        ("rounds", request.rounds, MOST_ROUNDS),
        ("scale", request.scale, MOST_SCALE),
        ("precision", request.precision, 1),
        ("time_limit", request.time_limit, None),
        ("trial_timeout", request.trial_timeout, None),
        ("trial_memory", request.trial_memory, None),
        ("memory_limit", request.memory_limit, None),
        ("max_clients", request.max_clients, None),
    ):
        if value is not None and not 0 < value <= (most or float("inf")):
            raise UserError(f"{what}: {value:g} is not above 0{f' and at most {most:,}' if most else ''}")
    if request.seed is not None and not 0 <= request.seed < 2**63:
        raise UserError(f"seed: {request.seed} is not a whole number from 0 to 2^63 - 1")
    if request.quick and (request.rounds not in (None, 1) or request.precision or request.time_limit):
        raise UserError("--quick is one round; omit it to use --rounds, --precision or --time-limit")


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


def parse_sweeps(texts: Sequence[str]) -> list[tuple[str, str, str]]:
    """`ENGINE.OPTION=VALUE,VALUE` texts as a variant for each value: (name, option, value). Raises UserError."""
    found: list[tuple[str, str, str]] = []
    for text in texts:
        place, equals, values = text.partition("=")
        engine, dot, option = place.rpartition(".")
        each = [value.strip() for value in values.split(",")]
        if not (equals and dot and engine and option and all(each)) or "@" in engine:
            raise UserError(
                f"--sweep {text!r} is not ENGINE.OPTION=VALUE,VALUE, like --sweep sqlite.cache_mib=16,64,256"
            )
        if len(set(each)) < max(2, len(each)):
            raise UserError(f"--sweep {text!r} needs two values or more, each once")
        labels = [re.sub(r"[^a-z0-9._-]+", "-", f"{option}-{value}".lower())[:48] for value in each]
        if len(set(labels)) < len(labels):
            raise UserError(
                f"--sweep {text!r} has two values that would have one label: give each its own by "
                f"-e {engine}@LABEL --set {engine}@LABEL.{option}=VALUE"
            )
        found += [(f"{engine}@{label}", option, value) for label, value in zip(labels, each, strict=True)]
    return found


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
                raise UserError(
                    f"{engine} has no option {option!r}{did_you_mean(option, known)} (it has: {', '.join(known) or 'none'})"
                )
        if probed[engine].fault:
            raise UserError(f"--set {engine}.{probed[engine].fault}")
