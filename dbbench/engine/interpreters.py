"""Other Pythons of this machine: found by version, and asked what they are before anything is made for them."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import distribution
from pathlib import Path

from dbbench.errors import Unavailable
from dbbench.host.processes import run_to_end

#: How long one may take to say what it is.
_SECONDS = 20.0
_QUESTION = (
    "import json, platform, sys, sysconfig; print(json.dumps([sys.executable, platform.python_version(), "
    "sys.implementation.cache_tag, sysconfig.get_platform()]))"
)
#: A label of a variant that asks for a Python: py312, py3.12, py3.12.4.
_LABEL = re.compile(r"py3\.?(\d{1,2})(\.\d{1,3})?")


@dataclass(frozen=True)
class Interpreter:
    """A Python: its program, its exact version, and what its compiled packages are made for."""

    program: str
    release: str
    tag: str
    platform: str


def asked_for(label: str) -> str:
    """The version of Python that a variant's label asks for, like 3.12; empty if it asks for none."""
    found = _LABEL.fullmatch(label)
    return f"3.{found[1]}{found[2] or ''}" if found else ""


def interpreter(version: str) -> Interpreter:
    """A Python of a version like 3.12 or 3.12.4: the one that dbbench runs in, or on the PATH, or made by pyenv or uv.

    Raises Unavailable where there is none, or where dbbench can't run in it.
    """
    from packaging.specifiers import SpecifierSet

    needed = SpecifierSet(distribution("dbbench").metadata["Requires-Python"] or "")
    for program in _programs(version):
        found = _told(program)
        if found is None or f"{found.release}.".find(f"{version}.") != 0:
            continue
        if not needed.contains(found.release, prereleases=True):
            raise Unavailable(f"dbbench runs in Python {needed}, and not in {found.release}")
        return found
    raise Unavailable(
        f"there is no Python {version} on the PATH, nor one of pyenv or uv", f"uv python install {version}"
    )


def _programs(version: str) -> Iterator[str]:
    """What may be a Python of that version, each looked for only when those before it were not."""
    yield sys.executable
    minor = ".".join(version.split(".")[:2])
    for folder in os.get_exec_path():
        if program := shutil.which(f"python{minor}", path=folder):
            yield program
    of_pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv", "versions")
    yield from sorted(map(str, of_pyenv.glob(f"{minor}.*/bin/python{minor}")), reverse=True)
    if uv := shutil.which("uv"):
        only = ["--managed-python", "--no-python-downloads", "--no-project"]
        if found := _said([uv, "--quiet", "python", "find", *only, version]):
            yield found


def _told(program: str) -> Interpreter | None:
    """What a program says of itself; None if it isn't a Python that works."""
    try:
        found = json.loads(_said([program, "-I", "-c", _QUESTION]))
        return Interpreter(*map(str, found))
    except (ValueError, TypeError):
        return None


def _said(command: list[str]) -> str:
    """What a program prints, in a folder that is nobody's; empty if it fails."""
    try:
        done = run_to_end(command, Path("/"), _SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return "" if done.returncode else done.stdout.strip()
