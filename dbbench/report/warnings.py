"""What makes the figures of a run or of a comparison doubtful, in words that say what to do about it."""

import json
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path

from dbbench.analysis import fleet
from dbbench.analysis.comparability import Side, Weight, differences
from dbbench.analysis.compare import Comparison
from dbbench.analysis.publication import ALLOWED, CONDITIONS, FORBIDDEN, Figures, forbidden, terms
from dbbench.analysis.ranking import fewest_rounds
from dbbench.analysis.units import amount
from dbbench.analysis.verdicts import MARGIN, ComparisonVerdict, weight
from dbbench.host.interference import MOST_OTHERS
from dbbench.report.step_view import NOTABLE_SHARE
from dbbench.results.facts import NoiseFacts
from dbbench.results.run_directory import Manifest, Run
from dbbench.results.trial import TrialResult
from dbbench.suite.model import Suite

#: The share of all cores above which other virtual machines disturb a trial.
MOST_STEAL = 0.02
#: A disk that is quicker than this (seconds) answers from a cache.
LEAST_FDATASYNC = 20e-6
#: Least shares of the memory and of the disk that should be free, and of the CPU's greatest frequency that it may
#: reach.
LEAST_MEMORY, LEAST_DISK, LEAST_FREQUENCY = 0.10, 0.05, 0.95
_IN_MEMORY = ("tmpfs", "ramfs")
#: The largest page of memory (bytes). A system that counts more as written for one changed byte keeps files in larger
#: pieces.
LARGEST_PAGE = 64 << 10


def run_warnings(run: Run, found: Figures) -> list[str]:
    """A warning for each thing that makes a run's figures worth less."""
    manifest, rows = run.manifest, found.rows
    words = [*_not_run(run.path, manifest, run.suite, found.results)]
    most = max(
        (
            len({row.engine for row in rows if row.step == step and row.trial_means and row.ranked and row.verified})
            for step in {row.step for row in rows}
        ),
        default=0,
    )
    if few := too_few_rounds(most, manifest.rounds):
        words.append(few)
    if alike := [row.dependence.own for row in rows if not row.dependence.ranks]:
        words.append(
            f"neighbouring rounds are alike (autocorrelation {alike[0]:.2f}): times get no ranks; "
            "run again on a quieter machine"
        )
    bound = sorted({row.step for row in rows if (row.harness_share or 0) > NOTABLE_SHARE})
    if bound:
        words.append(f"the harness is more than {NOTABLE_SHARE:.0%} of some results in {', '.join(bound)}")
    timed = [row for row in rows if row.ranked and row.value is not None and row.unit != "B"]
    if odd := [row for row in timed if row.unsteady]:
        named: dict[str, list[str]] = {}
        for row in odd:
            named.setdefault(row.step, []).append(row.engine)
        where = "; ".join(f"{step}: {', '.join(engines)}" for step, engines in named.items())
        words.append(
            f"unsteady rounds in {len(odd)} of {len(timed)} figures ({textwrap.shorten(where, 200, placeholder=' ...')}): "
            "their footnotes explain how; run again on a quieter machine, or with more rounds"
        )
    return [
        *words, *_alike(manifest, found.results), *_unlike_hosts(found.results), *disturbances(manifest, found.results)
    ]  # fmt: skip


def too_few_rounds(engines: int, rounds: int) -> str:
    """Warning that this many rounds give no ranks, and how many do; empty if they are enough."""
    needed = fewest_rounds(engines)
    if engines < 2 or rounds >= needed:
        return ""
    return (
        f"{rounds} round{'s are' if rounds > 1 else ' is'} too few to tell {engines} engines apart: times get no ranks; "
        f"for ranks use --rounds {needed} or more"
    )


def publication_warnings(run: Run, results: Sequence[TrialResult], *, publish: bool) -> list[str]:
    """Warnings before figures are published."""
    if publish:
        return _unknown_terms(run.manifest, results)
    called = run.manifest.titles(results)
    withheld = [called[name] for name in forbidden(run.manifest, results)]
    if not withheld:
        return []
    without = f"`dbbench report {run.path} --publish` makes a report without these figures"
    return [f"not for publication: the licence of {' and of '.join(withheld)} forbids it; {without}"]


