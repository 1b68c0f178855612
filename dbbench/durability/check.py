"""What a crash check of one engine and tier found, and its verdict. No processes, no files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from dbbench.suite.model import Tier

#: File systems that are gone with the power: a sync there brings nothing to a disk.
VOLATILE = ("tmpfs", "ramfs")
#: How long an acknowledgement is, a transaction's number.
NUMBER_BYTES = 8


class CheckVerdict(StrEnum):
    """What is known of an engine's claim to give a tier."""

    #: Nothing was lost or torn, and for `power` each commit was synced before it was acknowledged. No proof: see docs.
    PASSED = "passed"
    #: Nothing speaks against it, and the syncs could not be counted.
    DECLARED = "declared"
    #: The tier is `memory`: there is nothing to hold the engine to.
    NOT_PROMISED = "not promised"
    #: The engine doesn't claim it.
    REFUSED = "refused"
    #: It has no operations that write transactions and read them back.
    UNSUPPORTED = "unsupported"
    #: A commit was lost, torn or not synced.
    FAILED = "failed"
    #: It could not be checked: the engine is missing, or raised, hung or crashed before it was killed.
    ERROR = "error"


#: With one of these the command ends with 1.
BAD = (CheckVerdict.FAILED, CheckVerdict.ERROR)


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


@dataclass(frozen=True)
class Kills:
    """What kill -9 left, in numbers of transactions."""

    kills: int = 0
    #: Commits that had returned, and been told to another process, before a kill.
    acknowledged: int = 0
    #: Transactions that were there whole in the end, acknowledged or not.
    found: int = 0
    #: Acknowledged ones of which a part or all was missing after a kill.
    lost: int = 0
    #: Ones of which a part was there and a part was not.
    half: int = 0
    #: Why the database could not be used again after the last kill.
    unreadable: str = ""


@dataclass(frozen=True)
class Syncs:
    """The sync calls of some commits made one after another by one client."""

    commits: int = 0
    #: Commits that were acknowledged without any sync call since the one before.
    unsynced: int = 0
    #: Call -> how many, of all commits.
    calls: Mapping[str, int] = field(default_factory=dict)
    #: Calls that can hide syncs from the count.
    hidden: tuple[str, ...] = ()
    #: Why nothing was counted.
    uncounted: str = ""

    @property
    def in_words(self) -> str:
        """Calls of one commit, like `1.0 fdatasync`."""
        if not self.commits:
            return "-"
        parts = [f"{number / self.commits:.1f} {call}" for call, number in sorted(self.calls.items())]
        return " + ".join(parts) or "none"


@dataclass(frozen=True)
class TierCheck:
    """One engine and one tier. `settings` are those that the engine says it has."""

    engine: str
    tier: Tier
    verdict: CheckVerdict
    detail: str = ""
    kills: Kills = Kills()
    syncs: Syncs = Syncs()
    versions: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    #: The fingerprint of the engine's code.
    code: str = ""


#: To JSON and back, for another process.
CHECK_TASK, WRITER_TASK = TypeAdapter(CheckTask), TypeAdapter(WriterTask)
FOUND, TIER_CHECK = TypeAdapter(Found), TypeAdapter(TierCheck)


@dataclass(frozen=True)
class TierChecks:
    """One call of `dbbench durability`. `absent` are engines that are not installed: name -> why."""

    created: str
    machine: Mapping[str, Any]
    seed: int
    kills: int
    checks: tuple[TierCheck, ...]
    absent: Mapping[str, str] = field(default_factory=dict)
    #: Whether checks that were asked for are missing.
    interrupted: bool = False

    @property
    def bad(self) -> bool:
        """Whether any check failed or could not be made."""
        return any(check.verdict in BAD for check in self.checks)


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
