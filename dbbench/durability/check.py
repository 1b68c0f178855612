"""What a crash check asks of its processes, what they send back, and its verdict. No processes, no files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from dbbench.results.crash_checks import CheckVerdict, Kills, Syncs, TierCheck
from dbbench.suite.model import Tier

#: File systems that are gone with the power: a sync there brings nothing to a disk.
VOLATILE = ("tmpfs", "ramfs")
#: How long an acknowledgement is, a transaction's number.
NUMBER_BYTES = 8
#: Commits whose sync calls are counted.
COUNTED = 50


@dataclass(frozen=True)
class CheckTask:
    """What a checker is to do. `seconds`: how long an engine may take to open and to make its first commit."""

    engine: str
    tier: Tier
    file_system: str
    options: Mapping[str, str] = field(default_factory=dict)
    kills: int = 0
    seed: int = 0
    seconds: float = 0.0


@dataclass(frozen=True)
class WriterTask:
    """What a writer is to do: commit `commits` transactions from the number `first` on, or without end."""

    engine: str
    tier: Tier
    options: Mapping[str, str]
    directory: Path
    data: Path
    #: The descriptor that takes the number of each commit.
    acknowledge: int
    create: bool
    first: int
    commits: int | None


@dataclass(frozen=True)
class Found:
    """What a writer found: whole transactions, as spans of numbers, half ones, and what the engine says of itself."""

    whole: Sequence[tuple[int, int]]
    half: Sequence[int]
    versions: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    code: str = ""


#: To JSON and back, for another process.
CHECK_TASK, WRITER_TASK = TypeAdapter(CheckTask), TypeAdapter(WriterTask)
FOUND, TIER_CHECK = TypeAdapter(Found), TypeAdapter(TierCheck)


def judge(tier: Tier, kills: Kills, syncs: Syncs, file_system: str) -> tuple[CheckVerdict, str]:
    """The verdict, and why it isn't `passed`."""
    damage = damages(kills)
    if tier is Tier.MEMORY:
        return CheckVerdict.NOT_PROMISED, damage or "nothing was lost this time"
    if damage:
        return CheckVerdict.FAILED, damage
    if tier is Tier.PROCESS:
        return CheckVerdict.PASSED, ""
    if syncs.uncounted:
        return CheckVerdict.DECLARED, f"the sync calls were not counted: {syncs.uncounted}"
    if syncs.commits < COUNTED:
        return (
            CheckVerdict.DECLARED,
            f"the sync calls were not counted: strace shows {syncs.commits} of {COUNTED} commits",
        )
    if syncs.unsynced and syncs.hidden:
        calls = " and ".join(syncs.hidden)
        return CheckVerdict.DECLARED, f"its syncs can't be counted: it uses {calls}, where strace doesn't see them"
    if syncs.unsynced:
        return CheckVerdict.FAILED, f"no sync call in {syncs.unsynced:,} of {syncs.commits:,} commits"
    if file_system in VOLATILE:
        return (CheckVerdict.DECLARED, f"every commit is synced, but not to a disk: this is {file_system}")
    return CheckVerdict.PASSED, ""


def damages(kills: Kills) -> str:
    """What kill -9 did to the data; empty if nothing."""
    parts = []
    if kills.unreadable:
        parts.append(f"after kill {kills.kills} the database could not be used again: {kills.unreadable}")
    if kills.lost:
        parts.append(f"{kills.lost:,} of {kills.acknowledged:,} acknowledged commits lost")
    if kills.half:
        parts.append(f"{kills.half:,} half transaction{'s' if kills.half > 1 else ''}")
    return "; ".join(parts)