def publication_remarks(manifest: Manifest, results: Sequence[TrialResult]) -> Iterator[str]:
    """Notes required below everything published: conditions, and withheld figures with the clause."""
    called = manifest.titles(results)
    for name, each in terms(manifest, results).items():
        if each.status == CONDITIONS:
            yield f"{called[name]}: published with conditions: {each.clause or 'see its licence'}."
        elif each.status == FORBIDDEN:
            yield f"{called[name]}: figures withheld: {each.clause or 'its licence'}. Its position stays."


def comparison_warnings(shown: Comparison) -> list[str]:
    """A warning for each thing that makes the figures of a comparison doubtful."""
    doubts = [text for side in (*shown.old, *shown.new) for text in _of_side(side)]
    return [*_mixed(shown.old), *_mixed(shown.new), *doubts, *_drift(shown)]


def disturbances(manifest: Manifest, results: Sequence[TrialResult]) -> list[str]:
    """A warning for each thing that makes this run's figures worth less."""
    return [*_during(results), *_cpu(manifest.noise), *_room(manifest.noise), *_disk(manifest)]


def upper_limits(manifest: Manifest) -> list[str]:
    """Figures that the system counts too high, and by how much."""
    counted = manifest.noise.get("overwritten") or 0
    if counted <= LARGEST_PAGE:
        return []
    most = amount("B", counted)
    return [f'"Bytes written" is an upper bound: this kernel may count {most} for a one-byte change']


def _alike(manifest: Manifest, results: Sequence[TrialResult]) -> Iterator[str]:
    """Variants of one engine that answered with the same versions and settings, though none is a control."""
    found: dict[str, dict[str, None]] = {}
    # Where a build lies says nothing of it: its hash counts, and no option with its path.
    builds = {name: each.built or each.build.rpartition("sha256 ")[2] for name, each in manifest.variants.items()}
    controls = [name for name, variant in manifest.variants.items() if variant.repeats]
    for result in results:
        if result.engine_name not in controls and (versions := result.engine.get("versions")):
            settings = result.engine.get("settings", {})
            identity = [
                manifest.plugin(result.engine_name),
                versions,
                settings,
                result.engine.get("tier"),
                builds.get(result.engine_name, ""),
                manifest.engines[result.engine_name].get("url"),
                {
                    option: value
                    for option, value in manifest.options.get(result.engine_name, {}).items()
                    if not (builds.get(result.engine_name) and str(value).startswith("/"))
                    and str(settings.get(option)) != str(value)  # a default that is spelled out
                },
            ]
            found.setdefault(json.dumps(identity, sort_keys=True, default=str), {})[result.engine_name] = None
    for alike in dict.fromkeys(tuple(sorted(names)) for names in found.values() if len(names) > 1):
        yield f"{' and '.join(alike)} have the same versions and settings: what differs between them is noise"


def _during(results: Sequence[TrialResult]) -> Iterator[str]:
    """Warnings from the readings at both ends of each trial."""
    noise = [result.noise for result in results]
    for known, limit, text in (
        ([each.get("others") for each in noise], MOST_OTHERS, "other processes used up to {} of the machine during {}: run again without them, or on a quieter machine"),
        ([each.get("steal") for each in noise], MOST_STEAL, "other virtual machines took up to {} of this one's CPU time during {}: use a dedicated machine, or another time"),
    ):  # fmt: skip
        shares = [share for share in known if share is not None]
        many = sum(share > limit for share in shares)
        if many:
            yield text.format(f"{max(shares):.0%}", _of(many, len(shares)))
    slowed = [result for result in results if result.noise.get("throttled")]
    if slowed:
        yield (
            f"the CPU throttled from heat during {_of(len(slowed), len(results))}: "
            "cool it better, or limit its frequency"
        )


