"""A comparison of two sides: for the terminal, regressions first, and as Markdown for a pull request's comment."""

import datetime
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.text import Text

from dbbench.analysis.comparability import Side
from dbbench.analysis.compare import Comparison
from dbbench.analysis.contrast import ALLOWANCE
from dbbench.analysis.gate import Answer, Gate
from dbbench.analysis.paired import GatedPairs
from dbbench.analysis.ranking import BAND
from dbbench.analysis.units import fitting
from dbbench.analysis.verdicts import Alone, ComparisonVerdict, NoRatio, Pair
from dbbench.host import machine
from dbbench.report import step_view
from dbbench.report.remarks import detail
from dbbench.report.step_view import SMALL_CHANGE, small_share
from dbbench.report.warnings import comparison_warnings
from dbbench.results.outcome import UNVERIFIED

#: Two runs, several runs a side, or two engines of one run.
Compared = Comparison | GatedPairs

WIDTH = 80
ANSWERS = {Answer.PASSED: "bold green", Answer.FAILED: "bold red", Answer.UNDECIDED: "bold yellow"}
#: Shown by their number in the terminal, and folded up in Markdown: nothing has to be done about them.
_QUIET = (ComparisonVerdict.SAME, ComparisonVerdict.NEITHER)
_NO_RATIO = {
    NoRatio.NOT_ABOVE_ZERO: "a trial mean that is not above zero",
    NoRatio.NO_COMMON_ROUNDS: "no rounds in common, or a figure that is not above zero",
}


@dataclass(frozen=True)
class ComparisonLine:
    """One pair, worded."""

    pair: Pair
    name: str
    step: str
    old: str
    new: str
    ratio: str
    interval: str
    detail: str


def headline(shown: Comparison) -> str:
    """How many of each verdict, those to be seen to first."""
    found = [(len(shown.of(verdict)), verdict) for verdict in ComparisonVerdict]
    return ", ".join(f"{number} {verdict}" for number, verdict in found if number)


def gate_words(shown: Compared, gate: Gate, quoted: Callable[[str], str] = str) -> str:
    """The gate's verdict and its reasons. `quoted` is applied to foreign texts."""
    share = f"{gate.share * 100:g} %"
    if gate.held:
        return f"failed at {share}: {'; '.join(quoted(_held(pair, shown)) for pair in gate.held)}"
    doubts = list(_doubts(shown, gate, quoted))
    if gate.answer is Answer.PASSED:
        return "; ".join([f"passed, nothing is shown to be worse by more than {share}", *doubts])
    return f"{gate.answer} at {share}: {'; '.join(doubts)}"


def _held(pair: Pair, shown: Compared) -> str:
    return f"{pair.engine} {_step(pair, shown)}: {_why(pair)}"


def _doubts(shown: Compared, gate: Gate, quoted: Callable[[str], str]) -> Iterator[str]:
    """What the gate could not look at, and what to do about it."""
    if gate.empty:
        yield "no timed step has a figure of both"
    if gate.blind:
        yield f"no timed step of {', '.join(quoted(engine) for engine in gate.blind)} could be decided"
    if gate.doubted:
        steps = ", ".join(_step(pair, shown) for pair in gate.doubted)
        yield f"the control differs from what it repeats in {quoted(steps)}: no step is judged there"
    if gate.unknown:
        yield f"{len(gate.unknown)} of {gate.timed} timed steps can't be decided"
        yield from _remedy(gate, shown, quoted)
    if gate.gone:
        yield quoted(", ".join(map(alone_words, gate.gone)))


def _remedy(gate: Gate, shown: Compared, quoted: Callable[[str], str]) -> Iterator[str]:
    """What it would take for a gate to decide."""
    if unchecked := [f"{pair.engine} {_step(pair, shown)}" for pair in gate.unknown if not pair.verified]:
        yield f"not verified: {', '.join(map(quoted, unchecked))}"
    if rounds := max((pair.needed or 0 for pair in gate.unknown), default=0):
        yield f"use --rounds {rounds} or more"
    seen = [(pair.visible, pair) for pair in gate.unknown if pair.visible is not None]
    if seen:
        most, pair = max(seen, key=lambda item: item[0])
        where = quoted(f"{pair.engine} {_step(pair, shown)}")
        if isinstance(shown, GatedPairs):
            more = "more rounds"
        else:
            more = "several runs a side" if len(shown.old) == 1 else "more runs a side"
        yield f"a slowdown of less than {small_share(most) or f'×{times(most)}'} may not be found ({where}): {more} find smaller ones"


# The terminal


