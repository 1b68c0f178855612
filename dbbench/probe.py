"""`python -m dbbench.probe REQUEST`: tells of each engine whether it can be used, one JSON line each.

REQUEST is JSON: the names of engines, each with the options to check.

A process of its own, so that a driver that crashes when it is imported, or prints, harms nobody.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Literal

from pydantic import ValidationError

from dbbench import registry
from dbbench.engine import Engine
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
    #: The form that its queries' rows come in.
    gives: str = ""
    versions: dict[str, str] = field(default_factory=dict)
    durability: list[str] = field(default_factory=list)
    #: Option -> what it is for.
    options: dict[str, str] = field(default_factory=dict)
    #: What is wrong with the options asked for.
    fault: str = ""


def probe(names: Sequence[str], options: Mapping[str, Mapping[str, object]] | None = None) -> dict[str, Probed]:
    """Look at the named engines in a child process; another one goes on after an engine that crashes."""
    found: dict[str, Probed] = {}
    while left := [name for name in names if name not in found]:
        request = {name: dict((options or {}).get(name, {})) for name in left}
        command = [sys.executable, "-m", "dbbench.probe", json.dumps(request)]
        try:
            done = subprocess.run(
                command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=_SECONDS, check=False
            )
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


def look(name: str, options: Mapping[str, object]) -> Probed:
    """Look at one engine in this process."""
    try:
        engine = registry.load(name)
        fault = _fault(engine, options)
        return Probed(
            name=name,
            status="available",
            title=engine.title,
            license=engine.license,
            publication=str(engine.publication),
            publication_note=engine.publication_note,
            ranked=engine.ranked,
            gives=engine.session_class.gives,
            versions=engine.versions(),
            durability=[str(tier) for tier in engine.durability],
            options={key: str(value.description or "") for key, value in engine.options_class.model_fields.items()},
            fault=fault,
        )
    except Unavailable as exc:
        return Probed(name, "unavailable", exc.reason, exc.install)
    except registry.Broken as exc:
        return Probed(name, "broken", str(exc))
    except Exception as exc:  # whatever a plugin's class attributes or versions() may raise
        return Probed(name, "broken", f"{type(exc).__name__}: {exc}")


def _fault(engine: type[Engine], options: Mapping[str, object]) -> str:
    try:
        engine.options_class.model_validate(options)
    except ValidationError as exc:
        return "; ".join(f"{'.'.join(map(str, error['loc']))}: {error['msg']}" for error in exc.errors())
    return ""


def _ending(status: int) -> str:
    return f"ends the process with signal {-status}" if status < 0 else f"ends the process with status {status}"


def main() -> None:
    """Print a line for each name; drivers that print go to standard error."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    for name, options in json.loads(sys.argv[1]).items():
        print(json.dumps(asdict(look(name, options)), default=str), file=out, flush=True)


if __name__ == "__main__":
    main()
