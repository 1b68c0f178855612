"""The rows of one step in order, best to worst, with ranks, ratios and the harness's share."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from dbbench.analysis.dependence import INDEPENDENT, stretched
from dbbench.analysis.ranking import BAND, ranks, told_apart
from dbbench.analysis.remarks import About, Remark
from dbbench.analysis.row import Row
from dbbench.analysis.statistics import Estimate, paired_ratio
from dbbench.analysis.verdicts import have_ratios


def ordered(rows: Sequence[Row], *, mixed: bool = False) -> list[Row]:
    """Rows of one step with ranks, ratios and the harness's share, best first; the null engines' last.

    After the ranked ones come those of another sort, those that were not verified, then the failed ones. `mixed`: rank
    Arrow batches with rows.
    """
    rows = [_together(row) for row in rows]
    higher = any(row.direction == "higher" for row in rows)
    nulls = [row for row in rows if not row.ranked]
    known = [row for row in rows if row.value is not None and row.ranked]
    known.sort(key=lambda row: ((-1 if higher else 1) * (row.value or 0.0), row.engine))
    unverified = [row for row in known if not row.verified]
    good, apart_rows = _alike([row for row in known if row.verified], mixed=mixed)
    # An engine with fewer rounds than the others (one that came to harm) has a figure, but no rank.
    most = max((len(row.trial_means) for row in good), default=0)
    full = [row for row in good if len(row.trial_means) == most]
    common = set.intersection(*(set(row.of_rounds) for row in full)) if full else set()
    whole = {row.engine: _means(row, common) for row in full}
    exact = all(row.unit == "B" for row in good)
    depends = good[0].dependence if good else INDEPENDENT
    apart = None
    if whole and (exact or depends.ranks):
        apart = told_apart(whole, higher=higher, exact=exact, inflation=depends.pairs)
    found = {} if apart is None else ranks(whole, apart)
    ratios = {row.engine: _ratio(row, good[0]) for row in good}
    good = [
        replace(
            row,
            rank=found.get(row.engine),
            ratio=ratios[row.engine],
            better=frozenset(better for better, worse in apart or () if worse == row.engine),
            harness_share=harness_share(row, nulls),
        )
        for row in good
    ]
    good = [replace(row, doubt=_doubt(row, good[0])) for row in good]
    failed = sorted((row for row in rows if row.value is None and row.ranked), key=_failed_order)
    unranked = [replace(row, harness_share=harness_share(row, nulls)) for row in (*apart_rows, *unverified)]
    return good + unranked + failed + nulls


def _alike(rows: list[Row], *, mixed: bool) -> tuple[list[Row], list[Row]]:
    """Split off rows of another sort: sizes that servers at a URL count, beside files; Arrow batches, beside rows."""
    sorts = {
        About.COUNTED_ELSEWHERE: [row for row in rows if row.at_url and row.unit == "B"],
        About.OTHER_RESULTS: [] if mixed else [row for row in rows if row.gives == "batches"],
    }
    for about, mine in sorts.items():
        if len(mine) not in (0, len(rows)):
            noted = [replace(row, apart=True, remarks=(*row.remarks, Remark(about))) for row in mine]
            return [row for row in rows if row not in mine], noted
    return rows, []


def _together(row: Row) -> Row:
    """A row as it was before it had a place, or was set apart."""
    others = (each for each in row.remarks if each.about not in (About.COUNTED_ELSEWHERE, About.OTHER_RESULTS))
    return replace(row, apart=False, rank=None, ratio=None, better=frozenset(), doubt=None, remarks=tuple(others))


def _means(row: Row, rounds: Collection[int]) -> list[float]:
    """The trial means of some rounds."""
    return [mean for number, mean in zip(row.of_rounds, row.trial_means, strict=True) if number in rounds]


def paired_means(row: Row, best: Row) -> tuple[list[float], list[float]]:
    """Both rows' trial means in common rounds: the ratio's numerator and denominator. It is above 1 for a worse row."""
    rounds = {*row.of_rounds} & {*best.of_rounds}
    ours, theirs = _means(row, rounds), _means(best, rounds)
    return (theirs, ours) if row.direction == "higher" else (ours, theirs)


def _ratio(row: Row, best: Row) -> Estimate | None:
    """The ratio of the figures shown, above 1 for a worse one; 1 for the best. The interval is of common rounds.

    None where a trial mean has none, or where the two have no round in common.
    """
    above, below = paired_means(row, best)
    if row.value is None or best.value is None or not below:
        return None
    if not have_ratios([*above, *below, row.value, best.value]):
        return None
    if row.engine == best.engine:
        return Estimate(1.0, None, None)
    value = best.value / row.value if row.direction == "higher" else row.value / best.value
    return stretched(replace(paired_ratio(above, below), value=value), row.dependence.pairs)


def _doubt(row: Row, best: Row) -> Remark | None:
    """Remark that the interval of the ratio to the best contradicts the test, of medians that are a band apart."""
    ratio = row.ratio
    if None in (row.rank, best.rank) or row.unit == "B" or ratio is None or ratio.low is None or ratio.high is None:
        return None
    if ratio.value < 1 + BAND:
        return None
    outside, apart = ratio.low > 1 or ratio.high < 1, best.engine in row.better
    return None if outside == apart else Remark(About.ONLY_INTERVAL if outside else About.ONLY_TEST)


def harness_share(row: Row, nulls: Sequence[Row]) -> float | None:
    """The harness's own share of the time: that of the null engine which gave its rows in the same form and way.

    All of it, if the null engine took longer than the system: its own turn was disturbed then.
    """
    own = next((null.value for null in nulls if null.form == row.form), None)
    if own is None or not row.value or row.unit == "B":
        return None
    if row.direction == "higher":  # a rate: the time for one operation is one by it
        return min(row.value / own, 1.0) if own else None
    return min(own / row.value, 1.0)


def _failed_order(row: Row) -> tuple[int, str]:
    return row.outcome.badness, row.engine