def show(shown: Comparison, console: Console, *, gate: Gate | None = None) -> None:
    """Print it, at most 80 columns wide."""
    for text in _terminal(shown, gate):
        console.print(text, soft_wrap=True, highlight=False)


def _terminal(shown: Comparison, gate: Gate | None) -> Iterator[Text]:
    for name, sides in (("old", shown.old), ("new", shown.new)):
        for side in sides:
            yield from wrapped(f"{name}: {side_words(side)}")
    if shown.machines:
        differing = "; ".join(map(str, shown.machines))
        yield from wrapped(f"DIFFERENT MACHINES, which may be the cause: {differing}", "bold red")
    for item in shown.causes:
        yield from wrapped(f"differs: {item}", "yellow")
    for verdict in ComparisonVerdict:
        lines = [worded(pair, shown) for pair in shown.of(verdict)]
        if lines and verdict not in _QUIET:
            colour = "red" if verdict.worse else "green" if verdict.better else "yellow"
            yield Text()
            yield Text(f"{verdict} ({len(lines)})", style=f"bold {colour}")
            yield from _table(lines)
    yield Text()
    for verdict in _QUIET:
        if shown.of(verdict):
            yield from wrapped(f"{verdict} ({len(shown.of(verdict))}): {_by_engine(shown, verdict)}", "dim")
    for text in (*map(alone_words, shown.alone), *_withheld(shown)):
        yield from wrapped(text, "yellow")
    for text in _visible(shown):
        yield from wrapped(text)
    for text in (*_needed(shown), *comparison_warnings(shown)):
        yield from wrapped(f"warning: {text}", "yellow")
    yield from wrapped(how(shown), "dim")
    yield Text()
    yield from wrapped(headline(shown), "bold")
    if gate is not None:
        yield from wrapped(f"gate: {gate_words(shown, gate)}", ANSWERS[gate.answer])


def _table(lines: Sequence[ComparisonLine]) -> Iterator[Text]:
    """One line each if they fit; otherwise the name on a line of its own, and the figures below."""
    figures = [line for line in lines if line.ratio]
    names = max(len(line.name) for line in lines)
    steps = max(len(line.step) for line in lines)
    widths = [
        max((len(getattr(line, part)) for line in figures), default=0) for part in ("old", "new", "ratio", "interval")
    ]
    fits = 2 + names + 1 + steps + sum(2 + width for width in widths) <= WIDTH
    for at, line in enumerate(lines):
        cells = "".join(
            f"  {cell:>{width}}"
            for cell, width in zip((line.old, line.new, line.ratio, line.interval), widths, strict=True)
        )
        start = f"  {line.name:<{names}} {line.step:<{steps}}" if fits else f"  {line.name} {line.step}"
        if fits and line.ratio:
            yield Text(f"{start}{cells}".rstrip())
        else:
            yield from wrapped(start)
            if line.ratio:
                yield Text(f"    {cells}".rstrip())
        if line.detail and [each.detail for each in lines[at + 1 : at + 2]] != [
            line.detail
        ]:  # once for all that share it
            yield from wrapped(f"    {line.detail}", "dim")


def wrapped(text: str, style: str = "") -> Iterator[Text]:
    """A text in lines of at most 80 columns, the later ones further in."""
    start = text[: len(text) - len(text.lstrip())]
    later = f"{start}  "
    for line in textwrap.wrap(
        text.strip(), WIDTH, initial_indent=start, subsequent_indent=later, break_on_hyphens=False
    ):
        yield Text(line, style=style)


def _by_engine(shown: Comparison, verdict: ComparisonVerdict) -> str:
    steps: dict[str, list[str]] = {}
    for pair in shown.of(verdict):
        steps.setdefault(pair.engine, []).append(_step(pair, shown))
    return "; ".join(f"{engine} {', '.join(mine)}" for engine, mine in steps.items())


# Markdown


def markdown(shown: Comparison, *, gate: Gate | None = None) -> Iterator[str]:
    """The same for GitHub. Texts from files or drivers are quoted as code, so they can't link, mention or format."""
    yield f"### dbbench: {headline(shown)}"
    yield ""
    if gate is not None:
        yield f"**Gate:** {gate_words(shown, gate, code)}"
        yield ""
    if shown.machines:
        yield f"> **Different machines**, which may be the cause: {_listed(map(str, shown.machines))}"
        yield ""
    loud = [worded(pair, shown) for verdict in ComparisonVerdict if verdict not in _QUIET for pair in shown.of(verdict)]
    quiet = [worded(pair, shown) for verdict in _QUIET for pair in shown.of(verdict)]
    if loud:
        yield from _rows(loud)
    if quiet:
        summary = ", ".join(f"{len(shown.of(verdict))} {verdict}" for verdict in _QUIET if shown.of(verdict))
        yield f"<details><summary>{summary}</summary>"
        yield ""
        yield from _rows(quiet)
        yield "</details>"
        yield ""
    for text in notes(shown):
        yield f"- {code(text)}"
    yield ""
    old, new = (_listed(map(side_words, sides)) for sides in (shown.old, shown.new))
    yield f"Old: {old}; new: {new}; {code(machine.in_words(shown.new[0].manifest.machine))}. {how(shown)}"


