"""The hosts that ran whole rounds: which rounds each had, and whether they are alike."""

from collections.abc import Sequence

from dbbench.results.trial import TrialResult


def rounds_of(results: Sequence[TrialResult]) -> dict[str, list[int]]:
    """Host -> its rounds; empty where no rounds ran on hosts."""
    found: dict[str, set[int]] = {}
    for result in results:
        if result.host:
            found.setdefault(result.host["name"], set()).add(result.round)
    return {name: sorted(rounds) for name, rounds in sorted(found.items())}


def differ(results: Sequence[TrialResult]) -> bool:
    """Whether the hosts have different processors or memory."""
    keys = ("cpu", "threads", "memory_bytes")
    return len({tuple(result.host.get(key) for key in keys) for result in results if result.host}) > 1
