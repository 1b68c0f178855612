"""Results of `dbbench durability`, stored by engine, code, versions, tier, options and file system, for runs to name.

In the user's data folder. Only the last check of each is stored.
"""

import datetime
import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

import platformdirs

from dbbench.host import atomic_json
from dbbench.suite.model import Tier


@dataclass(frozen=True)
class Subject:
    """What was checked; of anything else the check says nothing. `versions` have dbbench's own: it sets the engine."""

    engine: str
    tier: str
    versions: Mapping[str, str]
    file_system: str
    options: Mapping[str, object] = field(default_factory=dict)
    #: The fingerprint of the engine's code: a tier's settings stand there.
    code: str = ""


@dataclass(frozen=True)
class CrashCheck:
    """Its result: whether it passed, after how many kills, and on which day (ISO)."""

    passed: bool
    kills: int
    day: str


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
    #: It could not be checked: the engine is missing, or raised, hung, crashed before it was killed, or had no room.
    ERROR = "error"


#: With one of these the command ends with 1.
BAD = (CheckVerdict.FAILED, CheckVerdict.ERROR)


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


def folder() -> Path:
    """The folder `crash-checks` in DBBENCH_DATA, or in the user's data folder."""
    override = os.environ.get("DBBENCH_DATA")
    return (Path(override) if override else platformdirs.user_data_path("dbbench")) / "crash-checks"


def keep(subject: Subject, check: CrashCheck) -> None:
    """Keep a result in the place of an older one. Raises OSError."""
    folder().mkdir(parents=True, exist_ok=True)
    atomic_json.write(_file(subject), {"subject": asdict(subject), "check": asdict(check)}, durable=True)


def find(subject: Subject) -> CrashCheck | None:
    """The result for just this, if there is one that can be read."""
    try:
        document = atomic_json.read(_file(subject))
        if document["subject"] != asdict(subject):
            return None
        check = CrashCheck(**document["check"])
        datetime.date.fromisoformat(check.day)
    except (OSError, ValueError, KeyError, TypeError):  # there is none, or it is damaged
        return None
    return check


def _file(subject: Subject) -> Path:
    identity = json.dumps(asdict(subject), sort_keys=True, default=str)
    return folder() / f"{hashlib.sha256(identity.encode()).hexdigest()[:24]}.json"