def _rows(lines: Sequence[ComparisonLine]) -> Iterator[str]:
    yield "| | engine | step | old | new | ratio | 95 % interval | |"
    yield "|---|---|---|---:|---:|---:|---:|---|"
    for line in lines:
        cells = [str(line.pair.verdict), code(line.name), code(line.step), line.old, line.new, line.ratio]
        yield f"| {' | '.join([*cells, line.interval, code(line.detail)])} |"
    yield ""


def code(text: str) -> str:
    """A text as code, in a table's cell too: without the two characters that would end the one or the other."""
    plain = " ".join(text.split()).replace("`", "'").replace("|", "¦")
    return f"`{plain}`" if plain else ""


def _listed(texts: Iterable[str]) -> str:
    return "; ".join(code(text) for text in texts)


# Words


def notes(shown: Comparison) -> list[str]:
    """What there is to say besides the pairs."""
    return [
        *(f"differs: {item}" for item in shown.causes),
        *map(alone_words, shown.alone),
        *_withheld(shown),
        *_needed(shown),
        *_visible(shown),
        *comparison_warnings(shown),
    ]


def alone_words(item: Alone) -> str:
    """What not every run has, in words."""
    where = f"only in {item.runs[0]}" if len(item.runs) == 1 else f"in {', '.join(item.runs)}, but not in every run"
    place = f"step {item.step} of {item.scenario}" if item.step else f"scenario {item.scenario}"
    what = place if not item.engine else f"{item.engine} in {place}" if item.step else f"engine {item.engine}"
    return f"{where}: {what}"


def worded(pair: Pair, shown: Compared) -> ComparisonLine:
    """A pair in words."""
    known = [value for value in (pair.old, pair.new) if value is not None]
    unit = fitting(pair.unit, known) if known else None
    old, new = ("" if unit is None or value is None else unit.text(value) for value in (pair.old, pair.new))
    ratio, interval = "", ""
    if pair.ratio is not None:
        written = _change if abs(pair.ratio.value - 1) < SMALL_CHANGE else times
        ratio = written(pair.ratio.value) if written is _change else f"×{times(pair.ratio.value)}"
        if pair.ratio.low is not None and pair.ratio.high is not None:
            interval = f"{written(pair.ratio.low)} to {written(pair.ratio.high)}"
    return ComparisonLine(
        pair, pair.engine, _step(pair, shown), old, new, ratio, interval, pair_detail(pair, rounds=False)
    )


def _change(ratio: float) -> str:
    """A ratio as a change in per cent, with its sign."""
    return f"{(ratio - 1) * 100:+.1f} %".replace("-", "−").replace("−0.0", "0.0").replace("+0.0", "0.0")


def pair_detail(pair: Pair, *, rounds: bool = True) -> str:
    """The reason why a pair has no ratio or no verdict, or the outcome of the side without a figure.

    `rounds`: also that there are too few of them, which `notes` say once for all pairs.
    """
    if pair.worst:
        then, now = (": ".join(filter(None, (str(row.outcome), detail(row)))) for row in pair.worst)
        if pair.old is not None:
            return f"was ok, now {now}"
        if pair.new is not None:
            return f"is ok, was {then}"
        return now if pair.worst[0].outcome is pair.worst[1].outcome else f"was {then}; now {now}"
    if pair.no_ratio is NoRatio.OTHER_MEASURE:
        old, new = (
            ", ".join((f"{each.metric} in {each.unit}", f"{each.direction} is better", *each.forms))
            for each in pair.measures
        )
        return f"not the same measure: {old} -> {new}"
    few = _too_few(pair) if rounds else ""
    known = [_NO_RATIO[pair.no_ratio] if pair.no_ratio else "", few, "" if pair.verified else UNVERIFIED]
    return "; ".join(filter(None, known))


