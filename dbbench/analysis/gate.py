"""The gate of a comparison: whether anything is worse by more than a share, and whether the runs could show it.

"Not shown to be worse" passes only if something could be shown at all. A step is decided if it is slower,
faster or the same, or if the whole interval of its ratio lies below the gate. An engine of which no timed
step is decided was not gated: then the gate says neither yes nor no.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum

from dbbench.analysis.verdicts import Alone, ComparisonVerdict, Pair


class Answer(StrEnum):
    """A gate's verdict."""

    PASSED = "passed"
    FAILED = "failed"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Gate:
    """A gate of `share`, applied. `strict`: what can't be told fails too."""

    share: float
    strict: bool
    #: What broke, and what is shown to be worse by more than the share.
    held: tuple[Pair, ...]
    #: Timed steps of which neither is shown: that they are worse, nor that they are not. Unverified ones too.
    unknown: tuple[Pair, ...]
    #: How many timed steps there are.
    timed: int
    #: Engines of which no timed step could be decided.
    blind: tuple[str, ...]
    #: What only the old run has.
    gone: tuple[Alone, ...]
    #: Whether there is nothing to gate: no step has a figure of both, or sizes alone have where other steps should.
    empty: bool
    #: Timed steps where the run tells an engine apart from itself: nothing is shown there.
    doubted: tuple[Pair, ...] = ()

    @property
    def answer(self) -> Answer:
        """Failed takes precedence over undecided: what is shown to be worse stays so, whatever else is undecided."""
        if self.held or (self.strict and (self.unknown or self.blind or self.gone or self.empty)):
            return Answer.FAILED
        return Answer.UNDECIDED if self.blind or self.empty or self.doubted else Answer.PASSED


def gated(
    pairs: Sequence[Pair],
    share: float,
    *,
    strict: bool = False,
    gone: Sequence[Alone] = (),
    doubted: Collection[tuple[str, str]] = (),
) -> Gate:
    """Apply a gate of `share` (0.05 is 5 %) to the pairs of a comparison.

    `doubted` are the scenario and step of each timed step where the run tells an engine apart from itself.
    """
    timed = [pair for pair in pairs if pair.timed]
    doubts = [pair for pair in timed if (pair.scenario, pair.step) in doubted]
    unknown = [pair for pair in timed if pair in doubts or not _decided(pair, share)]
    decided = {pair.engine for pair in timed if pair not in unknown}
    lacks = [pair for pair in pairs if pair.verdict in (ComparisonVerdict.NEITHER, ComparisonVerdict.MENDED)]
    lacks += [pair for pair in pairs if pair.no_ratio and not pair.timed]  # sizes of two sorts
    return Gate(
        share=share,
        strict=strict,
        held=tuple(pair for pair in beyond(pairs, share) if pair not in doubts),
        unknown=tuple(unknown),
        timed=len(timed),
        blind=tuple(dict.fromkeys(pair.engine for pair in (*timed, *lacks) if pair.engine not in decided)),
        gone=tuple(gone),
        doubted=tuple(doubts),
        empty=len(lacks) == len(pairs) or (not timed and bool(lacks)),
    )


def beyond(pairs: Sequence[Pair], share: float) -> list[Pair]:
    """The pairs that a gate holds up: what broke, and what is shown to be worse with a ratio above 1 + `share`.

    An interval that reaches down to 1 is no proof, whatever the test says.
    """
    return [pair for pair in pairs if pair.verdict is ComparisonVerdict.BROKE or _worse_by(pair, share)]


def _worse_by(pair: Pair, share: float) -> bool:
    if pair.verdict not in (ComparisonVerdict.SLOWER, ComparisonVerdict.LARGER) or pair.ratio is None:
        return False
    return pair.ratio.value > 1 + share and (pair.ratio.low is None or pair.ratio.low > 1)


def _decided(pair: Pair, share: float) -> bool:
    """Whether the runs show on which side of the gate a timed step is; an interval of too few rounds shows nothing.

    Work that nobody checked may have been left out: that it isn't slower shows nothing.
    """
    if not pair.verified:
        return pair.verdict in (ComparisonVerdict.SLOWER, ComparisonVerdict.LARGER)
    if pair.verdict is not ComparisonVerdict.UNSURE:
        return True
    high = None if pair.ratio is None or pair.needed is not None else pair.ratio.high
    return high is not None and high <= 1 + share
