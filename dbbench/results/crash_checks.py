"""What `dbbench durability` found before, by engine, its code, versions, tier, options and file system: a run names it.

Kept in the user's data folder. Only the last check of each is.
"""

import datetime
import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

import platformdirs

from dbbench.host import atomic_json


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


def folder() -> Path:
    """The folder of all results: DBBENCH_DATA, or the user's data folder."""
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