def _cpu(noise: NoiseFacts) -> Iterator[str]:
    governor, limit, most = noise.get("governor"), noise.get("frequency_limit_hz"), noise.get("frequency_most_hz")
    if governor and governor != "performance":
        yield (
            f"the CPU governor is {governor}, which changes the frequency with the load: "
            "cpupower frequency-set -g performance"
        )
    if limit and most and limit < LEAST_FREQUENCY * most:
        yield (
            f"the CPU is limited to {limit / 1e9:.2f} of its {most / 1e9:.2f} GHz: "
            f"cpupower frequency-set --max {most / 1e6:.0f}MHz, unless this is intended"
        )
    if noise.get("on_battery"):
        yield "the machine ran on its battery, which slows it down: plug it in"


def _room(noise: NoiseFacts) -> Iterator[str]:
    memory, disk = (
        (noise.get("memory_available"), noise.get("memory_total")),
        (noise.get("disk_free"), noise.get("disk_total")),
    )
    for what, (left, whole), least, remedy in (
        ("memory", memory, LEAST_MEMORY, "stop other programs, or choose a smaller --scale"),
        ("the disk", disk, LEAST_DISK, "make room, or name another place with --out"),
    ):  # fmt: skip
        if left is not None and whole and left < least * whole:
            yield f"only {amount('B', left)} ({left / whole:.0%}) of {what} were free: {remedy}"


def _disk(manifest: Manifest) -> Iterator[str]:
    probe = manifest.noise.get("fdatasync")
    kind = manifest.machine.get("file_system")
    if kind in _IN_MEMORY:
        yield f"the run directory is on {kind}: durable commits cost nothing there; name another place with --out"
    elif probe and probe["median"] < LEAST_FDATASYNC:
        yield (
            f"fdatasync takes only {amount('s', probe['median'])}: the disk or its cache "
            "doesn't wait for the medium, so durable figures mean little; name another disk with --out"
        )


def _of(some: int, all_: int) -> str:
    return f"{some} of {all_} trial{'s' if all_ > 1 else ''}"


def _unlike_hosts(results: Sequence[TrialResult]) -> Iterator[str]:
    """Warning that hosts differ in what they are."""
    if fleet.differ(results):
        yield "the hosts that ran rounds have different processors or memory: figures mix both; ranks compare within a host"


def _unknown_terms(manifest: Manifest, results: Sequence[TrialResult]) -> list[str]:
    """Engines whose licence is unknown to allow publishing, in words."""
    called = manifest.titles(results)
    return [
        f"whether the licence of {called[name]} lets its figures be published is not known"
        f"{f' ({each.clause})' if each.clause else ''}: look before you publish"
        for name, each in terms(manifest, results).items()
        if each.status not in (ALLOWED, CONDITIONS, FORBIDDEN)
    ]


def _mixed(sides: Sequence[Side]) -> Iterator[str]:
    """Runs of one side that are of different things: then their mean is of neither."""
    first, *others = sides
    for side in others:
        causes = [item for item in differences(first, side) if item.weight is Weight.CAUSE]
        if causes:
            yield f"{first.name} and {side.name} are on the same side but differ: {'; '.join(map(str, causes))}"


def _of_side(side: Side) -> Iterator[str]:
    """What makes one run's figures worth less."""
    yield from (f"{side.name}: {text}" for text in disturbances(side.manifest, side.results))
    yield from _not_run(side.name, side.manifest, side.suite, side.results)


def _not_run(name: str | Path, manifest: Manifest, suite: Suite, results: Sequence[TrialResult]) -> Iterator[str]:
    """Warning that a run lacks trials."""
    wanted = len(manifest.usable) * manifest.rounds * len(suite.scenarios)
    if missing := max(0, wanted - len(results)):
        yield f"{missing} of {wanted} trials of {name} have not been run: `dbbench suite --resume {name}` does them"


def _drift(shown: Comparison) -> Iterator[str]:
    """The null engines do dbbench's own work alone: where they changed, it wasn't the engines."""
    changed = [
        pair
        for pair in shown.nulls
        if pair.verdict in (ComparisonVerdict.SLOWER, ComparisonVerdict.FASTER) and weight(pair) >= MARGIN
    ]
    if changed:
        steps = ", ".join(f"{pair.engine} in {pair.step} ×{pair.ratio.value:.2f}" for pair in changed if pair.ratio)
        yield (
            f"the null engine, which does no work of its own, has changed too ({steps}): "
            "the machine or dbbench itself has changed"
        )
