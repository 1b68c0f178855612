"""Remarks on an engine's rounds, and why there were no more of them, in words."""

from collections.abc import Sequence

from dbbench.analysis.budget import Stop
from dbbench.analysis.paired import Control
from dbbench.analysis.remarks import About, Remark
from dbbench.analysis.row import Row
from dbbench.analysis.units import amount, duration

#: Files whose names a remark gives.
_NAMED = 3
_DISPUTED = "disputed: {0.count} engines agree with each other, not with the reference"
_WORDS = {
    About.RECORDED: "{0.text}",
    About.CHECKED_BY: "answer checked against {0.text}",
    About.CHECKED_BY_FILE: "answer checked against a file",
    About.OTHER_FORMS: "returns other types than the suite declares ({names}), which may be less work for the driver",
    About.LUKEWARM: "lukewarm: {0.text}",
    About.OPENED: "includes {seconds} to open the database; {0.count:,} bytes read after that",
    About.ADDED: "{0.count:,} a second added meanwhile, of {0.of:,} due; one of the last batch was found {seconds} after it was acknowledged",
    About.PREPARED: "prepared in {seconds}, off the clock: longer than all its calls together",
    About.FIRST_CALLS: "its first calls took ×{0.amount:.2f} the later ones' time: see `warm_up`",
    About.EXACT: "an exact search: with the least {0.text}, declared as its knob, it finds every neighbour",
    About.WITHOUT_EFFECT: "its knob {0.text} has no effect: the most finds what the least does",
    About.APPROXIMATE: "approximate, and nothing to set",
    About.UNRANKED: "NDCG {0.amount:.2f} beside BM25: its order is hardly better than a random one",
    About.OUTSIDE: "{0.count:,} bytes of it outside of the engine's directory ({names})",
    About.COUNTED_ELSEWHERE: "counted by the server at a URL: not ranked with files that dbbench measured",
    About.OTHER_RESULTS: "Arrow batches, without Python objects: not ranked with engines that return rows",
    About.USES_UNSEEN: "memory, CPU time and bytes written are its server's, at a URL: dbbench doesn't see them",
    About.SEARCH_ENDED: "{0.text}, before passing and failing rates were within `resolution`",
    About.BUSY_HOST: "a host of the clients was at {0.amount:.0%} CPU ({0.text}): it may limit the rate",
    About.UNSURE_CLOCKS: "the hosts' clocks are known to within {0.amount:.1%} of the time measured",
    About.STRONGER_TIER: "durability {0.names[0]}, more than was asked for ({0.names[1]})",
    About.WEAKER_TIER: "durability {0.names[0]}, LESS than was asked for ({0.names[1]})",
    About.OTHER_PROCESSES: "other processes used up to {0.amount:.0%} of the machine meanwhile: try again on a quieter one",
    About.DISPUTED: f"{_DISPUTED} ({{names}}); settle it in the suite, with `rows` or a `file` as the answer",
    About.DISPUTES: _DISPUTED,
    About.ROUNDS_DIFFER: "its answer differed between rounds",
    About.NO_OTHER_ENGINE: "no other engine to compare its answer with",
    About.NO_MAJORITY: "engines differ, and no answer has more engines than another",
    About.ALL_AGREE: "all {0.of} engines agree on the answer",
    About.AGREES: "{0.count} of {0.of} engines agree on the answer",
    About.DIFFERS: "DIFFERS from the answer that {0.count} of {0.of} engines agree on",
    About.CRASH_CHECK_FAILED: "no rank: a crash check of these versions and options failed, so commits may be lost",
    About.NOT_IN_COPY: "acknowledged commits were not confirmed by another process ({0.text})",
    About.NOT_COUNTED: "syncs not counted: {0.text}",
    About.NO_RANK: "no rank: {0.text}",
    About.IMPOSSIBLE: "no rank: only ×{0.amount:.2f} the time of the null engine, which does nothing, so it can't have done the work",
    About.OTHER_PLANS: "a different plan in {0.count} of {0.of} rounds",
    About.WITHHELD: "withheld: {0.text}",
    About.LEVELS: "{0.count} of {0.of} are about {change} below the others",
    About.SPREAD: "the highest is {0.amount:.2f} times the lowest",
    About.DRIFT: "a drift of ×{0.amount:.2f} from the first half to the second",
    About.ALIKE: "neighbouring rounds are alike (autocorrelation {0.amount:.2f})",
    About.ONLY_INTERVAL: "the interval of the ratio excludes ×1, but the corrected test finds no difference from the best",
    About.ONLY_TEST: "the interval of the ratio includes ×1, but the test finds a difference from the best",
}


def worded(remark: Remark) -> str:
    """A remark in words, with the rounds that it came in, if not in all."""
    names = remark.names
    if remark.about is About.OUTSIDE and names[_NAMED:]:
        names = (*names[: _NAMED - 1], f"{names[_NAMED - 1]} and {len(names) - _NAMED} more")
    words = _WORDS[remark.about].format(
        remark,
        names=", ".join(names),
        seconds=amount("s", remark.amount),
        change=f"{1 - 1 / remark.amount:.0%}" if remark.amount else "",
    )
    times, rounds = remark.rounds
    return words if times >= rounds else f"{words} (in {times} of {rounds} rounds)"


def detail(row: Row) -> str:
    """The reason why a row has no figure, and what limits the one it has."""
    return _joined("; ", row.remarks)


def unsteady(row: Row) -> str:
    """Flags of unsteady rounds; empty if none."""
    return f"unsteady rounds: {_joined(', ', row.unsteady)}" if row.unsteady else ""


def notes(row: Row) -> list[str]:
    """All notes on a row."""
    return [note for note in (detail(row), unsteady(row), worded(row.doubt) if row.doubt else "") if note]


def control_words(known: Control) -> str:
    """How far an engine came apart from itself in a run."""
    ratios = [pair.ratio.value for pair in known.pairs if pair.ratio]
    if not ratios:
        return f"control: no timed step has figures of both {known.repeats} and {known.name}"
    where = "; ".join(f"{pair.step} ×{pair.ratio.value:.2f}" for pair in known.apart if pair.ratio)
    apart = f"They are told apart in {where}" if where else "No step differs beyond noise"
    span = f"×{min(ratios):.2f} to ×{max(ratios):.2f}"
    return (
        f"control: {known.repeats} ran twice. In {len(ratios)} timed steps the second, {known.name}, cost {span} of the "
        f"first. {apart}"
    )


def _joined(between: str, remarks: Sequence[Remark]) -> str:
    return between.join(filter(None, map(worded, remarks)))


def stopped(stop: Stop) -> str:
    """The reason why a run ended early."""
    rounds = f"after {stop.rounds} round{'s' if stop.rounds > 1 else ''}"
    if stop.spent is None:
        return f"precise enough {rounds}: no interval is wider than ±{stop.widest:.1%} ({stop.where})"
    text = f"out of time {rounds}: {duration(stop.spent)} of {duration(stop.seconds or 0)}"
    if stop.precision is None:
        return text
    if not stop.where:
        return f"{text}; no interval yet"
    return f"{text}; the widest interval is ±{stop.widest:.1%} ({stop.where}), not ±{stop.precision:.1%}"
