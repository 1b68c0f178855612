"""Where the time of a step went, from what its rounds recorded: of loading an object, and of a load."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from dbbench.results.facts import PARTS, StepFacts

#: A share that is nothing but what is left of rounding.
_TRIFLE = 1e-6


@dataclass(frozen=True)
class Parts:
    """Seconds: `parts` add up to the figure, or are empty where they could not be told apart, and `why` says so.

    To connect, and to prepare up to the first object, which happens once: medians of the rounds.
    """

    parts: Mapping[str, float]
    connect: float
    prepare: float
    why: str = ""


def parts(figure: float | None, rounds: Sequence[StepFacts]) -> Parts | None:
    """The parts of a step's figure, by the medians of its rounds' shares; None for a step that loads no objects."""
    mine = [facts for facts in rounds if "connect" in facts and "prepare" in facts]
    if figure is None or not mine:
        return None
    connect, prepare = (median(facts[name] for facts in mine) for name in ("connect", "prepare"))
    whole = [facts["parts"] for facts in mine if facts.get("parts")]
    if len(whole) < len(mine):
        return Parts({}, connect, prepare, next((facts["not_parted"] for facts in mine if facts["not_parted"]), ""))
    found = _portions(figure, [{name: each[name] for name in PARTS} for each in whole])
    return Parts(found, connect, prepare)


@dataclass(frozen=True)
class LoadParts:
    """Seconds: `parts` add up to the figure of a load; making the rows for the driver is not in it."""

    parts: Mapping[str, float]
    making: float


def load_parts(figure: float | None, rounds: Sequence[StepFacts]) -> LoadParts | None:
    """The parts of a load's figure, by the medians of its rounds' shares; None where no parts were recorded."""
    mine = [facts for facts in rounds if facts.get("load_parts")]
    if figure is None or not mine or len(mine) < len(rounds):
        return None
    making = median(facts["making_rows"] for facts in mine)
    return LoadParts(_portions(figure, [facts["load_parts"] for facts in mine]), making)


def _portions(figure: float, rounds: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """A figure dealt out by the medians of the rounds' shares."""
    shares = {
        name: median(each.get(name, 0.0) / max(sum(each.values()), 1e-12) for each in rounds) for name in rounds[0]
    }
    total = sum(shares.values()) or 1.0
    return {name: share / total * figure if share > _TRIFLE else 0.0 for name, share in shares.items()}
