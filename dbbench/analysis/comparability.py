"""Whether two runs are alike enough to be compared, and what differs between them that may be the cause.

Where the work differs, no figure of one run says anything of the other. Where the machine differs, it
may be the machine. Versions and settings are often what is compared: they are only listed.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from itertools import zip_longest
from typing import Any, Self

from dbbench.analysis.publication import forbidden
from dbbench.analysis.queryplans import plan_changed, plans_of, shape
from dbbench.errors import UserError
from dbbench.host import machine
from dbbench.host.metric import Metric
from dbbench.results.chosen_run import by_metric
from dbbench.results.facts import ToldFacts
from dbbench.results.run_directory import Manifest, Run
from dbbench.results.trial import TrialResult
from dbbench.suite.model import Scenario, Suite
from dbbench.suite.steps import AnyStep

#: How a step or a scenario is shown; it changes no figure.
_SHOWN = {"title", "note", "charts", "worst_of_last"}
#: Characters of a text that differs, in a message.
_EXCERPT = 48


class Weight(Enum):
    """What a difference means for a comparison."""

    WORK = auto()
    MACHINE = auto()
    CAUSE = auto()


@dataclass(frozen=True)
class Difference:
    """What differs, and what it is in the one run and in the other."""

    weight: Weight
    what: str
    old: str
    new: str

    def __str__(self) -> str:
        return f"{self.what}: {self.old} -> {self.new}"


@dataclass(frozen=True)
class Side:
    """One of the two runs, read. `name` is what messages call it."""

    name: str
    manifest: Manifest
    suite: Suite
    results: Sequence[TrialResult]
    #: What the figures are of.
    metric: Metric = Metric.WALL
    #: Where its plans are; None: it has none.
    run: Run | None = None
    #: All results of the run, where some of its engines are left out.
    whole: Sequence[TrialResult] | None = None

    @classmethod
    def read(cls, run: Run, metric: Metric = Metric.WALL) -> Self:
        """All of a run. Raises RunError if a trial is damaged, UserError if it has no figures of that metric."""
        return cls(str(run.path), run.manifest, run.suite, by_metric(run.results(), metric), metric, run)

    def without(self, engines: Collection[str]) -> Self:
        """The same run as if some engines had not been in it."""
        known = {name: probed for name, probed in self.manifest.engines.items() if name not in engines}
        results = [result for result in self.results if result.engine_name not in engines]
        manifest = self.manifest.model_copy(update={"engines": known})
        return replace(self, manifest=manifest, results=results, whole=self.results)


def check_alike(old: Side, new: Side, *, across_machines: bool) -> list[Difference]:
    """The differences that don't forbid a comparison. Raises UserError, naming all that do."""
    found = list(differences(old, new))
    work = [item for item in found if item.weight is Weight.WORK]
    machines = [item for item in found if item.weight is Weight.MACHINE]
    if work:
        raise UserError(
            f"{old.name} and {new.name} did not do the same work:\n{_told(work, old, new)}\n"
            "compare runs of the same suite, scale, seed and durability"
        )
    if machines and not across_machines:
        raise UserError(
            f"{old.name} and {new.name} are of different machines:\n{_told(machines, old, new)}\n"
            "run both on one machine, or add --across-machines, which marks the result"
        )
    return [item for item in found if item.weight is not Weight.WORK]


def check_runs(
    sides: Sequence[Side], pairs: Iterable[tuple[Side, Side]], *, across_machines: bool
) -> list[tuple[Side, Difference]]:
    """Differences within each pair of several runs, with the run. Raises UserError for runs unlike or given twice."""
    for number, side in enumerate(sides):
        if same := [other.name for other in sides[:number] if other.manifest.created == side.manifest.created]:
            raise UserError(f"{same[0]} and {side.name} are one and the same run; name each once")
    return [(new, item) for old, new in pairs for item in check_alike(old, new, across_machines=across_machines)]


def withheld(sides: Iterable[Side]) -> dict[str, str]:
    """The engines whose figures may not be published in any of the runs -> the clause that says so."""
    return {name: why for side in sides for name, why in forbidden(side.manifest, side.results).items()}


def differences(old: Side, new: Side) -> Iterator[Difference]:
    """All differences that affect a comparison, the most important first."""
    yield from _work(old, new)
    for word, ours, theirs in machine.differences(old.manifest.machine, new.manifest.machine):
        yield Difference(Weight.MACHINE, word, ours, theirs)
    yield from _causes(old, new)


def plan_difference(
    scenario: str, step: str, engine: str, old: Iterable[Side], new: Iterable[Side]
) -> Iterator[Difference]:
    """A plan that changed from some runs to others, by the first line that did. Raises RunError."""
    ours, theirs = (
        [text for side in sides if side.run for text in plans_of(side.run, side.results, scenario, step, engine)]
        for sides in (old, new)
    )
    if plan_changed(ours, theirs):
        lines = zip_longest(ours[0].splitlines(), theirs[0].splitlines(), fillvalue="")
        then, now = next((one.strip(), other.strip()) for one, other in lines if shape(one) != shape(other))
        yield Difference(Weight.CAUSE, f"{engine}: plan changed in {step}", *_excerpts(_shown(then), _shown(now)))


def _told(found: Sequence[Difference], old: Side, new: Side) -> str:
    return "\n".join(f"  {item.what}: {item.old} in {old.name}, {item.new} in {new.name}" for item in found)


