"""Two sides, of one run each or several: whether they can be compared, what they share, and what is doubtful."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from dbbench.analysis.comparability import Difference, Side, Weight, check_runs, plan_difference, withheld
from dbbench.analysis.ranking import BAND
from dbbench.analysis.row import Row
from dbbench.analysis.summary import summarise
from dbbench.analysis.verdicts import MARGIN, Alone, ComparisonVerdict, Key, Pair, compare_rows, row_key, shared
from dbbench.errors import UserError


@dataclass(frozen=True)
class Comparison:
    """The result of comparing two sides. `pairs` come regressions first, the greatest of each kind first."""

    old: tuple[Side, ...]
    new: tuple[Side, ...]
    pairs: tuple[Pair, ...]
    #: How far from 1 an interval may reach for "the same".
    margin: float
    #: What the old side has and not every run, and what the new side has.
    gone: tuple[Alone, ...]
    added: tuple[Alone, ...]
    differences: tuple[Difference, ...]
    #: The null engines, which do dbbench's own work alone.
    nulls: tuple[Pair, ...] = ()
    #: Engines that are left out because their licences forbid to publish what was found: (engine, clause).
    withheld: tuple[tuple[str, str], ...] = ()

    @property
    def alone(self) -> tuple[Alone, ...]:
        """What only one of the runs has."""
        return self.gone + self.added

    def of(self, verdict: ComparisonVerdict) -> list[Pair]:
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
    old: Sequence[Side],
    new: Sequence[Side],
    *,
    gate: float | None = None,
    across_machines: bool = False,
    publish: bool = False,
) -> Comparison:
    """Compare one run with one, or several with several.

    Raises UserError if they are not alike or have nothing in common, or for too small a gate. `publish` leaves out
    the engines whose licences forbid to publish their figures, with all that follows from them.
    """
    if gate is not None and gate < BAND:
        raise UserError(
            f"a gate of {gate * 100:g} % is too small: medians less than {BAND * 100:g} % apart are the same"
        )
    if min(len(old), len(new)) == 1 < max(len(old), len(new)):
        raise UserError(
            f"{len(old)} old and {len(new)} new runs can't be compared: give one on each side, or two or more on each"
        )
    everyone = [*old, *new]
    differing = check_runs(everyone, ((old[0], side) for side in everyone[1:]), across_machines=across_machines)
    # What differs within a side is no cause of what differs between the two.
    found = dict.fromkeys(item for side, item in differing if item.weight is Weight.MACHINE or side is new[0])
    for side in everyone:
        if not side.results:
            raise UserError(f"{side.name} has no finished trial; `dbbench suite --resume {side.name}` runs them")
    hidden = withheld(everyone) if publish else {}
    old, new = ([side.without(hidden) for side in sides] for sides in (old, new))
    ours, theirs = (
        [summarise(side.suite, side.manifest, side.results, whole=side.whole) for side in sides] for sides in (old, new)
    )
    margin = MARGIN if gate is None else min(MARGIN, gate)
    pairs = compare_rows(_part(ours, ranked=True), _part(theirs, ranked=True), margin)
    if not pairs and hidden:
        raise UserError(f"nothing is left to compare for publication: withheld are {', '.join(hidden)}")
    if not pairs:
        first, second = (", ".join(_engines(rows)) for rows in (ours, theirs))
        raise UserError(
            f"{_names(old)} and {_names(new)} have no step of an engine in common ({first} in the one, "
            f"{second} in the other); run both with the same --engine"
        )
    for pair in pairs:
        found |= dict.fromkeys(plan_difference(pair.scenario, pair.step, pair.engine, old, new))
    # The null engines show what differs between these very runs: nothing is taken for it.
    nulls = compare_rows(_part(ours, ranked=False), _part(theirs, ranked=False), margin, allowance=0)
    common = {*shared([*ours, *theirs])}
    return Comparison(
        old=tuple(old),
        new=tuple(new),
        pairs=tuple(pairs),
        margin=margin,
        gone=_alone(ours, common, old),
        added=_alone(theirs, common, new),
        differences=tuple(found),
        nulls=tuple(nulls),
        withheld=tuple(hidden.items()),
    )


def _names(sides: Sequence[Side]) -> str:
    return ", ".join(side.name for side in sides)


def _engines(runs: Sequence[Sequence[Row]]) -> list[str]:
    return sorted({row.engine for rows in runs for row in rows if row.ranked})


def _part(runs: Sequence[Sequence[Row]], *, ranked: bool) -> list[list[Row]]:
    """Rows of the engines, or those of the null engines."""
    return [[row for row in rows if row.ranked is ranked] for rows in runs]


def _alone(runs: Sequence[Sequence[Row]], common: Collection[Key], sides: Sequence[Side]) -> tuple[Alone, ...]:
    """What these runs have and not every run has: of a whole engine or scenario that alone, not its steps."""
    names = tuple(side.name for side in sides)
    scenarios, engines = ({key[part] for key in common} for part in (0, 2))
    steps = {key[:2] for key in common}
    found = []
    for row in (row for rows in runs for row in rows if row_key(row) not in common):
        if row.engine not in engines:
            found.append(Alone(names, engine=row.engine))
        elif row.scenario not in scenarios:
            found.append(Alone(names, scenario=row.scenario))
        else:
            engine = row.engine if (row.scenario, row.step) in steps else ""
            found.append(Alone(names, engine, row.scenario, row.step))
    return tuple(dict.fromkeys(found))
