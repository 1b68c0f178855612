"""What is to be said of the hosts that the clients of a step were on: where the load itself may be at its limit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dbbench.results.trial import StepResult

#: A host whose processors are busier than this may be what limits the rate.
BUSY = 0.80
#: Clocks that are known less exactly than this share of the span leave the rate unsure.
UNSURE = 0.01


def warnings(steps: Sequence[StepResult]) -> Iterator[tuple[str, int]]:
    """Each in words, of the round where it is worst, and in how many rounds it was so."""
    spread = [step.facts["cluster"] for step in steps if "cluster" in step.facts]
    busy = [worst for each in spread if (worst := max(each["hosts"], key=_busy)) and _busy(worst) > BUSY]
    if busy:
        worst = max(busy, key=_busy)
        yield f"a host of the clients was at {_busy(worst):.0%} CPU ({worst['name']}): it may limit the rate", len(busy)
    unsure = [share for each in spread if (share := _clock_share(each)) > UNSURE]
    if unsure:
        yield f"the hosts' clocks are known to within {max(unsure):.1%} of the time measured", len(unsure)


def _busy(host: Mapping[str, Any]) -> float:
    return float(host["busy"] or 0.0)


def _clock_share(cluster: Mapping[str, Any]) -> float:
    """The largest bound of the clocks, as a share of the span from the first start to the last end."""
    bound = max(host["bound"] for host in cluster["hosts"])
    return float(bound / cluster["span"]) if cluster["span"] else 0.0
