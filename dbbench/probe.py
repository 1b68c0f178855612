"""`python -m dbbench.probe [NAME...]`: tells of each engine whether it can be used, one JSON line each.

A process of its own, so that a driver that crashes when it is imported, or prints, harms nobody.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Literal

from dbbench import registry
from dbbench.errors import Unavailable

_SECONDS = 60


@dataclass(frozen=True)
class Probed:
    """What is known of an engine without starting it. `detail` says why it can't be used."""

    name: str
    status: Literal["available", "unavailable", "broken"]
    detail: str = ""
    install: str = ""
    title: str = ""
    license: str = ""
    publication: str = ""
    publication_note: str = ""
    ranked: bool = True
    versions: dict[str, str] = field(default_factory=dict)
    durability: list[str] = field(default_factory=list)
    options: dict[str, object] = field(default_factory=dict)


def probe(names: list[str]) -> dict[str, Probed]:
    """Look at the named engines in a child process; another one goes on after an engine that crashes."""
    found: dict[str, Probed] = {}
    while left := [name for name in names if name not in found]:
        command = [sys.executable, "-m", "dbbench.probe", *left]
        try:
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=_SECONDS, check=False)
            output, error, end = done.stdout, done.stderr, _ending(done.returncode)
        except subprocess.TimeoutExpired as exc:
            output, error, end = exc.stdout or b"", exc.stderr or b"", f"hangs (more than {_SECONDS} s)"
        before = len(found)
        for line in output.decode().splitlines():
            engine = Probed(**json.loads(line))
            found[engine.name] = engine
        if len(found) - before < len(left):
            guilty = next(name for name in names if name not in found)
            last = (error.decode(errors="replace").strip().splitlines() or [""])[-1]
            found[guilty] = Probed(guilty, "broken", f"importing it {end}{f': {last}' if last else ''}")
    return {name: found[name] for name in names}


def look(name: str) -> Probed:
    """Look at one engine in this process."""
    try:
        engine = registry.load(name)
        return Probed(
            name=name,
            status="available",
            title=engine.title,
            license=engine.license,
            publication=str(engine.publication),
            publication_note=engine.publication_note,
            ranked=engine.ranked,
            versions=engine.versions(),
            durability=[str(tier) for tier in engine.durability],
            options={key: str(value.description or "") for key, value in engine.Options.model_fields.items()},
        )
    except Unavailable as exc:
        return Probed(name, "unavailable", exc.reason, exc.install)
    except registry.Broken as exc:
        return Probed(name, "broken", str(exc))
    except Exception as exc:  # whatever a plugin's class attributes or versions() may raise
        return Probed(name, "broken", f"{type(exc).__name__}: {exc}")


def _ending(status: int) -> str:
    return f"ends the process with signal {-status}" if status < 0 else f"ends the process with status {status}"


def _lines(names: list[str]) -> Iterator[str]:
    for name in names:
        yield json.dumps(asdict(look(name)), default=str)


def main() -> None:
    """Print a line for each name; drivers that print go to standard error."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    for line in _lines(sys.argv[1:]):
        print(line, file=out, flush=True)


if __name__ == "__main__":
    main()