def _too_few(pair: Pair) -> str:
    """Note that the rounds of both runs, or the common ones of two engines, can't decide."""
    if pair.needed is None:
        return ""
    first, last = pair.rounds[0], pair.rounds[-1]
    rounds = f"{first} round{'s' if first > 1 else ''}" if first == last else f"{first} and {last} rounds"
    each = " each" if len(pair.rounds) > 1 and first == last else ""
    return f"{rounds}{each} can't decide {pair.tests} step{'s' if pair.tests > 1 else ''}"


def _step(pair: Pair, shown: Compared) -> str:
    """A step's name, with its scenario's where there are several."""
    several = len({pair.scenario for pair in shown.pairs}) > 1
    return f"{pair.scenario}/{pair.step}" if several else pair.step


def _why(pair: Pair) -> str:
    if pair.verdict is ComparisonVerdict.BROKE or pair.ratio is None:
        return pair_detail(pair)
    low = pair.ratio.low
    at_least = "" if low is None else f", {(small_share(low) if low > 1 else '') or times(low)} or more"
    return f"{_changed_by(pair)}{at_least}"


def _changed_by(pair: Pair) -> str:
    """The verdict on a pair with how much it is: a small change in per cent."""
    if pair.ratio is None:
        return str(pair.verdict)
    share = small_share(pair.ratio.value)
    return f"{share} {pair.verdict}" if share else f"{pair.verdict}, ×{times(pair.ratio.value)}"


def how(shown: Comparison) -> str:
    """How the verdicts come about."""
    meaning = shown.old[0].metric.meaning
    start = f"{meaning[0].upper()}{meaning[1:]}. " if meaning else ""
    start += "A ratio is new to old, above 1 is worse, with its 95 % interval. "
    if len(shown.old) > 1:
        start += (
            "A run counts as one figure, the median of its rounds: what differs from run to run is in the interval. "
            "Slower or faster: told apart by Welch's t test on the runs' figures"
        )
    else:
        start += (
            "One run a side can't show how much repeated runs differ: a standard deviation of "
            f"{ALLOWANCE * 100:g} % is assumed, and is in the interval; several runs a side measure it (--old RUN "
            "--new RUN). Slower or faster: beyond that, and told apart by an exact Mann-Whitney test on the rounds"
        )
    return (
        f"{start}, with Holm's correction for the engine's steps, and by {BAND * 100:g} % or more. The same: the whole "
        f"interval lies within {shown.margin * 100:g} % of 1."
    )


def _visible(shown: Comparison) -> Iterator[str]:
    """What slowdown such runs can show at all, for each engine; and by how much the runs of a side differ."""
    for engine in dict.fromkeys(pair.engine for pair in shown.pairs):
        mine = [(pair.visible, pair) for pair in shown.pairs if pair.engine == engine and pair.visible is not None]
        if not mine:
            continue
        (least, first), (most, last) = (choose(mine, key=lambda item: item[0]) for choose in (min, max))
        seen = f"from {small_share(least) or f'×{times(least)}'} ({_step(first, shown)})"
        seen += (
            f" to {small_share(most) or f'×{times(most)}'} ({_step(last, shown)}) on" if first is not last else " on"
        )
        spreads = [pair.between for _, pair in mine if pair.between is not None]
        spread = f"; runs of a side differ by {min(spreads):.1%} to {max(spreads):.1%}" if spreads else ""
        yield f"{engine}: a slowdown is found four times in five {seen}{spread}"


def _needed(shown: Comparison) -> Iterator[str]:
    """What more rounds would help, the engines of one need together."""
    needs: dict[tuple[int, str], list[str]] = {}
    for pair in shown.pairs:
        if pair.needed is not None:
            engines = needs.setdefault((pair.needed, pair_detail(pair)), [])
            engines += [pair.engine] if pair.engine not in engines else []
    for (rounds, why), engines in needs.items():
        yield f"{', '.join(engines)}: {why}; run both again with --rounds {rounds} or more"


def _withheld(shown: Comparison) -> Iterator[str]:
    yield from (f"withheld: {engine}: {clause}" for engine, clause in shown.withheld)


def side_words(side: Side) -> str:
    """A run: its name, date, rounds and dbbench."""
    manifest = side.manifest
    rounds = f"{manifest.rounds} round{'s' if manifest.rounds > 1 else ''}"
    created = manifest.created.astimezone(datetime.UTC)
    return f"{side.name}, {created:%Y-%m-%d %H:%M} UTC, {rounds}, dbbench {manifest.dbbench}"


def times(ratio: float) -> str:
    """A ratio in words, with three decimals where two would hide on which side of 1 it lies."""
    return f"{ratio:.3f}" if ratio != 1 and f"{ratio:.2f}" == "1.00" else step_view.times(ratio)
