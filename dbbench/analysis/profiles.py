"""Profiles as stacks with seconds of computing: read, added up by function, and compared."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dbbench.message import printable

#: Frames, the outermost first -> seconds in it.
Stacks = Mapping[tuple[str, ...], float]
#: What two processes have differently for one function: an address without a name, and the line in it.
_ADDRESS, _LINE = re.compile(r"^0x[0-9a-f]+ "), re.compile(r":\d+\)$")
#: The file of dbbench's timed loops: what doesn't go through it is not in the clock.
_CLOCK = "(dbbench/loadgen/loops.py)"
#: Standard errors that hardly any of hundreds of functions differs by chance.
_ERRORS = 3.0
#: What dbbench does there besides calling: counts, samples, keys and values of the next calls.
_ASIDE = re.compile(
    r"\(dbbench/(host|datasets)/|"
    r"\(dbbench/loadgen/(histogram|kept_calls|key_streams|drawn_parameters|transaction_draws)\.py"
)
#: What a server's stacks begin with: its program's name in brackets.
_SERVER = "["


@dataclass(frozen=True)
class Function:
    """Seconds in a function's own code, and with what it calls, in each of the profiles."""

    name: str
    own: tuple[float, ...]
    whole: tuple[float, ...]
    #: The standard error of the difference: how often something is seen is a matter of chance.
    error: float = 0.0

    @property
    def difference(self) -> float:
        """The excess of the first profile in its own code; of one profile all of it."""
        return self.own[0] - (self.own[1] if len(self.own) > 1 else 0.0)

    @property
    def differs(self) -> bool:
        """Whether that is more than chance, where hundreds of functions are looked at."""
        return abs(self.difference) > _ERRORS * self.error


def stacks(text: str, cost: float) -> Stacks:
    """A profile's stacks within the clock, and those of servers, with their parts of `cost`: seconds of one call."""
    found = _seen(text)
    return {frames: cost * count / found.total() for frames, count in found.items()}


def samples(text: str) -> int:
    """How often such stacks were seen."""
    return _seen(text).total()


def _seen(text: str) -> Counter[tuple[str, ...]]:
    found = Counter[tuple[str, ...]]()
    for line in text.split("\n"):  # a function's name may have other ends of lines
        names, _, count = line.rpartition(" ")
        names = printable(names).replace("\n", " ")
        frames = [_LINE.sub(")", _ADDRESS.sub("", frame)) for frame in names.split(";")]
        inside = [place for place, frame in enumerate(frames) if frame.endswith(_CLOCK)]
        if inside and _ASIDE.search(";".join(frames[inside[-1] :])):
            continue
        if inside or names.startswith(_SERVER):
            start = min(inside[-1] + 1, len(frames) - 1) if inside else 0
            found[tuple(frames[start:])] += int(count)
    return found


def functions(profiles: Sequence[Stacks], seen: Sequence[int]) -> list[Function]:
    """All functions of one or two profiles, what differs most surely first. `seen`: how often stacks were, in each."""
    own, whole = ([defaultdict[str, float](float) for _ in profiles] for _ in range(2))
    for number, profile in enumerate(profiles):
        for frames, seconds in profile.items():
            own[number][frames[-1]] += seconds
            for name in {*frames}:
                whole[number][name] += seconds
    names = dict.fromkeys(name for each in whole for name in each)
    one = [sum(profile.values()) / max(1, count) for profile, count in zip(profiles, seen, strict=True)]

    def error(name: str) -> float:
        return math.sqrt(sum(each[name] * seconds for each, seconds in zip(own, one, strict=True)))

    found = [
        Function(name, tuple(each[name] for each in own), tuple(each[name] for each in whole), error(name))
        for name in names
    ]
    return sorted(
        found, key=lambda each: -abs(each.difference) / (each.error if len(profiles) > 1 and each.error else 1)
    )
