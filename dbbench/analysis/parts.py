"""Where the time of loading an object went, from what a step's rounds recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

#: The parts of an object's time, in the order in which they come.
PARTS = ("execute", "fetch", "materialise")

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


def parts(figure: float | None, rounds: Sequence[dict[str, Any]]) -> Parts | None:
    """The parts of a step's figure, by the medians of its rounds' shares; None for a step that loads no objects."""
    mine = [facts for facts in rounds if "connect" in facts and "prepare" in facts]
    if figure is None or not mine:
        return None
    connect, prepare = (median(facts[name] for facts in mine) for name in ("connect", "prepare"))
    whole = [facts["parts"] for facts in mine if facts.get("parts")]
    if len(whole) < len(mine):
        return Parts({}, connect, prepare, next((facts["not_parted"] for facts in mine if facts["not_parted"]), ""))
    shares = {name: median(each[name] / max(sum(each.values()), 1e-12) for each in whole) for name in PARTS}
    total = sum(shares.values()) or 1.0
    found = {name: share / total * figure if share > _TRIFLE else 0.0 for name, share in shares.items()}
    return Parts(found, connect, prepare)
