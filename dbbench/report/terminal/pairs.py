"""Two engines of one run, compared in pairs of rounds, for the terminal."""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import zip_longest

from rich.text import Text

from dbbench.analysis.paired import GatedPairs
from dbbench.analysis.queryplans import shape
from dbbench.report.remarks import control_words
from dbbench.report.terminal.comparison import ANSWERS, WIDTH, gate_words, pair_detail, worded, wrapped

#: What stands between two columns: the lines are alike, differ, or are on one side only.
_ALIKE, _DIFFER, _LEFT, _RIGHT = "   ", " | ", " < ", " > "


def pair_lines(shown: GatedPairs) -> Iterator[Text]:
    """A line for each step and the gate's verdict, at most 80 columns wide."""
    new, old, pairs, gate, metric = shown.new, shown.old, shown.pairs, shown.gate, shown.metric
    yield Text()
    by = f", by {metric.by}" if metric.by else ""
    yield from wrapped(f"{new} against {old}, round by round{by} (above 1: {new} is worse)", "bold")
    if metric.meaning:
        yield from wrapped(f"  {metric.meaning}", "dim")
    if shown.others is not None:
        why = f"as other processes used {shown.others:.0%} of the machine; --metric wall compares the whole time"
        yield from wrapped(f"  {why}", "dim")
    lines = [worded(pair, shown) for pair in pairs]
    width = max((len(line.step) for line in lines), default=0)
    for pair, line in zip(pairs, lines, strict=True):
        figures = f"{line.old} → {line.new}  {line.ratio}  {line.interval}" if line.ratio else ""
        yield Text(f"  {line.step:<{width}}  {pair.verdict:<10}  {figures}".rstrip())
        plan = "plan changed" if (pair.scenario, pair.step) in shown.plans else ""
        if detail := "; ".join(filter(None, (pair_detail(pair), plan))):
            yield from wrapped(f"    {detail}", "dim")
    for pair in gate.held:
        if plans := shown.plans.get((pair.scenario, pair.step)):
            yield Text(f"  plan changed in {pair.step}:")
            yield from (Text(f"    {line}") for line in two_plans((new, old), plans, WIDTH - 4))
    named = by if shown.others is None else ""  # it was chosen for the run, and stands above
    if shown.control:
        yield from wrapped(f"  {control_words(shown.control)}", "dim")
    yield from wrapped(
        f"gate {new}/{old}{shown.step and f', {shown.step}'}{named}: {gate_words(shown, gate)}",
        ANSWERS[gate.answer],
    )


def two_plans(titles: Sequence[str], texts: Sequence[str], width: int) -> Iterator[str]:
    """Lines of at most `width` columns, if the plans' own are not longer. Numbers are estimates: they mark no line."""
    rows = list(_rows(*(text.splitlines() for text in texts)))
    widths = [max(map(len, (title, *text.splitlines()))) for title, text in zip(titles, texts, strict=True)]
    if sum(widths) + len(_ALIKE) <= width:
        yield f"{titles[0]:<{widths[0]}}   {titles[1]}"
        yield from (f"{left:<{widths[0]}}{mark}{right}".rstrip() for left, mark, right in rows)
        return
    for title, column, other in ((titles[0], 0, _RIGHT), (titles[1], 2, _LEFT)):
        yield title
        yield from (f"{' ' if row[1] == _ALIKE else '*'} {row[column]}" for row in rows if row[1] != other)


def _rows(ours: Sequence[str], theirs: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Lines that belong beside each other, and the mark between them."""
    matched = SequenceMatcher(None, [*map(shape, ours)], [*map(shape, theirs)], autojunk=False)
    for tag, low, high, first, last in matched.get_opcodes():
        for left, right in zip_longest(ours[low:high], theirs[first:last]):
            mark = _ALIKE if tag == "equal" else _LEFT if right is None else _RIGHT if left is None else _DIFFER
            yield left or "", mark, right or ""
