"""Two runs side by side: whether they can be compared, what they share, and what makes the figures doubtful."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dbbench.analysis.environment import disturbances
from dbbench.analysis.likeness import Difference, Side, Weight, check_alike
from dbbench.analysis.publication import forbidden
from dbbench.analysis.ranking import BAND
from dbbench.analysis.summary import Row, summarise
from dbbench.analysis.verdicts import MARGIN, Pair, Verdict, compare_rows, row_key, weight
from dbbench.errors import UserError


@dataclass(frozen=True)
class Comparison:
    """All that there is to say of two runs. `pairs` come regressions first, the greatest of each kind first."""

    old: Side
    new: Side
    pairs: tuple[Pair, ...]
    #: How far from 1 an interval may reach for "the same".
    margin: float
    #: Engines, scenarios and steps that only the old run has, and those that only the new one has, in words.
    gone: tuple[str, ...]
    added: tuple[str, ...]
    differences: tuple[Difference, ...]
    #: What makes the figures themselves doubtful, in words.
    warnings: tuple[str, ...]
    #: Engines that are left out because their licences forbid to publish what was found: (engine, clause).
    withheld: tuple[tuple[str, str], ...] = ()

    @property
    def alone(self) -> tuple[str, ...]:
        """What only one of the runs has."""
        return self.gone + self.added

    def of(self, verdict: Verdict) -> list[Pair]:
        """The pairs with one verdict."""
        return [pair for pair in self.pairs if pair.verdict is verdict]

    @property
    def machines(self) -> list[Difference]:
        """What differs between the machines: with any of these the result carries a stamp."""
        return [item for item in self.differences if item.weight is Weight.MACHINE]

    @property
    def causes(self) -> list[Difference]:
        """Versions, settings and limits that differ."""
        return [item for item in self.differences if item.weight is Weight.CAUSE]


def compare(
    old: Side, new: Side, *, gate: float | None = None, across_machines: bool = False, publish: bool = False
) -> Comparison:
    """Compare two runs. Raises UserError if they are not alike or have nothing in common, or for too small a gate.

    `publish` leaves out the engines whose licences forbid to publish their figures, with all that follows from them.
    """
    if gate is not None and gate < BAND:
        raise UserError(
            f"a gate of {gate * 100:g} % is too small: medians less than {BAND * 100:g} % apart are the same"
        )
    if old.manifest.created == new.manifest.created:
        raise UserError(f"{old.name} and {new.name} are one and the same run; compare two")
    found = check_alike(old, new, across_machines=across_machines)
    for side in (old, new):
        if not side.results:
            raise UserError(f"{side.name} has no finished trial; `dbbench suite --resume {side.name}` runs them")
    held: dict[str, str] = {}
    if publish:
        held = forbidden(old.manifest, old.results) | forbidden(new.manifest, new.results)
        old, new = (side.without(held) for side in (old, new))
    ours, theirs = (summarise(side.suite, side.manifest, side.results) for side in (old, new))
    margin = MARGIN if gate is None else min(MARGIN, gate)
    pairs = compare_rows(_part(ours, ranked=True), _part(theirs, ranked=True), margin)
    if not pairs and held:
        raise UserError(f"nothing is left to compare for publication: withheld are {', '.join(held)}")
    if not pairs:
        engines = [", ".join(sorted({row.engine for row in rows if row.ranked})) for rows in (ours, theirs)]
        raise UserError(
            f"{old.name} and {new.name} have no step of an engine in common ({engines[0]} in the one, "
            f"{engines[1]} in the other); run both with the same --engine"
        )
    nulls = compare_rows(_part(ours, ranked=False), _part(theirs, ranked=False), margin)
    return Comparison(
        old=old,
        new=new,
        pairs=tuple(pairs),
        margin=margin,
        gone=tuple(_alone(ours, theirs, old.name)),
        added=tuple(_alone(theirs, ours, new.name)),
        differences=tuple(found),
        warnings=(*_doubts(old), *_doubts(new), *_drift(nulls)),
        withheld=tuple(held.items()),
    )


def _part(rows: Sequence[Row], *, ranked: bool) -> list[Row]:
    """Those of the engines, or those of the null engines."""
    return [row for row in rows if row.ranked is ranked]


def _alone(rows: Sequence[Row], others: Sequence[Row], name: str) -> Iterator[str]:
    """What only the rows of the run called `name` have: whole engines and scenarios first, then steps."""
    engines = {row.engine for row in others}
    scenarios = {row.scenario for row in others}
    steps = {row_key(row) for row in others}
    cells = {(*row_key(row), row.engine) for row in others}
    told = []
    for row in rows:
        if row.engine not in engines:
            told.append(f"engine {row.engine}")
        elif row.scenario not in scenarios:
            told.append(f"scenario {row.scenario}")
        elif row_key(row) not in steps:
            told.append(f"step {row.step} of {row.scenario}")
        elif (*row_key(row), row.engine) not in cells:
            told.append(f"{row.engine} in step {row.step} of {row.scenario}")
    return (f"only in {name}: {what}" for what in dict.fromkeys(told))


def _doubts(side: Side) -> Iterator[str]:
    """What makes one run's figures worth less."""
    yield from (f"{side.name}: {text}" for text in disturbances(side.manifest, side.results))
    wanted = len(side.manifest.usable) * side.manifest.rounds * len(side.suite.scenarios)
    missing = wanted - len(side.results)
    if missing > 0:
        yield (
            f"{missing} of {wanted} trials of {side.name} have not been run: "
            f"`dbbench suite --resume {side.name}` does them"
        )


def _drift(nulls: Sequence[Pair]) -> Iterator[str]:
    """The null engines do dbbench's own work alone: where they changed, it wasn't the engines."""
    changed = [pair for pair in nulls if pair.verdict in (Verdict.SLOWER, Verdict.FASTER) and weight(pair) >= MARGIN]
    if changed:
        steps = ", ".join(f"{pair.engine} in {pair.step} ×{pair.ratio.value:.2f}" for pair in changed if pair.ratio)
        yield (
            f"the null engine, which does no work of its own, has changed too ({steps}): "
            "the machine or dbbench itself is not as it was"
        )