def _work(old: Side, new: Side) -> Iterator[Difference]:
    if old.suite.name != new.suite.name:
        yield Difference(Weight.WORK, "suite", old.suite.name, new.suite.name)
        return
    for what, ours, theirs in (
        ("scale", f"{old.manifest.scale:g}", f"{new.manifest.scale:g}"),
        ("seed", str(old.manifest.seed), str(new.manifest.seed)),
    ):
        if ours != theirs:
            yield Difference(Weight.WORK, what, ours, theirs)
    scenarios = {scenario.name: scenario for scenario in new.suite.scenarios}
    common = [(scenario, scenarios[scenario.name]) for scenario in old.suite.scenarios if scenario.name in scenarios]
    if not common:
        yield Difference(Weight.WORK, "scenarios", _names(old.suite.scenarios), _names(new.suite.scenarios))
    for dataset in dict.fromkeys(one.dataset for one, other in common if one.dataset == other.dataset):
        yield from _data(dataset, old, new)
    for one, other in common:
        yield from _scenario(one, other)


def _data(name: str, old: Side, new: Side) -> Iterator[Difference]:
    """A dataset's definition; and what was drawn, for another dbbench may draw other rows."""
    both = [side.suite.datasets[name] for side in (old, new)]
    first = None
    if both[0] != both[1]:
        ours, theirs = (each.model_dump(mode="json", exclude={"seed"}) for each in both)
        first = next(_unequal(ours, theirs), None)
    if first is None and (old.manifest.scale, old.manifest.seed) == (new.manifest.scale, new.manifest.seed):
        first = next(_unequal(old.manifest.datasets.get(name), new.manifest.datasets.get(name)), None)
    if first:
        yield _work_difference(f"dataset {name}", first)


def _scenario(old: Scenario, new: Scenario) -> Iterator[Difference]:
    """Steps run one after another on one session, so that a step counts on all before it."""
    if old == new:
        return
    what = f"scenario {old.name}"
    ours, theirs = (scenario.model_dump(mode="json", exclude={*_SHOWN, "steps"}) for scenario in (old, new))
    yield from (_work_difference(what, item) for item in _unequal(ours, theirs))
    for number, (one, other) in enumerate(zip(old.steps, new.steps, strict=False), 1):
        if one.name != other.name:
            yield Difference(Weight.WORK, f"{what}, step {number}", one.name, other.name)
            return
        first = next(_unequal(_bare(one), _bare(other)), None)
        if first:
            yield _work_difference(f"{what}, step {one.name}", first)


def _bare(step: AnyStep) -> dict[str, Any]:
    return step.model_dump(mode="json", exclude=_SHOWN)


def _causes(old: Side, new: Side) -> Iterator[Difference]:
    """dbbench, packages and limits; then each engine's versions and settings."""
    ours, theirs = _circumstances(old.manifest), _circumstances(new.manifest)
    for engine in old.manifest.engines:
        if engine in new.manifest.engines:
            ours[f"{engine}:"] = _system(engine, old)
            theirs[f"{engine}:"] = _system(engine, new)
    for group, facts in ours.items():
        for path, one, other in _unequal(facts, theirs[group]):
            yield Difference(Weight.CAUSE, f"{group} {'.'.join(path)}".strip(), _shown(one), _shown(other))


def _circumstances(manifest: Manifest) -> dict[str, dict[str, Any]]:
    limits = {"--trial-timeout": manifest.limits.get("seconds"), "--trial-memory": manifest.limits.get("memory")}
    limits |= {"--memory-limit": manifest.memory_limit} if manifest.memory_limit else {}
    return {"": {"dbbench": manifest.dbbench, **manifest.machine.get("packages", {}), **limits}}


def _system(engine: str, side: Side) -> dict[str, Any]:
    """An engine's versions and settings, as its first trial that came so far told them."""
    declared: ToldFacts = next(
        (one.engine for one in side.results if one.engine_name == engine and one.engine), ToldFacts()
    )
    return {**side.manifest.versions(engine, declared), **declared.get("settings", {})}


def _unequal(old: Any, new: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any, Any]]:
    """The places at which two documents differ: (path, there, here); None for what is missing."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in dict.fromkeys([*old, *new]):
            yield from _unequal(old.get(key), new.get(key), (*path, str(key)))
    elif isinstance(old, list) and isinstance(new, list):
        for index, (ours, theirs) in enumerate(zip_longest(old, new)):
            yield from _unequal(ours, theirs, (*path, str(index)))
    elif old != new:
        yield path, old, new


def _work_difference(what: str, found: tuple[tuple[str, ...], Any, Any]) -> Difference:
    path, old, new = found
    ours, theirs = _excerpts(_shown(old), _shown(new))
    return Difference(Weight.WORK, f"{what}, {'.'.join(path)}" if path else what, ours, theirs)


def _excerpts(old: str, new: str) -> tuple[str, str]:
    """Two long texts from shortly before the place where they part."""
    first = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    start = max(0, first - _EXCERPT // 3) if max(len(old), len(new)) > _EXCERPT else 0

    def cut(text: str) -> str:
        end = start + _EXCERPT
        return f"{'...' if start else ''}{text[start:end]}{'...' if len(text) > end else ''}"

    return cut(old), cut(new)


def _shown(value: Any) -> str:
    if value is None:
        return "none"
    return str(value).replace("\n", "\\n") or '""'


def _names(scenarios: Sequence[Scenario]) -> str:
    return ", ".join(scenario.name for scenario in scenarios)
