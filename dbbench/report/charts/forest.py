"""A comparison as a forest plot: each pair's ratio with its interval on one axis, grouped by verdict."""

import math
from collections.abc import Iterable, Iterator

from dbbench.analysis.compare import Comparison
from dbbench.analysis.verdicts import ComparisonVerdict, Pair
from dbbench.report.charts.axis import Axis
from dbbench.report.charts.layout import Look, Texts
from dbbench.report.charts.rows import Interval, Row, RowChart, Value, drawn
from dbbench.report.charts.scene import Scene
from dbbench.report.terminal.comparison import ComparisonLine, headline, notes, side_words, worded

#: Room beside the farthest end on the logarithmic axis.
_BESIDE = 1.03


def forest(shown: Comparison) -> Scene:
    """The comparison as a scene."""
    old, new = ("; ".join(map(side_words, sides)) for sides in (shown.old, shown.new))
    rows = [row for verdict in ComparisonVerdict for row in _group(verdict, shown)]
    texts = Texts(
        headline(shown)[0].upper() + headline(shown)[1:],
        "New to old: right of the dashed line is slower or larger, left of it faster or smaller; lines are 95 % intervals "
        "(logarithmic axis)",
        notes(shown),
        figures="; ".join(row.said() for row in rows if not row.heading),
    )
    chart = RowChart(
        texts, rows, _axis(shown.pairs), ("", "95 % interval", "old → new"), marked=1.0, tick="×{:,.3g}".format
    )
    return drawn(chart, Look(captions=[f"old: {old}", f"new: {new}"]))


def _group(verdict: ComparisonVerdict, shown: Comparison) -> Iterator[Row]:
    """A heading and the pairs that have this verdict."""
    if pairs := shown.of(verdict):
        yield Row(f"{verdict[0].upper()}{verdict[1:]} ({len(pairs)})", heading=True)
        yield from (_row(worded(pair, shown)) for pair in pairs)


def _row(line: ComparisonLine) -> Row:
    pair, verdict = line.pair, line.pair.verdict
    ink = "c4" if verdict.worse else "c0" if verdict.better else "grey"
    title = f"{line.name} {line.step}"
    if not _known(pair) or pair.ratio is None:
        return Row(title, ink, words=line.detail or str(pair.verdict), faint=True)
    ratio = pair.ratio
    ends = [Interval(ratio.low, ratio.high, ink=ink)] if ratio.low and ratio.high else []
    cells = (line.ratio, line.interval, f"{line.old} → {line.new}")
    return Row(title, ink, cells=cells, values=[Value(ratio.value, "square", 9)], intervals=ends)


def _known(pair: Pair) -> bool:
    return pair.ratio is not None and 0 < pair.ratio.value < math.inf


def _axis(pairs: Iterable[Pair]) -> Axis:
    """A logarithmic axis that has all ratios with their intervals, and 1."""
    found = [pair.ratio for pair in pairs if pair.ratio is not None and _known(pair)]
    ends = [end for ratio in found for end in (ratio.value, ratio.low, ratio.high) if end]
    return Axis(min([*ends, 1.0]) / _BESIDE, max([*ends, 1.0]) * _BESIDE, logarithmic=True)
